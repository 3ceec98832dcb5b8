//! Templates in values: `{{ … }}` and `{% … %}` of Jinja.
//!
//! A template uses `device`, `labels`, `facts` and `vars`. A name without a value is an error. A value
//! that is one expression has the type of its result; every other template is text.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde_json::Value as Json;
use switchtender_devices::diagnostic::nearest;

/// The values of the templates of one device.
#[derive(Clone, Debug)]
pub(super) struct TemplateValues {
    /// An object with the names that templates use.
    pub(super) values: Json,
    /// The facts are available.
    pub(super) has_facts: bool,
}

/// Why a template has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum TemplateError {
    #[error("cannot parse the template: {0}")]
    Syntax(String),
    #[error("cannot render the template: {0}")]
    Render(String),
    #[error("cannot render the template: `{name}` has no value")]
    NoValue {
        name: String,
        near: Option<String>,
        /// The names that have values.
        known: Vec<String>,
    },
    /// The template uses facts, and they are not available yet.
    #[error("the template needs the facts of the device")]
    NeedsFacts,
}

impl TemplateError {
    /// What to do next.
    pub(super) fn help(&self) -> Option<String> {
        match self {
            TemplateError::NoValue {
                near: Some(near), ..
            } => Some(format!("did you mean `{near}`?")),
            TemplateError::NoValue { known, name, .. } if known.is_empty() => {
                let parent = name
                    .rsplit_once('.')
                    .map_or("template", |(parent, _)| parent);
                Some(format!("the {parent} of this device has no values"))
            }
            TemplateError::NoValue { known, .. } => Some(format!("use {}", known.join(", "))),
            _ => None,
        }
    }
}

/// Whether a text is a template.
pub(super) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}

/// A text that is not a template, as a template with this result.
pub(crate) fn literal(text: &str) -> Cow<'_, str> {
    match is_template(text) {
        true => Cow::Owned(format!("{{{{ {} }}}}", Json::from(text))),
        false => Cow::Borrowed(text),
    }
}

/// The result of a template.
pub(super) fn render(text: &str, values: &TemplateValues) -> Result<Json, TemplateError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    let template = environment.template_from_str(text).map_err(error)?;
    if !values.has_facts && template.undeclared_variables(false).contains("facts") {
        return Err(TemplateError::NeedsFacts);
    }
    let result = match single_expression(text) {
        None => template.render(&values.values).map(Json::from),
        Some(expression) => environment
            .compile_expression(expression)
            .and_then(|expression| expression.eval(&values.values))
            .and_then(|result| match result.is_undefined() {
                true => Err(ErrorKind::UndefinedError.into()),
                false => serde_json::to_value(result).map_err(|error| {
                    minijinja::Error::new(ErrorKind::BadSerialization, error.to_string())
                }),
            }),
    };
    result.map_err(|failed| match failed.kind() {
        ErrorKind::UndefinedError => {
            let names = template.undeclared_variables(true);
            no_value(names, &values.values).unwrap_or_else(|| error(failed))
        }
        _ => error(failed),
    })
}

/// The first of the names without a value.
fn no_value(names: HashSet<String>, values: &Json) -> Option<TemplateError> {
    let names: BTreeSet<String> = names.into_iter().collect();
    names.into_iter().find_map(|name| {
        let mut at = values;
        let mut path = String::new();
        for part in name.split('.') {
            let Some(next) = at.get(part) else {
                /// Maximum number of names in a message.
                const MOST: usize = 12;
                let siblings = at.as_object().into_iter().flatten();
                let siblings: Vec<&str> = siblings.map(|(name, _)| name.as_str()).collect();
                let near = nearest(part, siblings.iter().copied());
                let known = siblings.iter().take(MOST);
                return Some(TemplateError::NoValue {
                    near: near.map(|near| format!("{path}{near}")),
                    known: known.map(|known| format!("{path}{known}")).collect(),
                    name,
                });
            };
            path = format!("{path}{part}.");
            at = next;
        }
        None
    })
}

/// The expression of a text that is nothing else.
fn single_expression(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    let is_single = !inner.contains("{{") && !inner.contains("}}") && !inner.contains("{%");
    is_single.then_some(inner)
}

fn error(error: minijinja::Error) -> TemplateError {
    let reason = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    match error.kind() {
        ErrorKind::SyntaxError => TemplateError::Syntax(reason),
        _ => TemplateError::Render(reason),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(has_facts: bool) -> TemplateValues {
        TemplateValues {
            values: json!({
                "device": {"name": "sw1"},
                "vars": {"vlan": 10, "servers": ["192.0.2.1", "192.0.2.2"]},
                "facts": {"hostname": "core"},
            }),
            has_facts,
        }
    }

    #[test]
    fn render_keeps_the_type_of_a_single_expression() {
        let cases = [
            ("{{ vars.vlan }}", json!(10)),
            ("{{ vars.servers }}", json!(["192.0.2.1", "192.0.2.2"])),
            (
                "vlan {{ vars.vlan }} of {{ device.name }}",
                json!("vlan 10 of sw1"),
            ),
            ("{% if vars.vlan > 5 %}high{% endif %}", json!("high")),
            ("{{ facts.hostname | upper }}", json!("CORE")),
        ];
        for (text, expected) in cases {
            assert_eq!(render(text, &values(true)).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn render_names_what_has_no_value() {
        let cases = [
            (
                "{{ vars.vlna }}",
                "`vars.vlna` has no value",
                Some("did you mean `vars.vlan`?"),
            ),
            (
                "x {{ vars.vlna }}",
                "`vars.vlna` has no value",
                Some("did you mean `vars.vlan`?"),
            ),
            (
                "{{ nothing }}",
                "`nothing` has no value",
                Some("use device, vars, facts"),
            ),
            (
                "{{ vars.vlan",
                "cannot parse the template: syntax error",
                None,
            ),
        ];
        for (text, message, help) in cases {
            let error = render(text, &values(true)).unwrap_err();
            assert!(error.to_string().contains(message), "{text}: {error}");
            assert_eq!(error.help().as_deref(), help, "{text}");
        }
        let error = render("{{ facts.hostname }}", &values(false)).unwrap_err();
        assert!(matches!(error, TemplateError::NeedsFacts), "{error}");
    }

    #[test]
    fn literal_texts_are_rendered_unchanged() {
        for text in [
            "plain",
            "{ {",
            "when { set x {{a} {b}} }\n",
            "{% if %}\t\"\\ ü \u{7f} \u{1f600}",
            "{{ '{{' }}",
        ] {
            let template = literal(text);
            let result = match is_template(&template) {
                true => render(&template, &values(true)).unwrap(),
                false => json!(template),
            };
            assert_eq!(result, json!(text));
        }
        assert_eq!(literal("plain {#"), "plain {#");
    }
}

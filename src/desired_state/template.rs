//! Templates in values: `{{ … }}` and `{% … %}` of Jinja.
//!
//! A template uses `device`, `labels`, `facts` and `vars`. A name without a value is an error. A value
//! that is one expression has the type of its result; every other template is text.
//!
//! Who writes a template does not decide what it may cost. Its tokens bound the depth of the parser,
//! [`TemplateLimits`] the steps, values and time of its evaluation: `literals.rs` leaves nothing to compute
//! for the compiler, `guarded_code.rs` adds a check after each instruction that makes a value, and
//! `bounded_filters.rs` one before each filter that multiplies.

mod bounded_filters;
mod budget;
mod guarded_code;
mod literals;
mod namespace;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::sync::Arc;
use std::thread;

use minijinja::machinery::{self, CodeGenerator, Vm};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value, context};
use serde_json::Value as Json;
use switchtender_devices::diagnostic::nearest;

use budget::Budget;
pub(super) use budget::TemplateLimits;

use literals::{ExtractedLiterals, SourceKind};

use super::expand::title_range::last_number;

/// The stack of a thread that renders templates: the parser and the code generator nest as deep as the
/// tokens of a template.
const STACK: usize = 64 << 20;

/// A thread that renders templates.
pub(super) fn rendering_thread() -> thread::Builder {
    thread::Builder::new()
        .name("templates".to_owned())
        .stack_size(STACK)
}

/// Runs work that renders templates on a thread with a large stack, and waits for it.
///
/// # Errors
/// The thread cannot be started.
pub(super) fn on_rendering_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = rendering_thread().spawn_scoped(scope, work)?;
        Ok(thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Renders the templates of one device, within their limits.
pub(super) struct Templates {
    environment: Environment<'static>,
    budget: Arc<Budget>,
    /// An object with the names that templates use.
    values: Json,
    /// The same.
    context: Value,
    /// The facts are available.
    has_facts: bool,
}

/// Why a template has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum TemplateError {
    #[error("cannot parse the template: {0}")]
    Syntax(String),
    #[error("cannot render the template: {0}")]
    Render(String),
    #[error("cannot render the template: {0}")]
    Limit(String),
    #[error("cannot render the template: `{name}` has no value")]
    NoValue {
        name: String,
        near: Option<String>,
        /// The names that have values.
        known: Vec<String>,
    },
    #[error("cannot render the template: the title `{0}` has no number, and so no `n`")]
    NoNumber(String),
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
            TemplateError::Limit(_) => {
                Some("split the template, or write its result as the value".to_owned())
            }
            _ => None,
        }
    }
}

/// The name for the title of the resource.
const TITLE: &str = "title";
/// The name for the last number of the title.
const NUMBER: &str = "n";
/// Names that a value of a resource has, and a variable has not.
const OF_RESOURCES: [&str; 2] = [TITLE, NUMBER];

/// Whether a text is a template.
pub(super) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}

/// A text that is not a template, as a template with this result.
pub(crate) fn literal(text: &str) -> Cow<'_, str> {
    if is_template(text) {
        Cow::Owned(format!("{{{{ {} }}}}", Json::from(text)))
    } else {
        Cow::Borrowed(text)
    }
}

impl Templates {
    /// `values`: an object with the names that templates use. The time of `limits` begins.
    pub(super) fn new(values: Json, has_facts: bool, limits: TemplateLimits) -> Self {
        let budget = Arc::new(Budget::new(limits));
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_keep_trailing_newline(true);
        environment.set_fuel(Some(limits.steps));
        bounded_filters::install(&mut environment, &budget);
        guarded_code::install(&mut environment, &budget);
        Self {
            environment,
            budget,
            context: Value::from_serialize(&values),
            values,
            has_facts,
        }
    }

    /// Sets `vars`.
    pub(super) fn set_variables(&mut self, variables: Json) {
        self.values["vars"] = variables;
        self.context = Value::from_serialize(&self.values);
    }

    /// The result of a template. A value of a resource has its `title`.
    ///
    /// # Errors
    /// It cannot be parsed or rendered, or exceeds a limit.
    pub(super) fn render(&self, text: &str, title: Option<&str>) -> Result<Json, TemplateError> {
        if let Some(text) = literal_text(text) {
            return Ok(Json::from(text));
        }
        self.budget.begin_template();
        let extracted = self.extract(text, SourceKind::Template)?;
        let source = extracted.source.clone();
        let environment = self.environment(extracted);
        let template = environment.template_from_str(&source).map_err(error)?;
        if !self.has_facts && template.undeclared_variables(false).contains("facts") {
            return Err(TemplateError::NeedsFacts);
        }
        let names = template.undeclared_variables(false);
        let is_used = |name: &&str| names.contains(*name);
        let own = title.filter(|_| OF_RESOURCES.iter().any(&is_used));
        let context = own.map_or_else(|| self.context.clone(), |title| self.context_of(title));
        let result = match single_expression(text) {
            None => {
                let code = machinery::get_compiled_template(&template);
                let code = guarded_code::guarded(&code.instructions);
                let mut output = String::new();
                let blocks = BTreeMap::new();
                let evaluated = Vm::new(&environment).eval(
                    &code,
                    context,
                    &blocks,
                    &mut machinery::make_string_output(&mut output),
                    AutoEscape::None,
                );
                evaluated
                    .map(drop)
                    .and_then(|()| self.budget.check_size(output.len()))
                    .map(|()| Json::from(output))
            }
            Some(expression) => {
                self.evaluate(self.extract(expression, SourceKind::Expression)?, context)
            }
        };
        let limits = self.budget.limits();
        result.map_err(|failed| match failed.kind() {
            ErrorKind::UndefinedError => {
                let mut names = template.undeclared_variables(true);
                names.retain(|name| !name.starts_with(literals::PREFIX));
                if let Some(title) = title.filter(|_| is_used(&NUMBER)) {
                    if last_number(title).is_none() {
                        return TemplateError::NoNumber(title.to_owned());
                    }
                    names.remove(NUMBER);
                }
                if title.is_some() {
                    names.remove(TITLE);
                }
                no_value(names, &self.values).unwrap_or_else(|| error(failed))
            }
            ErrorKind::OutOfFuel => TemplateError::Limit(match failed.detail() {
                Some(limit) => limit.to_owned(),
                None => format!("it takes more than {} steps", limits.steps),
            }),
            _ => error(failed),
        })
    }

    /// The values for a resource.
    fn context_of(&self, title: &str) -> Value {
        let base = self.context.clone();
        match last_number(title) {
            Some(n) => context! { title, n, ..base },
            None => context! { title, ..base },
        }
    }

    fn extract(&self, source: &str, kind: SourceKind) -> Result<ExtractedLiterals, TemplateError> {
        let most = self.budget.limits().tokens;
        literals::extract(source, kind, most)
            .ok_or_else(|| TemplateError::Limit(format!("it has more than {most} words and signs")))
    }

    /// The environment of one template.
    fn environment(&self, literals: ExtractedLiterals) -> Environment<'static> {
        let mut environment = self.environment.clone();
        for (name, value) in literals.variables() {
            environment.add_global(name, value);
        }
        environment
    }

    fn evaluate(&self, expression: ExtractedLiterals, context: Value) -> Result<Json, Error> {
        let source = expression.source.clone();
        let environment = self.environment(expression);
        let parsed = machinery::parse_expr(&source)?;
        let mut code = CodeGenerator::new("<expression>", &source);
        code.compile_expr(&parsed);
        let code = guarded_code::guarded(&code.finish().0);
        let mut output = String::new();
        let blocks = BTreeMap::new();
        let (result, _) = Vm::new(&environment).eval(
            &code,
            context,
            &blocks,
            &mut machinery::make_string_output(&mut output),
            AutoEscape::None,
        )?;
        let result = result.unwrap_or(Value::UNDEFINED);
        if result.is_undefined() {
            return Err(ErrorKind::UndefinedError.into());
        }
        self.budget.measure(&result)?;
        serde_json::to_value(result)
            .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
    }
}

/// The text of a template that is one text in quotation marks, as [`literal`] writes it: it has any length.
fn literal_text(text: &str) -> Option<String> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    serde_json::from_str(inner).ok()
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

fn error(error: Error) -> TemplateError {
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

    fn templates(has_facts: bool, limits: TemplateLimits) -> Templates {
        let values = json!({
            "device": {"name": "sw1"},
            "vars": {"vlan": 10, "servers": ["192.0.2.1", "192.0.2.2"]},
            "facts": {"hostname": "core"},
        });
        Templates::new(values, has_facts, limits)
    }

    fn render(text: &str, has_facts: bool) -> Result<Json, TemplateError> {
        // The other limits end templates, also on a loaded machine.
        let limits = TemplateLimits {
            time: std::time::Duration::from_secs(600),
            ..TemplateLimits::default()
        };
        templates(has_facts, limits).render(text, None)
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
            assert_eq!(render(text, true).unwrap(), expected, "{text}");
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
            let error = render(text, true).unwrap_err();
            assert!(error.to_string().contains(message), "{text}: {error}");
            assert_eq!(error.help().as_deref(), help, "{text}");
        }
        let error = render("{{ facts.hostname }}", false).unwrap_err();
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
            let result = if is_template(&template) {
                render(&template, true).unwrap()
            } else {
                json!(template)
            };
            assert_eq!(result, json!(text));
        }
        assert_eq!(literal("plain {#"), "plain {#");
    }

    #[test]
    fn render_keeps_what_jinja_does() {
        let cases = [
            (
                "{% set ns = namespace(n=0) %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
                "3",
            ),
            (
                "{% set ns = namespace() %}{% set ns.all = [] %}{% for i in range(3) %}{% set ns.all = ns.all + [i] %}{% endfor %}{{ ns.all | join(',') }}",
                "0,1,2",
            ),
            (
                "{% for a in [[1, [2]], [3]] recursive %}{% if a is sequence %}({{ loop(a) }}){% else %}{{ a }}{% endif %}{% endfor %}",
                "(1(2))(3)",
            ),
            (
                "{% for i in range(6) if i is odd %}{% if i == 3 %}three{% elif i > 3 %}more{% else %}{{ i }}{% endif %}{% else %}none{% endfor %}",
                "1threemore",
            ),
            (
                "{% set x %}a{{ vars.vlan }}{% endset %}{{ x ~ x }} {{ x and not (1 < 2 < 3) or 'c' }}",
                "a10a10 c",
            ),
            (
                "{{ 'a-b' | replace('-', '+') }} {{ '%03d' | format(vars.vlan) }} {{ 'a\nb' | indent(2) }}",
                "a+b 010 a\n  b",
            ),
            (
                "{{ vars.servers | map('upper') | first }} {{ [1, 2, 3] | batch(2) | list }} {{ {'a': [1]}.a[0] }}",
                "192.0.2.1 [[1, 2], [3]] 1",
            ),
            (
                "{{ 2 ** 3 }}{{ 'ab' * 2 }}{{ 'abc'[1:] }}{{ 7 // 2 }}{{ -1 }} {{ none }} {{ vars.x is defined }}",
                "8ababbc3-1 None False",
            ),
            (
                "{{ vars.none | default('d') }}{{ [] | first | default('e') }} {{ ('a' if vars.vlan == 10 else 'b') }}\n",
                "de a\n",
            ),
        ];
        for (text, expected) in cases {
            let rendered = render(text, true);
            assert_eq!(rendered.unwrap(), json!(expected), "{text}");
        }
        let error = render("{% set vars.x = 1 %}{{ 1 }}", true).unwrap_err();
        assert!(
            error.to_string().contains("can only assign to namespaces"),
            "{error}"
        );
        let error = render("{{ 'a' ~ vars.none }}", true).unwrap_err();
        assert!(
            error.to_string().contains("`vars.none` has no value"),
            "{error}"
        );
    }

    /// A template that costs more than any limit ends with the limit, on a stack of [`STACK`].
    #[test]
    fn hostile_templates_end_at_a_limit() {
        let many = |text: &str, count: usize| text.repeat(count);
        let tokens = "more than 5000 words and signs";
        let steps = "more than 1000000 steps";
        let value = "a value is larger than 4 MiB";
        let work = "makes more than 64 MiB of values";
        let nested = "nest deeper than 32";
        let loops =
            "{% for i in range(10000) %}{% for j in range(10000) %}{% for k in range(10000) %}";
        let ends = many("{% endfor %}", 3);
        let cases = [
            (format!("{loops}{ends}"), steps),
            (format!("{loops}x{ends}"), steps),
            (format!("{loops}{}{ends}", many("long ", 1000)), work),
            (format!("{{{{ {}1 }}}}", many("not ", 20_000)), tokens),
            (format!("{{{{ {}1 }}}}", many("1~", 30_000)), tokens),
            (format!("{{{{ {}1 }}}}", many("-", 30_000)), tokens),
            (format!("{{% if 1 %}}{}{{% endif %}}", many("{% elif 1 %}", 20_000)), tokens),
            ("{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}".to_owned(), value),
            ("{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}".to_owned(), value),
            ("{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x }}".to_owned(), value),
            ("{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}".to_owned(), value),
            ("{% set n = namespace(x=1) %}{% for i in range(60) %}{% set n.x = {1: n.x, 2: n.x} %}{% endfor %}{{ n.x }}".to_owned(), value),
            ("{% set n = namespace(x=1) %}{% for i in range(60) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}".to_owned(), nested),
            ("{% set n = namespace(x=1) %}{% set n.x = [n] %}{{ n }}".to_owned(), "a namespace cannot be a part of a value"),
            ("{% set n = namespace(x=1) %}{% set n.x = n %}{{ n }}".to_owned(), "a namespace cannot be a part of a value"),
            (format!("{{% set x = 'aaaaaaaa' %}}{}", many("{% set x = x ~ x %}", 60)), value),
            (format!("{{% set x = 'aaaaaaaa' %}}{}", many("{% set x %}{{ x }}{{ x }}{% endset %}", 60)), value),
            (format!("{{% set x = 'a' * 3000000 %}}{}", many("{% set y = x ~ 1 %}", 60)), work),
            (format!("{{{{ 'aaaaaaaa'{} }}}}", many(" | replace('a', 'aaaaaaaa')", 20)), value),
            ("{{ ('a' * 2000) | replace('', 'b' * 3000) }}".to_owned(), value),
            (format!("{{% set x = [1, 1, 1, 1, 1, 1, 1, 1] %}}{}", many("{% set x = x | join(x | join) %}", 20)), value),
            ("{{ (['a' * 2000] * 1000) | map('replace', 'a', 'b' * 2000) | list }}".to_owned(), "MiB"),
            (format!("{{{{ {}1 }}}}", many("'a' * 99999999 ~ ", 60)), value),
            (format!("{{{{ {}1 }}}}", many("[1] * 99999999 ~ ", 60)), value),
            ("{{ range(1000) | map('string') | map('replace', '', 'b' * 100000) | list }}".to_owned(), work),
            ("{{ '%1000000000d' | format(1) }}".to_owned(), value),
            ("{{ '%.1000000000f' | format(1.5) }}".to_owned(), value),
            ("{{ '%*d' | format(1000000000, 1) }}".to_owned(), value),
            (format!("{{{{ '{}' | format(x='a' * 1000000) }}}}", many("%(x)s", 100)), value),
            ("{{ 'a\nb' | indent(1000000000) }}".to_owned(), value),
            ("{{ 'a\nb' | indent(width=1000000000) }}".to_owned(), value),
            ("{{ [1] | batch(1000000000, 1) }}".to_owned(), value),
            ("{{ [1] | slice(1000000000) }}".to_owned(), value),
            ("{{ 'aaaaaaaa' * 90000000 }}".to_owned(), "too large"),
            ("{{ 'aaaaaaaa' * 9000000 }}".to_owned(), value),
            ("{{ [1] * 9000000 }}".to_owned(), value),
            ("{% for a in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}".to_owned(), "recursion limit"),
            (format!("{{% for i in range(100000) %}}{{{{ {}1 }}}}{{% endfor %}}", many("1 == ", 300)), steps),
        ];
        let failed = on_rendering_thread(|| {
            let wrong = cases.iter().filter_map(|(text, limit)| {
                let beginning = text.chars().take(120).collect::<String>();
                match render(text, true) {
                    Err(error) if error.to_string().contains(limit) => None,
                    other => Some(format!(
                        "{beginning}\n  expected {limit}, not {}",
                        match other {
                            Ok(json) => format!("{} bytes", json.to_string().len()),
                            Err(error) => error.to_string(),
                        }
                    )),
                }
            });
            wrong.collect::<Vec<String>>()
        });
        assert_eq!(failed.unwrap(), Vec::<String>::new());
    }

    #[test]
    fn templates_with_the_most_tokens_fit_on_the_stack() {
        let most = TemplateLimits::default().tokens;
        let nested = [
            ("{{ ", "not ", "1 }}", 1),
            ("{{ ", "-", "1 }}", 1),
            ("{{ ", "1~", "1 }}", 2),
            ("{{ ", "1**", "1 }}", 2),
            ("{{ ", "1 or ", "1 }}", 2),
            ("{{ ", "1 if 0 else ", "1 }}", 4),
            ("{{ 1", "|string", " }}", 2),
            ("{{ 1", " is string", " }}", 2),
            ("{% if 0 %}", "{% elif 0 %}", "{% endif %}", 4),
        ];
        let rendered = on_rendering_thread(|| {
            for (start, part, end, tokens) in nested {
                let text = format!("{start}{}{end}", part.repeat((most - 16) / tokens));
                let rendered = render(&text, true);
                assert!(
                    !matches!(rendered, Err(TemplateError::Limit(_))),
                    "{part}: {rendered:?}"
                );
            }
        });
        rendered.unwrap();
    }

    #[test]
    fn templates_of_a_device_share_a_time() {
        let limits = TemplateLimits {
            time: std::time::Duration::ZERO,
            ..TemplateLimits::default()
        };
        let error = templates(true, limits)
            .render("{{ 1 ~ 2 }}", None)
            .unwrap_err();
        assert!(error.to_string().contains("take more than 0 s"), "{error}");
    }
}

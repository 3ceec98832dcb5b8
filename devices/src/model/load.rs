//! Loads `definitions/models/<type>.toml` as a [`TypeModel`].
//!
//! `docs/definitions.md` describes the keys; unknown keys are errors. Problems are added to the
//! file's findings. A model is returned only if there are none.

mod access;
mod attribute;
pub(crate) mod model_keys;
mod reference;
mod relation;
mod rule;
mod rule_keys;
pub(crate) mod value_spec;
mod view_location;

use std::ops::Range;
use std::sync::Arc;

use self::access::access;
use self::attribute::{attribute, ensure};
use self::model_keys::{ModelAttributeKeys, ModelKeys, ModelSections, RuleKeys, TitleText};
use self::relation::read_relation;
use self::rule::rule;
use self::rule_keys::{mark_default_word, shutdown};
use self::view_location::{check_attribute_name, check_type_name, view_location};
use super::reference::UnstatedReference;
use super::{AttributeModel, AutoKind, Role, TitlePattern, TypeModel};
use crate::diagnostic::{Diagnostic, Source, suggest};
use crate::document::{self, At, Findings, Item, KeyValue, Table, ValueShape, read_value};
use crate::format_version::FormatVersion;
use crate::map::IndexMap;
use crate::pattern::Pattern;
use crate::value::{Name, Value};

/// The version of the definitions.
const SCHEMA: FormatVersion = FormatVersion {
    number: 1,
    advice: "use the version of switchtender that it was written for, or write it anew",
};

/// Loads a model file.
///
/// # Errors
/// All problems with their positions.
pub fn load(source: &Arc<Source>) -> Result<TypeModel, Vec<Diagnostic>> {
    let findings = Findings::new(source);
    let model = document::read(&findings, read_model);
    match model {
        Some(model) if findings.is_empty() => Ok(model),
        _ => Err(findings.into_list()),
    }
}

/// Checks the key `schema`, the first key of every definition. Of another version, nothing else is read.
pub(crate) fn check_schema(item: Option<Item<'_>>) -> Option<()> {
    if let Some(item) = item
        && let Some(version) = item.integer()
        && let Err(error) = SCHEMA.check(version)
    {
        item.error("schema", format!("cannot use this definition: {error}"));
        return None;
    }
    Some(())
}

/// A TOML value as an attribute value.
pub(crate) fn value_of(item: &Item<'_>) -> Option<Value> {
    use toml::de::DeValue;
    Some(match item.value() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(_) => Value::Integer(item.integer()?),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Array(_) => Value::List(item.list()?.iter().filter_map(value_of).collect()),
        DeValue::Table(_) => Value::Hash(
            item.table()?
                .entries()
                .iter()
                .filter_map(|(key, _, item)| Some((key.as_str().into(), value_of(item)?)))
                .collect(),
        ),
        DeValue::Float(_) | DeValue::Datetime(_) => {
            item.error(
                "wrong-kind",
                format!(
                    "`{}` cannot be a floating-point number or a date",
                    item.path
                ),
            );
            return None;
        }
    })
}

impl KeyValue for Value {
    fn declare(shape: &ValueShape) {
        shape.accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        value_of(item)
    }
}

/// Reads a model from the root table of its file.
pub(crate) fn read_model(root: &Table<'_>) -> Option<TypeModel> {
    check_schema(ModelSections::schema(root))?;
    ModelSections::extends(root);
    let keys = ModelKeys::of(root);
    let mut attributes = IndexMap::default();
    if let Some(keys) = &keys {
        check_type_name(&keys.name, root.findings);
        insert_ensure(keys, &mut attributes, root.findings);
    }
    let mut unstated = Vec::new();
    read_attributes(root, &mut attributes, &mut unstated);
    let rules = ModelSections::rule(root);
    let relations = [
        (AutoKind::Require, ModelSections::autorequire(root)),
        (AutoKind::Subscribe, ModelSections::autosubscribe(root)),
        (AutoKind::Before, ModelSections::autobefore(root)),
        (AutoKind::Notify, ModelSections::autonotify(root)),
    ];
    root.finish();
    let keys = keys?;
    let default_word = keys.default_word.as_ref();
    let default_word =
        default_word.map(|word| mark_default_word(word, &mut attributes, root.findings));
    let names = AttributeNames {
        attributes: &attributes,
        findings: root.findings,
    };
    let namevars = attributes.values();
    let namevars = namevars.filter(|attribute| attribute.role == Role::Namevar);
    match namevars.count() {
        0 => root.findings.error_with_help(
            "no-namevar",
            root.span.clone(),
            "the type has no namevar",
            "add `role = \"namevar\"` to one attribute",
        ),
        1 => {}
        _ if keys.title.is_empty() => root.missing("title"),
        _ => {}
    }
    let titles = keys.title.iter();
    let rules: Option<Vec<At<RuleKeys>>> = read_value(rules);
    let rules = rules.into_iter().flatten();
    let relations = relations.into_iter().flat_map(|(kind, item)| {
        let items = item.map(Item::one_or_more).into_iter().flatten();
        items.map(move |item| (kind, item))
    });
    Some(TypeModel {
        name: keys.name.value.into(),
        doc: keys.doc,
        runs_on: keys.runs_on,
        style: keys.style,
        refresh: keys.refresh,
        titles: titles
            .filter_map(|title| title_pattern(title, &names))
            .collect(),
        rules: rules.filter_map(|keys| rule(keys, &names)).collect(),
        relations: relations
            .filter_map(|(kind, item)| read_relation(&item, kind, &names))
            .collect(),
        object: keys.object.map(|name| names.checked(name).into()),
        built_in: keys.built_in.map(|pattern| pattern.0),
        implicit: keys.implicit.map(|pattern| pattern.0),
        owns_address: names.all(keys.owns_address),
        shares_address: names.all(keys.shares_address),
        access: keys.access.and_then(|keys| access(keys, &names)),
        shutdown: keys.shutdown.map(|keys| shutdown(keys, &names)),
        site_unique: names.all(keys.site_unique),
        location: view_location(keys.view, keys.section, &names),
        default_word,
        attributes,
        unstated,
    })
}

/// The attribute `ensure`, if the type has it.
fn insert_ensure(
    keys: &ModelKeys,
    attributes: &mut IndexMap<Name, AttributeModel>,
    findings: &Findings,
) {
    let default = keys.ensure_default.as_ref();
    if keys.ensurable {
        let default = default.map(|word| word.value.0);
        attributes.insert(Name::from("ensure"), ensure(default));
    } else if let Some(word) = default {
        let message = "`ensure_default` requires `ensurable = true`";
        findings.error("ensure-default", word.span.clone(), message);
    }
}

/// `[attr.x]`: the attributes in the order of the file.
fn read_attributes(
    root: &Table<'_>,
    attributes: &mut IndexMap<Name, AttributeModel>,
    unstated: &mut Vec<UnstatedReference>,
) {
    let table = ModelSections::attr(root).and_then(|item| item.table());
    for (name, span, item) in table.iter().flat_map(Table::entries) {
        if name == "ensure" {
            root.findings.error_with_help(
                "ensure-attribute",
                span,
                "`ensure` cannot be declared as an attribute",
                "write `ensurable = true`",
            );
            continue;
        }
        check_attribute_name(&item, &name);
        let Some(keys) = ModelAttributeKeys::read(&item) else {
            continue;
        };
        if keys.refers.is_none() {
            unstated.push(UnstatedReference {
                attribute: Name::from(name.as_str()),
                source: Arc::clone(&item.findings.source),
                span: span.clone(),
            });
        }
        let attribute = attribute(&name, keys, root.findings);
        attributes.insert(attribute.name.clone(), attribute);
    }
}

/// The attributes of a model, which other keys name.
struct AttributeNames<'a> {
    attributes: &'a IndexMap<Name, AttributeModel>,
    findings: &'a Findings,
}

impl AttributeNames<'_> {
    /// Reports a name that no attribute has.
    fn check(&self, name: &str, span: &Range<usize>) {
        if self.attributes.contains_key(name) {
            return;
        }
        let names = self.attributes.keys().map(Name::as_str);
        let help = suggest(name, names, "declare it as [attr.NAME]");
        let message = format!("the type has no attribute `{name}`");
        self.findings
            .error_with_help("unknown-attribute", span.clone(), message, help);
    }

    /// A name, after its check.
    fn checked(&self, name: At<String>) -> String {
        self.check(&name, &name.span);
        name.value
    }

    /// Names, after their check.
    fn all(&self, names: Vec<At<String>>) -> Vec<String> {
        let names = names.into_iter();
        names.map(|name| self.checked(name)).collect()
    }
}

fn title_pattern(title: &TitleText, names: &AttributeNames<'_>) -> Option<TitlePattern> {
    let At { value: text, span } = &title.0;
    let error = |message: String| {
        names.findings.error("title", span.clone(), message);
    };
    let mut pattern = String::from(r"(?s)\A");
    let mut rest = text.as_str();
    while let Some((literal, tail)) = rest.split_once('{') {
        let Some((name, after)) = tail.split_once('}') else {
            error(format!("`{text}` has a `{{` without `}}`"));
            return None;
        };
        let attribute = names.attributes.get(name);
        if attribute.is_none_or(|attribute| attribute.role != Role::Namevar) {
            error(format!("`{name}` in the title is not a namevar"));
            return None;
        }
        pattern.push_str(&regex::escape(literal));
        pattern.push_str(&format!("(?P<{name}>.+)"));
        rest = after;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push_str(r"\z");
    match Pattern::new(&pattern) {
        Ok(pattern) => Some(TitlePattern {
            text: text.clone(),
            pattern,
        }),
        Err(reason) => {
            error(format!("`{text}` is not a valid title: {reason}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        match load(&Source::new("t.toml", text)) {
            Ok(_) => Vec::new(),
            Err(list) => list
                .into_iter()
                .map(|found| match found.help {
                    Some(help) => format!("{} ({help})", found.message),
                    None => found.message,
                })
                .collect(),
        }
    }

    #[test]
    fn load_orders_attributes_with_ensure_first() {
        let model = load(&Source::new(
            "t.toml",
            r#"
            schema = 1
            type = "thing"
            doc = "A thing."
            ensurable = true
            ensure_default = "present"
            [attr.id]
            role = "namevar"
            values = [{ name = "id", integer = [1, 9] }]
            [attr.size]
            values = ["unset", { name = "size", struct = { width = "integer", "depth?" = "integer" } }]
            "#,
        ))
        .unwrap();
        let names: Vec<_> = model.attributes.keys().map(|name| name.as_str()).collect();
        assert_eq!(names, ["ensure", "id", "size"]);
        assert_eq!(model.attributes["ensure"].default, Some("present".into()));
    }

    #[test]
    fn load_reports_errors_with_suggestions() {
        let cases = [
            (
                "rolle = 1\n",
                "unknown key `rolle` in [attr.id] (did you mean `role`?)",
            ),
            (
                "role = \"namvar\"\n",
                "`attr.id.role` cannot be `namvar` (did you mean `namevar`?)",
            ),
            (
                "role = \"namevar\"\nvalues = [\"a\", \"a\"]\n",
                "two values have the name `a`",
            ),
            (
                "role = \"namevar\"\nvalues = [1.5]\n",
                "`attr.id.values[0]` cannot be a floating-point number or a date",
            ),
            (
                "role = \"namevar\"\nvalues = [\"a\"]\ndefault = \"b\"\n",
                "the default is invalid: \"b\" is not valid: expected `a`",
            ),
            (
                "role = \"namevar\"\n[[rule]]\nneeds = [\"id\", \"idd\"]\n",
                "the type has no attribute `idd` (did you mean `id`?)",
            ),
        ];
        for (text, expected) in cases {
            let text = format!("schema = 1\ntype = \"x\"\ndoc = \"x\"\n[attr.id]\n{text}");
            let found = messages(&text);
            assert!(
                found.iter().any(|message| message == expected),
                "{text}\n{found:?}"
            );
        }
    }

    #[test]
    fn rule_keys_name_attributes_and_their_values() {
        let cases = [
            (
                "owns_address = \"ip\"",
                "the type has no attribute `ip` (did you mean `id`?)",
            ),
            (
                "site_unique = [\"id\", \"idd\"]",
                "the type has no attribute `idd` (did you mean `id`?)",
            ),
            (
                "shutdown = { attribute = \"id\" }",
                "key `when` is missing in [shutdown]",
            ),
            (
                "shutdown = { attribute = \"id\", when = \"b\" }",
                "`id` cannot have this value: \"b\" is not valid: expected `a` (use one of `a`)",
            ),
            (
                "shutdown = { attribut = \"id\", when = \"a\" }",
                "unknown key `attribut` in [shutdown] (did you mean `attribute`?)",
            ),
        ];
        for (text, expected) in cases {
            let text = format!(
                "schema = 1\ntype = \"x\"\ndoc = \"x\"\n{text}\n[attr.id]\nrole = \"namevar\"\nvalues = [\"a\"]\n"
            );
            let found = messages(&text);
            assert!(
                found.iter().any(|message| message == expected),
                "{text}\n{found:?}"
            );
        }
    }
}

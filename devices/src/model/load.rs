//! Loads `definitions/models/<type>.toml` as a [`TypeModel`].
//!
//! `docs/definitions.md` describes the keys; unknown keys are errors. Problems are added to the
//! file's findings. A model is returned only if there are none.

mod access;
mod attribute;
mod reference;
mod relation;
mod rule;
mod rule_keys;
pub(crate) mod value_spec;
mod view_place;

use std::sync::Arc;

use self::access::read_access;
use self::attribute::{ensure, read_attribute};
use self::relation::read_relation;
use self::rule::read_rule;
use self::rule_keys::{read_attribute_names, read_default_word, read_shutdown};
use self::value_spec::complete_pattern;
use self::view_place::{check_attribute_name, check_type_name, read_place};
use super::reference::UnstatedReference;
use super::{AttributeModel, AutoKind, Refresh, Role, RunsOn, Style, TitlePattern, TypeModel};
use crate::diagnostic::{Diagnostic, Source, suggest};
use crate::document::{self, Findings, Item, KeyValue, Table, ValueShape, word};
use crate::format_version::FormatVersion;
use crate::map::IndexMap;
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
pub(crate) fn check_schema(root: &Table<'_>) -> Option<()> {
    if let Some(item) = root.required("schema")
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
    check_schema(root)?;
    root.get("extends");
    let name = root.required_string("type");
    if let Some(name) = &name {
        check_type_name(root, name);
    }
    let doc = root.required_string("doc").unwrap_or_default();
    let runs_on = root.get("runs_on").and_then(|item| {
        word(
            &item,
            &[
                ("device", RunsOn::Device),
                ("host", RunsOn::Host),
                ("both", RunsOn::Both),
            ],
        )
    });
    let style = root.get("style").and_then(|item| {
        word(
            &item,
            &[
                ("classic", Style::Classic),
                ("resource_api", Style::ResourceApi),
            ],
        )
    });
    let refresh = root.get("refresh").and_then(|item| {
        word(
            &item,
            &[
                ("no", Refresh::No),
                ("yes", Refresh::Yes),
                ("itself", Refresh::ItselfToo),
            ],
        )
    });

    let mut attributes = IndexMap::default();
    let ensurable = root.bool("ensurable").unwrap_or(false);
    let ensure_default = root.get("ensure_default");
    if ensurable {
        let default = ensure_default
            .and_then(|item| word(&item, &[("present", "present"), ("absent", "absent")]));
        attributes.insert(Name::from("ensure"), ensure(default));
    } else if let Some(item) = ensure_default {
        item.error(
            "ensure-default",
            "`ensure_default` requires `ensurable = true`",
        );
    }
    let mut unstated = Vec::new();
    for (name, span, item) in root.table("attr").iter().flat_map(Table::entries) {
        if name == "ensure" {
            root.findings.error_with_help(
                "ensure-attribute",
                span,
                "`ensure` cannot be declared as an attribute",
                "write `ensurable = true`",
            );
        } else if let Some(table) = item.table() {
            check_attribute_name(&item, &name);
            let attribute = read_attribute(&name, &table);
            if table.get("refers").is_none() {
                unstated.push(UnstatedReference {
                    attribute: attribute.name.clone(),
                    source: Arc::clone(&table.findings.source),
                    span: span.clone(),
                });
            }
            table.finish();
            attributes.insert(attribute.name.clone(), attribute);
        }
    }
    let default_word = read_default_word(root, &mut attributes);
    let namevars: Vec<&str> = attributes
        .values()
        .filter(|attribute| attribute.role == Role::Namevar)
        .map(|attribute| attribute.name.as_str())
        .collect();
    if namevars.is_empty() {
        root.findings.error_with_help(
            "no-namevar",
            root.span.clone(),
            "the type has no namevar",
            "add `role = \"namevar\"` to one attribute",
        );
    }

    let mut titles = Vec::new();
    if let Some(item) = root.get("title") {
        for text in item.strings().unwrap_or_default() {
            titles.extend(title_pattern(&item, &text, &attributes));
        }
    } else if namevars.len() > 1 {
        root.missing("title");
    }

    let rules = root.get("rule").and_then(|item| item.list());
    let rules = rules
        .iter()
        .flatten()
        .filter_map(|item| read_rule(item, &attributes))
        .collect();
    let mut relations = Vec::new();
    for (key, kind) in [
        ("autorequire", AutoKind::Require),
        ("autosubscribe", AutoKind::Subscribe),
        ("autobefore", AutoKind::Before),
        ("autonotify", AutoKind::Notify),
    ] {
        for item in root.get(key).and_then(|item| item.list()).iter().flatten() {
            relations.extend(read_relation(item, kind, &attributes));
        }
    }
    let object = root.get("object").and_then(|item| {
        let name = item.string()?;
        check_attribute_exists(&item, &name, &attributes);
        Some(Name::from(name))
    });
    let built_in = root
        .get("built_in")
        .and_then(|item| complete_pattern(&item));
    let implicit = root
        .get("implicit")
        .and_then(|item| complete_pattern(&item));
    let owns_address = read_attribute_names(root, "owns_address", &attributes);
    let shares_address = read_attribute_names(root, "shares_address", &attributes);
    let site_unique = read_attribute_names(root, "site_unique", &attributes);
    let access = root
        .get("access")
        .and_then(|item| read_access(&item, &attributes));
    let shutdown = root
        .get("shutdown")
        .and_then(|item| read_shutdown(&item, &attributes));
    let place = read_place(root, &attributes);
    root.finish();

    Some(TypeModel {
        name: name?.into(),
        doc,
        runs_on: runs_on.unwrap_or_default(),
        style: style.unwrap_or_default(),
        refresh: refresh.unwrap_or_default(),
        attributes,
        titles,
        rules,
        relations,
        object,
        unstated,
        built_in,
        implicit,
        owns_address,
        shares_address,
        access,
        default_word,
        shutdown,
        site_unique,
        place,
    })
}

fn title_pattern(
    item: &Item<'_>,
    text: &str,
    attributes: &IndexMap<Name, AttributeModel>,
) -> Option<TitlePattern> {
    let mut pattern = String::from(r"(?s)\A");
    let mut rest = text;
    while let Some((literal, tail)) = rest.split_once('{') {
        let Some((name, after)) = tail.split_once('}') else {
            item.error("title", format!("`{text}` has a `{{` without `}}`"));
            return None;
        };
        if attributes
            .get(name)
            .is_none_or(|attribute| attribute.role != Role::Namevar)
        {
            item.error("title", format!("`{name}` in the title is not a namevar"));
            return None;
        }
        pattern.push_str(&regex::escape(literal));
        pattern.push_str(&format!("(?P<{name}>.+)"));
        rest = after;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push_str(r"\z");
    let pattern = item.compile(&pattern)?;
    Some(TitlePattern {
        text: text.to_owned(),
        pattern,
    })
}

fn check_attribute_exists(
    item: &Item<'_>,
    name: &str,
    attributes: &IndexMap<Name, AttributeModel>,
) {
    if attributes.contains_key(name) {
        return;
    }
    let help = suggest(
        name,
        attributes.keys().map(|name| name.as_str()),
        "declare it as [attr.NAME]",
    );
    item.findings.error_with_help(
        "unknown-attribute",
        item.span.clone(),
        format!("the type has no attribute `{name}`"),
        help,
    );
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

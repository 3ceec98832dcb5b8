//! Loads one `[attr.x]`: its role, values and notation.

use super::reference::read_references;
use super::value_spec::{read_canon, read_values};
use super::{value_of, word};
use crate::document::{Item, Table};
use crate::model::notation::Notation;
use crate::model::version::Version;
use crate::model::{ArrayKind, AttributeModel, Role, ValueSpec};
use crate::value::Value;

pub(crate) fn ensure(default: Option<&str>) -> AttributeModel {
    AttributeModel {
        name: "ensure".into(),
        doc: "Whether the instance exists on the device.".to_owned(),
        role: Role::Property,
        values: ["present", "absent"]
            .map(|name| ValueSpec::Literal(name.into()))
            .to_vec(),
        array: None,
        default: default.map(Value::from),
        default_word: None,
        puppet_default: None,
        required: false,
        sensitive: false,
        canon: Vec::new(),
        refers: Vec::new(),
        since: None,
    }
}

pub(crate) fn read_attribute(name: &str, table: &Table<'_>) -> AttributeModel {
    let role = table.get("role").and_then(|item| {
        word(
            &item,
            &[
                ("namevar", Role::Namevar),
                ("property", Role::Property),
                ("init_only", Role::InitOnly),
                ("read_only", Role::ReadOnly),
                ("parameter", Role::Parameter),
            ],
        )
    });
    let array = table.get("array").and_then(|item| {
        let kinds = [
            ("set", ArrayKind::Set),
            ("list", ArrayKind::List),
            ("sequence", ArrayKind::Sequence),
        ];
        word(&item, &kinds)
    });
    let canon = table.get("canon").map(|item| read_canon(&item));
    let refers = table.get("refers");
    let values = table.get("values");
    let notation = values.as_ref().and_then(read_notation);
    let declared = notation.as_ref();
    let mut attribute = AttributeModel {
        name: name.into(),
        doc: table.string("doc").unwrap_or_default(),
        role: role.unwrap_or(Role::Property),
        values: match (declared, values) {
            (Some(notation), _) => notation.values.clone(),
            (None, Some(item)) if item.is_list() => read_values(&item),
            _ => Vec::new(),
        },
        array: array.or(declared.and_then(|notation| notation.array)),
        default: table.get("default").and_then(|item| value_of(&item)),
        default_word: None,
        puppet_default: table.get("puppet_default").and_then(|item| value_of(&item)),
        required: table.bool("required").unwrap_or(false),
        sensitive: table
            .bool("sensitive")
            .unwrap_or_else(|| declared.is_some_and(|notation| notation.sensitive)),
        canon: canon.unwrap_or_default(),
        refers: Vec::new(),
        since: table.get("since").and_then(|item| read_since(&item)),
    };
    if let Some(item) = refers {
        attribute.refers = read_references(&item, name, &attribute.values);
    }
    let defaults = [
        ("default", &attribute.default),
        ("puppet_default", &attribute.puppet_default),
    ];
    for (key, default) in defaults {
        if let Some(default) = default
            && let Err(error) = attribute.canonicalize(default)
            && let Some(item) = table.get(key)
        {
            item.error(
                "default",
                format!("the default is invalid: {}", error.message),
            );
        }
    }
    attribute
}

/// `since = "0.3"`.
fn read_since(item: &Item<'_>) -> Option<Version> {
    let found = Version::parse(&item.string()?);
    if found.is_none() {
        item.findings.error_with_help(
            "since",
            item.span.clone(),
            "the value is no version",
            "write the version of switchtender that is the first with the attribute: \"0.3\"",
        );
    }
    found
}

/// Values in Puppet's notation of types, if they are not a list.
fn read_notation(item: &Item<'_>) -> Option<Notation> {
    if item.is_list() {
        return None;
    }
    match Notation::parse(&item.string()?) {
        Ok(notation) => Some(notation),
        Err(error) => {
            item.error("type-notation", format!("invalid type: {error}"));
            None
        }
    }
}

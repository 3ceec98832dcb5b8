//! Loads the keys for offline rules: `owns_address`, `shutdown` and `site_unique`.

use super::{check_attribute_exists, value_of};
use crate::document::{Item, Table};
use crate::map::IndexMap;
use crate::model::{AttributeModel, Shutdown, ValueSpec};
use crate::value::{Name, Value};

/// The attributes of a key: one name or a list.
pub(crate) fn read_attribute_names(
    root: &Table<'_>,
    key: &str,
    attributes: &IndexMap<Name, AttributeModel>,
) -> Vec<String> {
    let Some(item) = root.get(key) else {
        return Vec::new();
    };
    let items = if item.is_list() {
        item.list().unwrap_or_default()
    } else {
        vec![item]
    };
    items
        .iter()
        .filter_map(|item| {
            let name = item.string()?;
            check_attribute_exists(item, &name, attributes);
            Some(name)
        })
        .collect()
}

/// `default_word = "unset"`. Marks the attributes that have the word as a literal.
pub(crate) fn read_default_word(
    root: &Table<'_>,
    attributes: &mut IndexMap<Name, AttributeModel>,
) -> Option<Name> {
    let item = root.get("default_word")?;
    let word = Name::from(item.string()?);
    let is_word = |spec: &ValueSpec| matches!(spec, ValueSpec::Literal(value) if value.as_str() == Some(&word));
    let mut is_used = false;
    for attribute in attributes.values_mut() {
        if attribute.values.iter().any(is_word) {
            attribute.default_word = Some(word.clone());
            is_used = true;
        }
    }
    if !is_used {
        item.findings.error_with_help(
            "default-word",
            item.span.clone(),
            format!("no attribute has the value `{word}`"),
            format!("remove `default_word`, or add \"{word}\" to the `values` of an attribute"),
        );
    }
    Some(word)
}

/// `shutdown = { attribute = "enable", when = false }`.
pub(crate) fn read_shutdown(
    item: &Item<'_>,
    attributes: &IndexMap<Name, AttributeModel>,
) -> Option<Shutdown> {
    let table = item.table()?;
    let attribute = table.required("attribute");
    let when = table.required("when");
    table.finish();
    let (attribute, when) = (attribute?, when?);
    let name = attribute.string()?;
    check_attribute_exists(&attribute, &name, attributes);
    let value = value_of(&when)?;
    if let Some(model) = attributes.get(name.as_str()) {
        check_value(&when, &value, model);
    }
    Some(Shutdown {
        attribute: name,
        when: value,
    })
}

/// Reports an invalid value of the attribute.
fn check_value(item: &Item<'_>, value: &Value, attribute: &AttributeModel) {
    let literals: Vec<String> = attribute
        .values
        .iter()
        .filter(|spec| matches!(spec, ValueSpec::Literal(_)))
        .map(|spec| format!("`{}`", spec.name()))
        .collect();
    if let Err(error) = attribute.canonicalize(value) {
        item.findings.error_with_help(
            "unknown-word",
            item.span.clone(),
            format!(
                "`{}` cannot have this value: {}",
                attribute.name, error.message
            ),
            format!("use one of {}", literals.join(", ")),
        );
    }
}

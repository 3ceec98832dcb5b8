//! Fields with JSON in definitions.

use serde_json::Value as Json;
use toml::de::DeValue;

use crate::document::{Item, Table};
use crate::read::field_path::FieldPath;

/// The fields of a section of a table.
pub(crate) fn fields(table: &Table<'_>, key: &str) -> Vec<(FieldPath, Json)> {
    table
        .table(key)
        .map_or_else(Vec::new, |table| all_fields(&table, &[]))
}

/// The entries of a table, without those of other keys.
pub(crate) fn all_fields(table: &Table<'_>, others: &[&str]) -> Vec<(FieldPath, Json)> {
    table
        .entries()
        .iter()
        .filter(|(key, ..)| !others.contains(&key.as_str()))
        .filter_map(|(key, span, item)| {
            Some((FieldPath::read_key(table, key, span)?, json_of(item)?))
        })
        .collect()
}

/// A value as JSON.
pub(crate) fn json_of(item: &Item<'_>) -> Option<Json> {
    Some(match item.value() {
        DeValue::String(text) => Json::from(text.as_ref()),
        DeValue::Integer(_) => Json::from(item.integer()?),
        DeValue::Boolean(truth) => Json::from(*truth),
        DeValue::Array(_) => item.list()?.iter().filter_map(json_of).collect(),
        DeValue::Table(_) => Json::Object(
            item.table()?
                .entries()
                .iter()
                .filter_map(|(key, _, item)| Some((key.clone(), json_of(item)?)))
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

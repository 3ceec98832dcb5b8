//! Values that several sections share: fields with JSON, templates, tables of tables.

use crate::map::IndexMap;
use serde_json::Value as Json;
use toml::de::DeValue;

use crate::document::{Item, Table};
use crate::driver::rest::json::FieldPath;
use crate::driver::rest::template::TextTemplate;
use crate::model::load::word;
use crate::operation::Method;

/// The entries of a table of tables, by name.
pub(crate) fn named<T>(
    table: &Table<'_>,
    key: &str,
    read: impl Fn(&Table<'_>) -> Option<T>,
) -> IndexMap<String, T> {
    table
        .table(key)
        .iter()
        .flat_map(Table::entries)
        .filter_map(|(name, _, item)| Some((name, read(&item.table()?)?)))
        .collect()
}

pub(crate) fn fields(table: &Table<'_>, key: &str) -> Vec<(FieldPath, Json)> {
    table
        .table(key)
        .map_or_else(Vec::new, |table| all_fields(&table))
}

pub(crate) fn all_fields(table: &Table<'_>) -> Vec<(FieldPath, Json)> {
    table
        .entries()
        .iter()
        .filter_map(|(key, _, item)| Some((FieldPath::new(key), json_of(item)?)))
        .collect()
}

pub(crate) fn json_of(item: &Item<'_>) -> Option<Json> {
    Some(match item.value {
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

/// A verb. Only one is supported: requests create an object in its collection, and change the
/// fields that differ.
pub(crate) fn method(table: &Table<'_>, key: &str, supported: (&str, Method)) -> Method {
    if let Some(item) = table.get(key) {
        word(&item, &[supported]);
    }
    supported.1
}

pub(crate) fn templates(table: &Table<'_>, key: &str) -> IndexMap<String, TextTemplate> {
    table
        .table(key)
        .iter()
        .flat_map(Table::entries)
        .filter_map(|(name, _, item)| Some((name, item_template(&item)?)))
        .collect()
}

pub(crate) fn template(table: &Table<'_>, key: &str) -> Option<TextTemplate> {
    table.get(key).and_then(|item| item_template(&item))
}

pub(crate) fn required_template(table: &Table<'_>, key: &str) -> Option<TextTemplate> {
    item_template(&table.required(key)?)
}

pub(crate) fn item_template(item: &Item<'_>) -> Option<TextTemplate> {
    match TextTemplate::parse(&item.string()?) {
        Ok(template) => Some(template),
        Err(error) => {
            item.error("template", error.to_string());
            None
        }
    }
}

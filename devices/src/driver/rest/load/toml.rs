//! Values that several sections share: fields with JSON, templates, tables of tables.

use std::ops::Range;

use crate::map::IndexMap;
use serde_json::Value as Json;
use toml::de::DeValue;

use crate::document::{Item, Table};
use crate::driver::rest::template::{BodyField, TextTemplate};
use crate::read::field_path::FieldPath;

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
        .filter_map(|(key, span, item)| Some((field_path(table, key, span)?, json_of(item)?)))
        .collect()
}

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

/// The path in a key of a table.
fn field_path(table: &Table<'_>, key: &str, span: &Range<usize>) -> Option<FieldPath> {
    match key.parse::<FieldPath>() {
        Ok(path) => Some(path),
        Err(error) => {
            let message = error.to_string();
            table.findings.error("path", span.clone(), message);
            None
        }
    }
}

/// Fields with templates.
pub(crate) fn templates(table: &Table<'_>, key: &str) -> Vec<(FieldPath, TextTemplate)> {
    let Some(table) = table.table(key) else {
        return Vec::new();
    };
    let entries = table.entries().into_iter();
    let fields = entries.filter_map(|(name, span, item)| {
        Some((field_path(&table, &name, &span)?, item_template(&item)?))
    });
    fields.collect()
}

/// The fields of a body: a text is a template, anything else a constant.
pub(crate) fn body(table: &Table<'_>, key: &str) -> Vec<(FieldPath, BodyField)> {
    let Some(table) = table.table(key) else {
        return Vec::new();
    };
    let entries = table.entries().into_iter();
    let fields = entries.filter_map(|(name, span, item)| {
        let path = field_path(&table, &name, &span)?;
        let field = match item.value() {
            DeValue::String(_) => BodyField::Text(item_template(&item)?),
            _ => BodyField::Constant(json_of(&item)?),
        };
        Some((path, field))
    });
    fields.collect()
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

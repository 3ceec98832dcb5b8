//! Values that several sections share: templates, tables of tables.

use crate::map::IndexMap;
use toml::de::DeValue;

use crate::document::{Item, Table};
use crate::driver::json_fields::{field_path, json_of};
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

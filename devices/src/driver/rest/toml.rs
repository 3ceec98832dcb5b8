//! Values that several sections share: templates, tables of tables.

use crate::map::IndexMap;
use toml::de::DeValue;

use crate::document::{Item, Table};
use crate::driver::json_fields::json_of;
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
        Some((
            FieldPath::read_key(&table, &name, &span)?,
            item_template(&item)?,
        ))
    });
    fields.collect()
}

/// The fields of a body: a text is a template, also in an object, and anything else a constant.
pub(crate) fn body(table: &Table<'_>, key: &str) -> Vec<(FieldPath, BodyField)> {
    let Some(table) = table.table(key) else {
        return Vec::new();
    };
    let entries = table.entries().into_iter();
    let fields = entries.filter_map(|(name, span, item)| {
        let path = FieldPath::read_key(&table, &name, &span)?;
        Some(body_fields(path, &item))
    });
    fields.flatten().collect()
}

/// The fields of a value at a path.
fn body_fields(path: FieldPath, item: &Item<'_>) -> Vec<(FieldPath, BodyField)> {
    let field = match item.value() {
        DeValue::Table(fields) if !fields.is_empty() => {
            let entries = item.table().map(|table| table.entries());
            let entries = entries.into_iter().flatten();
            return entries
                .flat_map(|(name, _, item)| body_fields(path.join(&FieldPath::of(&name)), &item))
                .collect();
        }
        DeValue::String(_) => item_template(item).map(BodyField::Text),
        _ => json_of(item).map(BodyField::Constant),
    };
    field.map(|field| (path, field)).into_iter().collect()
}

pub(crate) fn template(table: &Table<'_>, key: &str) -> Option<TextTemplate> {
    table.get(key).and_then(|item| item_template(&item))
}

pub(crate) fn required_template(table: &Table<'_>, key: &str) -> Option<TextTemplate> {
    item_template(&table.required(key)?)
}

pub(crate) fn item_template(item: &Item<'_>) -> Option<TextTemplate> {
    match TextTemplate::parse(&item.template()?) {
        Ok(template) => Some(template),
        Err(error) => {
            item.error("template", error.to_string());
            None
        }
    }
}

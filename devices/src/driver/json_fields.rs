//! Fields with JSON in definitions.

use serde_json::Value as Json;
use toml::de::DeValue;

use crate::document::{Item, KeyValue, Table, ValueKind, ValueShape};
use crate::read::field_path::FieldPath;

/// Fields with constant values.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonFields(pub(crate) Vec<(FieldPath, Json)>);

impl KeyValue for JsonFields {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::Table);
        shape.any_name().accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        fields_of(&item.table()?, json_of).map(Self)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

impl KeyValue for Json {
    fn declare(shape: &ValueShape) {
        shape.accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        json_of(item)
    }
}

/// The entries of a table whose keys are paths. Each error is reported.
pub(crate) fn fields_of<T>(
    table: &Table<'_>,
    read: impl Fn(&Item<'_>) -> Option<T>,
) -> Option<Vec<(FieldPath, T)>> {
    let entries = table.entries().into_iter();
    let fields = entries.map(|(name, span, item)| {
        let path = FieldPath::read_key(table, &name, &span);
        path.zip(read(&item))
    });
    let fields: Vec<Option<_>> = fields.collect();
    fields.into_iter().collect()
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

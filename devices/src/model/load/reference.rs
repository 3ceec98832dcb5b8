//! Loads the key `refers` of an attribute.

use crate::document::{Item, Table};
use crate::model::reference::ReferencePart;
use crate::model::{Reference, ValueSpec};

/// The references of an attribute: names of types, or tables.
pub(crate) fn read_references(
    item: &Item<'_>,
    attribute: &str,
    values: &[ValueSpec],
) -> Vec<Reference> {
    let items = item.list().unwrap_or_default();
    let references = items.iter().filter_map(|item| {
        if item.is_table() {
            return read_reference(&item.table()?, attribute, values);
        }
        Some(Reference {
            attribute: attribute.into(),
            target: item.string()?.into(),
            part: ReferencePart::Complete,
            name: None,
            others: false,
        })
    });
    references.collect()
}

fn read_reference(table: &Table<'_>, attribute: &str, values: &[ValueSpec]) -> Option<Reference> {
    let target = table.required_string("type");
    let name = table.string("name");
    let others = table.bool("others").unwrap_or(false);
    let field = table.get("field");
    let numbers = table.bool("numbers");
    let pattern = table.get("pattern");
    table.finish();
    let part = match (field, numbers, pattern) {
        (None, None | Some(false), None) => ReferencePart::Complete,
        (None, Some(true), None) => ReferencePart::Numbers,
        (Some(item), None, None) => ReferencePart::Field(field_of(&item, values)?),
        (None, None, Some(item)) => {
            let pattern = item.pattern()?;
            if pattern.group_count() == 0 {
                item.error("reference", "the pattern has no group for the name");
            }
            ReferencePart::Match(pattern)
        }
        _ => {
            let message = "a reference has at most one of `field`, `numbers` and `pattern`";
            table
                .findings
                .error("reference", table.span.clone(), message);
            return None;
        }
    };
    Some(Reference {
        attribute: attribute.into(),
        target: target?.into(),
        part,
        name,
        others,
    })
}

/// A field of the structs of the attribute.
fn field_of(item: &Item<'_>, values: &[ValueSpec]) -> Option<String> {
    let field = item.string()?;
    let has_field = |spec: &ValueSpec| match spec {
        ValueSpec::Struct { fields, .. } => fields.contains_key(&field),
        _ => false,
    };
    if !values.iter().any(has_field) {
        item.error("reference", format!("the values have no field `{field}`"));
    }
    Some(field)
}

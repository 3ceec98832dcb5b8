//! Loads automatic relations, and references that do not order resources.

use super::check_attribute_exists;
use crate::document::Item;
use crate::map::IndexMap;
use crate::model::{AttributeModel, AutoKind, AutoRelation, Reference, RelationSource};
use crate::value::Name;

pub(crate) fn read_relation(
    item: &Item<'_>,
    kind: AutoKind,
    attributes: &IndexMap<Name, AttributeModel>,
) -> Option<AutoRelation> {
    let table = item.table()?;
    let target = table.required_string("type");
    let from = table.get("from");
    let partition = table.get("partition");
    let names = table.strings("names");
    table.finish();
    let attribute = |item: Item<'_>| path(&item, attributes);
    let source = match (from, partition, names) {
        (Some(item), None, None) => RelationSource::Attribute(attribute(item)?),
        (None, Some(item), None) => RelationSource::Partition(attribute(item)?),
        (None, None, Some(names)) => RelationSource::Fixed(names),
        _ => {
            item.error(
                "relation",
                "a relation requires one of `from`, `partition` and `names`",
            );
            return None;
        }
    };
    Some(AutoRelation {
        kind,
        target: target?.into(),
        from: source,
    })
}

pub(crate) fn read_reference(
    item: &Item<'_>,
    attributes: &IndexMap<Name, AttributeModel>,
) -> Option<Reference> {
    let table = item.table()?;
    let target = table.required_string("type");
    let from = table.required("from");
    let numbers = table.bool("numbers").unwrap_or(false);
    table.finish();
    Some(Reference {
        target: target?.into(),
        from: path(&from?, attributes)?,
        numbers,
    })
}

/// An attribute, or a field of its structs: `members.name`.
fn path(item: &Item<'_>, attributes: &IndexMap<Name, AttributeModel>) -> Option<String> {
    let text = item.string()?;
    let name = text.split('.').next().unwrap_or(&text);
    check_attribute_exists(item, name, attributes);
    Some(text)
}

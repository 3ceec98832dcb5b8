//! Loads automatic relations that are no references.

use super::check_attribute_exists;
use crate::document::Item;
use crate::map::IndexMap;
use crate::model::{AttributeModel, AutoKind, AutoRelation, RelationSource};
use crate::value::Name;

pub(crate) fn read_relation(
    item: &Item<'_>,
    kind: AutoKind,
    attributes: &IndexMap<Name, AttributeModel>,
) -> Option<AutoRelation> {
    let table = item.table()?;
    let target = table.required_string("type");
    let from = table.get("from");
    let names = table.strings("names");
    table.finish();
    let source = match (from, names) {
        (Some(from), None) if kind == AutoKind::Require => {
            from.findings.error_with_help(
                "relation",
                from.span.clone(),
                "`autorequire` has `names`, not `from`",
                "write `refers` at the attribute whose value names the resources",
            );
            return None;
        }
        (Some(from), None) => {
            let attribute = from.string()?;
            check_attribute_exists(&from, &attribute, attributes);
            RelationSource::Attribute(attribute)
        }
        (None, Some(names)) => RelationSource::Fixed(names),
        _ => {
            item.error("relation", "a relation requires one of `from` and `names`");
            return None;
        }
    };
    Some(AutoRelation {
        kind,
        target: target?.into(),
        from: source,
    })
}

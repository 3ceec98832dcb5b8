//! Loads automatic relations that are no references.

use super::AttributeNames;
use super::model_keys::RelationKeys;
use crate::document::{Item, KeyValue};
use crate::model::{AutoKind, AutoRelation, RelationSource};

pub(super) fn read_relation(
    item: &Item<'_>,
    kind: AutoKind,
    names: &AttributeNames<'_>,
) -> Option<AutoRelation> {
    let keys = RelationKeys::read(item)?;
    let source = match (keys.from, keys.names) {
        (Some(from), None) if kind == AutoKind::Require => {
            names.findings.error_with_help(
                "relation",
                from.span,
                "`autorequire` has `names`, not `from`",
                "write `refers` at the attribute whose value names the resources",
            );
            return None;
        }
        (Some(from), None) => RelationSource::Attribute(names.checked(from)),
        (None, Some(names)) => RelationSource::Fixed(names),
        (None, None) if kind == AutoKind::Require => RelationSource::All,
        _ => {
            item.error("relation", "a relation requires one of `from` and `names`");
            return None;
        }
    };
    Some(AutoRelation {
        kind,
        target: keys.target.into(),
        from: source,
    })
}

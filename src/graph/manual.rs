//! Edges from `require`, `subscribe`, `before` and `notify`.

use crate::catalog::Resources;

use super::edges::{EdgeKind, Edges};

/// Adds them, vertex by vertex. References that lead nowhere were refused when the catalog was
/// loaded.
pub(super) fn add(edges: &mut Edges, resources: &Resources) {
    for id in resources.order() {
        for (relation, other) in &resources.node(*id).meta.relations {
            let Some(other) = resources.find(other) else {
                continue;
            };
            let (source, target) = if relation.inward() {
                (other, *id)
            } else {
                (*id, other)
            };
            let kind = if relation.refreshes() {
                EdgeKind::Refresh
            } else {
                EdgeKind::Order
            };
            edges.add(source.0, target.0, kind);
        }
    }
}

//! Edges from `require`, `subscribe`, `before` and `notify`.

use crate::catalog::Resources;

use super::edges::{EdgeKind, Edges};

/// Adds them, vertex by vertex.
pub(super) fn add(edges: &mut Edges, resources: &Resources) {
    for id in resources.order() {
        for (relation, other) in &resources.node(*id).relations {
            let (source, target) = if relation.inward() {
                (other, id)
            } else {
                (id, other)
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

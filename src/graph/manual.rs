//! Edges from `require`, `subscribe`, `before` and `notify`.

use crate::catalog::Resources;

use super::edges::{EdgeKind, Edges};
use crate::catalog::node::NodeId;

/// Adds the edges, vertex by vertex.
pub(super) fn add(edges: &mut Edges<NodeId>, resources: &Resources) {
    for id in resources.order() {
        for (relation, other) in &resources.node(*id).relations {
            let (source, target) = if relation.is_inward() {
                (other, id)
            } else {
                (id, other)
            };
            let kind = if relation.refreshes() {
                EdgeKind::Refresh
            } else {
                EdgeKind::Order
            };
            edges.add(*source, *target, kind);
        }
    }
}

//! Automatic edges, which types declare (`docs/reference/transaction.md`, section 3, *Automatic edges*).
//!
//! They give way to any direct edge between the two. An indirect path the other way is no reason
//! to leave one out: it yields a cycle.

use switchtender_devices::model::AutoKind;

use crate::catalog::Resources;
use crate::catalog::resource::{NodeId, Resource};
use crate::catalog::types::ValueStyle;

use super::edges::{EdgeKind, Edges};

/// Adds them, vertex by vertex, and says so.
pub(super) fn add(edges: &mut Edges<NodeId>, resources: &Resources) -> Vec<(NodeId, String)> {
    let mut messages = Vec::new();
    for id in resources.order() {
        let Some(resource) = resources.resource(*id) else {
            continue;
        };
        for kind in [
            AutoKind::Require,
            AutoKind::Subscribe,
            AutoKind::Before,
            AutoKind::Notify,
        ] {
            let relations = &resource.model().relations;
            for relation in relations.iter().filter(|relation| relation.kind == kind) {
                for name in relation.names(|attribute| resource.value(attribute)) {
                    if let Some(other) = resources.find_by_name(&relation.target, &name) {
                        let shown = || resources.node(other).reference.to_string();
                        let removed = |id| resources.resource(id).is_some_and(is_removed);
                        // What needs another goes before it, and away before it, too.
                        let turned = removed(*id) && removed(other);
                        if let Some(message) = connect(edges, kind, turned, *id, other, shown) {
                            messages.push((*id, message));
                        }
                    }
                }
            }
        }
    }
    messages
}

/// Whether a resource of a type from a definition is to be gone. Puppet's own types keep Puppet's
/// order, whatever becomes of them.
pub(super) fn is_removed(resource: &Resource) -> bool {
    resource.ty.behavior.values() == ValueStyle::Canonical
        && resource
            .wanted("ensure")
            .is_some_and(|ensure| ensure.as_str() == Some("absent"))
}

/// Adds one edge or leaves it out; the message about it, if there is one.
fn connect(
    edges: &mut Edges<NodeId>,
    kind: AutoKind,
    turned: bool,
    this: NodeId,
    other: NodeId,
    shown: impl Fn() -> String,
) -> Option<String> {
    let (source, target) = match (kind, turned) {
        (AutoKind::Require | AutoKind::Subscribe, false)
        | (AutoKind::Before | AutoKind::Notify, true) => (other, this),
        (AutoKind::Before | AutoKind::Notify, false)
        | (AutoKind::Require | AutoKind::Subscribe, true) => (this, other),
    };
    let inward = source == other;
    let same = edges.contains(source, target);
    let opposite = edges.contains(target, source);
    let skipped = || Some(format!("Skipping automatic relationship with {}", shown()));
    // Outward edges ask the other way round, as Puppet does: what is told differs, not what is
    // added.
    match (inward, same, opposite) {
        (true, true, _) | (false, _, true) => None,
        (true, false, true) | (false, true, false) => skipped(),
        _ => {
            let word = match kind {
                AutoKind::Require => "autorequire",
                AutoKind::Subscribe => "autosubscribe",
                AutoKind::Before => "autobefore",
                AutoKind::Notify => "autonotify",
            };
            let edge = match kind {
                AutoKind::Require | AutoKind::Before => EdgeKind::Automatic,
                AutoKind::Subscribe | AutoKind::Notify => EdgeKind::Refresh,
            };
            edges.add(source, target, edge);
            Some(format!("Adding {word} relationship with {}", shown()))
        }
    }
}

//! Edges from the automatic relations that types declare (`docs/reference/transaction.md`, section 3,
//! *Automatic edges*).
//!
//! An automatic edge is left out if the two resources have a direct edge. A longer path in the
//! other direction does not prevent it: the result is a cycle.

use foldhash::HashMap;
use switchtender_devices::model::AutoKind;

use crate::catalog::Resources;
use crate::catalog::node::NodeId;
use crate::catalog::resource::Resource;
use crate::catalog::types::ValueStyle;

use super::edges::{EdgeKind, Edges};

/// Adds the edges, vertex by vertex. Returns the debug messages.
pub(super) fn add(edges: &mut Edges<NodeId>, resources: &Resources) -> Vec<(NodeId, String)> {
    let mut messages = Vec::new();
    let mut types: HashMap<&str, Vec<NodeId>> = HashMap::default();
    for id in resources.order() {
        if let Some(resource) = resources.resource(*id) {
            let of_type = types.entry(resource.model().name.as_str()).or_default();
            of_type.push(*id);
        }
    }
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
                let others = if relation.is_with_all() {
                    let all = types.get(relation.target.as_str());
                    all.cloned().unwrap_or_default()
                } else {
                    let names = relation.names(|attribute| resource.value(attribute));
                    let found = names
                        .iter()
                        .filter_map(|name| resources.find_by_name(&relation.target, name));
                    found.collect()
                };
                for other in others {
                    let name = || resources.node(other).reference.to_string();
                    let removed = |id| resources.resource(id).is_some_and(is_removed);
                    // A resource is created after the resource that it requires, and deleted
                    // before it.
                    let reversed = removed(*id) && removed(other);
                    if let Some(message) = connect(edges, kind, reversed, *id, other, name) {
                        messages.push((*id, message));
                    }
                }
            }
        }
    }
    messages
}

/// Whether a resource of a type from a definition is to be removed. Puppet's own types keep
/// Puppet's order.
pub(super) fn is_removed(resource: &Resource) -> bool {
    resource.ty.behavior.values() == ValueStyle::Canonical
        && resource
            .desired("ensure")
            .is_some_and(|ensure| ensure.as_str() == Some("absent"))
}

/// Adds one edge or leaves it out. Returns the message about it, if there is one.
pub(super) fn connect(
    edges: &mut Edges<NodeId>,
    kind: AutoKind,
    reversed: bool,
    this: NodeId,
    other: NodeId,
    name: impl Fn() -> String,
) -> Option<String> {
    let (source, target) = match (kind, reversed) {
        (AutoKind::Require | AutoKind::Subscribe, false)
        | (AutoKind::Before | AutoKind::Notify, true) => (other, this),
        (AutoKind::Before | AutoKind::Notify, false)
        | (AutoKind::Require | AutoKind::Subscribe, true) => (this, other),
    };
    let is_inward = source == other;
    let same = edges.contains(source, target);
    let opposite = edges.contains(target, source);
    let skipped = || Some(format!("Skipping automatic relationship with {}", name()));
    // Puppet checks outward edges in the other direction. This affects only the messages.
    match (is_inward, same, opposite) {
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
            Some(format!("Adding {word} relationship with {}", name()))
        }
    }
}

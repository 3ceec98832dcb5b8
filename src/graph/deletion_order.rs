//! Orders removals after resources that may still use the removed resources.
//!
//! A catalog that only removes a pool does not name the pool's nodes, but on the device the pool
//! uses them until it is removed. The references of a type name the types that it uses. Entries
//! are removed after the other entries of their type are set, so that a list never lacks both the
//! old and the new ones. This is a soft order without edges: it yields to the order of the catalog, and a failure does
//! not propagate along it.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashSet;
use switchtender_devices::model::{Reference, Role};

use crate::catalog::Resources;
use crate::catalog::node::NodeId;
use crate::catalog::resource::Resource;

use super::automatic::is_removed;
use super::ready_queue::OrderKey;
use super::vertex::{Graph, VertexId};

/// Places removed resources after the last resource that may use them.
pub(super) fn defer_removals(graph: &mut Graph, resources: &Resources) {
    let mut removed: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
    for (id, resource) in typed(resources) {
        if is_removed(resource) {
            let kind = resource.model().name.as_str();
            removed.entry(kind).or_default().push(id);
        }
    }
    if removed.is_empty() {
        return;
    }
    let mut users: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
    let mut user_types: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (id, resource) in typed(resources) {
        let kind = resource.model().name.as_str();
        let is_present_entry = resource.model().object.is_some() && !is_removed(resource);
        let own = Some(kind).filter(|_| is_present_entry);
        let references = resource.model().references();
        let used = references.filter(|reference| may_use(resource, reference));
        for target in used.map(|reference| reference.target.as_str()).chain(own) {
            if !removed.contains_key(target) || (target == kind && is_removed(resource)) {
                continue;
            }
            let users = users.entry(target).or_default();
            if users.last() != Some(&id) {
                users.push(id);
            }
            if target != kind {
                user_types.entry(target).or_default().insert(kind);
            }
        }
    }
    let mut types: Vec<(u32, &str)> = users
        .keys()
        .map(|kind| (depth(kind, &user_types, &mut Vec::new()), *kind))
        .collect();
    types.sort_unstable();
    for (depth, kind) in types {
        // Places of earlier deferrals affect later ones.
        let positions = positions(graph);
        let mut users: Vec<(VertexId, VertexId)> = users[kind]
            .iter()
            .filter_map(|user| graph.ends(*user))
            .map(|(user, _)| (positions[user.index()], user))
            .collect();
        users.sort_unstable_by(|one, other| other.cmp(one));
        for id in &removed[kind] {
            let Some((vertex, _)) = graph.ends(*id) else {
                continue;
            };
            let Some(after) = followers(graph, vertex) else {
                continue;
            };
            let mut others = users.iter().filter(|(_, user)| !after.contains(user));
            let last = others.next().map(|(position, _)| *position);
            if let Some(last) = last.filter(|last| *last >= positions[vertex.index()]) {
                let key = OrderKey::of(last).inside(depth).inside(vertex.0);
                graph.placed.insert(vertex, key);
            }
        }
    }
}

fn typed(resources: &Resources) -> impl Iterator<Item = (NodeId, &Resource)> {
    (resources.order().iter()).filter_map(|id| Some((*id, resources.resource(*id)?)))
}

/// Whether a resource may use an object that it does not name. It may if it is removed, or if the
/// catalog sets the attribute of the reference: until the resource is evaluated, the device has the
/// old value.
fn may_use(resource: &Resource, reference: &Reference) -> bool {
    let name = reference.attribute.as_str();
    let attribute = resource.model().attributes.get(name);
    let fixed = attribute.is_none_or(|attribute| attribute.role == Role::Namevar);
    !fixed && (is_removed(resource) || resource.value(name).is_some())
}

/// The number of types in the longest chain of types that use this one. A type that uses itself
/// counts once.
fn depth<'t>(
    kind: &'t str,
    user_types: &BTreeMap<&'t str, BTreeSet<&'t str>>,
    above: &mut Vec<&'t str>,
) -> u32 {
    let Some(users) = user_types.get(kind).filter(|_| !above.contains(&kind)) else {
        return 0;
    };
    above.push(kind);
    let deepest = users
        .iter()
        .map(|user| depth(user, user_types, above))
        .max();
    above.pop();
    deepest.unwrap_or_default() + 1
}

/// For each vertex the last of its predecessors in the order of evaluation, or itself. In a cycle,
/// which ends the run, the vertex itself.
fn positions(graph: &Graph) -> Vec<VertexId> {
    let mut positions: Vec<VertexId> = graph.ids().map(|id| graph.key(id).vertex()).collect();
    let mut blockers: Vec<usize> = graph
        .ids()
        .map(|id| graph.edges.predecessors(id).count())
        .collect();
    let mut free: Vec<VertexId> = graph.ids().filter(|id| blockers[id.index()] == 0).collect();
    while let Some(id) = free.pop() {
        let position = positions[id.index()];
        for target in graph.edges.successors(id) {
            let of_target = &mut positions[target.index()];
            *of_target = position.max(*of_target);
            blockers[target.index()] -= 1;
            if blockers[target.index()] == 0 {
                free.push(target);
            }
        }
    }
    positions
}

/// A removal with more successors than this is not deferred: searching all of them for many
/// removals would take quadratic time.
const MOST_FOLLOWERS: usize = 10_000;

/// The vertices that must come after this one. `None`: there are too many.
fn followers(graph: &Graph, vertex: VertexId) -> Option<HashSet<VertexId>> {
    let mut reached = HashSet::default();
    let mut open = vec![vertex];
    while let Some(id) = open.pop() {
        for target in graph.edges.successors(id) {
            if reached.insert(target) {
                open.push(target);
            }
        }
        if reached.len() > MOST_FOLLOWERS {
            return None;
        }
    }
    Some(reached)
}

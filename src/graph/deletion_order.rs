//! What is removed is put off until what may still use it has let go of it.
//!
//! A catalog that says of a pool only that it shall be gone does not name its nodes, and one from
//! whose pool a node was taken names it no more; on the device the one uses the other until its turn.
//! Which types use which is known from their automatic requirements. This makes no edges: nobody
//! fails for such a neighbour, and whatever order the catalog demands comes first.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashSet;
use switchtender_devices::model::{AutoKind, AutoRelation, RelationSource, Role};

use crate::catalog::Resources;
use crate::catalog::resource::{NodeId, Resource};

use super::automatic::is_removed;
use super::ready_queue::OrderKey;
use super::vertex::{Graph, VertexId};

/// Gives removed resources a place after the last of those that may use them.
pub(super) fn defer_removals(graph: &mut Graph, resources: &Resources) {
    let mut removed: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
    for (id, resource) in known(resources) {
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
    for (id, resource) in known(resources) {
        let kind = resource.model().name.as_str();
        for relation in &resource.model().relations {
            let target = relation.target.as_str();
            if target == kind || !removed.contains_key(target) || !may_use(resource, relation) {
                continue;
            }
            let users = users.entry(target).or_default();
            if users.last() != Some(&id) {
                users.push(id);
            }
            user_types.entry(target).or_default().insert(kind);
        }
    }
    let mut types: Vec<(u32, &str)> = users
        .keys()
        .map(|kind| (depth(kind, &user_types, &mut Vec::new()), *kind))
        .collect();
    types.sort_unstable();
    for (depth, kind) in types {
        // What was put off before puts off what waits for it.
        let places = places(graph);
        let users = users[kind].iter().filter_map(|user| graph.ends(*user));
        let mut users: Vec<(VertexId, VertexId)> = users
            .map(|(user, _)| (places[user.index()], user))
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
            let last = others.next().map(|(place, _)| *place);
            if let Some(last) = last.filter(|last| *last >= places[vertex.index()]) {
                let key = OrderKey::of(last).inside(depth).inside(vertex.0);
                graph.placed.insert(vertex, key);
            }
        }
    }
}

fn known(resources: &Resources) -> impl Iterator<Item = (NodeId, &Resource)> {
    let order = resources.order().iter();
    order.filter_map(|id| Some((*id, resources.resource(*id)?)))
}

/// Whether a resource may use something that it does not name, until it was its turn: what it will
/// be told to use is in the relation's attribute; without the attribute it stays as it is, unless it
/// goes.
fn may_use(resource: &Resource, relation: &AutoRelation) -> bool {
    let requires = matches!(relation.kind, AutoKind::Require | AutoKind::Subscribe);
    let RelationSource::Attribute(path) = &relation.from else {
        return false;
    };
    let name = path.split_once('.').map_or(path.as_str(), |(name, _)| name);
    let attribute = resource.model().attributes.get(name);
    let fixed = attribute.is_none_or(|attribute| attribute.role == Role::Namevar);
    requires && !fixed && (is_removed(resource) || resource.value(name).is_some())
}

/// How many types use a type one through the other; a type that is reached by itself counts once.
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

/// For each vertex the last of those that come before it in any case, or itself. In a cycle, which
/// ends the run, the vertex itself.
fn places(graph: &Graph) -> Vec<VertexId> {
    let mut places: Vec<VertexId> = graph.ids().map(|id| graph.key(id).vertex()).collect();
    let mut blockers: Vec<usize> = graph
        .ids()
        .map(|id| graph.edges.predecessors(id).count())
        .collect();
    let mut free: Vec<VertexId> = graph.ids().filter(|id| blockers[id.index()] == 0).collect();
    while let Some(id) = free.pop() {
        let place = places[id.index()];
        for target in graph.edges.successors(id) {
            let of_target = &mut places[target.index()];
            *of_target = place.max(*of_target);
            blockers[target.index()] -= 1;
            if blockers[target.index()] == 0 {
                free.push(target);
            }
        }
    }
    places
}

/// Something that so many must follow stays where the catalog has it: looking through all of them for
/// each of many would take a time that grows with the square of the catalog.
const MOST_FOLLOWERS: usize = 10_000;

/// Which vertices come after one in any case; `None`: too many.
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

//! Edges from values that name objects: the object is created before the value is set, and removed
//! after it.
//!
//! A reference in a namevar is as strict as an automatic relation: what it names contains the
//! instance. Other references yield: an edge that would close a cycle is left out, because the
//! objects may exist already.

use std::collections::HashMap;

use foldhash::HashSet;
use petgraph::algo::kosaraju_scc;
use switchtender_devices::model::{AutoKind, Role};

use crate::catalog::Resources;
use crate::catalog::node::NodeId;

use super::automatic::{connect, is_removed};
use super::cycle::is_acyclic;
use super::edges::{EdgeKind, Edges};
use super::object::ObjectIndex;
use super::vertex::{Graph, VertexId};

/// The edges of references.
#[derive(Default)]
pub(super) struct ReferenceEdges {
    /// Debug messages.
    pub(super) messages: Vec<(NodeId, String)>,
    /// The edges that yield.
    pub(super) yielding: Vec<(NodeId, NodeId)>,
}

/// Adds the edges, vertex by vertex.
pub(super) fn add(edges: &mut Edges<NodeId>, resources: &Resources) -> ReferenceEdges {
    let objects = ObjectIndex::new(resources);
    let mut added = ReferenceEdges::default();
    for id in resources.order() {
        let Some(resource) = resources.resource(*id) else {
            continue;
        };
        let Some(desired) = resource.canonical_desired() else {
            continue;
        };
        let model = &desired.model;
        for reference in model.references() {
            let attribute = model.attributes.get(reference.attribute.as_str());
            let is_strict = attribute.is_some_and(|attribute| attribute.role == Role::Namevar);
            for name in model.referenced_names(reference, &desired.attributes) {
                for other in objects.find(&reference.target, &name) {
                    let other_resource = resources.resource(other);
                    // An entry can name its own list.
                    if other == *id || is_same_object(resources, *id, other) {
                        continue;
                    }
                    // Only entries are removed to complete an object. Another removal comes last.
                    let is_gone = other_resource
                        .is_some_and(|other| is_removed(other) && other.model().object.is_none());
                    if is_gone && !is_removed(resource) {
                        continue;
                    }
                    let reversed = is_removed(resource) && other_resource.is_some_and(is_removed);
                    let name = || resources.node(other).reference.to_string();
                    let (from, to) = if reversed { (*id, other) } else { (other, *id) };
                    let is_new = !edges.contains(from, to) && !edges.contains(to, from);
                    let message = connect(edges, AutoKind::Require, reversed, *id, other, name);
                    added.messages.extend(message.map(|message| (*id, message)));
                    if is_new && !is_strict {
                        added.yielding.push((from, to));
                    }
                }
            }
        }
    }
    added
}

/// Whether both are entries of one object.
fn is_same_object(resources: &Resources, one: NodeId, other: NodeId) -> bool {
    let object = |id: NodeId| {
        let desired = resources.resource(id)?.canonical_desired()?;
        let model = &desired.model;
        model.object.as_ref()?;
        Some((model.name.as_str(), model.object_name(&desired.attributes)?))
    };
    object(one).is_some_and(|one| object(other).is_some_and(|other| one == other))
}

/// Removes edges of references that close a cycle. Returns them.
pub(super) fn yield_to_relations(
    graph: &mut Graph,
    yielding: &[(NodeId, NodeId)],
) -> Vec<(NodeId, NodeId)> {
    if yielding.is_empty() || is_acyclic(graph) {
        return Vec::new();
    }
    let components = kosaraju_scc(graph.edges.as_petgraph());
    let mut component_of: HashMap<VertexId, usize> = HashMap::new();
    for (number, members) in components.iter().enumerate() {
        component_of.extend(members.iter().map(|member| (*member, number)));
    }
    let suspected: Vec<((NodeId, NodeId), (VertexId, VertexId))> = yielding
        .iter()
        .filter_map(|(from, to)| {
            let ends = (graph.ends(*from)?.1, graph.ends(*to)?.0);
            (component_of.get(&ends.0) == component_of.get(&ends.1)).then_some(((*from, *to), ends))
        })
        .collect();
    let removed: HashSet<(VertexId, VertexId)> = suspected.iter().map(|(_, ends)| *ends).collect();
    graph
        .edges
        .retain(|from, to| !removed.contains(&(from, to)));
    let mut left_out = Vec::new();
    for (nodes, (from, to)) in suspected {
        if reaches(graph, to, from) {
            left_out.push(nodes);
        } else {
            graph.edges.add(from, to, EdgeKind::Automatic);
        }
    }
    left_out
}

/// Whether the edges lead from one vertex to another.
fn reaches(graph: &Graph, from: VertexId, to: VertexId) -> bool {
    let mut reached = HashSet::from_iter([from]);
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        if id == to {
            return true;
        }
        let successors = graph.edges.successors(id);
        open.extend(successors.filter(|target| reached.insert(*target)));
    }
    false
}

//! Containers are replaced by markers (`docs/reference/transaction.md`, section 3).
//!
//! Every stage, class and instance of a defined type becomes *admissible*, before its contents, and
//! *completed*, after them. Edges into the container enter the first, edges out of it leave the
//! second.

use crate::catalog::Resources;
use crate::catalog::node::NodeId;

use super::edges::{EdgeCounts, EdgeKind, Edges};
use super::vertex::{Graph, Vertex};

/// Builds the graph of resources and markers.
pub(super) fn replace(relationships: &Edges<NodeId>, resources: &Resources) -> Graph {
    let containers = resources
        .added()
        .filter(|id| resources.resource(*id).is_none());
    let mut graph = Graph::with_capacity(resources.len() + containers.count());
    for id in resources.order() {
        if resources.resource(*id).is_some() {
            graph.add_vertex(Vertex::Resource(*id));
        } else {
            graph.add_vertex(Vertex::Admissible(*id));
            graph.add_vertex(Vertex::Completed(*id));
        }
    }
    copy_resource_edges(&mut graph, relationships, resources);
    for id in resources.order() {
        if resources.resource(*id).is_none() {
            add_contents(&mut graph, resources, *id);
            redirect(&mut graph, relationships, resources, *id);
        }
    }
    graph
}

/// Copies the edges between resources, in their order, before all others.
fn copy_resource_edges(graph: &mut Graph, relationships: &Edges<NodeId>, resources: &Resources) {
    for (source, target, counts) in relationships.iter() {
        if resources.resource(source).is_some() && resources.resource(target).is_some() {
            copy(graph, source, target, counts);
        }
    }
}

fn copy(graph: &mut Graph, source: NodeId, target: NodeId, counts: EdgeCounts) {
    let (Some((_, from)), Some((to, _))) = (graph.ends(source), graph.ends(target)) else {
        return;
    };
    for kind in counts.kinds() {
        graph.edges.add(from, to, kind);
    }
}

fn add_contents(graph: &mut Graph, resources: &Resources, container: NodeId) {
    let Some((admissible, completed)) = graph.ends(container) else {
        return;
    };
    let contents = resources.contents(container);
    if contents.is_empty() {
        graph.edges.add(admissible, completed, EdgeKind::Order);
    }
    for content in contents {
        if let Some((first, last)) = graph.ends(*content) {
            graph.edges.add(admissible, first, EdgeKind::Refresh);
            graph.edges.add(last, completed, EdgeKind::Refresh);
        }
    }
}

/// Copies the edges of a container, unless they were copied for the container at the other end.
fn redirect(
    graph: &mut Graph,
    relationships: &Edges<NodeId>,
    resources: &Resources,
    container: NodeId,
) {
    let own = graph.ends(container);
    let is_copied = |other: NodeId, graph: &Graph| {
        resources.resource(other).is_none() && graph.ends(other) < own
    };
    for (source, counts) in relationships.incoming(container) {
        if !is_copied(source, graph) {
            copy(graph, source, container, counts);
        }
    }
    for (target, counts) in relationships.outgoing(container) {
        // An edge to itself was copied with the incoming edges.
        if target != container && !is_copied(target, graph) {
            copy(graph, container, target, counts);
        }
    }
}

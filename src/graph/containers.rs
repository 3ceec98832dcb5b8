//! Containers are replaced by markers (`docs/transaction.md`, section 3).
//!
//! Every stage, class and instance of a defined type becomes *admissible*, before its contents, and
//! *completed*, after them. What led into the container enters the one, what led out of it leaves
//! the other.

use crate::catalog::Resources;
use crate::catalog::resource::NodeId;

use super::edges::{EdgeKind, Edges, Link};
use super::vertex::{Graph, Vertex};

/// The graph over resources and markers.
pub(super) fn replace(relationships: &Edges, resources: &Resources) -> Graph {
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
    keep_plain_edges(&mut graph, relationships, resources);
    for id in resources.order() {
        if resources.resource(*id).is_none() {
            add_contents(&mut graph, resources, *id);
            redirect(&mut graph, relationships, resources, *id);
        }
    }
    graph
}

/// Edges between resources stay, and stay first.
fn keep_plain_edges(graph: &mut Graph, relationships: &Edges, resources: &Resources) {
    for source in resources.order() {
        if resources.resource(*source).is_none() {
            continue;
        }
        for link in relationships.out(source.0) {
            if resources.resource(NodeId(link.target)).is_some() {
                copy(graph, *source, link);
            }
        }
    }
    // Predecessors too are kept in the order in which the edges were made.
    for target in resources.order() {
        let Some((vertex, _)) = graph.ends(*target) else {
            continue;
        };
        let sources = relationships.incoming(target.0);
        if resources.resource(*target).is_some() && sources.len() > 1 {
            let order: Vec<u32> = sources
                .map(NodeId)
                .filter(|source| resources.resource(*source).is_some())
                .filter_map(|source| graph.ends(source))
                .map(|(_, vertex)| vertex.0)
                .collect();
            graph.edges.order_incoming(vertex.0, order);
        }
    }
}

fn copy(graph: &mut Graph, source: NodeId, link: &Link) {
    let target = NodeId(link.target);
    let (Some((_, from)), Some((to, _))) = (graph.ends(source), graph.ends(target)) else {
        return;
    };
    for kind in link.kinds() {
        graph.edges.add(from.0, to.0, kind);
    }
}

fn add_contents(graph: &mut Graph, resources: &Resources, container: NodeId) {
    let Some((admissible, completed)) = graph.ends(container) else {
        return;
    };
    let contents = resources.contents(container);
    if contents.is_empty() {
        graph.edges.add(admissible.0, completed.0, EdgeKind::Order);
    }
    for content in contents {
        if let Some((first, last)) = graph.ends(*content) {
            graph.edges.add(admissible.0, first.0, EdgeKind::Refresh);
            graph.edges.add(last.0, completed.0, EdgeKind::Refresh);
        }
    }
}

/// Edges of a container, unless the other end was redirected first.
fn redirect(graph: &mut Graph, relationships: &Edges, resources: &Resources, container: NodeId) {
    let own = graph.ends(container);
    let done = |other: NodeId, graph: &Graph| {
        resources.resource(other).is_none() && graph.ends(other) < own
    };
    for source in relationships.incoming(container.0).map(NodeId) {
        if !done(source, graph)
            && let Some(link) = relationships.link(source.0, container.0)
        {
            copy(graph, source, link);
        }
    }
    for link in relationships.out(container.0) {
        let target = NodeId(link.target);
        // An edge to itself was copied with those that enter.
        if target != container && !done(target, graph) {
            copy(graph, container, link);
        }
    }
}

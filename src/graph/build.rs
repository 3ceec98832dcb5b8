//! Builds the traversed graph from resources. The order of the steps matters.

use crate::catalog::Resources;
use crate::catalog::node::NodeId;

use super::automatic;
use super::containers;
use super::deletion_order;
use super::edges::Edges;
use super::manual;
use super::references;
use super::vertex::Graph;

/// A graph and the messages from building it.
#[derive(Clone, Debug)]
pub struct BuiltGraph {
    pub graph: Graph,
    /// Edges between resources and containers, before containers were replaced:
    /// `relationships.dot`.
    pub(crate) relationships: Edges<NodeId>,
    /// Debug messages about automatic edges, with the node they are about.
    pub(crate) messages: Vec<(NodeId, String)>,
}

/// Builds the graph of a catalog.
pub fn build(resources: &Resources) -> BuiltGraph {
    let mut relationships = Edges::with_capacity(resources.len());

    // Explicit relationships come first: automatic edges yield to them.
    manual::add(&mut relationships, resources);

    // Automatic relations of types, and references of values, between resources of the catalog.
    let mut messages = Vec::new();
    let mut yielding = Vec::new();
    if !resources.is_order_fixed {
        messages = automatic::add(&mut relationships, resources);
        let added = references::add(&mut relationships, resources);
        messages.extend(added.messages);
        yielding = added.yielding;
    }

    // Markers before and after the contents of a container, so that one edge of a container orders
    // all its contents.
    let mut graph = containers::replace(&relationships, resources);

    // Cycles can lead through containers, so that references yield only now.
    let left_out = references::yield_to_relations(&mut graph, &yielding);
    if !left_out.is_empty() {
        relationships.retain(|from, to| !left_out.contains(&(from, to)));
    }

    // Removals come after the resources that may still use the removed ones, where the edges permit
    // it.
    if !resources.is_order_fixed {
        deletion_order::defer_removals(&mut graph, resources);
    }

    BuiltGraph {
        graph,
        relationships,
        messages,
    }
}

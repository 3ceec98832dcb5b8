//! From resources to the graph that is traversed. The order of the steps is the rule.

use crate::catalog::Resources;
use crate::catalog::resource::NodeId;

use super::automatic;
use super::containers;
use super::deletion_order;
use super::edges::Edges;
use super::manual;
use super::vertex::Graph;

/// A built graph and what there is to tell about it.
#[derive(Clone, Debug)]
pub struct BuiltGraph {
    pub graph: Graph,
    /// Edges between resources and containers, before containers were replaced:
    /// `relationships.dot`.
    pub relationships: Edges<NodeId>,
    /// Debug messages about automatic edges, with the node they are about.
    pub messages: Vec<(NodeId, String)>,
}

/// Builds the graph of a catalog.
pub fn build(resources: &Resources) -> BuiltGraph {
    let mut relationships = Edges::with_capacity(resources.len());

    // What the catalog says comes first: automatic edges give way to it.
    manual::add(&mut relationships, resources);

    // Each type's own relations, between resources that are there.
    let messages = automatic::add(&mut relationships, resources);

    // Markers before and after a container's contents, so that an edge of a container orders all
    // of them without an edge to each.
    let mut graph = containers::replace(&relationships, resources);

    // What goes, goes after what may still use it; where the edges leave a choice.
    deletion_order::defer_removals(&mut graph, resources);

    BuiltGraph {
        graph,
        relationships,
        messages,
    }
}

//! A part of a catalog's graph for display: the neighborhood of one resource.
//!
//! Containers appear as themselves, as in `relationships.dot`. Automatic edges and edges that
//! deliver events have their own style.

use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};

use crate::catalog::Resources;
use crate::catalog::resource::NodeId;

use super::edges::{EdgeCounts, Edges};

/// Resources and containers, and the edges between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subgraph {
    /// In the order of the catalog.
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) edges: Vec<Edge>,
    /// The requested resource.
    pub(crate) center: Option<NodeId>,
}

/// One line of a graph: `from` is evaluated before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) kind: EdgeRelation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeRelation {
    /// From container to content.
    Contains,
    /// From `require` and `before`.
    Order,
    /// From the automatic relations of a type.
    Automatic,
    /// From `subscribe` and `notify`.
    Refresh,
}

impl Subgraph {
    /// The complete catalog without the default resources.
    pub(crate) fn complete(relationships: &Edges<NodeId>, resources: &Resources) -> Self {
        let nodes = (resources.order().iter().copied())
            .filter(|id| !resources.node(*id).is_default)
            .collect();
        Self::new(nodes, None, relationships, resources)
    }

    /// Everything within `depth` steps of a resource: along relationships in both directions, to
    /// enclosing containers that have relationships, and, if the resource is a container, to its
    /// contents.
    pub(crate) fn neighborhood(
        center: NodeId,
        depth: usize,
        relationships: &Edges<NodeId>,
        resources: &Resources,
    ) -> Self {
        let mut distances: HashMap<NodeId, usize> = HashMap::default();
        distances.insert(center, 0);
        let mut next = VecDeque::from([center]);
        while let Some(id) = next.pop_front() {
            let distance = distances[&id];
            if distance == depth {
                continue;
            }
            let contents = resources.contents(id).iter().copied();
            let neighbors = relationships
                .successors(id)
                .chain(relationships.predecessors(id))
                .chain(ordering_container(id, relationships, resources))
                .chain(contents.filter(|_| id == center));
            for neighbor in neighbors {
                distances.entry(neighbor).or_insert_with(|| {
                    next.push_back(neighbor);
                    distance + 1
                });
            }
        }
        let nodes = (resources.order().iter().copied())
            .filter(|id| distances.contains_key(id))
            .collect();
        Self::new(nodes, Some(center), relationships, resources)
    }

    fn new(
        nodes: Vec<NodeId>,
        center: Option<NodeId>,
        relationships: &Edges<NodeId>,
        resources: &Resources,
    ) -> Self {
        let members: HashSet<NodeId> = nodes.iter().copied().collect();
        let mut edges = Vec::new();
        for id in &nodes {
            let contents = resources.contents(*id).iter();
            for content in contents.filter(|content| members.contains(*content)) {
                edges.push(Edge {
                    from: *id,
                    to: *content,
                    kind: EdgeRelation::Contains,
                });
            }
            for (to, counts) in relationships.outgoing(*id) {
                if members.contains(&to) {
                    edges.push(Edge {
                        from: *id,
                        to,
                        kind: strongest(counts),
                    });
                }
            }
        }
        Self {
            nodes,
            edges,
            center,
        }
    }
}

/// The innermost enclosing container that has relationships.
fn ordering_container(
    id: NodeId,
    relationships: &Edges<NodeId>,
    resources: &Resources,
) -> Option<NodeId> {
    let outwards = std::iter::successors(resources.container_of(id), |container| {
        resources.container_of(*container)
    });
    outwards.take(resources.len()).find(|container| {
        let mut neighbors =
            (relationships.successors(*container)).chain(relationships.predecessors(*container));
        neighbors.next().is_some()
    })
}

/// The strongest kind of several edges between two resources.
fn strongest(counts: EdgeCounts) -> EdgeRelation {
    match counts {
        EdgeCounts { refresh: 1.., .. } => EdgeRelation::Refresh,
        EdgeCounts { order: 1.., .. } => EdgeRelation::Order,
        _ => EdgeRelation::Automatic,
    }
}

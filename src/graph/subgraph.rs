//! A part of a catalog's graph that people can look at: what stands around one resource.
//!
//! Containers stand for themselves, as in `relationships.dot`; automatic edges and those that
//! deliver events are told apart.

use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};

use crate::catalog::Resources;
use crate::catalog::resource::NodeId;

use super::edges::{EdgeCounts, Edges};

/// Some resources and containers, and what is between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subgraph {
    /// In the order of the catalog.
    pub nodes: Vec<NodeId>,
    pub edges: Vec<Edge>,
    /// The resource that was asked about.
    pub center: Option<NodeId>,
}

/// One line of a graph: the first goes before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: NodeId,
    pub to: NodeId,
    pub kind: EdgeRelation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeRelation {
    /// From container to content.
    Contains,
    /// From `require` and `before`.
    Order,
    /// From what a type says of itself.
    Automatic,
    /// From `subscribe` and `notify`.
    Refresh,
}

impl Subgraph {
    /// All of a catalog, but for what every run has.
    pub fn whole(relationships: &Edges<NodeId>, resources: &Resources) -> Self {
        let nodes = resources.order().iter().copied();
        let nodes = nodes.filter(|id| !resources.node(*id).is_default);
        Self::of(nodes.collect(), None, relationships, resources)
    }

    /// What is at most `depth` steps from a resource: along relationships in both directions, from
    /// anything to the containers around it that have relationships, and from a container that was
    /// asked about to its contents.
    pub fn around(
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
            let neighbours = relationships
                .successors(id)
                .chain(relationships.predecessors(id))
                .chain(ordering_container(id, relationships, resources))
                .chain(contents.filter(|_| id == center));
            for neighbour in neighbours {
                distances.entry(neighbour).or_insert_with(|| {
                    next.push_back(neighbour);
                    distance + 1
                });
            }
        }
        let nodes = resources.order().iter().copied();
        let nodes = nodes.filter(|id| distances.contains_key(id));
        Self::of(nodes.collect(), Some(center), relationships, resources)
    }

    fn of(
        nodes: Vec<NodeId>,
        center: Option<NodeId>,
        relationships: &Edges<NodeId>,
        resources: &Resources,
    ) -> Self {
        let known: HashSet<NodeId> = nodes.iter().copied().collect();
        let mut edges = Vec::new();
        for id in &nodes {
            let contents = resources.contents(*id).iter();
            for content in contents.filter(|content| known.contains(*content)) {
                edges.push(Edge {
                    from: *id,
                    to: *content,
                    kind: EdgeRelation::Contains,
                });
            }
            for (to, counts) in relationships.outgoing(*id) {
                if known.contains(&to) {
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

/// The innermost container that orders what it contains.
fn ordering_container(
    id: NodeId,
    relationships: &Edges<NodeId>,
    resources: &Resources,
) -> Option<NodeId> {
    let outwards = std::iter::successors(resources.container_of(id), |container| {
        resources.container_of(*container)
    });
    outwards.take(resources.len()).find(|container| {
        let mut neighbours =
            (relationships.successors(*container)).chain(relationships.predecessors(*container));
        neighbours.next().is_some()
    })
}

/// Of several edges between two resources, the one that says most.
fn strongest(counts: EdgeCounts) -> EdgeRelation {
    match counts {
        EdgeCounts { refresh: 1.., .. } => EdgeRelation::Refresh,
        EdgeCounts { order: 1.., .. } => EdgeRelation::Order,
        _ => EdgeRelation::Automatic,
    }
}

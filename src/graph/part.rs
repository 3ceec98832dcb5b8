//! A part of a catalog's graph that people can look at: what stands around one resource.
//!
//! Containers stand for themselves, as in `relationships.dot`; automatic edges and those that
//! deliver events are told apart.

use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};

use crate::catalog::Resources;
use crate::catalog::resource::NodeId;

use super::edges::{EdgeKind, Edges, Link};

/// Some resources and containers, and what is between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// In the order of the catalog.
    pub nodes: Vec<NodeId>,
    pub ties: Vec<Tie>,
    /// The resource that was asked about.
    pub centre: Option<NodeId>,
}

/// One line of a graph: the first goes before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tie {
    pub from: NodeId,
    pub to: NodeId,
    pub kind: TieKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieKind {
    /// From container to content.
    Contains,
    /// From `require` and `before`.
    Order,
    /// From what a type says of itself.
    Automatic,
    /// From `subscribe` and `notify`.
    Refresh,
}

impl Part {
    /// All of a catalog, but for what every run has.
    pub fn whole(relationships: &Edges, resources: &Resources) -> Self {
        let nodes = resources.order().iter().copied();
        let nodes = nodes.filter(|id| !resources.node(*id).is_default);
        Self::of(nodes.collect(), None, relationships, resources)
    }

    /// What is at most `depth` steps from a resource: along relationships in both directions, from
    /// anything to the containers around it that have relationships, and from a container that was
    /// asked about to its contents.
    pub fn around(
        centre: NodeId,
        depth: usize,
        relationships: &Edges,
        resources: &Resources,
    ) -> Self {
        let mut distances: HashMap<NodeId, usize> = HashMap::default();
        distances.insert(centre, 0);
        let mut next = VecDeque::from([centre]);
        while let Some(id) = next.pop_front() {
            let distance = distances[&id];
            if distance == depth {
                continue;
            }
            let contents = resources.contents(id).iter().copied();
            let neighbours = (relationships
                .out(id.0)
                .iter()
                .map(|link| NodeId(link.target)))
            .chain(relationships.incoming(id.0).map(NodeId))
            .chain(ordering_container(id, relationships, resources))
            .chain(contents.filter(|_| id == centre));
            for neighbour in neighbours {
                distances.entry(neighbour).or_insert_with(|| {
                    next.push_back(neighbour);
                    distance + 1
                });
            }
        }
        let nodes = resources.order().iter().copied();
        let nodes = nodes.filter(|id| distances.contains_key(id));
        Self::of(nodes.collect(), Some(centre), relationships, resources)
    }

    fn of(
        nodes: Vec<NodeId>,
        centre: Option<NodeId>,
        relationships: &Edges,
        resources: &Resources,
    ) -> Self {
        let known: HashSet<NodeId> = nodes.iter().copied().collect();
        let mut ties = Vec::new();
        for id in &nodes {
            let contents = resources.contents(*id).iter();
            for content in contents.filter(|content| known.contains(*content)) {
                ties.push(Tie {
                    from: *id,
                    to: *content,
                    kind: TieKind::Contains,
                });
            }
            for link in relationships.out(id.0) {
                let to = NodeId(link.target);
                if known.contains(&to) {
                    ties.push(Tie {
                        from: *id,
                        to,
                        kind: strongest(link),
                    });
                }
            }
        }
        Self {
            nodes,
            ties,
            centre,
        }
    }
}

/// The innermost container that orders what it contains.
fn ordering_container(id: NodeId, relationships: &Edges, resources: &Resources) -> Option<NodeId> {
    let outwards = std::iter::successors(resources.container_of(id), |container| {
        resources.container_of(*container)
    });
    outwards.take(resources.len()).find(|container| {
        !relationships.out(container.0).is_empty() || relationships.incoming(container.0).len() > 0
    })
}

/// Of several edges between two resources, the one that says most.
fn strongest(link: &Link) -> TieKind {
    let kinds: Vec<EdgeKind> = link.kinds().collect();
    if kinds.contains(&EdgeKind::Refresh) {
        TieKind::Refresh
    } else if kinds.contains(&EdgeKind::Order) {
        TieKind::Order
    } else {
        TieKind::Automatic
    }
}

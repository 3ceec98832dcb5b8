//! Edges between the vertices of a graph, in the order in which they were added.
//!
//! Several edges between two vertices are stored as one edge with counts: they order only once, but
//! each refresh edge delivers its own events.

use foldhash::fast::RandomState;
use petgraph::graphmap::{GraphMap, NodeTrait};
use petgraph::{Directed, Direction};

/// The effect of an edge besides ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// From `require` and `before`.
    Order,
    /// From automatic requirements. They order too, but graphs draw them differently.
    Automatic,
    /// Delivers events that refresh the target.
    Refresh,
}

/// The number of edges of each kind between two vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeCounts {
    pub(crate) order: u16,
    pub(crate) automatic: u16,
    pub(crate) refresh: u16,
}

impl EdgeCounts {
    /// The kind of each edge.
    pub fn kinds(self) -> impl Iterator<Item = EdgeKind> {
        let times = |kind, count: u16| std::iter::repeat_n(kind, usize::from(count));
        times(EdgeKind::Order, self.order)
            .chain(times(EdgeKind::Automatic, self.automatic))
            .chain(times(EdgeKind::Refresh, self.refresh))
    }

    fn add(&mut self, kind: EdgeKind) {
        let counter = match kind {
            EdgeKind::Order => &mut self.order,
            EdgeKind::Automatic => &mut self.automatic,
            EdgeKind::Refresh => &mut self.refresh,
        };
        *counter = counter.saturating_add(1);
    }
}

/// A petgraph graph with [`EdgeCounts`] as weights.
#[derive(Clone, Debug)]
pub struct Edges<V: NodeTrait>(GraphMap<V, EdgeCounts, Directed, RandomState>);

impl<V: NodeTrait> Default for Edges<V> {
    fn default() -> Self {
        Self(GraphMap::default())
    }
}

impl<V: NodeTrait> Edges<V> {
    /// No edges, with capacity for this many vertices and as many edges.
    pub(crate) fn with_capacity(vertices: usize) -> Self {
        Self(GraphMap::with_capacity(vertices, vertices))
    }

    pub(crate) fn add(&mut self, source: V, target: V, kind: EdgeKind) {
        if let Some(counts) = self.0.edge_weight_mut(source, target) {
            return counts.add(kind);
        }
        let mut counts = EdgeCounts::default();
        counts.add(kind);
        self.0.add_edge(source, target, counts);
    }

    pub fn contains(&self, source: V, target: V) -> bool {
        self.0.contains_edge(source, target)
    }

    /// All edges, in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (V, V, EdgeCounts)> {
        let edges = self.0.all_edges();
        edges.map(|(source, target, counts)| (source, target, *counts))
    }

    /// The edges that leave a vertex, in the order in which they were added.
    pub fn outgoing(&self, source: V) -> impl Iterator<Item = (V, EdgeCounts)> {
        let edges = self.0.edges(source);
        edges.map(|(_, target, counts)| (target, *counts))
    }

    /// The edges that enter a vertex, in the order in which they were added.
    pub(crate) fn incoming(&self, target: V) -> impl Iterator<Item = (V, EdgeCounts)> {
        let edges = self.0.edges_directed(target, Direction::Incoming);
        edges.map(|(source, _, counts)| (source, *counts))
    }

    /// The distinct targets of the edges that leave a vertex.
    pub fn successors(&self, source: V) -> impl Iterator<Item = V> {
        self.0.neighbors(source)
    }

    /// The distinct sources of the edges that enter a vertex.
    pub(crate) fn predecessors(&self, target: V) -> impl Iterator<Item = V> {
        self.0.neighbors_directed(target, Direction::Incoming)
    }

    /// Keeps these edges, in their order.
    pub(super) fn retain(&mut self, keep: impl Fn(V, V) -> bool) {
        let retained = self.iter().filter(|(from, to, _)| keep(*from, *to));
        self.0 = retained.collect();
    }

    /// Removes and returns the edges that leave a vertex.
    ///
    /// petgraph does not keep the order of edges on removal, so this builds the graph again.
    pub(crate) fn take_outgoing(&mut self, source: V) -> Vec<(V, EdgeCounts)> {
        let taken = self.outgoing(source).collect();
        let others = self.iter().filter(|(from, _, _)| *from != source);
        self.0 = others.collect();
        taken
    }

    /// The edges as a petgraph graph, for its algorithms.
    pub(super) fn as_petgraph(&self) -> &GraphMap<V, EdgeCounts, Directed, RandomState> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn edges_have_the_order_in_which_they_were_added(
            pairs in proptest::collection::vec((0..12_u32, 0..12_u32), 0..300),
            removed in 0..12_u32,
        ) {
            let mut edges = Edges::default();
            let mut expected: Vec<(u32, u32, u16)> = Vec::new();
            for (source, target) in pairs {
                edges.add(source, target, EdgeKind::Order);
                match expected.iter_mut().find(|edge| (edge.0, edge.1) == (source, target)) {
                    Some(edge) => edge.2 += 1,
                    None => expected.push((source, target, 1)),
                }
            }
            let taken: Vec<_> = edges
                .take_outgoing(removed)
                .into_iter()
                .map(|(target, counts)| (removed, target, counts.order))
                .collect();
            let (leaving, expected): (Vec<_>, Vec<_>) =
                expected.into_iter().partition(|edge| edge.0 == removed);
            prop_assert_eq!(taken, leaving);
            let all: Vec<_> = edges.iter().map(|(from, to, counts)| (from, to, counts.order)).collect();
            prop_assert_eq!(&all, &expected);
            for vertex in 0..12 {
                let targets = expected.iter().filter(|edge| edge.0 == vertex).map(|edge| edge.1);
                prop_assert!(edges.successors(vertex).eq(targets));
                let sources = expected.iter().filter(|edge| edge.1 == vertex).map(|edge| edge.0);
                prop_assert!(edges.predecessors(vertex).eq(sources));
            }
        }
    }
}

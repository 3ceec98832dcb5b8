//! What is evaluated next (`docs/reference/transaction.md`, section 4): of the vertices whose predecessors
//! are all done, the one with the lowest key.

use std::collections::BTreeSet;

use super::vertex::{Graph, VertexId};

/// A place in the order of evaluation. Vertices are numbered in the order of the catalog; what is
/// made while a vertex is evaluated, or put off until then, comes between it and the next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    vertex: VertexId,
    /// Numbers of makers and of the thing itself, of what was made.
    nested: Vec<u32>,
}

impl OrderKey {
    pub(super) fn of(vertex: VertexId) -> Self {
        Self {
            vertex,
            nested: Vec::new(),
        }
    }

    /// The vertex that it comes after, or that it is.
    pub(super) fn vertex(&self) -> VertexId {
        self.vertex
    }

    /// The key of the `number`th thing made by the owner of this key.
    pub(crate) fn inside(mut self, number: u32) -> Self {
        self.nested.push(number);
        self
    }
}

/// The vertices that can be evaluated, and what the others wait for.
#[derive(Clone, Debug)]
pub struct ReadyQueue {
    /// Distinct predecessors that are not done.
    blockers: Vec<u32>,
    done: Vec<bool>,
    /// Of those that are as they are numbered.
    ready: BTreeSet<VertexId>,
    /// Of those that have a key of their own.
    ready_placed: BTreeSet<(OrderKey, VertexId)>,
}

impl ReadyQueue {
    pub fn new(graph: &Graph) -> Self {
        let mut ready = Self {
            blockers: Vec::with_capacity(graph.len()),
            done: vec![false; graph.len()],
            ready: BTreeSet::new(),
            ready_placed: BTreeSet::new(),
        };
        for id in graph.ids() {
            let count = graph.edges.predecessors(id).count();
            ready
                .blockers
                .push(u32::try_from(count).expect("there are fewer edges than this"));
            if count == 0 {
                ready.enqueue(graph, id);
            }
        }
        ready
    }

    pub fn enqueue(&mut self, graph: &Graph, id: VertexId) {
        match graph.placed.get(&id) {
            None => self.ready.insert(id),
            Some(key) => self.ready_placed.insert((key.clone(), id)),
        };
    }

    pub fn pop(&mut self) -> Option<VertexId> {
        let first = self.ready.first();
        let placed_is_first = match (first, self.ready_placed.first()) {
            (Some(first), Some((key, _))) => *key < OrderKey::of(*first),
            (first, _) => first.is_none(),
        };
        if placed_is_first {
            self.ready_placed.pop_first().map(|(_, id)| id)
        } else {
            self.ready.pop_first()
        }
    }

    pub fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.ready_placed.is_empty()
    }

    pub fn is_done(&self, id: VertexId) -> bool {
        self.done.get(id.index()).copied().unwrap_or(false)
    }

    /// A vertex is done: what waited for nothing else becomes ready.
    pub fn finish(&mut self, graph: &Graph, id: VertexId) {
        self.done[id.index()] = true;
        for target in graph.edges.successors(id) {
            let blockers = &mut self.blockers[target.index()];
            if *blockers > 0 {
                *blockers -= 1;
                if *blockers == 0 {
                    self.enqueue(graph, target);
                }
            }
        }
    }

    /// Counts anew what these vertices wait for, after edges were added or moved.
    pub fn recount(&mut self, graph: &Graph, vertices: impl IntoIterator<Item = VertexId>) {
        self.blockers.resize(graph.len(), 0);
        self.done.resize(graph.len(), false);
        for id in vertices {
            let open = graph
                .edges
                .predecessors(id)
                .filter(|source| !self.done[source.index()])
                .count();
            self.blockers[id.index()] = u32::try_from(open).expect("as above");
        }
    }
}

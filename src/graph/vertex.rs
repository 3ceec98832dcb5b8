//! Vertices of the graph that is traversed.

use foldhash::HashMap;

use crate::catalog::node::NodeId;
use crate::catalog::{ResourceRef, Resources};

use super::edges::Edges;
use super::ready_queue::OrderKey;

/// Index of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VertexId(pub(crate) u32);

impl VertexId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("a graph has fewer than four thousand million vertices"))
    }
}

/// A resource, or one of the markers that replace a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vertex {
    Resource(NodeId),
    /// Before everything in the container.
    Admissible(NodeId),
    /// After everything in the container.
    Completed(NodeId),
    /// After the resources that this one generated during its evaluation.
    Sentinel(NodeId),
}

impl Vertex {
    pub(crate) fn node(self) -> NodeId {
        match self {
            Vertex::Resource(node)
            | Vertex::Admissible(node)
            | Vertex::Completed(node)
            | Vertex::Sentinel(node) => node,
        }
    }

    pub fn is_marker(self) -> bool {
        !matches!(self, Vertex::Resource(_))
    }

    /// Whether events that enter it leave its container again.
    pub(crate) fn completes(self) -> bool {
        matches!(self, Vertex::Completed(_) | Vertex::Sentinel(_))
    }

    /// The name in messages: a marker has the name of its container.
    pub(crate) fn display_name(self, resources: &Resources) -> String {
        let reference = &resources.node(self.node()).reference;
        match self {
            Vertex::Sentinel(_) => reference.title().to_owned(),
            _ => reference.to_string(),
        }
    }

    /// The name in graphs: `Whit[Admissible_class[Foo]]` for a marker.
    pub fn graph_name(self, resources: &Resources) -> String {
        let reference = &resources.node(self.node()).reference;
        let marker = |word: &str, reference: &ResourceRef| {
            // Puppet treats the text as a type name and capitalizes each segment.
            let (first, rest) = match reference.type_name().split_once("::") {
                Some((first, rest)) => (first, format!("::{rest}")),
                None => (reference.type_name(), String::new()),
            };
            let first = first.to_lowercase();
            format!("Whit[{word}_{first}{rest}[{}]]", reference.title())
        };
        match self {
            Vertex::Resource(_) => reference.to_string(),
            Vertex::Admissible(_) => marker("Admissible", reference),
            Vertex::Completed(_) => marker("Completed", reference),
            Vertex::Sentinel(_) => format!("Whit[Completed_{}]", reference.title()),
        }
    }
}

/// The graph that is traversed.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(crate) vertices: Vec<Vertex>,
    /// Keys of generated and deferred vertices. The other vertices have their number.
    pub(super) placed: HashMap<VertexId, OrderKey>,
    pub edges: Edges<VertexId>,
    /// For each node, the vertex that edges enter, and the one that they leave.
    pub(super) ends: Vec<Option<(VertexId, VertexId)>>,
}

impl Graph {
    /// An empty graph with capacity for this many vertices.
    pub(super) fn with_capacity(count: usize) -> Self {
        Self {
            vertices: Vec::with_capacity(count),
            placed: HashMap::default(),
            edges: Edges::with_capacity(count),
            ends: Vec::with_capacity(count),
        }
    }

    pub fn vertex(&self, id: VertexId) -> Vertex {
        self.vertices[id.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.vertices.len()
    }

    /// The vertices of a node: edges enter the first and leave the second.
    pub(crate) fn ends(&self, node: NodeId) -> Option<(VertexId, VertexId)> {
        self.ends.get(node.index()).copied().flatten()
    }

    /// The position of a vertex in the order of evaluation.
    pub(crate) fn key(&self, id: VertexId) -> OrderKey {
        let placed = self.placed.get(&id);
        placed.cloned().unwrap_or_else(|| OrderKey::of(id))
    }

    /// Adds a vertex that was generated during the evaluation of another one.
    pub(crate) fn add_generated(&mut self, vertex: Vertex, key: OrderKey) -> VertexId {
        let id = self.add_vertex(vertex);
        self.placed.insert(id, key);
        id
    }

    /// Adds a vertex, in the order of the catalog.
    pub(super) fn add_vertex(&mut self, vertex: Vertex) -> VertexId {
        let id = VertexId::at(self.vertices.len());
        self.vertices.push(vertex);
        let node = vertex.node().index();
        if self.ends.len() <= node {
            self.ends.resize(node + 1, None);
        }
        match vertex {
            Vertex::Resource(_) => self.ends[node] = Some((id, id)),
            Vertex::Admissible(_) => self.ends[node] = Some((id, id)),
            Vertex::Completed(_) => {
                if let Some(ends) = &mut self.ends[node] {
                    ends.1 = id;
                }
            }
            Vertex::Sentinel(_) => {}
        }
        id
    }

    pub fn ids(&self) -> impl Iterator<Item = VertexId> + use<> {
        (0..self.vertices.len()).map(VertexId::at)
    }
}

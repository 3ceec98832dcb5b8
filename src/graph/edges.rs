//! Ordered adjacency: for every vertex its successors, in the order in which they became such.
//!
//! Several edges between two vertices are kept as counts: as ordering they are one, but each
//! refresh edge delivers events of its own.

use foldhash::{HashMap, HashSet};

use super::vertex::VertexId;

/// What an edge does besides ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// From `require` and `before`.
    Order,
    /// From automatic requirements; orders too, but is told apart in graphs.
    Automatic,
    /// Delivers events that make the target refresh.
    Refresh,
}

/// All edges from one vertex to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub target: u32,
    pub order: u16,
    pub automatic: u16,
    pub refresh: u16,
}

impl Link {
    pub fn target(&self) -> VertexId {
        VertexId(self.target)
    }

    /// The kind of each edge.
    pub fn kinds(&self) -> impl Iterator<Item = EdgeKind> + use<> {
        let times = |kind, count: u16| std::iter::repeat_n(kind, usize::from(count));
        times(EdgeKind::Order, self.order)
            .chain(times(EdgeKind::Automatic, self.automatic))
            .chain(times(EdgeKind::Refresh, self.refresh))
    }

    fn count(&mut self, kind: EdgeKind) {
        let counter = match kind {
            EdgeKind::Order => &mut self.order,
            EdgeKind::Automatic => &mut self.automatic,
            EdgeKind::Refresh => &mut self.refresh,
        };
        *counter = counter.saturating_add(1);
    }
}

/// The edges of a graph whose vertices are numbers.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    out: Vec<Vec<Link>>,
    incoming: Vec<Vec<u32>>,
    /// Place of a pair in its source's list.
    pairs: HashMap<(u32, u32), u32>,
}

impl Edges {
    pub fn with_vertices(count: usize) -> Self {
        Self {
            out: vec![Vec::new(); count],
            incoming: vec![Vec::new(); count],
            pairs: HashMap::default(),
        }
    }

    /// Makes room for this many vertices and about as many edges.
    pub fn reserve(&mut self, count: usize) {
        self.out.reserve(count);
        self.incoming.reserve(count);
        self.pairs.reserve(count);
    }

    pub fn vertices(&self) -> usize {
        self.out.len()
    }

    pub fn grow(&mut self, count: usize) {
        self.out.resize(count, Vec::new());
        self.incoming.resize(count, Vec::new());
    }

    pub fn add(&mut self, source: u32, target: u32, kind: EdgeKind) {
        let links = &mut self.out[source as usize];
        let at = *self.pairs.entry((source, target)).or_insert_with(|| {
            links.push(Link {
                target,
                order: 0,
                automatic: 0,
                refresh: 0,
            });
            self.incoming[target as usize].push(source);
            u32::try_from(links.len() - 1).expect("there are fewer links than vertices")
        });
        links[at as usize].count(kind);
    }

    pub fn has(&self, source: u32, target: u32) -> bool {
        self.pairs.contains_key(&(source, target))
    }

    pub fn link(&self, source: u32, target: u32) -> Option<&Link> {
        let at = *self.pairs.get(&(source, target))?;
        self.out[source as usize].get(at as usize)
    }

    /// The successors of a vertex, in the order in which they became such.
    pub fn out(&self, source: u32) -> &[Link] {
        &self.out[source as usize]
    }

    /// The distinct predecessors of a vertex, in the order in which they became such.
    pub fn incoming(&self, target: u32) -> &[u32] {
        &self.incoming[target as usize]
    }

    /// Puts predecessors into another order; those that are not named keep theirs, after the others.
    pub fn order_incoming(&mut self, target: u32, order: impl IntoIterator<Item = u32>) {
        let known = std::mem::take(&mut self.incoming[target as usize]);
        let mut ordered: Vec<u32> = order
            .into_iter()
            .filter(|source| self.pairs.contains_key(&(*source, target)))
            .collect();
        if ordered.len() < known.len() {
            let named: HashSet<u32> = ordered.iter().copied().collect();
            ordered.extend(known.into_iter().filter(|source| !named.contains(source)));
        }
        self.incoming[target as usize] = ordered;
    }

    /// Removes all edges that leave a vertex and returns them.
    pub fn take_out(&mut self, source: u32) -> Vec<Link> {
        let links = std::mem::take(&mut self.out[source as usize]);
        for link in &links {
            self.pairs.remove(&(source, link.target));
            self.incoming[link.target as usize].retain(|known| *known != source);
        }
        links
    }
}

//! Ordered adjacency: for every vertex its successors, in the order in which they became such.
//!
//! Several edges between two vertices are kept as counts: as ordering they are one, but each
//! refresh edge delivers events of its own.

use foldhash::HashMap;
use smallvec::SmallVec;

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

/// So many neighbours at the beginning of a list are looked through one by one.
const NEAR: usize = 8;

/// The edges of a graph whose vertices are numbers.
///
/// A pair is found by looking through the beginning of its source's list and of its target's. Most
/// lists are no longer than that; a pair that comes later in both is in a table besides.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    out: Vec<SmallVec<[Link; 1]>>,
    incoming: Vec<SmallVec<[Incoming; 2]>>,
    /// Place in its source's list, of pairs that are far down in both lists.
    far: HashMap<(u32, u32), u32>,
}

/// The other side of a [`Link`].
#[derive(Clone, Copy, Debug)]
struct Incoming {
    source: u32,
    /// Place of the link in the source's list.
    place: u32,
}

impl Edges {
    pub fn with_vertices(count: usize) -> Self {
        let mut edges = Self::default();
        edges.reserve(count);
        edges.grow(count);
        edges
    }

    /// Makes room for this many vertices.
    pub fn reserve(&mut self, count: usize) {
        self.out.reserve(count);
        self.incoming.reserve(count);
    }

    pub fn vertices(&self) -> usize {
        self.out.len()
    }

    pub fn grow(&mut self, count: usize) {
        self.out.resize(count, SmallVec::new());
        self.incoming.resize(count, SmallVec::new());
    }

    pub fn add(&mut self, source: u32, target: u32, kind: EdgeKind) {
        let place = self.place(source, target).unwrap_or_else(|| {
            let links = &mut self.out[source as usize];
            let place = u32::try_from(links.len()).expect("there are fewer links than vertices");
            links.push(Link {
                target,
                order: 0,
                automatic: 0,
                refresh: 0,
            });
            let sources = &mut self.incoming[target as usize];
            sources.push(Incoming { source, place });
            if place as usize >= NEAR && sources.len() > NEAR {
                self.far.insert((source, target), place);
            }
            place
        });
        self.out[source as usize][place as usize].count(kind);
    }

    /// Where the link of a pair is in its source's list.
    fn place(&self, source: u32, target: u32) -> Option<u32> {
        let (links, sources) = (&self.out[source as usize], &self.incoming[target as usize]);
        if links.len() <= NEAR {
            let found = links
                .iter()
                .zip(0..)
                .find(|(link, _)| link.target == target);
            return found.map(|(_, place)| place);
        }
        let near = sources.iter().take(NEAR).find(|one| one.source == source);
        if let Some(found) = near {
            return Some(found.place);
        }
        if sources.len() <= NEAR {
            return None;
        }
        let mut near = links.iter().take(NEAR).zip(0..);
        let near = near.find(|(link, _)| link.target == target);
        near.map(|(_, place)| place)
            .or_else(|| self.far.get(&(source, target)).copied())
    }

    pub fn has(&self, source: u32, target: u32) -> bool {
        self.place(source, target).is_some()
    }

    pub fn link(&self, source: u32, target: u32) -> Option<&Link> {
        let place = self.place(source, target)?;
        self.out[source as usize].get(place as usize)
    }

    /// The successors of a vertex, in the order in which they became such.
    pub fn out(&self, source: u32) -> &[Link] {
        &self.out[source as usize]
    }

    /// The distinct predecessors of a vertex, in the order in which they became such.
    pub fn incoming(&self, target: u32) -> impl ExactSizeIterator<Item = u32> {
        let sources = self.incoming[target as usize].iter();
        sources.map(|incoming| incoming.source)
    }

    /// Puts predecessors into another order; those that are not named keep theirs, after the others.
    pub fn order_incoming(&mut self, target: u32, order: impl IntoIterator<Item = u32>) {
        let order = order.into_iter().zip(0..);
        let positions: HashMap<u32, usize> = order.collect();
        let position = |one: &Incoming| positions.get(&one.source).copied().unwrap_or(usize::MAX);
        let sources = &mut self.incoming[target as usize];
        sources.sort_by_key(position);
        for one in sources.iter().skip(NEAR) {
            if one.place as usize >= NEAR {
                self.far.insert((one.source, target), one.place);
            }
        }
    }

    /// Removes all edges that leave a vertex and returns them.
    pub fn take_out(&mut self, source: u32) -> impl Iterator<Item = Link> + use<> {
        let links = std::mem::take(&mut self.out[source as usize]);
        for link in &links {
            self.far.remove(&(source, link.target));
            self.incoming[link.target as usize].retain(|one| one.source != source);
        }
        links.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain list of pairs, with more neighbours than are looked through one by one.
        #[test]
        fn pairs_are_found_wherever_they_stand(
            pairs in proptest::collection::vec((0..24_u32, 0..24_u32), 0..900),
            taken in 0..24_u32,
            ordered in 0..24_u32,
        ) {
            let mut edges = Edges::with_vertices(24);
            let mut known: Vec<(u32, u32, u16)> = Vec::new();
            let mut add = |edges: &mut Edges, (source, target)| {
                edges.add(source, target, EdgeKind::Order);
                match known.iter_mut().find(|one| (one.0, one.1) == (source, target)) {
                    Some(one) => one.2 += 1,
                    None => known.push((source, target, 1)),
                }
            };
            let (first, second) = pairs.split_at(pairs.len() / 2);
            first.iter().for_each(|pair| add(&mut edges, *pair));
            let reversed: Vec<u32> = edges.incoming(ordered).collect();
            edges.order_incoming(ordered, reversed.into_iter().rev());
            second.iter().for_each(|pair| add(&mut edges, *pair));
            let left: Vec<u32> = edges.take_out(taken).map(|link| link.target).collect();
            let expected = known.iter().filter(|one| one.0 == taken);
            prop_assert_eq!(left, expected.map(|one| one.1).collect::<Vec<_>>());
            known.retain(|one| one.0 != taken);
            for source in 0..24 {
                let out: Vec<_> = edges.out(source).iter().map(|link| (link.target, link.order)).collect();
                let expected = known.iter().filter(|one| one.0 == source);
                prop_assert_eq!(out, expected.map(|one| (one.1, one.2)).collect::<Vec<_>>());
                for target in 0..24 {
                    let there = known.iter().any(|one| (one.0, one.1) == (source, target));
                    prop_assert_eq!(edges.has(source, target), there);
                    prop_assert_eq!(edges.incoming(target).any(|one| one == source), there);
                }
            }
        }
    }
}

//! A graph as it is drawn: names and lines, also of a catalog that cannot be applied.
//!
//! Containers appear as themselves, as in `relationships.dot`. Automatic edges and edges that
//! deliver events have their own style.

use std::collections::VecDeque;

use switchtender_devices::diagnostic::ManifestPosition;

/// Resources, containers, and the lines between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawing {
    /// In the order of the catalog.
    pub(crate) nodes: Vec<DrawnNode>,
    pub(crate) lines: Vec<DrawnLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DrawnNode {
    pub(crate) name: String,
    pub(crate) position: Option<ManifestPosition>,
    pub(crate) kind: NodeStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeStyle {
    Resource,
    Container,
    /// The requested resource.
    Center,
    /// A target of a relation that is not in the catalog.
    Missing,
}

/// A line between two nodes: `from` is evaluated before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrawnLine {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) kind: LineStyle,
}

/// In ascending order: of several lines between two nodes, the last is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LineStyle {
    /// From container to content.
    Contains,
    /// From the automatic relations of a type.
    Automatic,
    /// From `require` and `before`.
    Order,
    /// From `subscribe` and `notify`.
    Refresh,
}

impl Drawing {
    /// Everything within `depth` steps of a node: along relationships in both directions, to
    /// enclosing containers that have relationships, and, if the node is a container, to its contents.
    pub(crate) fn neighborhood(mut self, center: usize, depth: usize) -> Self {
        let neighbors = Neighbors::of(&self);
        let mut distances: Vec<Option<usize>> = vec![None; self.nodes.len()];
        distances[center] = Some(0);
        let mut next = VecDeque::from([(center, 0)]);
        while let Some((node, distance)) = next.pop_front() {
            if distance == depth {
                continue;
            }
            let contents = neighbors.contents[node].iter().copied();
            let adjacent = neighbors.related[node]
                .iter()
                .copied()
                .chain(neighbors.ordering_container(node))
                .chain(contents.filter(|_| node == center));
            for neighbor in adjacent {
                if distances[neighbor].is_none() {
                    distances[neighbor] = Some(distance + 1);
                    next.push_back((neighbor, distance + 1));
                }
            }
        }
        self.nodes[center].kind = NodeStyle::Center;
        let mut count = 0;
        let numbers: Vec<Option<usize>> = distances
            .iter()
            .map(|distance| {
                distance.map(|_| {
                    count += 1;
                    count - 1
                })
            })
            .collect();
        let nodes = self.nodes.into_iter().zip(&numbers);
        let lines = self.lines.into_iter();
        Self {
            nodes: nodes
                .filter(|(_, number)| number.is_some())
                .map(|(node, _)| node)
                .collect(),
            lines: lines
                .filter_map(|line| {
                    Some(DrawnLine {
                        from: numbers[line.from]?,
                        to: numbers[line.to]?,
                        ..line
                    })
                })
                .collect(),
        }
    }
}

/// The neighbors of each node.
struct Neighbors {
    related: Vec<Vec<usize>>,
    contents: Vec<Vec<usize>>,
    container: Vec<Option<usize>>,
}

impl Neighbors {
    fn of(drawing: &Drawing) -> Self {
        let count = drawing.nodes.len();
        let mut neighbors = Self {
            related: vec![Vec::new(); count],
            contents: vec![Vec::new(); count],
            container: vec![None; count],
        };
        for line in &drawing.lines {
            match line.kind {
                LineStyle::Contains => {
                    neighbors.contents[line.from].push(line.to);
                    neighbors.container[line.to] = Some(line.from);
                }
                _ => {
                    neighbors.related[line.from].push(line.to);
                    neighbors.related[line.to].push(line.from);
                }
            }
        }
        neighbors
    }

    /// The innermost enclosing container that has relationships.
    fn ordering_container(&self, node: usize) -> Option<usize> {
        let outwards = std::iter::successors(self.container[node], |node| self.container[*node]);
        // Containers of a broken catalog can contain each other.
        let mut outwards = outwards.take(self.container.len());
        outwards.find(|container| !self.related[*container].is_empty())
    }
}

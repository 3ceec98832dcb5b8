//! Adds lines and blocks to a configuration, where the device adds them.

use crate::read::indent::{Node, Tree};

/// The block in which a line is applied.
pub(super) struct Target<'a> {
    /// As the device prints them, outermost first.
    pub(super) headers: &'a [String],
    /// The position of the block with the first of these headers, if it is known.
    pub(super) position: Vec<usize>,
}

impl Target<'_> {
    /// The lines of the block; created if missing.
    pub(super) fn level<'t>(&self, tree: &'t mut Tree) -> &'t mut Tree {
        let known = self.position.iter();
        let level = known.fold(tree, |level, at| &mut level.nodes[*at].children);
        let headers = self.headers[self.position.len()..].iter();
        headers.fold(level, |level, header| &mut enter(level, header).children)
    }
}

/// The position of the block with a header.
pub(super) fn position(level: &[Node], header: &str) -> Option<usize> {
    let mut nodes = level.iter();
    nodes.position(|node| node.text.eq_ignore_ascii_case(header))
}

/// The block with a header; created if missing.
pub(super) fn enter<'a>(level: &'a mut Tree, header: &str) -> &'a mut Node {
    let index = position(&level.nodes, header).unwrap_or_else(|| insert(level, Node::new(header)));
    &mut level.nodes[index]
}

/// Adds a line at the position of a removed one, if any.
pub(super) fn insert_at(level: &mut Tree, index: Option<usize>, node: Node) {
    match index {
        Some(index) => level.nodes.insert(index.min(level.nodes.len()), node),
        None => {
            insert(level, node);
        }
    }
}

/// Adds a line after the last one that begins with the same words. Returns its index.
pub(super) fn insert(level: &mut Tree, node: Node) -> usize {
    let words = node.words();
    let shared = |other: &Node| {
        let pairs = other.text.split_whitespace().zip(&words);
        let same = pairs.take_while(|(a, b)| a.eq_ignore_ascii_case(b));
        same.count()
    };
    let best = level
        .nodes
        .iter()
        .enumerate()
        .map(|(index, other)| (shared(other), index))
        .filter(|(shared, _)| *shared > 0)
        .max();
    let index = best.map_or(level.nodes.len(), |(_, index)| index + 1);
    level.nodes.insert(index, node);
    index
}

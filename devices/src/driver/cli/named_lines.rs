//! Instances of several lines, each of which has the names.
//!
//! The lines begin alike, `neighbor {name} …` (`prefix`), or have the names at any position,
//! `create vlan {name}` and `configure vlan {name} tag {tag}` (`named`). The templates of their
//! attributes are complete lines.

use super::CliType;
use super::rules::NamedLines;
use super::template::{Bindings, bound};
use crate::map::IndexMap;
use crate::read::indent::Node;

/// A line with the names of an instance.
#[derive(Debug)]
pub(super) struct NamedLine {
    pub(super) bindings: Bindings,
    /// It has no words behind the names.
    pub(super) is_complete: bool,
    pub(super) is_negative: bool,
}

/// The names of an instance as text.
pub(super) type NameKey = Vec<Option<String>>;

/// The lines of an instance.
#[derive(Debug)]
pub(super) struct NamedBlock {
    pub(super) bindings: Bindings,
    pub(super) nodes: Vec<Node>,
}

type NamedBlocks = IndexMap<NameKey, NamedBlock>;

impl NamedLines {
    /// The names in a line; `None` if it is no line of an instance.
    pub(super) fn split(&self, line: &str, cli: &CliType) -> Option<NamedLine> {
        let read = |line: &str, is_negative| {
            let mut openings = self.openings.iter();
            let (bindings, end) = openings.find_map(|opening| opening.read_start(line, cli))?;
            Some(NamedLine {
                bindings,
                is_complete: end == line.trim_end().len(),
                is_negative,
            })
        };
        read(line, false).or_else(|| read(&cli.negation.positive(line)?, true))
    }

    pub(super) fn key(&self, bindings: &Bindings) -> NameKey {
        let value = |name: &String| bound(bindings, name)?.scalar_text();
        self.names.iter().map(value).collect()
    }

    /// Whether a line has only the common beginning.
    pub(super) fn is_bare(&self, node: &Node, cli: &CliType) -> bool {
        let is_complete = |line: NamedLine| line.is_complete && !line.is_negative;
        self.prefix.is_some() && self.split(&node.text, cli).is_some_and(is_complete)
    }

    fn has_key(&self, node: &Node, key: &NameKey, cli: &CliType) -> bool {
        let line = self.split(&node.text, cli);
        line.is_some_and(|line| self.key(&line.bindings) == *key)
    }

    /// Whether a line is of the instance with these names. `known`: the texts of its lines, which are
    /// compared in place of the names.
    pub(super) fn owner_of<'a>(
        &'a self,
        key: NameKey,
        known: Option<&'a [String]>,
        cli: &'a CliType,
    ) -> impl Fn(&Node) -> bool + use<'a> {
        move |node| match known {
            Some(texts) => texts.contains(&node.text),
            None => self.has_key(node, &key, cli),
        }
    }

    /// Adds the lines at one level to their instances, below inner blocks with these headers.
    fn gather(
        &self,
        nodes: &[Node],
        inner_blocks: &[String],
        cli: &CliType,
        all: &mut NamedBlocks,
    ) {
        let mut lines = NamedBlocks::default();
        for node in nodes {
            let Some(line) = self.split(&node.text, cli) else {
                continue;
            };
            let block = lines
                .entry(self.key(&line.bindings))
                .or_insert_with(|| NamedBlock {
                    bindings: line.bindings,
                    nodes: Vec::new(),
                });
            block.nodes.push(node.clone());
        }
        for (key, mut block) in lines {
            for header in inner_blocks.iter().rev() {
                let mut outer = Node::new(header);
                outer.children.nodes = block.nodes;
                block.nodes = vec![outer];
            }
            match all.get_mut(&key) {
                Some(known) => known.nodes.extend(block.nodes),
                None => {
                    all.insert(key, block);
                }
            }
        }
    }
}

impl CliType {
    /// The instances in a block, in the order of their first lines.
    pub(super) fn named_blocks(
        &self,
        lines: &NamedLines,
        nodes: &[Node],
        spelling: usize,
    ) -> impl Iterator<Item = NamedBlock> {
        let mut all = NamedBlocks::default();
        lines.gather(nodes, &[], self, &mut all);
        for sub in self.subs(spelling) {
            for inner in inner_blocks(nodes, sub) {
                lines.gather(&inner.children.nodes, sub, self, &mut all);
            }
        }
        let blocks = all.into_iter().map(|(_, block)| block);
        blocks.filter(|block| {
            !block
                .bindings
                .iter()
                .any(|binding| self.is_skipped(binding))
        })
    }

    /// The names that each line of an instance has; none for instances that are not such lines.
    pub(super) fn line_names(&self) -> Vec<&str> {
        let lines = self.instance.kind.named();
        let names = lines.iter().flat_map(|lines| &lines.names);
        names.map(String::as_str).collect()
    }
}

/// The blocks with these headers, outermost first.
pub(super) fn inner_blocks<'t>(nodes: &'t [Node], headers: &[String]) -> Vec<&'t Node> {
    let Some((first, rest)) = headers.split_first() else {
        return Vec::new();
    };
    let found = nodes
        .iter()
        .filter(|node| node.text.eq_ignore_ascii_case(first));
    match rest {
        [] => found.collect(),
        rest => found
            .flat_map(|node| inner_blocks(&node.children.nodes, rest))
            .collect(),
    }
}

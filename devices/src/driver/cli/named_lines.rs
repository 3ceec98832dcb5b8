//! Instances of several lines with a common beginning: `neighbor {name}`.
//!
//! The lines of an instance are read as a block: the common beginning is the header, and the words
//! behind it are the lines of the block.

use std::borrow::Cow;

use super::CliType;
use super::negation::Negation;
use super::template::{Bindings, LineTemplate, Vocabulary};
use crate::map::IndexMap;
use crate::read::indent::{Node, Tree};
use crate::secret::Text;

/// The common beginning of the lines of an instance.
#[derive(Clone, Debug)]
pub(crate) struct PrefixRule {
    pub(crate) template: LineTemplate,
    /// How complete lines are removed.
    pub(crate) negation: Negation,
}

/// A line that begins with a prefix.
#[derive(Debug)]
pub(super) struct PrefixedLine {
    pub(super) bindings: Bindings,
    pub(super) header: String,
    /// The words behind the header.
    rest: String,
    is_negative: bool,
}

/// The lines of an instance: the header and what follows it.
#[derive(Debug)]
pub(super) struct PrefixedBlock {
    pub(super) bindings: Bindings,
    pub(super) header: String,
    pub(super) nodes: Vec<Node>,
}

/// The instances at one place, by their headers without case.
type PrefixedBlocks = IndexMap<String, PrefixedBlock>;

impl PrefixedLine {
    /// Whether the line is the header, or removes all lines of the instance.
    pub(super) fn is_header(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn removes_instance(&self) -> bool {
        self.is_header() && self.is_negative
    }
}

impl PrefixRule {
    /// Splits a line; `None` if it does not begin with the prefix.
    pub(super) fn split(&self, line: &str, vocabulary: &dyn Vocabulary) -> Option<PrefixedLine> {
        let positive = self.negation.positive(line);
        let is_negative = positive.is_some();
        let line = positive.unwrap_or(Cow::Borrowed(line));
        let (bindings, end) = self.template.read_start(&line, vocabulary)?;
        let (header, rest) = line.split_at(end);
        Some(PrefixedLine {
            bindings,
            header: header.to_owned(),
            rest: rest.trim_start().to_owned(),
            is_negative,
        })
    }

    /// The words of a line behind its header, as a line of their own.
    pub(super) fn inner_line(&self, line: &PrefixedLine) -> String {
        match line.is_negative {
            true => self
                .negation
                .inside()
                .negative(line.rest.as_str().into())
                .reveal(),
            false => line.rest.clone(),
        }
    }

    /// The complete line for the words behind a header.
    pub(super) fn join(&self, header: &Text, inner: Text) -> Text {
        let inside = self.negation.inside();
        let (rest, is_negative) = match inside.positive(&inner.reveal()) {
            Some(_) => (inner.without_first_word(inside.word()), true),
            None => (inner, false),
        };
        let mut line = header.clone();
        line.push(" ");
        line.append(rest);
        match is_negative {
            true => self.negation.negative(line),
            false => line,
        }
    }

    /// Adds the lines at one level to their instances, below inner blocks with these headers.
    fn gather(
        &self,
        nodes: &[Node],
        inner_blocks: &[String],
        vocabulary: &dyn Vocabulary,
        all: &mut PrefixedBlocks,
    ) {
        let mut lines = PrefixedBlocks::default();
        for node in nodes {
            let Some(line) = self.split(&node.text, vocabulary) else {
                continue;
            };
            let inner = (!line.is_header()).then(|| Node {
                text: self.inner_line(&line),
                children: node.children.clone(),
                body: None,
            });
            let key = line.header.to_lowercase();
            let block = lines.entry(key).or_insert_with(|| PrefixedBlock {
                bindings: line.bindings,
                header: line.header,
                nodes: Vec::new(),
            });
            block.nodes.extend(inner);
        }
        for (key, mut block) in lines {
            for header in inner_blocks.iter().rev() {
                let mut outer = Node::new(header);
                outer.children = Tree { nodes: block.nodes };
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
    pub(super) fn prefixed_blocks(
        &self,
        prefix: &PrefixRule,
        nodes: &[Node],
        spelling: usize,
    ) -> impl Iterator<Item = PrefixedBlock> {
        let mut all = PrefixedBlocks::default();
        prefix.gather(nodes, &[], self, &mut all);
        for sub in self.subs(spelling) {
            for inner in inner_blocks(nodes, sub) {
                prefix.gather(&inner.children.nodes, sub, self, &mut all);
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

    /// The inner blocks with lines of attributes, each once.
    pub(super) fn subs(&self, spelling: usize) -> Vec<&[String]> {
        let mut all: Vec<&[String]> = Vec::new();
        for rule in self.attributes.values() {
            let sub = rule.sub(spelling);
            if !sub.is_empty() && !all.contains(&sub) {
                all.push(sub);
            }
        }
        all
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

/// Removes the lines of an instance, also from inner blocks.
pub(super) fn remove_lines(level: &mut Tree, header: &str, prefix: &PrefixRule, cli: &CliType) {
    level
        .nodes
        .retain(|node| !has_header(node, header, prefix, cli));
    for node in &mut level.nodes {
        remove_lines(&mut node.children, header, prefix, cli);
    }
}

/// Takes the lines of an instance from a level, as a block, and the position of the first.
pub(super) fn take_lines(
    level: &mut Tree,
    header: &str,
    prefix: &PrefixRule,
    cli: &CliType,
) -> (Tree, Option<usize>) {
    let is_own = |node: &Node| has_header(node, header, prefix, cli);
    let position = level.nodes.iter().position(is_own);
    let (own, others) = std::mem::take(&mut level.nodes)
        .into_iter()
        .partition::<Vec<Node>, _>(is_own);
    level.nodes = others;
    let mut all = PrefixedBlocks::default();
    prefix.gather(&own, &[], cli, &mut all);
    let nodes = all.into_iter().flat_map(|(_, block)| block.nodes);
    (
        Tree {
            nodes: nodes.collect(),
        },
        position,
    )
}

/// The complete lines of an instance.
pub(super) fn complete_lines(lines: Tree, header: &str, prefix: &PrefixRule) -> Vec<Node> {
    let header = Text::plain(header);
    let complete = lines.nodes.into_iter().map(|node| Node {
        text: prefix.join(&header, node.text.into()).reveal(),
        ..node
    });
    complete.collect()
}

fn has_header(node: &Node, header: &str, prefix: &PrefixRule, cli: &CliType) -> bool {
    let line = prefix.split(&node.text, cli);
    line.is_some_and(|line| line.header.eq_ignore_ascii_case(header))
}

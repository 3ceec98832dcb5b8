//! `[read.x.offline]`: what a saved configuration shows of an answer that was not saved.
//!
//! The lines of an answer come from comments, or from lines of the configuration. A table has no lines:
//! its rows are the blocks in which the lines of a type stand (`driver/cli/in_config.rs`).

mod braces;

use crate::document::keys;
use crate::pattern::Pattern;
use crate::read::indent::{Node, Tree};

/// Between the first line of a block and the line in it.
const SEPARATOR: &str = " / ";
/// The distance of the numbers that a device gives to entries without one.
const STEP: u32 = 10;

keys! {
    /// What a saved configuration shows of an answer that was not saved.
    pub(crate) struct OfflineRule {
        /// Comments in which a backup program has saved the answer. The group is a line of it.
        comment: Option<Pattern>,
        /// Lines of the top level that the answer has, too, in its own text.
        lines: Vec<OfflineLine>,
        /// The lines in blocks of `lines` that the answer has. One without a number at its beginning has the next
        /// multiple of 10.
        entries: Option<Pattern>,
        /// The first lines of blocks that are rows of the answer.
        blocks: Option<Pattern>,
        /// A block with such a line is no row, unless a line says that it is one.
        without: Vec<Pattern>,
        /// A configuration with such a line is of a device with the answer, as with `optional.unless`.
        with: Option<Pattern>,
        /// What of the answer the configuration does not show, for messages.
        hidden: Option<String>,
        /// For the configuration: the first word of its lines. A file in which statements stand in braces is
        /// read as such lines.
        braces: Option<String>,
    }
}

keys! {
    /// A line of the configuration that the answer has in its own text.
    pub(crate) struct OfflineLine {
        /// The line.
        pattern: Pattern,
        /// Its text in the answer, with `$1` for a group. ` / ` is between the first line of a block and the line in it.
        with as "with": String,
    }
}

/// Which blocks of a configuration are rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowBlocks {
    /// Their first lines; `None`: all.
    pub(crate) first_lines: Option<Pattern>,
    pub(crate) without: Vec<Pattern>,
}

impl OfflineRule {
    /// The answer in comments of the configuration.
    pub(crate) fn in_comments(&self, config: &str) -> Option<String> {
        let pattern = self.comment.as_ref()?;
        let mut text = String::new();
        for line in config.lines() {
            if let Some(part) = pattern.captures(line).and_then(|found| found.get(1)) {
                text.push_str(part.as_str());
                text.push('\n');
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// The lines of a configuration whose statements stand in braces. `None`: it has none.
    pub(crate) fn without_braces(&self, config: &str) -> Option<String> {
        braces::lines(config, self.braces.as_deref()?)
    }

    /// Whether lines of the configuration are the answer.
    pub(crate) fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The answer that the lines of the configuration are. Each line has the position of its origin.
    pub(crate) fn tree(&self, config: &Tree) -> Tree {
        let mut tree = Tree::default();
        for node in &config.nodes {
            let Some(line) = self
                .lines
                .iter()
                .find(|line| line.pattern.is_match(&node.text))
            else {
                continue;
            };
            let text = line.pattern.replace(&node.text, &line.with).into_owned();
            let (header, children) = match text.split_once(SEPARATOR) {
                Some((header, entry)) => {
                    let entry = Node {
                        text: entry.into(),
                        ..node.clone()
                    };
                    (header, vec![entry])
                }
                None => (text.as_str(), node.children.nodes.clone()),
            };
            let mut blocks = tree.nodes.iter().rev();
            let known = blocks.position(|block| *block.text == *header);
            let at = match known {
                Some(from_end) => tree.nodes.len() - 1 - from_end,
                None => {
                    let mut block = Node {
                        text: header.into(),
                        ..node.clone()
                    };
                    block.children = Tree::default();
                    tree.nodes.push(block);
                    tree.nodes.len() - 1
                }
            };
            tree.nodes[at].children.nodes.extend(children);
        }
        if let Some(pattern) = &self.entries {
            for block in &mut tree.nodes {
                number(&mut block.children.nodes, pattern);
            }
        }
        tree
    }

    /// Which blocks are rows.
    pub(crate) fn row_blocks(&self) -> RowBlocks {
        RowBlocks {
            first_lines: self.blocks.clone(),
            without: self.without.clone(),
        }
    }
}

/// Removes lines that are no entries, and numbers the others.
fn number(nodes: &mut Vec<Node>, entries: &Pattern) {
    nodes.retain(|node| entries.is_match(&node.text));
    let mut last = 0;
    for node in nodes {
        let first = node.text.split(' ').next().unwrap_or_default();
        match first.parse::<u32>() {
            Ok(number) => last = number,
            Err(_) => {
                last = last - last % STEP + STEP;
                node.text = format!("{last} {}", node.text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::indent::IndentRules;

    fn rule() -> OfflineRule {
        let pattern = |text: &str| Pattern::new(text).expect("a pattern");
        let line = |text: &str, with: &str| OfflineLine {
            pattern: pattern(text),
            with: with.to_owned(),
        };
        OfflineRule {
            comment: Some(pattern("^!LIST: ?(.*)$")),
            lines: vec![
                line("^list named (.+)$", "Named list $1"),
                line(r"^list (\d+) (permit .+)$", "List $1 / $2"),
            ],
            entries: Some(pattern(r"^(?:\d+ )?permit ")),
            blocks: None,
            without: Vec::new(),
            with: None,
            hidden: None,
            braces: None,
        }
    }

    #[test]
    fn lines_of_a_configuration_are_an_answer() {
        let text = "list 7 permit a\nother\nlist named web\n remark x\n permit b\n 25 permit c\n permit d\n\
                    list 7 permit e\nlist named empty\n";
        let config = Tree::parse(text, &IndentRules::default());
        assert_eq!(
            rule().tree(&config).text(),
            "List 7\n 10 permit a\n 20 permit e\nNamed list web\n 10 permit b\n 25 permit c\n 30 permit d\n\
             Named list empty\n"
        );
    }

    #[test]
    fn comments_of_a_configuration_are_an_answer() {
        let text = "!LIST: Named list web\n!LIST:     10 permit a\n!\nversion 1\n";
        let answer = rule().in_comments(text);
        assert_eq!(answer.as_deref(), Some("Named list web\n    10 permit a\n"));
        assert_eq!(rule().in_comments("version 1\n"), None);
    }
}

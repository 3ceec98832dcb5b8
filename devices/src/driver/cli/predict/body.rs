//! Texts between delimiters, and texts of blocks.

use super::tree::{enter, insert};
use crate::driver::cli::CliType;
use crate::driver::cli::attribute_lines::begins_with;
use crate::operation::Operation;
use crate::read::indent::{Node, Tree};
use crate::secret::Text;

impl CliType {
    /// The words before the text that an operation sets.
    pub(super) fn words_of_text(&self, operation: &Operation) -> Option<&str> {
        operation
            .attributes
            .iter()
            .find_map(|name| self.attributes.get(name)?.words_of_text())
    }

    pub(super) fn apply_text(
        &self,
        level: &mut Tree,
        operation: &Operation,
        text: &str,
        body: &[Text],
    ) {
        let Some(words) = self.words_of_text(operation) else {
            return;
        };
        let is_old = |node: &Node| begins_with(&node.text, words);
        let old = level.nodes.iter().find(|node| is_old(node));
        // With the delimiter as the device prints it.
        let header = old.map_or_else(|| words.to_owned(), |node| node.text.clone());
        level.nodes.retain(|node| !is_old(node));
        if self.negation.positive(text).is_some() {
            return;
        }
        let mut sent = text
            .get(words.len()..)
            .unwrap_or_default()
            .trim_start()
            .to_owned();
        for line in body {
            sent.push('\n');
            sent.push_str(&line.reveal());
        }
        let mut characters = sent.chars();
        characters.next();
        characters.next_back();
        let mut node = Node::new(header);
        node.body = Some(characters.as_str().into());
        insert(level, node);
    }
}

/// Replaces the text of a block: the device takes it whole. The last line ends it.
pub(super) fn apply_block_text(level: &mut Tree, header: &str, body: &[Text]) {
    let lines = body.iter().take(body.len().saturating_sub(1));
    let text: String = lines.map(|line| format!("{}\n", line.reveal())).collect();
    let block = enter(level, header);
    block.body = Some(text.into());
    block.children = Tree::default();
}

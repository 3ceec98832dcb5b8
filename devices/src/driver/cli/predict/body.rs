//! Texts between delimiters, and texts of blocks.

use super::tree::{enter, insert};
use crate::driver::cli::CliType;
use crate::driver::cli::attribute_lines::begins_with;
use crate::driver::cli::rules::{TextBody, TextLimit};
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

    fn limit_of_text(&self, operation: &Operation) -> Option<&TextLimit> {
        operation
            .attributes
            .iter()
            .find_map(|name| match self.attributes.get(name)?.body()? {
                TextBody::After { limit, .. } => Some(limit),
                TextBody::UpTo { .. } => None,
            })
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
        if let Some(TextLimit::Line(_)) = self.limit_of_text(operation) {
            let mut node = Node::new(header);
            node.body = Some(text_before_end(body).into());
            insert(level, node);
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

/// The lines before the one that ends a text.
fn text_before_end(body: &[Text]) -> String {
    let lines = body.iter().take(body.len().saturating_sub(1));
    lines.map(|line| format!("{}\n", line.reveal())).collect()
}

/// Replaces the text of a block: the device takes it whole. The last line ends it.
pub(super) fn apply_block_text(level: &mut Tree, header: &str, body: &[Text]) {
    let block = enter(level, header);
    block.body = Some(text_before_end(body).into());
    block.children = Tree::default();
}

//! Texts between delimiters.

use super::tree::insert;
use crate::driver::cli::CliType;
use crate::driver::cli::attribute_lines::begins_with;
use crate::driver::cli::rules::{CliAttributeRule, CliLocation};
use crate::operation::Operation;
use crate::read::indent::{Node, Tree};
use crate::secret::Text;

impl CliType {
    pub(super) fn opaque_rule(&self, operation: &Operation) -> Option<(&CliAttributeRule, &str)> {
        operation.attributes.iter().find_map(|name| {
            let rule = self.attributes.get(name)?;
            match &rule.location {
                CliLocation::Opaque { words, .. } => Some((rule, words.as_str())),
                _ => None,
            }
        })
    }

    pub(super) fn apply_opaque(
        &self,
        level: &mut Tree,
        operation: &Operation,
        text: &str,
        body: &[Text],
    ) {
        let Some((_, words)) = self.opaque_rule(operation) else {
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
        node.body = Some(characters.as_str().to_owned());
        insert(level, node);
    }
}

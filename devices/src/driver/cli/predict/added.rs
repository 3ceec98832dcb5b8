//! Lines that the device adds and removes together with another one.

use super::tree::insert;
use crate::driver::cli::CliType;
use crate::driver::cli::template::LineTemplate;
use crate::operation::Operation;
use crate::read::indent::{Node, Tree};

impl CliType {
    /// Removes the lines that the device removes with a sent line of another attribute.
    pub(super) fn clear_lines(&self, level: &mut Tree, operation: &Operation, sent: &str) {
        let positive = self.negation.positive(sent);
        let sent = Node::new(positive.as_deref().unwrap_or(sent));
        let rules = operation.attributes.iter();
        for rule in rules.filter_map(|name| self.attributes.get(name)) {
            if rule.clears.is_empty() || self.read_line(rule, &sent).is_none() {
                continue;
            }
            for name in &rule.clears {
                if let Some(cleared) = self.attributes.get(name) {
                    level
                        .nodes
                        .retain(|node| self.read_shared_line(cleared, node).is_none());
                }
            }
        }
    }

    /// Adds the lines that go with a sent line, and removes those that go with the line that it replaces.
    pub(super) fn add_companion_lines(&self, level: &mut Tree, sent: &str) {
        for rule in self
            .attributes
            .values()
            .filter(|rule| !rule.adds.is_empty())
        {
            let is_sent =
                |line: &Option<LineTemplate>| line.as_ref().is_some_and(|line| line.text == sent);
            let mut set = rule.set.iter();
            let Some((value, _)) = set.find(|(_, line)| is_sent(line)) else {
                continue;
            };
            for (with, lines) in &rule.adds {
                for line in lines {
                    let is_same = |node: &Node| node.text == line.text;
                    let exists = level.nodes.iter().any(is_same);
                    if with != value {
                        level.nodes.retain(|node| !is_same(node));
                    } else if !exists {
                        insert(level, Node::new(&line.text));
                    }
                }
            }
        }
    }
}

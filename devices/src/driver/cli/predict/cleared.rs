//! Lines that the device removes when another one is sent.

use crate::driver::cli::CliType;
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
}

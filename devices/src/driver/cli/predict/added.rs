//! Lines that the device adds and removes together with another one.

use super::tree::insert;
use crate::driver::cli::CliType;
use crate::driver::cli::template::LineTemplate;
use crate::read::indent::{Node, Tree};

impl CliType {
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

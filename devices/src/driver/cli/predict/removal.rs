//! Removes the lines of an attribute, or elements from the lines of a list.

use super::bound;
use crate::driver::cli::CliType;
use crate::driver::cli::rules::CliAttributeRule;
use crate::driver::cli::template::Bindings;
use crate::read::indent::{Node, Tree};
use crate::value::Value;

impl CliType {
    /// The elements of an attribute in a line.
    pub(super) fn elements_in(&self, rule: &CliAttributeRule, text: &str) -> Option<Vec<Value>> {
        elements_of(rule, self.read_line(rule, &Node::new(text))?)
    }

    /// Removes elements from the lines of a list. Otherwise removes the lines of an attribute that
    /// `is_removed`.
    pub(super) fn remove_values(
        &self,
        level: &mut Tree,
        rule: &CliAttributeRule,
        removed: Option<Vec<Value>>,
        is_removed: &dyn Fn(&str) -> bool,
    ) {
        let removed = removed.filter(|_| rule.many);
        let mut remaining = Vec::new();
        for node in std::mem::take(&mut level.nodes) {
            let (Some(removed), Some(current)) = (&removed, self.elements_in(rule, &node.text))
            else {
                if !is_removed(&node.text) {
                    remaining.push(node);
                }
                continue;
            };
            if !current.iter().any(|item| removed.contains(item)) {
                remaining.push(node);
                continue;
            }
            // One of several elements in a line: `no ip name-server A` changes `ip name-server A
            // B`.
            for left in current.iter().filter(|item| !removed.contains(item)) {
                let own = self.read_line(rule, &node).unwrap_or_default();
                let values = |name: &str| match name == rule.name {
                    true => Some(left),
                    false => bound(&own, name),
                };
                let line = rule
                    .lines
                    .first()
                    .and_then(|line| line.write(&values, self));
                remaining.extend(line.map(|line| Node::new(line.reveal())));
            }
        }
        level.nodes = remaining;
    }
}

/// The elements of an attribute among the values of a line.
pub(super) fn elements_of(rule: &CliAttributeRule, bindings: Bindings) -> Option<Vec<Value>> {
    let (_, value) = bindings.into_iter().find(|(name, _)| *name == rule.name)?;
    Some(match value {
        Value::List(items) => items,
        one => vec![one],
    })
}

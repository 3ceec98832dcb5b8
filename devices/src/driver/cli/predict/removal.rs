//! Removes the lines of an attribute, or elements from the lines of a list.

use super::tree::insert;
use super::{includes, read};
use crate::driver::cli::CliType;
use crate::driver::cli::attribute_lines::begins_with;
use crate::driver::cli::line_effect::RemovedLines;
use crate::driver::cli::rules::CliAttributeRule;
use crate::driver::cli::template::{Bindings, bound, take_bound};
use crate::read::indent::{Node, Tree};
use crate::value::Value;

impl CliType {
    /// The elements of an attribute in a line.
    pub(in crate::driver::cli) fn elements_in(
        &self,
        rule: &CliAttributeRule,
        text: &str,
    ) -> Option<Vec<Value>> {
        elements_of(rule, self.read_line(rule, &Node::new(text))?)
    }

    /// Removes the lines of an attribute, or elements in them.
    pub(super) fn remove_lines(
        &self,
        level: &mut Tree,
        rule: &CliAttributeRule,
        removed: RemovedLines,
    ) {
        match removed {
            RemovedLines::Default(words) => level.nodes.retain(|node| {
                let positive = self.negation.positive(&node.text);
                !begins_with(positive.as_deref().unwrap_or(&node.text), &words)
            }),
            RemovedLines::WithParts(parts) => level.nodes.retain(|node| {
                let found = read(&rule.lines, &node.text, self);
                !found.is_some_and(|found| includes(&found, &parts))
            }),
            RemovedLines::WithValues(values) => {
                self.remove_values(level, rule, elements_of(rule, values), &|line| {
                    self.read_shared_line(rule, &Node::new(line)).is_some()
                });
            }
            RemovedLines::Beginning { words, values } => match rule.identity_of(&words) {
                Some(identity) => level
                    .nodes
                    .retain(|node| rule.identity_of(&node.text) != Some(identity)),
                None => {
                    let removed = values.and_then(|values| elements_of(rule, values));
                    self.remove_values(level, rule, removed, &|line| begins_with(line, &words));
                }
            },
        }
    }

    /// Removes elements from the lines of a list. Otherwise removes the lines of an attribute that
    /// `is_removed`.
    fn remove_values(
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
            let left = self.without(rule, &current, removed);
            if left == current {
                remaining.push(node);
                continue;
            }
            // One of several elements in a line: `no ip name-server A` changes `ip name-server A
            // B`.
            for left in &left {
                let own = self.read_line(rule, &node).unwrap_or_default();
                let values = |name: &str| {
                    if name == rule.name {
                        Some(left)
                    } else {
                        bound(&own, name)
                    }
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

impl CliType {
    /// The elements of a line that remain. A set of numbers is one element.
    fn without(&self, rule: &CliAttributeRule, current: &[Value], removed: &[Value]) -> Vec<Value> {
        if let Some(set) = self.added_set(rule)
            && let ([current], [removed]) = (current, removed)
            && let (Some(current), Some(removed)) = (current.as_str(), removed.as_str())
        {
            let left = set.difference(current, removed);
            let is_empty = left.is_empty();
            return (!is_empty)
                .then(|| set.text(&left).into())
                .into_iter()
                .collect();
        }
        let left = current.iter().filter(|item| !removed.contains(item));
        left.cloned().collect()
    }

    /// Adds a line with numbers to those of the line that the level has.
    pub(super) fn add_numbers(&self, level: &mut Tree, rule: &CliAttributeRule, node: Node) {
        let own = |node: &Node| self.elements_in(rule, &node.text)?.into_iter().next();
        let mut lines = level.nodes.iter_mut();
        let present = lines.find_map(|line| {
            let value = own(line)?;
            Some((line, value))
        });
        let sum = present.and_then(|(line, current)| {
            let codec = self.codecs.get(rule.name.as_str())?;
            let change = Value::List(vec!["add".into(), own(&node)?]);
            let sum = codec.resolve(&change, Some(&current));
            let template = rule.lines.first()?;
            let text = template.write(&|name| (name == rule.name).then_some(&sum), self)?;
            line.text = text.reveal();
            Some(())
        });
        if sum.is_none() {
            insert(level, node);
        }
    }
}

/// The elements of an attribute among the values of a line.
fn elements_of(rule: &CliAttributeRule, bindings: Bindings) -> Option<Vec<Value>> {
    Some(match take_bound(bindings, &rule.name)? {
        Value::List(items) => items,
        one => vec![one],
    })
}

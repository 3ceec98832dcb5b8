//! Reads the attributes of an instance from lines: those of its block and those of its own.

use super::found::FoundInstance;
use super::rules::CliAttributeRule;
use super::template::{Bindings, CAPTURE_MARK};
use super::{CliType, rules};
use crate::driver::codec::RangeSet;
use crate::read::indent::Node;
use crate::value::Value;

impl CliType {
    /// Adds the attributes that have separate lines in a block, of these attributes.
    pub(super) fn read_lines<'r>(
        &self,
        nodes: &[Node],
        found: &mut FoundInstance,
        rules: impl Iterator<Item = &'r CliAttributeRule> + Clone,
    ) {
        let names = self.line_names();
        for node in nodes {
            for rule in rules.clone() {
                let Some(bindings) = self.read_line(rule, node) else {
                    continue;
                };
                for (name, value) in bindings {
                    if names.contains(&name.as_str()) {
                        continue;
                    }
                    self.add(&name, value, &node.text, found);
                }
                // The existence of a line can be one attribute and its value another.
                if rule.beginnings().is_empty() {
                    break;
                }
            }
        }
    }

    /// Whether the lines of an attribute have one value together. A second line with another value is
    /// not understood: devices use the first, the last or both.
    pub(super) fn has_one_value(&self, rule: &CliAttributeRule) -> bool {
        !rule.many && rules::range_set(self.codecs.get(rule.name.as_str())).is_none()
    }

    /// Forgets the values of attributes whose lines differ.
    pub(super) fn forget_differing_lines(&self, found: &mut FoundInstance) {
        let differ = |lines: &[(Value, String)]| {
            let mut pairs = lines.windows(2);
            pairs.any(|pair| pair[0].0 != pair[1].0)
        };
        for (name, _) in found.lines.iter().filter(|(_, lines)| differ(lines)) {
            let rule = self.attributes.get(name.as_str());
            if let Some(rule) = rule.filter(|rule| self.has_one_value(rule)) {
                found.attributes.remove(&rule.name);
                found.unknown.push(rule.name.clone());
            }
        }
    }

    /// The valid numbers of an attribute whose lines add numbers to a set.
    pub(super) fn added_set(&self, rule: &CliAttributeRule) -> Option<RangeSet> {
        let set = rules::range_set(self.codecs.get(rule.name.as_str()));
        set.filter(|_| rule.many)
    }

    /// Adds a value; list elements are collected.
    fn add(&self, name: &str, value: Value, text: &str, found: &mut FoundInstance) {
        if name.starts_with(CAPTURE_MARK) {
            found.unmanaged.insert(name.to_owned(), value);
            return;
        }
        if name.contains('|') {
            return;
        }
        let rule = self.attributes.get(name);
        let many = rule.is_some_and(|rule| rule.many);
        let is_set = rules::range_set(self.codecs.get(name)).is_some();
        let elements = match value {
            Value::List(items) if many => items,
            value => vec![value],
        };
        for value in elements {
            let lines = found.lines.entry(name.to_owned()).or_default();
            lines.push((value.clone(), text.to_owned()));
            let value = match found.attributes.get(name).map(Value::unwrap_sensitive) {
                None if is_set => value,
                Some(Value::List(items)) if many => {
                    let mut items = items.clone();
                    items.push(value);
                    Value::List(items)
                }
                Some(before) if is_set => union(self, name, before, &value),
                _ if many => Value::List(vec![value]),
                _ => value,
            };
            found
                .attributes
                .insert(name.to_owned(), self.finished(name, value));
        }
    }

    /// Adds the attributes from the line or header of an instance.
    pub(super) fn bind(&self, bindings: Bindings, found: &mut FoundInstance) {
        for (name, value) in bindings {
            if name.starts_with(CAPTURE_MARK) {
                found.unmanaged.insert(name, value);
            } else if !name.contains('|') {
                let value = self.finished(&name, value);
                found.attributes.insert(name, value);
            }
        }
    }
}

fn union(cli: &CliType, name: &str, before: &Value, more: &Value) -> Value {
    let change = Value::List(vec!["add".into(), more.clone()]);
    match cli.codecs.get(name) {
        Some(codec) => codec.resolve(&change, Some(before)),
        None => more.clone(),
    }
}

/// The line without a leading `default`.
pub(super) fn without_default(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once(' ')?;
    let is_default = first.eq_ignore_ascii_case("default");
    is_default.then(|| rest.trim_start())
}

/// Whether a line begins with the words of a text.
pub(super) fn begins_with(line: &str, text: &str) -> bool {
    let mut words = line.split_whitespace();
    text.split_whitespace().all(|word| {
        words
            .next()
            .is_some_and(|actual| actual.eq_ignore_ascii_case(word))
    })
}

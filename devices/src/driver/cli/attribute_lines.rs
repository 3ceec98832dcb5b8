//! Reads the attributes of an instance from lines: those of its block and those of its own.

use super::found::FoundInstance;
use super::rules::{CliAttributeRule, CliLocation, TextBody};
use super::template::{Bindings, CAPTURE_MARK, LineTemplate, Vocabulary, value_parts};
use super::{CliType, rules};
use crate::driver::codec::RangeSet;
use crate::read::indent::Node;
use crate::value::{Name, Value};

impl CliType {
    /// Adds the attributes that have separate lines in a block.
    pub(super) fn read_lines(
        &self,
        nodes: &[Node],
        found: &mut FoundInstance,
        concerned: &dyn Fn(&CliAttributeRule) -> bool,
    ) {
        let names = self.line_names();
        for node in nodes {
            for rule in self.attributes.values().filter(|rule| concerned(rule)) {
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
                if !matches!(rule.location, CliLocation::Exists(_)) {
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

    /// The values of an attribute in a line, and of the attributes that share its lines.
    pub(super) fn read_line(&self, rule: &CliAttributeRule, node: &Node) -> Option<Bindings> {
        match &rule.location {
            // What a table shows is set by lines.
            CliLocation::Lines | CliLocation::Cell(_) => self.read_own_line(rule, &node.text),
            CliLocation::Body(TextBody::UpTo { .. }) => None,
            CliLocation::Body(TextBody::After { words, .. }) => {
                let body = node.body.as_deref()?;
                let start = node.text.get(..words.len())?;
                start
                    .eq_ignore_ascii_case(words)
                    .then(|| vec![(rule.name.clone(), body.trim_matches('\n').into())])
            }
            CliLocation::Exists(texts) => {
                let begins = |text: &LineTemplate| text.read_start(&node.text, self).is_some();
                texts
                    .iter()
                    .any(begins)
                    .then(|| vec![(rule.name.clone(), true.into())])
            }
            CliLocation::Instance
            | CliLocation::Elsewhere(_)
            | CliLocation::InnerBlock
            | CliLocation::Part { .. }
            | CliLocation::Order(_)
            | CliLocation::Nowhere => None,
        }
    }

    /// The valid numbers of an attribute whose lines add numbers to a set.
    pub(super) fn added_set(&self, rule: &CliAttributeRule) -> Option<RangeSet> {
        let set = rules::range_set(self.codecs.get(rule.name.as_str()));
        set.filter(|_| rule.many)
    }

    fn read_own_line(&self, rule: &CliAttributeRule, text: &str) -> Option<Bindings> {
        for (value, line) in &rule.set {
            let Some(bindings) = line.as_ref().and_then(|line| line.read_known(text, self)) else {
                continue;
            };
            let is_own = |(name, _): &(Name, Value)| value_parts::attribute_of(name) == &*rule.name;
            if let Some(line) = line.as_ref().filter(|_| bindings.iter().any(is_own)) {
                return self.own_value(rule, line, bindings);
            }
            let mut all = vec![(rule.name.clone(), self.named_value(&rule.name, value)?)];
            all.extend(bindings);
            return Some(all);
        }
        for line in rule.lines.iter().chain(&rule.more) {
            if rule.prints_only_no()
                && let Some(text) = self.negation.positive(text)
                && line.read(&text, self).is_some()
            {
                return Some(vec![(rule.name.clone(), false.into())]);
            }
            let Some(bindings) = line.read_known(text, self) else {
                continue;
            };
            return self.own_value(rule, line, bindings).filter(|bindings| {
                !bindings.iter().any(|(name, value)| {
                    *name == rule.name
                        && self
                            .write(name, value)
                            .is_some_and(|text| rule.skip.contains(&text))
                })
            });
        }
        // Some devices keep the line of a text that became empty.
        let mut lines = rule.lines.iter().filter(|_| !rule.many);
        let is_empty = lines.any(|line| line.is_without_text(&rule.name, text));
        let absent = rule.absent.clone().filter(|_| is_empty)?;
        Some(vec![(rule.name.clone(), absent)])
    }

    /// The bindings of a line, with the parts of the attribute's value joined to one of its values.
    pub(super) fn own_value(
        &self,
        rule: &CliAttributeRule,
        line: &LineTemplate,
        mut bindings: Bindings,
    ) -> Option<Bindings> {
        if let Some(joined) = value_parts::joined(&rule.name, &mut bindings) {
            let model = self.model.attributes.get(&rule.name)?;
            let value = match joined {
                // The parts are the elements of the complete list.
                Value::List(items) if model.array.is_some() && !rule.many => {
                    let items = items.iter().map(|item| model.canonicalize_element(item));
                    Value::List(items.collect::<Option<_>>()?)
                }
                one if rule.many => Value::List(vec![model.canonicalize_element(&one)?]),
                one => model.canonicalize_element(&one)?,
            };
            bindings.insert(0, (rule.name.clone(), value));
            return Some(bindings);
        }
        if line.has_attribute(&rule.name) {
            return Some(bindings);
        }
        let mut all = vec![(rule.name.clone(), Value::Bool(true))];
        all.extend(bindings);
        Some(all)
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

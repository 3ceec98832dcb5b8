//! What a sent line does to the value of an attribute. The predictions of a configuration and of a table
//! have this one meaning.

use super::CliType;
use super::attribute_lines::{begins_with, without_default};
use super::rules::CliAttributeRule;
use super::template::{Bindings, bound, take_bound};
use crate::read::indent::Node;
use crate::value::Value;

/// The effect of a line on the lines of an attribute.
pub(super) enum ValueEffect {
    /// The line has these values, of the attribute and of those that share its lines.
    Set(Bindings),
    /// Changes a set of numbers: `["add", "10"]`.
    Change(Value),
    /// Removes lines.
    Remove(RemovedLines),
}

/// Which lines of the attribute are removed.
pub(super) enum RemovedLines {
    /// Those that begin with the words of a negated line. It has the values if it is complete.
    Beginning {
        words: String,
        values: Option<Bindings>,
    },
    /// Those that begin with the words behind `default`, also negated.
    Default(String),
    /// Those with these parts of a value: `delete track {0}`.
    WithParts(Bindings),
    /// Those with the values of a line that removes in its own words.
    WithValues(Bindings),
}

impl ValueEffect {
    /// The values in the line.
    pub(super) fn values(&self) -> &Bindings {
        const NONE: &Bindings = &Bindings::new();
        match self {
            ValueEffect::Set(values) => values,
            ValueEffect::Change(_) => NONE,
            ValueEffect::Remove(removed) => removed.values().unwrap_or(NONE),
        }
    }

    pub(super) fn value_of(&self, name: &str) -> Option<&Value> {
        bound(self.values(), name)
    }
}

impl RemovedLines {
    fn values(&self) -> Option<&Bindings> {
        match self {
            RemovedLines::Beginning { values, .. } => values.as_ref(),
            RemovedLines::Default(_) => None,
            RemovedLines::WithParts(values) | RemovedLines::WithValues(values) => Some(values),
        }
    }
}

impl CliType {
    /// The effect of a line on an attribute; `None` if it is no line of it. Any negated line may be
    /// one: [`removes_own_line`](Self::removes_own_line) tells.
    pub(super) fn line_effect(&self, rule: &CliAttributeRule, text: &str) -> Option<ValueEffect> {
        if let Some(change) = self.set_change(rule, text) {
            return Some(ValueEffect::Change(change));
        }
        if let Some(bindings) = self.read_shared_line(rule, &Node::new(text)) {
            return Some(ValueEffect::Set(bindings));
        }
        self.removed_lines(rule, text).map(ValueEffect::Remove)
    }

    /// The relative change by a line: `["add", "10"]`; `None` for other lines.
    fn set_change(&self, rule: &CliAttributeRule, text: &str) -> Option<Value> {
        let changes = [("add", &rule.more), ("remove", &rule.less)];
        changes.into_iter().find_map(|(word, line)| {
            let numbers = take_bound(line.as_ref()?.read(text, self)?, &rule.name)?;
            Some(Value::List(vec![word.into(), numbers]))
        })
    }

    fn removed_lines(&self, rule: &CliAttributeRule, text: &str) -> Option<RemovedLines> {
        if let Some(words) = without_default(text) {
            return Some(RemovedLines::Default(words.to_owned()));
        }
        let positive = self.negation.positive(text);
        if let (Some(no), None) = (rule.own_no(), &positive)
            && let Some(bindings) = no.read(text, self)
        {
            return Some(if no.has_parts() {
                RemovedLines::WithParts(bindings)
            } else {
                RemovedLines::WithValues(bindings)
            });
        }
        let words = positive?.into_owned();
        Some(RemovedLines::Beginning {
            values: self.read_line(rule, &Node::new(words.as_str())),
            words,
        })
    }

    /// Whether the words of a removal are those of a line of the attribute.
    pub(super) fn removes_own_line(&self, rule: &CliAttributeRule, removed: &RemovedLines) -> bool {
        let is_own = |words: &str| {
            let mut lines = rule.lines.iter();
            lines.any(|line| begins_with(&line.text, words))
                || rule.own_no().is_some_and(|no| {
                    let negative = self.negation.negative(words.into()).reveal();
                    no.read(&negative, self).is_some()
                })
        };
        match removed {
            RemovedLines::Beginning { words, values } => values.is_some() || is_own(words),
            RemovedLines::Default(words) => is_own(words),
            RemovedLines::WithParts(_) | RemovedLines::WithValues(_) => true,
        }
    }

    /// The values of a line for an attribute, or for one that shares its lines.
    pub(super) fn read_shared_line(
        &self,
        rule: &CliAttributeRule,
        node: &Node,
    ) -> Option<Bindings> {
        let others = rule.with.iter();
        let others = others.filter_map(|name| self.attributes.get(name));
        let mut sharing = [rule].into_iter().chain(others);
        sharing.find_map(|rule| self.read_line(rule, node))
    }
}

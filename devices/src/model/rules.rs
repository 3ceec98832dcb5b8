//! Rules for combinations of a type's attributes.

use crate::map::IndexMap;

use super::canonical::{ValueError, ValueErrorKind};
use super::{Rule, RuleKind, TypeModel};
use crate::value::{Attributes, Value};

impl TypeModel {
    /// The rules that a resource violates.
    pub fn check_rules(&self, attributes: &Attributes) -> Vec<ValueError> {
        self.rules
            .iter()
            .filter(|rule| self.applies(rule, attributes))
            .filter_map(|rule| self.broken(rule, attributes))
            .collect()
    }

    /// Removes attributes without a setting that rules forbid next to other attributes. Returns the first rule that is
    /// broken without them.
    pub fn without_conflicts(&self, attributes: &mut Attributes) -> Option<ValueError> {
        loop {
            let error = self.check_rules(attributes).into_iter().next()?;
            let value = attributes.get(&error.attribute);
            if !value.is_some_and(|value| self.is_unset(&error.attribute, value)) {
                return Some(error);
            }
            attributes.remove(&error.attribute);
        }
    }

    fn broken(&self, rule: &Rule, attributes: &Attributes) -> Option<ValueError> {
        let supplied: Vec<&str> = rule
            .attributes
            .iter()
            .map(String::as_str)
            .filter(|name| is_supplied(attributes, name))
            .collect();
        // The word for the default is no conflict: it says that there is no setting.
        let set: Vec<&str> = supplied
            .iter()
            .copied()
            .filter(|name| !self.is_unset(name, &attributes[*name]))
            .collect();
        let all = rule.attributes.join(", ");
        let missing = || {
            let missing: Vec<&str> = rule
                .attributes
                .iter()
                .map(String::as_str)
                .filter(|name| !supplied.contains(name))
                .collect();
            missing.join(", ")
        };
        let first = rule.attributes.first().map_or("", String::as_str);
        let (attribute, message) = match rule.kind {
            RuleKind::Together
                if !supplied.is_empty() && supplied.len() < rule.attributes.len() =>
            {
                (supplied[0], format!("also requires {}", missing()))
            }
            RuleKind::Exclusive if set.len() > 1 => {
                (set[1], format!("cannot be combined with {}", set[0]))
            }
            RuleKind::Needs
                if set.first() == Some(&first) && supplied.len() < rule.attributes.len() =>
            {
                (first, format!("needs {}", missing()))
            }
            RuleKind::OneOf if supplied.is_empty() => (first, format!("one of {all} is required")),
            RuleKind::OneOf if supplied.len() > 1 => (
                supplied[1],
                format!("cannot be combined with {}", supplied[0]),
            ),
            RuleKind::AnyOf if supplied.is_empty() => {
                (first, format!("at least one of {all} is required"))
            }
            RuleKind::Forbidden if !supplied.is_empty() => (supplied[0], misplaced(rule)),
            _ => return None,
        };
        let error = ValueError::new(attribute, message).of(ValueErrorKind::Rule);
        Some(if rule.doc.is_empty() {
            error
        } else {
            error.help(rule.doc.clone())
        })
    }

    fn applies(&self, rule: &Rule, attributes: &Attributes) -> bool {
        let has_one_of = |(name, values): (&String, &Vec<Value>)| {
            attributes.get(name).is_some_and(|actual| {
                values.iter().any(|value| {
                    self.canonicalize(name, value)
                        .is_ok_and(|value| value.unwrap_sensitive() == actual.unwrap_sensitive())
                })
            })
        };
        // An absent resource needs only what names it, such as no password for a user.
        let is_absent = attributes.get("ensure").and_then(Value::as_str) == Some("absent");
        let is_name = |name: &String| self.namevars().any(|namevar| namevar == name);
        let is_needless = is_absent
            && matches!(rule.kind, RuleKind::Needs)
            && !rule.attributes.iter().any(is_name);
        !is_needless && rule.when.iter().all(has_one_of) && !rule.unless.iter().any(has_one_of)
    }
}

/// Whether a rule counts the attribute as present. `false` and an empty list are treated as absent.
fn is_supplied(attributes: &Attributes, name: &str) -> bool {
    attributes.get(name).is_some_and(|value| match value {
        Value::Undef | Value::Bool(false) => false,
        Value::List(items) => !items.is_empty(),
        _ => true,
    })
}

/// The reason why an attribute is forbidden: the conditions of the rule as text.
fn misplaced(rule: &Rule) -> String {
    let conditions = |conditions: &IndexMap<String, Vec<Value>>| {
        let conditions: Vec<String> = conditions
            .iter()
            .map(|(name, values)| {
                let values: Vec<_> = values.iter().map(Value::inspect).collect();
                format!("{name} {}", values.join(" or "))
            })
            .collect();
        conditions.join(" and ")
    };
    // The first exception is the most relevant; others cover cases such as removal.
    let exception = rule
        .unless
        .first()
        .map(|(name, values)| conditions(&IndexMap::from_iter([(name.clone(), values.clone())])));
    match exception {
        Some(exception) if rule.when.is_empty() => format!("is only valid with {exception}"),
        _ => format!("cannot be combined with {}", conditions(&rule.when)),
    }
}

//! Attributes whose lines the device removes with another change.
//!
//! The lines of those that have a value afterwards are sent again, after the change. The lines of
//! the others are removed before it.

use super::{Goal, Rendering};
use crate::change::ChangeKind;
use crate::driver::cli::CliType;
use crate::driver::cli::found::FoundInstance;
use crate::driver::cli::rules::CliAttributeRule;
use crate::value::Attributes;

impl CliType {
    /// The attributes that the device removes with a change and that have a value afterwards, each
    /// with the attribute that removes it. Their lines are taken out of the instance.
    pub(super) fn cleared<'r>(
        &'r self,
        goal: Goal<'r>,
        found: Option<&mut FoundInstance>,
        merged: &Attributes,
    ) -> Vec<(&'r str, &'r str)> {
        let Some(found) = found.filter(|_| goal.kind == ChangeKind::Update) else {
            return Vec::new();
        };
        let mut cleared = Vec::new();
        for name in goal.names {
            let rule = self.attributes.get(*name).filter(|rule| rule.is_applied());
            for other in rule.iter().flat_map(|rule| &rule.clears) {
                let rule = self.attributes.get(other.as_str());
                let has_value = merged
                    .get(other)
                    .is_some_and(|value| !self.is_unset(other, value));
                let Some(rule) = rule.filter(|_| has_value) else {
                    continue;
                };
                cleared.push((rule.name.as_str(), *name));
                for name in [&rule.name].into_iter().chain(&rule.with) {
                    found.attributes.remove(name);
                    found.lines.shift_remove(name.as_str());
                }
            }
        }
        cleared
    }
}

impl<'a> Rendering<'a> {
    /// Whether the device would also remove the lines of an attribute that has no value afterwards.
    pub(super) fn is_removed_by_other(&self, rule: &CliAttributeRule) -> bool {
        let mut changed = self.goal.names.iter();
        self.found.is_some()
            && self.merged.contains_key(&rule.name)
            && self.is_unset_after(&rule.name)
            && changed.any(|name| {
                let rule_of_changed = self.cli.attributes.get(*name);
                rule_of_changed.is_some_and(|other| other.clears.contains(&rule.name))
            })
    }

    /// The attribute whose change makes the device remove this one.
    pub(super) fn cleared_by(&self, name: &str) -> Option<&'a str> {
        let mut cleared = self.cleared.iter();
        let (_, by) = cleared.find(|(cleared, _)| *cleared == name)?;
        Some(by)
    }
}

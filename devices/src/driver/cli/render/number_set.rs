//! Renders the difference of a set of numbers, for lines that add and remove numbers.

use std::collections::BTreeSet;

use super::Rendering;
use crate::driver::cli::is_unset;
use crate::driver::cli::rules::CliAttributeRule;
use crate::driver::codec::RangeSet;
use crate::driver::implementation::RenderError;
use crate::value::Value;

/// A set without numbers.
const NO_NUMBERS: &str = "none";

impl Rendering<'_> {
    /// The numbers that a set of numbers lacks, then those that it loses, each in as few lines as
    /// possible.
    pub(super) fn set_elements(
        &mut self,
        rule: &CliAttributeRule,
        set: RangeSet,
        value: &Value,
    ) -> Result<(), RenderError> {
        let list = |value: Option<&Value>| {
            let text = value
                .map(Value::unwrap_sensitive)
                .filter(|value| !is_unset(value));
            text.and_then(Value::as_str)
                .unwrap_or(NO_NUMBERS)
                .to_owned()
        };
        let own = self
            .found
            .filter(|found| found.lines.contains_key(rule.name.as_str()));
        let current = list(own.and_then(|found| found.attributes.get(&rule.name)));
        let desired = list(Some(value));
        let template = self.spelling(rule)?;
        let head = self.head(template).map_or(0, |head| head.len());
        let negate = self.cli.negation.word().len() + 1;
        let limit = self.cli.lines.limit.saturating_sub(head + negate + 1);
        let pieces = |numbers: &BTreeSet<u32>| match numbers.is_empty() {
            true => Vec::new(),
            false => RangeSet::pieces(&set.text(numbers), limit),
        };
        for piece in pieces(&set.difference(&desired, &current)) {
            let text = self.element(rule, template, &piece.into());
            self.push_rule(rule, text.ok_or_else(|| self.error(&rule.name))?);
        }
        for piece in pieces(&set.difference(&current, &desired)) {
            let text = self.no_form(rule, Some(&piece.into()))?;
            self.push_rule(rule, text);
        }
        Ok(())
    }
}

//! Renders the difference of a set of numbers, for lines that add and remove numbers. Numbers that
//! the device has and keeps are in the set at every moment, also after a refused line.

use std::collections::BTreeSet;

use super::Rendering;
use crate::driver::cli::rules::CliAttributeRule;
use crate::driver::cli::template::LineTemplate;
use crate::driver::codec::RangeSet;
use crate::driver::implementation::RenderError;
use crate::secret::Text;
use crate::value::Value;

/// A set without numbers.
const NO_NUMBERS: &str = "none";

/// The lines of a set with one line.
pub(super) struct SetLines<'a> {
    /// The complete set.
    pub(super) complete: &'a LineTemplate,
    pub(super) more: &'a LineTemplate,
    pub(super) less: &'a LineTemplate,
}

impl Rendering<'_> {
    /// The lines that change a set with one line. `new_line` is the line with the new set.
    pub(super) fn changed_set(
        &mut self,
        rule: &CliAttributeRule,
        set: RangeSet,
        lines: &SetLines<'_>,
        new_line: Text,
        value: &Value,
    ) -> Result<(), RenderError> {
        let desired = value.unwrap_sensitive().as_str();
        let desired = desired.ok_or_else(|| self.error(&rule.name))?;
        let current = self
            .found
            .and_then(|found| found.attributes.get(&rule.name))
            .or(rule.absent.as_ref())
            .and_then(Value::as_str)
            .unwrap_or(NO_NUMBERS);
        let (added, removed) = (
            set.difference(desired, current),
            set.difference(current, desired),
        );
        let common = set.difference(desired, &set.text(&added));
        // A complete line keeps the numbers that stay, too: the usual form on a device with all.
        let has_all = set.difference("all", current).is_empty();
        let is_one_line = new_line.len() <= self.cli.lines.limit;
        if is_one_line && (has_all || common.is_empty()) {
            self.push_rule(rule, new_line);
            return Ok(());
        }
        let texts = if common.is_empty() {
            self.set_lines(rule, [lines.complete, lines.more], desired)?
        } else {
            let mut texts = Vec::new();
            for (line, numbers) in [(lines.more, added), (lines.less, removed)] {
                if !numbers.is_empty() {
                    texts.extend(self.set_lines(rule, [line, line], &set.text(&numbers))?);
                }
            }
            texts
        };
        for text in texts {
            self.push_rule(rule, text);
        }
        Ok(())
    }

    /// Numbers in as few lines as possible: one of the first kind, then those of the second.
    fn set_lines(
        &self,
        rule: &CliAttributeRule,
        [first, further]: [&LineTemplate; 2],
        numbers: &str,
    ) -> Result<Vec<Text>, RenderError> {
        let heads = [first, further].map(|line| self.head(line).map_or(0, |head| head.len()));
        let longest = heads[0].max(heads[1]) + 1;
        let limit = self.cli.lines.limit.saturating_sub(longest);
        let pieces = RangeSet::pieces(numbers, limit).into_iter().enumerate();
        let texts = pieces.map(|(index, piece)| {
            let piece = Value::String(piece);
            let values = |name: &str| {
                if name == rule.name {
                    Some(&piece)
                } else {
                    self.value(name)
                }
            };
            let line = if index == 0 { first } else { further };
            line.write(&values, self.cli)
                .ok_or_else(|| self.error(&rule.name))
        });
        texts.collect()
    }

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
                .filter(|value| self.cli.is_printed(&rule.name, value));
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
        let pieces = |numbers: &BTreeSet<u32>| {
            if numbers.is_empty() {
                Vec::new()
            } else {
                RangeSet::pieces(&set.text(numbers), limit)
            }
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

//! Renders the removal of a line: its `no` form.

use super::Rendering;
use crate::driver::cli::attribute_lines::begins_with;
use crate::driver::cli::rules::{CliAttributeRule, NoForm};
use crate::driver::cli::template::{LineTemplate, Vocabulary, value_parts};
use crate::driver::implementation::RenderError;
use crate::secret::Text;
use crate::value::Value;

impl Rendering<'_> {
    /// The line that removes an attribute's line, or the line of one element.
    pub(super) fn no_form(
        &self,
        rule: &CliAttributeRule,
        element: Option<&Value>,
    ) -> Result<Text, RenderError> {
        let lines = self
            .found
            .and_then(|found| found.lines.get(rule.name.as_str()));
        let line = lines.and_then(|lines| match element {
            None => lines.first(),
            Some(element) => lines.iter().find(|(value, _)| value == element),
        });
        let shared = lines.is_some_and(|lines| {
            line.is_some_and(|(_, text)| {
                lines.iter().filter(|(_, other)| other == text).count() > 1
            })
        });
        let own = element.and_then(|element| self.own_line(rule, element));
        let spelling = line
            .and_then(|(_, text)| {
                let positive = self.cli.negation.positive(text);
                let text = positive.as_deref().unwrap_or(text);
                let mut lines = rule.lines.iter();
                let mut set = rule.set.values().flatten();
                // The line of one value may begin with other words than those of all others.
                let is_other = |template: &&LineTemplate| {
                    let mut lines = rule.lines.iter();
                    template.read(text, self.cli).is_some()
                        && !lines.any(|line| begins_with(text, &line.head()))
                };
                lines
                    .find(|template| template.read(text, self.cli).is_some())
                    .or_else(|| set.find(is_other).filter(|_| !rule.lines.is_empty()))
            })
            .or(own)
            .or(rule.lines.first());
        let text = match (&rule.no, line) {
            (NoForm::Text(template), _) => {
                let text = self.removing(rule, template, element);
                return text.ok_or_else(|| self.error(&rule.name));
            }
            // The line remains with the other elements.
            (NoForm::Full, Some((_, text))) if !shared => self.hidden(text),
            (NoForm::Full, _) => {
                let template = spelling.ok_or_else(|| self.error(&rule.name))?;
                let text = self.removing(rule, template, element);
                text.ok_or_else(|| self.error(&rule.name))?
            }
            (NoForm::Head, _) => {
                let template = spelling.ok_or_else(|| self.error(&rule.name))?;
                self.head(template).ok_or_else(|| self.error(&rule.name))?
            }
        };
        let length = rule.identity_of(&text.reveal()).map(str::len);
        Ok(self.cli.negation.negative(match length {
            Some(length) => text.beginning(length),
            None => text,
        }))
    }

    /// A line with the element or the value that is removed.
    fn removing(
        &self,
        rule: &CliAttributeRule,
        template: &LineTemplate,
        element: Option<&Value>,
    ) -> Option<Text> {
        let Some(element) = element else {
            let current = self
                .found
                .and_then(|found| found.attributes.get(&rule.name));
            let values = |name: &str| match (current, value_parts::split(name)) {
                (Some(current), None) if name == rule.name => Some(current),
                (Some(current), Some((attribute, part))) if attribute == &*rule.name => {
                    value_parts::part_of(current, part)
                }
                _ => self.value(name),
            };
            return template.write(&values, self.cli);
        };
        self.element(rule, template, element)
    }

    /// A line of the device with its secrets marked.
    pub(super) fn hidden(&self, line: &str) -> Text {
        let mut text = Text::plain(line);
        let Some(found) = self.found else {
            return text;
        };
        for (name, value) in found.attributes.iter().chain(self.goal.desired) {
            let secret = self.cli.is_secret(name) || matches!(value, Value::Sensitive(_));
            if let Some(word) = self
                .cli
                .write(name, value)
                .filter(|word| secret && !word.is_empty())
            {
                text = match &self.cli.quoting {
                    Some(quoting) => text.mask_part(&quoting.escape(&word).unwrap_or(word)),
                    None => text.mask_word(&word),
                };
            }
        }
        text
    }
}

//! Renders texts of several lines, which are sent whole.

use super::Rendering;
use crate::driver::cli::rules::{CliAttributeRule, TextBody, TextLimit};
use crate::driver::implementation::RenderError;
use crate::operation::ConfigLine;
use crate::secret::Text;
use crate::value::Value;

impl Rendering<'_> {
    pub(super) fn body(
        &mut self,
        rule: &CliAttributeRule,
        body: &TextBody,
        value: &Value,
    ) -> Result<(), RenderError> {
        match body {
            TextBody::After { words, limit } => self.text_after(rule, (words, limit), value),
            TextBody::UpTo { end } => self.text_up_to(rule, end, value),
        }
    }

    /// Whether the block of the instance is sent with its text.
    pub(super) fn sends_block_as_text(&self) -> bool {
        let mut rules = self.cli.attributes.values();
        rules.any(|rule| rule.text_end().is_some() && self.goal.names.contains(&rule.name.as_str()))
    }

    fn text_after(
        &mut self,
        rule: &CliAttributeRule,
        (words, limit): (&str, &TextLimit),
        value: &Value,
    ) -> Result<(), RenderError> {
        if self.cli.is_unset(&rule.name, value) {
            self.push_rule(rule, self.cli.negation.negative(Text::plain(words)));
            return Ok(());
        }
        let text = self.text_of(rule, value)?;
        let text = text.trim_matches('\n');
        let block_text = match limit {
            TextLimit::Delimiters(delimiters) => {
                let mut free = delimiters.iter();
                let delimiter = free.find(|delimiter| !text.contains(**delimiter));
                let delimiter = delimiter.ok_or_else(|| {
                    let message = "the text contains every possible delimiter";
                    RenderError::new(rule.name.as_str(), message)
                })?;
                format!("{words} {delimiter}{text}{delimiter}")
            }
            TextLimit::Line(end) => format!("{words}\n{text}\n{end}"),
        };
        let mut lines = block_text
            .split('\n')
            .map(|line| Text::plain(line.trim_end_matches('\r')));
        let line = ConfigLine {
            text: lines.next(),
            body: lines.collect(),
            may_prompt: rule.prompts,
            ..ConfigLine::enter_mode(&self.mode)
        };
        self.add([rule.name.as_str()], line);
        Ok(())
    }

    /// The header of the instance's block, its text, and the line that ends it.
    fn text_up_to(
        &mut self,
        rule: &CliAttributeRule,
        end: &str,
        value: &Value,
    ) -> Result<(), RenderError> {
        let body = TextBody::UpTo {
            end: end.to_owned(),
        };
        let lines = body.lines(self.text_of(rule, value)?);
        if self.cli.is_unset(&rule.name, value) || lines.is_empty() {
            return Err(self.error(&rule.name));
        }
        let Some((header, outer)) = self.mode.split_last() else {
            return Err(self.error(&rule.name));
        };
        let lines = lines.iter().map(|line| Text::plain(format!("  {line}")));
        let line = ConfigLine {
            text: Some(header.clone()),
            body: lines.chain([Text::plain(end)]).collect(),
            enters_mode: true,
            may_prompt: rule.prompts,
            ..ConfigLine::enter_mode(outer)
        };
        self.add([rule.name.as_str()], line);
        Ok(())
    }

    fn text_of<'v>(
        &self,
        rule: &CliAttributeRule,
        value: &'v Value,
    ) -> Result<&'v str, RenderError> {
        let text = value.unwrap_sensitive().as_str();
        text.ok_or_else(|| self.error(&rule.name))
    }
}

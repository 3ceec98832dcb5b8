//! Adds lines to a change.

use super::Rendering;
use crate::driver::cli::rules::CliAttributeRule;
use crate::operation::{Action, ConfigLine, Operation};
use crate::secret::Text;
use crate::value::Name;

impl Rendering<'_> {
    /// Adds an operation that changes these attributes.
    pub(super) fn add<'n>(
        &mut self,
        attributes: impl IntoIterator<Item = &'n str>,
        line: ConfigLine,
    ) {
        self.rendered.operations.push(Operation {
            attributes: attributes.into_iter().map(Name::from).collect(),
            action: Action::Line(line),
        });
    }

    /// Enters the mode, without a line.
    pub(super) fn enter(&mut self, attribute: &str) {
        let line = ConfigLine {
            may_prompt: self.cli.instance.prompts,
            ..ConfigLine::enter_mode(&self.mode)
        };
        self.add([attribute], line);
    }

    /// Adds a line of an attribute, with the warning of its rule.
    pub(super) fn push_rule(&mut self, rule: &CliAttributeRule, text: Text) {
        let warning = rule.warn.as_ref().filter(|_| self.found.is_some());
        let warning = warning.and_then(|template| self.written(template));
        self.push(&[&rule.name], text, rule.prompts);
        if let Some(warning) = warning {
            self.warn(warning.to_string());
        }
    }

    /// Adds a line in the mode.
    pub(super) fn push(&mut self, attributes: &[&str], text: Text, may_prompt: bool) {
        let line = ConfigLine {
            text: Some(text),
            may_prompt,
            ..ConfigLine::enter_mode(&self.mode)
        };
        self.add(attributes.iter().copied(), line);
    }

    /// Adds a warning to the last line.
    pub(super) fn warn(&mut self, text: String) {
        if let Some(Operation {
            action: Action::Line(line),
            ..
        }) = self.rendered.operations.last_mut()
        {
            line.warning = Some(text);
        }
    }
}

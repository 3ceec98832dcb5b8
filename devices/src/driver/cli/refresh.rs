//! `[refresh]`: the lines that a refresh sends, such as `do clear host *`.

use std::ops::Range;

use super::CliType;
use super::template::LineTemplate;
use crate::document::{Item, KeyValue, ValueShape, keys};
use crate::driver::implementation::RenderError;
use crate::operation::{Action, ConfigLine, Operation};
use crate::secret::Text;
use crate::value::{Attributes, Value};

/// The action of a refresh.
#[derive(Clone, Debug)]
pub(crate) struct RefreshRule {
    /// Depth of the mode and the line. A line that is followed by deeper ones is their mode.
    lines: Vec<(usize, LineTemplate)>,
    pub(crate) span: Range<usize>,
}

keys! {
    /// What a refresh sends.
    pub(in crate::driver) struct SendKeys {
        /// Lines; those that are indented are sent in the mode of the line before.
        send: Vec<IndentedLine>,
    }
}

/// A line with the number of blanks before it.
#[derive(Clone, Debug)]
pub(in crate::driver) struct IndentedLine {
    depth: usize,
    line: LineTemplate,
}

impl KeyValue for IndentedLine {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let text = item.string()?;
        let depth = text.len() - text.trim_start().len();
        let line = LineTemplate::load(item)?;
        Some(Self { depth, line })
    }
}

impl RefreshRule {
    pub(crate) fn load(item: &Item<'_>) -> Option<Self> {
        let keys = SendKeys::read(item)?;
        let lines = keys.send.into_iter();
        Some(Self {
            lines: lines.map(|line| (line.depth, line.line)).collect(),
            span: item.span.clone(),
        })
    }

    /// The lines.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &LineTemplate> {
        self.lines.iter().map(|(_, line)| line)
    }

    /// The operations, given the attributes of the resource.
    pub(crate) fn operations(
        &self,
        cli: &CliType,
        attributes: &Attributes,
    ) -> Result<Vec<Operation>, RenderError> {
        let value = |name: &str| attributes.get(name).map(Value::unwrap_sensitive);
        let mut modes: Vec<Text> = Vec::new();
        let mut operations = Vec::new();
        for (at, (depth, line)) in self.lines.iter().enumerate() {
            let text = line.write(&value, cli).ok_or_else(|| {
                let message = format!("cannot write `{}`: a value is missing", line.text);
                RenderError::new("refresh", message)
            })?;
            modes.truncate(*depth);
            let next = self.lines.get(at + 1);
            if next.is_some_and(|(deeper, _)| deeper > depth) {
                modes.push(text);
                continue;
            }
            operations.push(Operation {
                attributes: Vec::new(),
                action: Action::Line(ConfigLine {
                    text: Some(text),
                    may_prompt: true,
                    ..ConfigLine::enter_mode(&modes)
                }),
            });
        }
        Ok(operations)
    }
}

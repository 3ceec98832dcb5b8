//! `[refresh]`: the lines that a refresh sends, such as `do clear host *`.

use std::ops::Range;

use super::CliType;
use super::template::LineTemplate;
use crate::document::{Item, Table};
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

impl RefreshRule {
    pub(crate) fn load(table: &Table<'_>) -> Option<Self> {
        let items = table.get("send").and_then(|item| item.list());
        if items.is_none() {
            table.missing("send");
        }
        table.finish();
        let line = |item: Item<'_>| {
            let text = item.string()?;
            let depth = text.len() - text.trim_start().len();
            Some((depth, LineTemplate::load(&item)?))
        };
        Some(Self {
            lines: items?.into_iter().filter_map(line).collect(),
            span: table.span.clone(),
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

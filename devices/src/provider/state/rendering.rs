//! The operations of a change.

use std::fmt::Write as _;

use super::DeviceState;
use crate::change::{Change, ChangeKind};
use crate::operation::{Action, Operation};
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::read::{CONFIG, State};
use crate::secret::Text;

/// How many lines a warning names that go with a removed block.
const LINES_NAMED: usize = 20;

impl DeviceState {
    /// The operations of a change. A removal inside a block that the run has removed sends nothing:
    /// the line that enters the block would create it again.
    pub(in crate::provider) fn render(
        &self,
        change: &Change,
        state: &State,
    ) -> Result<Vec<Operation>, ProviderError> {
        let operations = self.driver.render(change, state);
        let operations = operations.map_err(|error| {
            let kind = if error.lacks_object {
                ProviderErrorKind::LacksObject
            } else {
                ProviderErrorKind::Failed
            };
            ProviderError::new(kind, error.to_string())
        })?;
        let is_inside_removed = |operation: &Operation| match &operation.action {
            Action::Line(line) => (1..=line.mode.len()).any(|depth| {
                let headers = &line.mode[..depth];
                has_block(&self.before, headers) && !has_block(state, headers)
            }),
            Action::Request(_) | Action::Edit(_) => false,
        };
        if change.kind == ChangeKind::Remove && operations.iter().all(is_inside_removed) {
            return Ok(Vec::new());
        }
        Ok(self.with_removed_lines(change, state, operations))
    }

    /// The operations of a change, with a warning about what goes with a removed block.
    fn with_removed_lines(
        &self,
        change: &Change,
        state: &State,
        mut operations: Vec<Operation>,
    ) -> Vec<Operation> {
        let last = operations.last_mut().map(|last| &mut last.action);
        let (ChangeKind::Remove, Some(Action::Line(last))) = (change.kind, last) else {
            return operations;
        };
        let lines = self.driver.removed_with(&change.desired, state);
        if lines.is_empty() {
            return operations;
        }
        let rest = lines.len().saturating_sub(LINES_NAMED);
        let mut text = lines[..lines.len() - rest].join(", ");
        if rest > 0 {
            let _ = write!(text, " and {rest} more");
        }
        let message = format!("the removal of the block also removes {text}");
        last.warning = Some(match last.warning.take() {
            Some(warning) => format!("{warning}; {message}"),
            None => message,
        });
        operations
    }
}

/// Whether the configuration has a block with these headers, outermost first.
fn has_block(state: &State, headers: &[Text]) -> bool {
    let mut nodes = state.tree(CONFIG).map_or(&[][..], |tree| &tree.nodes);
    headers.iter().all(|header| {
        let header = header.reveal();
        let block = nodes
            .iter()
            .find(|node| node.text.eq_ignore_ascii_case(&header));
        nodes = block.map_or(&[], |node| &node.children.nodes);
        block.is_some()
    })
}

//! The commands of resources as lines, and refused commands.

use switchtender_devices::operation::{Action, Operation, Outcome};

use crate::report::command_lines::CommandLines;
use crate::transaction::OperationRecord;

/// The lines of several commands, each mode once, secrets masked.
pub(crate) fn lines<'a>(operations: impl IntoIterator<Item = &'a Operation>) -> Vec<String> {
    let mut commands = CommandLines::default();
    let lines = operations
        .into_iter()
        .map(|operation| match &operation.action {
            Action::Request(request) => commands.next(&[], [request.to_string()]),
            Action::Edit(edit) => commands.next(&[], [edit.config.to_string()]),
            Action::Line(line) => {
                let mode: Vec<String> = line.mode.iter().map(ToString::to_string).collect();
                commands.next(&mode, line.text.iter().chain(&line.body))
            }
        });
    lines.flatten().collect()
}

/// Refused commands, each with the answer of the device.
pub(crate) fn refusals(records: &[OperationRecord]) -> Vec<(String, String)> {
    records
        .iter()
        .filter_map(|record| match record.result.as_ref()? {
            (Outcome::Refused { message }, _) => {
                let line = match &record.operation.action {
                    Action::Line(line) => line.to_string(),
                    Action::Request(request) => request.to_string(),
                    Action::Edit(edit) => edit.config.to_string(),
                };
                Some((line, message.clone()))
            }
            _ => None,
        })
        .collect()
}

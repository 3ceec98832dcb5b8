//! Rendering of commands: configuration lines indented under their modes, and requests.

use switchtender_devices::operation::{Action, Operation, Outcome};

use crate::transaction::OperationRecord;

/// The lines of several commands, each mode once, secrets masked.
pub(crate) fn lines<'a>(operations: impl IntoIterator<Item = &'a Operation>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut mode: Vec<String> = Vec::new();
    for operation in operations {
        match &operation.action {
            Action::Request(request) => lines.push(request.to_string()),
            Action::Line(line) => {
                let path: Vec<String> = line.mode.iter().map(ToString::to_string).collect();
                if path != mode || line.text.is_none() {
                    let shared = path
                        .iter()
                        .zip(&mode)
                        .take_while(|(new, old)| new == old)
                        .count();
                    for (depth, step) in path.iter().enumerate().skip(shared) {
                        lines.push(format!("{}{step}", " ".repeat(depth)));
                    }
                    mode = path;
                }
                let indent = " ".repeat(mode.len());
                for text in line.text.iter().chain(&line.body) {
                    lines.push(format!("{indent}{text}"));
                }
            }
        }
    }
    lines
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
                };
                Some((line, message.clone()))
            }
            _ => None,
        })
        .collect()
}

//! A resource of a run as text: in plans, reports, stored runs and stored plans.

use crate::report::{RunRecord, command_lines};
use crate::terminal_text::{Style, TerminalText};
use crate::transaction::{CommandRecord, EventStatus, ResourceStatus};

/// The position of a resource, behind its name.
pub(crate) fn position(status: &ResourceStatus) -> String {
    let position = status.position();
    position.map_or_else(String::new, |position| format!("  ({position})"))
}

/// Why it was skipped, its events, and its commands with the answers of the device.
pub(crate) fn add_parts(text: &mut TerminalText, status: &ResourceStatus) {
    if let Some(reason) = status.skip_reason() {
        text.line(format_args!("    skipped: {reason}"));
    }
    for event in status.changes() {
        let message = event.text().unwrap_or_else(|| event.name.clone());
        if event.status == EventStatus::Failure {
            text.paint(Style::Red, format_args!("    failed: {message}"))
                .end_line();
        } else {
            // A hash has several lines. Line ends in texts are escaped.
            text.block("    ", &message);
        }
    }
    add_commands(text, &status.operations);
}

/// Warnings and errors of a run, and text of the device that was not understood.
pub(crate) fn add_problems(text: &mut TerminalText, record: &RunRecord) {
    for log in record.logs.iter().filter(|log| log.level.is_problem()) {
        text.line(format_args!(
            "  {}: {}: {}",
            log.level,
            log.source,
            log.text()
        ));
    }
    for found in &record.not_understood {
        let type_name = &found.type_name;
        text.line(format_args!(
            "  not understood ({type_name}): {}",
            found.text
        ));
    }
}

/// Commands, each mode once, with the answers of the device, and the warnings about them.
fn add_commands(text: &mut TerminalText, commands: &[CommandRecord]) {
    for block in command_lines::blocks(commands) {
        for line in &block.lines {
            text.line(format_args!("    > {line}"));
        }
        if let Some(problem) = block.command.problem() {
            text.line(format_args!("      {problem}"));
        }
        if let Some(message) = &block.command.device_message {
            text.block("      | ", message);
        }
    }
    for warning in commands
        .iter()
        .filter_map(|command| command.warning.as_ref())
    {
        text.add("    ")
            .paint(Style::Yellow, "warning")
            .line(format_args!(": {warning}"));
    }
}

//! A resource of a run as text: in plans, reports, stored runs and stored plans.

use crate::report::{RunRecord, command_lines};
use crate::terminal_text::{Style, TerminalText};
use crate::transaction::{CommandRecord, Event, EventStatus, ResourceStatus};

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
        add_event(text, event);
    }
    add_commands(text, &status.operations);
}

/// What happened to a property, or would happen: the old value is red, the new one green.
fn add_event(text: &mut TerminalText, event: &Event) {
    let message = event.text().unwrap_or_else(|| event.name.clone());
    if event.status == EventStatus::Failure {
        text.paint(Style::Red, format_args!("    failed: {message}"))
            .end_line();
        return;
    }
    if message.contains('\n') {
        // A hash has several lines. Line ends in texts are escaped.
        text.block("    ", &message);
        return;
    }
    let [old, new] = event.value_texts();
    let find = |text: &str, value: &str| {
        let found = (!value.is_empty()).then(|| text.rfind(value)).flatten();
        found.map(|at| (at, at + value.len()))
    };
    text.add("    ");
    let mut rest = message.as_str();
    let new_at = find(rest, &new);
    let before_new = new_at.map_or(rest, |(at, _)| &rest[..at]);
    if let Some((at, end)) = find(before_new, &old) {
        text.add(&rest[..at]).paint(Style::Red, &rest[at..end]);
        rest = &rest[end..];
    }
    if let Some((at, end)) = find(rest, &new) {
        text.add(&rest[..at]).paint(Style::Green, &rest[at..end]);
        rest = &rest[end..];
    }
    text.line(rest);
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
            text.add("    ")
                .paint(Style::Cyan, format_args!("> {line}"))
                .end_line();
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

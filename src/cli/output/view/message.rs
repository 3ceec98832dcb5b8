//! Messages of a run as text for people: one line each, with refused commands below the error that they
//! explain.

use crate::catalog::Level;
use crate::report::RunRecord;
use crate::run_kind::RunKind;
use crate::terminal_text::{Style, TerminalText};
use crate::transaction::{CommandOutcome, CommandRecord, LogEntry, LogKind};

/// Adds a message behind a prefix.
pub(super) fn add(text: &mut TerminalText, prefix: &str, kind: RunKind, entry: &LogEntry) {
    let (word, color) = word(entry.level);
    text.add(prefix).paint(color, word).add(": ");
    if entry.source != "Puppet" {
        text.add(format_args!("{}: ", entry.source));
    }
    let message = match entry.kind {
        // In a run with changes, the change of a resource with `noop` is not coming.
        LogKind::Planned(_) if !kind.is_noop() => &entry.message,
        _ => entry.text(),
    };
    // A hash has several lines. Line ends in texts are escaped.
    let mut lines = message.lines();
    text.line(lines.next().unwrap_or_default());
    for line in lines {
        text.add(prefix).add("  ").line(line);
    }
}

/// Adds the messages of a record, each refused command below the first error of its resource.
pub(super) fn add_all(text: &mut TerminalText, prefix: &str, record: &RunRecord) {
    let mut refused: Vec<_> = record.resources.iter().collect();
    for entry in &record.logs {
        add(text, prefix, record.kind, entry);
        if entry.level >= Level::Err {
            let is_of = |reference: &str| entry.source.contains(reference);
            let found = refused
                .iter()
                .position(|status| is_of(status.reference.as_str()));
            if let Some(found) = found {
                add_refusals(text, prefix, &refused.swap_remove(found).operations);
            }
        }
    }
}

/// Adds refused commands, each with the answer of the device below it.
pub(super) fn add_refusals(text: &mut TerminalText, prefix: &str, commands: &[CommandRecord]) {
    let refused = commands.iter();
    for command in refused.filter(|command| command.outcome == CommandOutcome::Refused) {
        let line = command.text.as_ref().or(command.mode.last());
        let line = line.map_or("", String::as_str);
        text.line(format_args!("{prefix}  > {line}"));
        let answers = command.device_message.iter();
        for line in answers.flat_map(|answer| answer.lines()) {
            text.add(format_args!("{prefix}  "))
                .paint(Style::Red, line)
                .end_line();
        }
    }
}

/// Puppet's name of a level on the console, and its color. Notices are green, as additions in a plan.
fn word(level: Level) -> (&'static str, Style) {
    match level {
        Level::Debug => ("Debug", Style::Cyan),
        Level::Info => ("Info", Style::Green),
        Level::Notice => ("Notice", Style::BoldGreen),
        Level::Warning => ("Warning", Style::Yellow),
        Level::Err => ("Error", Style::BoldRed),
        Level::Alert => ("Alert", Style::BoldRed),
        Level::Emerg => ("Emergency", Style::BoldRed),
        Level::Crit => ("Critical", Style::BoldRed),
    }
}

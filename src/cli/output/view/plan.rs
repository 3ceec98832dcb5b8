//! A plan of one device for people: changes, commands, and the configuration difference.

use super::difference::difference;
use super::resource_text;
use crate::report::{RunRecord, UndoPlan};
use crate::terminal_text::{Style, TerminalText};

/// The plan of a device, without its name.
pub(crate) struct PlanText {
    pub(crate) changes: TerminalText,
    /// The configuration difference.
    pub(crate) difference: TerminalText,
}

impl PlanText {
    /// `of_first`: the device whose difference stands for those of other devices.
    pub(crate) fn new(record: &RunRecord, of_first: Option<&str>, colored: bool) -> Self {
        let heading = match of_first {
            Some(device) => format!("configuration difference of {device}"),
            None => "configuration difference".to_owned(),
        };
        Self {
            changes: changes(record, colored),
            difference: difference(&heading, &record.difference, colored),
        }
    }
}

fn changes(record: &RunRecord, colored: bool) -> TerminalText {
    let mut text = TerminalText::with_colors(colored);
    for status in record.resources.iter().filter(|status| status.is_pending()) {
        text.add("  ")
            .paint(Style::Bold, &status.reference)
            .line(resource_text::position(status));
        resource_text::add_parts(&mut text, status);
        for note in record.notes_on(&status.reference) {
            text.line(format_args!("    note: {note}"));
        }
    }
    if record.counts.cut_short {
        text.line("  plan incomplete: the run stopped early; more changes may follow");
    } else if record.counts.failed > 0 {
        text.line("  plan incomplete: some resources failed and were not compared; more changes may follow");
    } else if record.counts.pending == 0 {
        text.line("  nothing to change");
    }
    if !record.not_understood.is_empty() {
        text.end_line().line("  not understood on the device:");
    }
    for found in &record.not_understood {
        text.line(format_args!("    {}: {}", found.type_name, found.text));
    }
    if let Some(coverage) = &record.coverage {
        add_uncovered(&mut text, &coverage.uncovered);
    }
    for message in &record.without_difference {
        text.line(format_args!("  {message}"));
    }
    if let Some(undo) = &record.undo {
        add_undo(&mut text, undo);
    }
    text
}

/// The most lines without a type that a plan lists.
const MAX_UNCOVERED: usize = 20;

/// Adds the lines that no type reads.
fn add_uncovered(text: &mut TerminalText, lines: &[String]) {
    if !lines.is_empty() {
        text.end_line().line("  not covered by a type:");
    }
    for line in lines.iter().take(MAX_UNCOVERED) {
        text.line(format_args!("    {line}"));
    }
    let more = lines.len().saturating_sub(MAX_UNCOVERED);
    if more > 0 {
        text.line(format_args!(
            "    and {more} more; `switchtender coverage` lists all"
        ));
    }
}

/// Adds the commands that undo the changes, where they are shown, and what cannot be undone.
pub(crate) fn add_undo(text: &mut TerminalText, planned: &UndoPlan) {
    let heading = if planned.has_operations() {
        "  undo, last change first:"
    } else {
        "  cannot be undone:"
    };
    if !planned.resources.is_empty() {
        text.end_line().line(heading);
    }
    for undo in &planned.resources {
        text.add("  ").paint(Style::Bold, &undo.resource).end_line();
        for line in &undo.operations {
            text.add("    ")
                .paint(Style::Cyan, format_args!("> {line}"))
                .end_line();
        }
        for reason in &undo.not_restored {
            text.line(format_args!("    not restored: {reason}"));
        }
    }
    if !planned.not_restored.is_empty() {
        text.line("  the undo leaves this difference to the configuration before:");
    }
    for line in planned.not_restored.lines() {
        text.line(format_args!("    {line}"));
    }
}

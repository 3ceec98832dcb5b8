//! A plan of one device for people: changes, commands, and the configuration difference.

use std::sync::Arc;

use switchtender_devices::provider::driver_provider::PlannedUndo;

use super::difference::difference;
use super::operations;
use crate::fleet::device_run::{APPLIED, DeviceRunResult};
use crate::report::stored::StoredReport;
use crate::terminal_text::TerminalText;
use crate::transaction::{EventStatus, ResourceStatus};
use crate::validate::{Effect, effect_of};

const BOLD: &str = "1";
const YELLOW: &str = "33";

/// The plan of a device, without its name.
pub(crate) struct PlanText {
    pub(crate) changes: TerminalText,
    /// The configuration difference.
    pub(crate) difference: TerminalText,
    /// The lines that the difference adds and removes, sorted, without those around them. Their order
    /// depends on the configuration.
    pub(crate) changed_lines: Vec<String>,
}

impl PlanText {
    pub(crate) fn new(
        result: &DeviceRunResult,
        statuses: &[Arc<ResourceStatus>],
        colored: bool,
    ) -> Self {
        let predicted = result.predicted.as_ref();
        let diff = predicted.map_or("", |predicted| &predicted.diff);
        let is_change = |line: &&str| line.starts_with(['+', '-']);
        let changed = diff.lines().filter(is_change).map(str::to_owned);
        let mut changed_lines: Vec<String> = changed.collect();
        changed_lines.sort_unstable();
        Self {
            changes: changes(result, statuses, colored),
            difference: difference("configuration difference", diff, colored),
            changed_lines,
        }
    }
}

fn changes(
    result: &DeviceRunResult,
    statuses: &[Arc<ResourceStatus>],
    colored: bool,
) -> TerminalText {
    let mut text = TerminalText::with_colors(colored);
    let mut planned = false;
    for status in statuses {
        let changes: Vec<_> = status
            .events
            .iter()
            .filter(|event| event.status == EventStatus::Noop)
            .collect();
        if changes.is_empty() {
            continue;
        }
        planned = true;
        let position = match (&status.file, status.line) {
            (Some(file), Some(line)) => format!("  ({file}:{line})"),
            _ => String::new(),
        };
        text.add("  ").paint(BOLD, &status.reference).line(position);
        for change in changes {
            // A hash has several lines. Line ends in texts are escaped.
            let message = change.message.as_deref().unwrap_or_default();
            let property = change.property.as_deref().unwrap_or_default();
            text.block("    ", &future(message, property));
        }
        for line in operations::lines(status.operations.iter().map(|record| &record.operation)) {
            text.line(format_args!("    > {line}"));
        }
        for record in status.operations.iter() {
            if let Some(warning) = record.operation.warning() {
                text.add("    ")
                    .paint(YELLOW, "warning")
                    .line(format_args!(": {warning}"));
            }
        }
        let own = format!("{}: ", status.reference);
        for note in result
            .findings
            .iter()
            .filter(|found| effect_of(found) == Effect::Inform)
        {
            if let Some(note) = note.message.strip_prefix(&own) {
                text.line(format_args!("    note: {note}"));
            }
        }
    }
    if result.counts.cut_short {
        text.line("  plan incomplete: the run stopped early; more changes may follow");
    } else if result.counts.failed > 0 {
        text.line("  plan incomplete: some resources failed and were not compared; more changes may follow");
    } else if !planned {
        text.line("  nothing to change");
    }
    if !result.not_understood.is_empty() {
        text.end_line().line("  not understood on the device:");
    }
    for found in &result.not_understood {
        text.line(format_args!("    {}: {found}", found.type_name));
    }
    if let Some(predicted) = &result.predicted {
        for message in &predicted.without_diff {
            text.line(format_args!("  {message}"));
        }
    }
    if let Some(undo) = &result.undo {
        add_undo(&mut text, undo);
    }
    text
}

/// Adds the commands that undo the changes, where they are shown, and what cannot be undone.
fn add_undo(text: &mut TerminalText, planned: &PlannedUndo) {
    let heading = if planned.has_operations() {
        "  undo, last change first:"
    } else {
        "  cannot be undone:"
    };
    if !planned.resources.is_empty() {
        text.end_line().line(heading);
    }
    for (reference, undo) in &planned.resources {
        text.add("  ").paint(BOLD, reference).end_line();
        for line in operations::lines(&undo.operations) {
            text.line(format_args!("    > {line}"));
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

/// The message of a change that was not made, in the future tense.
/// Messages of a run without changes in the future tense, without its duration.
pub(crate) fn future_logs(report: &mut StoredReport) {
    report.logs.retain(|log| !log.message.starts_with(APPLIED));
    for log in &mut report.logs {
        if log.message.contains(" (noop)") {
            let property = log.source.rsplit('/').next().unwrap_or_default();
            log.message = future(&log.message, property);
        }
    }
}

pub(super) fn future(message: &str, property: &str) -> String {
    let message = message.replacen(" (noop)", "", 1);
    let defined = format!("defined '{property}' as ");
    let undefined = format!("undefined '{property}' from ");
    let changed = format!("{property} changed ");
    let ensured = |verb: &str, rest: &str, value: &str| {
        let rest = rest.strip_prefix(value).unwrap_or(rest);
        format!("will be {verb}{rest}")
    };
    if message == "created" || message == "removed" {
        format!("will be {message}")
    } else if let Some(rest) = message.strip_prefix(&defined) {
        match property {
            "ensure" if rest.starts_with("'present'") => ensured("created", rest, "'present'"),
            _ => format!("{property} will be set to {rest}"),
        }
    } else if let Some(rest) = message.strip_prefix(&undefined) {
        match property {
            "ensure" => ensured("removed", rest, "'present'"),
            _ => format!("{property} will be removed: {rest}"),
        }
    } else if let Some(rest) = message.strip_prefix(&changed) {
        format!("{property} will change from {rest}")
    } else if let Some(rest) = message.strip_prefix("current_value ") {
        let rest = rest.replacen(", should be ", " to ", 1);
        format!("{property} will change from {rest}")
    } else {
        message
    }
}

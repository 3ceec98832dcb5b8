//! Groups of devices with alike results as text: each below the names of its devices, and what differs as a table.

use indexmap::IndexMap;

use super::device_names::wrapped;
use super::plan::PlanText;
use super::{message, table};
use crate::inventory::range;
use crate::report::RunRecord;
use crate::report::alike::{AlikeGroup, ValueTable};
use crate::run_kind::RunKind;
use crate::terminal_text::{Style, TerminalText};
use crate::transaction::LogEntry;

/// Maximum number of different warnings of a group.
const MAX_WARNINGS: usize = 5;
/// Names of devices with more columns follow the values.
const NAME_COLUMNS: usize = 40;

/// The placeholder of the device itself.
const DEVICE: &str = "{device}";

/// A group with an empty line at its end.
pub(crate) fn render(group: &AlikeGroup, colored: bool) -> TerminalText {
    let mut text = TerminalText::with_colors(colored);
    let record = &group.record;
    if record.error.is_some() {
        add_warnings(&mut text, group);
        add_failure(&mut text, group);
        add_values(&mut text, &group.values);
        return text.end_line().clone();
    }
    let names = group.devices.iter().map(String::as_str);
    add_heading(&mut text, names, &group.platform);
    add_warnings(&mut text, group);
    if record.kind == RunKind::Plan {
        let of_first = group.is_template.then(|| group.devices[0].as_str());
        let plan = PlanText::new(record, of_first, colored);
        text.append(&plan.changes);
        add_values(&mut text, &group.values);
        explain_device(&mut text, group);
        text.append(&plan.difference);
    } else {
        message::add_all(&mut text, "  ", record);
        add_values(&mut text, &group.values);
        explain_device(&mut text, group);
    }
    text.end_line().clone()
}

/// Explains the placeholder of the device where the text has it.
fn explain_device(text: &mut TerminalText, group: &AlikeGroup) {
    if text.as_str().contains(DEVICE) && group.devices.len() > 1 {
        text.end_line()
            .line(format_args!("  {DEVICE} is the name of each device"));
    }
}

/// Takes the warnings that several groups have, and renders each with its devices.
pub(super) fn take_shared_warnings(groups: &mut Vec<AlikeGroup>, colored: bool) -> TerminalText {
    let key = |entry: &LogEntry| (entry.source.clone(), entry.text().to_owned());
    let mut devices: IndexMap<(String, String), (usize, Vec<String>)> = IndexMap::new();
    for (entry, names) in groups.iter().flat_map(|group| &group.warnings) {
        let (count, all) = devices.entry(key(entry)).or_default();
        *count += 1;
        all.extend(names.iter().cloned());
    }
    devices.retain(|_, (count, _)| *count > 1);
    for group in groups.iter_mut() {
        group
            .warnings
            .retain(|(entry, _)| !devices.contains_key(&key(entry)));
    }
    // Some had nothing else.
    groups.retain(|group| !group.warnings.is_empty() || !group.record.logs.is_empty());
    let mut text = TerminalText::with_colors(colored);
    for ((source, warning), (_, names)) in &devices {
        let names = range::of_names(names.iter().map(String::as_str)).join(", ");
        text.paint(Style::Yellow, "warning")
            .add(format_args!(": {names}: "));
        if source != "Puppet" {
            text.add(format_args!("{source}: "));
        }
        text.line(warning);
    }
    if !devices.is_empty() {
        text.end_line();
    }
    text
}

/// Adds the names of devices and their platform.
pub(super) fn add_heading<'a>(
    text: &mut TerminalText,
    devices: impl ExactSizeIterator<Item = &'a str>,
    platform: &str,
) {
    let end = match devices.len() {
        1 => format!(" ({platform})"),
        count => format!(" ({platform}, {count} devices)"),
    };
    for line in listed("", devices, &end) {
        text.paint(Style::Bold, line).end_line();
    }
}

fn add_warnings(text: &mut TerminalText, group: &AlikeGroup) {
    for (entry, devices) in group.warnings.iter().take(MAX_WARNINGS) {
        if devices.len() < group.devices.len() {
            for line in listed("  only ", devices.iter().map(String::as_str), ":") {
                text.line(line);
            }
        }
        message::add(text, "  ", group.record.kind, entry);
    }
    if let Some(more) = group.warnings.len().checked_sub(MAX_WARNINGS + 1) {
        text.line(format_args!(
            "  {} more messages of these devices; --target DEVICE prints them",
            more + 1
        ));
    }
}

/// Adds why devices did not run.
fn add_failure(text: &mut TerminalText, group: &AlikeGroup) {
    let RunRecord {
        error, hint, logs, ..
    } = &group.record;
    let names = range::of_names(group.devices.iter().map(String::as_str)).join(", ");
    text.paint(Style::Bold, &names)
        .add(": ")
        .paint(Style::BoldRed, "Error")
        .line(format_args!(": {}", error.as_deref().unwrap_or_default()));
    for finding in logs {
        text.line(format_args!("  {}", finding.message));
    }
    if let Some(hint) = hint {
        text.add(format_args!("{names}: "))
            .paint(Style::BoldCyan, "Hint")
            .line(format_args!(": {hint}"));
    }
}

/// Adds the values of the placeholders.
fn add_values(text: &mut TerminalText, values: &ValueTable) {
    if values.columns.is_empty() {
        return;
    }
    let names = |devices: &[String]| {
        let names = range::of_names(devices.iter().map(String::as_str));
        names.join(", ")
    };
    let rows: Vec<(String, &[String])> = values
        .rows
        .iter()
        .map(|(devices, cells)| (names(devices), &cells[..]))
        .collect();
    let is_last = rows
        .iter()
        .any(|(names, _)| names.chars().count() > NAME_COLUMNS);
    let at = if is_last { values.columns.len() } else { 0 };
    let mut header: Vec<&str> = values.columns.iter().map(String::as_str).collect();
    header.insert(at, "Device");
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(names, cells)| {
            let mut row = cells.to_vec();
            row.insert(at, names);
            row
        })
        .collect();
    text.end_line()
        .append(&table::render(&header, &rows, false).indented("  "));
}

fn listed<'a>(start: &str, devices: impl Iterator<Item = &'a str>, end: &str) -> Vec<String> {
    let mut names = range::of_names(devices).into_iter().peekable();
    let mut first = format!("{start}{}", names.next().unwrap_or_default());
    let mut words = Vec::new();
    if names.peek().is_some() {
        first.push(',');
        words = names.collect();
    }
    words.last_mut().unwrap_or(&mut first).push_str(end);
    wrapped(&first, &words)
}

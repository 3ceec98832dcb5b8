//! What devices of one group have in common: the resources, the properties, and the number of commands.

use std::fmt::Write as _;

use switchtender_devices::value::Value;

use super::OwnWords;
use crate::report::RunRecord;
use crate::transaction::{Event, ResourceStatus};

/// The shape of a record as a key. Records with one shape have the same texts in the same order.
pub(super) fn of(platform: &str, record: &RunRecord, own: &OwnWords) -> String {
    let mut shape = format!(
        "{platform}\n{}\n{:?}\n{} {}\n",
        record.status_word(),
        record.protection,
        record.counts.cut_short,
        record.counts.failed > 0,
    );
    let mut add = |text: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(shape, "{text}");
    };
    for status in record.resources.iter().filter(|one| one.is_notable()) {
        add(format_args!("{}", of_resource(status)));
        for note in record.notes_on(&status.reference) {
            add(format_args!("note {}", sentence(note, own)));
        }
    }
    for log in &record.logs {
        let text = sentence(log.text(), own);
        add(format_args!("{} {} {text}", log.level, log.source));
    }
    for found in &record.not_understood {
        add(format_args!("{} {:?}", found.type_name, found.attribute));
    }
    for text in &record.without_difference {
        add(format_args!("{}", sentence(text, own)));
    }
    for undo in record.undo.iter().flat_map(|undo| &undo.resources) {
        let (sent, lost) = (undo.operations.len(), undo.not_restored.len());
        add(format_args!("undo {} {sent} {lost}", undo.resource));
    }
    if let Some(undo) = &record.undo {
        add(format_args!("{}", undo.not_restored));
    }
    if let Some(coverage) = &record.coverage {
        add(format_args!("{:?}", coverage.uncovered));
    }
    for text in [&record.error, &record.hint].into_iter().flatten() {
        add(format_args!("{}", sentence(text, own)));
    }
    let lines = changed_lines(&record.difference);
    add(format_args!("{}", lines.len()));
    shape
}

fn of_resource(status: &ResourceStatus) -> String {
    let mut shape = format!(
        "{} {} {:?} {}",
        status.reference,
        status.result(),
        status.skip_reason(),
        status.file.is_some()
    );
    for event in &status.events {
        let _ = write!(shape, "\n{}", of_event(event));
    }
    for command in status.operations.iter() {
        let _ = write!(
            shape,
            "\n{} {} {} {:?} {} {}",
            command.mode.len(),
            command.text.is_some(),
            command.body.len(),
            command.outcome,
            command.device_message.is_some(),
            command.warning.is_some()
        );
    }
    shape
}

fn of_event(event: &Event) -> String {
    let kind = |value: &Option<Value>| match value {
        None | Some(Value::Undef | Value::Absent) => "none".to_owned(),
        // Whether it is created or removed.
        Some(value) if event.property.as_deref() == Some("ensure") => value.display(),
        Some(Value::String(_) | Value::Symbol(_)) => "text".to_owned(),
        Some(_) => "value".to_owned(),
    };
    format!(
        "{:?} {} {:?} {} {} {}",
        event.property,
        event.name,
        event.status,
        event.message.is_some(),
        kind(&event.previous_value),
        kind(&event.desired_value),
    )
}

/// A sentence without own words, numbers and quoted texts.
pub(crate) fn sentence(text: &str, own: &OwnWords) -> String {
    let text = own.template(text);
    let mut shape = String::with_capacity(text.len());
    let mut quote = None;
    for character in text.chars() {
        if let Some(end) = quote {
            if character == end {
                shape.push(character);
                quote = None;
            }
        } else if character.is_ascii_digit() {
            if !shape.ends_with('#') {
                shape.push('#');
            }
        } else {
            quote = matches!(character, '`' | '"').then_some(character);
            shape.push(character);
        }
    }
    shape
}

/// The lines that a difference adds and removes, sorted, without those around them. Their order depends on the
/// configuration.
pub(super) fn changed_lines(difference: &str) -> Vec<String> {
    let lines = difference.lines();
    let changed = lines.filter(|line| line.starts_with(['+', '-']));
    let mut changed: Vec<String> = changed.map(str::to_owned).collect();
    changed.sort_unstable();
    changed
}

//! The texts of a record that may differ between devices of one shape.

use std::sync::Arc;

use switchtender_devices::value::{Name, Typed, Value};

use crate::catalog::rich_data;
use crate::report::RunRecord;
use crate::transaction::ResourceStatus;

/// A text of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) kind: SlotKind,
    /// The title of the resource; empty for other texts.
    pub(super) title: String,
}

/// What the text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SlotKind {
    /// The value of a property before its change.
    Before(Name),
    /// The desired value of a property.
    After(Name),
    /// The file of a resource.
    File,
    /// A text with words of its own. The word is the name of its placeholders.
    Text(&'static str),
}

impl Slot {
    fn text(name: &'static str) -> Self {
        Self {
            kind: SlotKind::Text(name),
            title: String::new(),
        }
    }

    pub(super) fn is_value(&self) -> bool {
        matches!(self.kind, SlotKind::Before(_) | SlotKind::After(_))
    }
}

/// Calls a function with each text, always in the same order for records of one shape. It may replace the text.
pub(super) fn visit(record: &mut RunRecord, visitor: &mut dyn FnMut(Slot, &mut String)) {
    for status in &mut record.resources {
        if status.is_notable() {
            visit_resource(Arc::make_mut(status), visitor);
        }
    }
    for log in &mut record.logs {
        let log = Arc::make_mut(log);
        visitor(Slot::text("message"), &mut log.message);
        if let Some(text) = log.kind.text_mut() {
            visitor(Slot::text("message"), text);
        }
    }
    for text in &mut record.without_difference {
        visitor(Slot::text("message"), text);
    }
    for found in &mut record.not_understood {
        visitor(Slot::text("text"), &mut found.text);
    }
    for undo in record.undo.iter_mut().flat_map(|undo| &mut undo.resources) {
        for text in undo.operations.iter_mut().chain(&mut undo.not_restored) {
            visitor(Slot::text("command"), text);
        }
    }
    let notes = record.findings.iter_mut().filter(|found| found.is_note);
    for finding in notes {
        visitor(Slot::text("note"), &mut finding.message);
    }
    for text in record.error.iter_mut().chain(&mut record.hint) {
        visitor(Slot::text("reason"), text);
    }
}

fn visit_resource(status: &mut ResourceStatus, visitor: &mut dyn FnMut(Slot, &mut String)) {
    let title = status.reference.title().to_owned();
    let slot = |kind| Slot {
        kind,
        title: title.clone(),
    };
    if let Some(file) = &mut status.file {
        let mut text = file.to_string();
        visitor(slot(SlotKind::File), &mut text);
        if text != **file {
            *file = text.into();
        }
    }
    for event in &mut status.events {
        if let Some(property) = event.property.clone() {
            let before = slot(SlotKind::Before(property.clone()));
            visit_value(before, &mut event.previous_value, visitor);
            let after = slot(SlotKind::After(property));
            visit_value(after, &mut event.desired_value, visitor);
        }
        if let Some(message) = &mut event.message {
            visitor(slot(SlotKind::Text("message")), message);
        }
    }
    let mut operations = status.operations.to_vec();
    for command in &mut operations {
        for text in command.texts_mut() {
            visitor(slot(SlotKind::Text("command")), text);
        }
        if let Some(warning) = &mut command.warning {
            visitor(slot(SlotKind::Text("warning")), warning);
        }
    }
    status.operations = operations.into();
}

fn visit_value(slot: Slot, value: &mut Option<Value>, visitor: &mut dyn FnMut(Slot, &mut String)) {
    let Some(old) = value else {
        return;
    };
    let text = value_text(old);
    let mut new = text.clone();
    visitor(slot, &mut new);
    if new != text {
        // Texts have quotation marks, numbers and lists do not.
        let has_marks = matches!(old, Value::String(_) | Value::Symbol(_));
        *value = Some(if has_marks {
            Value::String(new)
        } else {
            Value::Typed(Box::new(Typed {
                kind: String::new(),
                text: new,
            }))
        });
    }
}

/// A value in one line, without the quotation marks of a text.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) | Value::Symbol(text) => text.clone(),
        other => {
            let text = other.display();
            if text.contains('\n') {
                rich_data::write_plain(other).to_string()
            } else {
                text
            }
        }
    }
}

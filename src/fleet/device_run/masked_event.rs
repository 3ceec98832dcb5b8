//! Masks the secrets of a device in the events of its run: a device or a server can repeat a secret
//! anywhere in its messages.
//!
//! References, names of properties, tags and positions remain: a title is not a secret.

use std::sync::Arc;

use switchtender_devices::operation::{Action, Operation, Outcome};
use switchtender_devices::provider::driver_provider::PlannedUndo;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::value::Value;

use crate::transaction::{Event, LogEntry, OperationRecord, ResourceStatus, RunEvent};

/// The event without secrets. It is copied only if it contains one.
pub(super) fn masked(event: RunEvent, mask: &SecretMask) -> RunEvent {
    match event {
        RunEvent::Log(entry) if mask.finds(&entry.message) => RunEvent::Log(Arc::new(LogEntry {
            message: mask.apply_except(&entry.message, property(&entry.source)),
            ..(*entry).clone()
        })),
        RunEvent::Operations {
            reference,
            operations,
        } => RunEvent::Operations {
            reference,
            operations: masked_operations(operations, mask),
        },
        RunEvent::Resource(status) => RunEvent::Resource(masked_status(status, mask)),
        RunEvent::Amended { previous, status } => RunEvent::Amended {
            previous: masked_status(previous, mask),
            status: masked_status(status, mask),
        },
        RunEvent::Unverified { reason } => RunEvent::Unverified {
            reason: mask.apply(&reason),
        },
        RunEvent::Finished {
            completed,
            failed_to_generate,
            error,
            time,
        } => RunEvent::Finished {
            completed,
            failed_to_generate,
            error: error.map(|error| mask.apply(&error)),
            time,
        },
        other => other,
    }
}

fn masked_status(status: Arc<ResourceStatus>, mask: &SecretMask) -> Arc<ResourceStatus> {
    if !has_secret(&status, mask) {
        return status;
    }
    let status = (*status).clone();
    let events = status.events.into_iter();
    Arc::new(ResourceStatus {
        events: events.map(|event| masked_change(event, mask)).collect(),
        operations: masked_operations(status.operations, mask),
        ..status
    })
}

fn has_secret(status: &ResourceStatus, mask: &SecretMask) -> bool {
    let in_value = |value: &Option<Value>| {
        let value = value.as_ref();
        value.is_some_and(|value| mask.apply_to_value(value) != *value)
    };
    status
        .operations
        .iter()
        .any(|record| is_secret(record, mask))
        || status.events.iter().any(|event| {
            event
                .message
                .as_deref()
                .is_some_and(|message| mask.finds(message))
                || in_value(&event.previous_value)
                || in_value(&event.desired_value)
                || in_value(&event.historical_value)
        })
}

fn masked_change(mut event: Event, mask: &SecretMask) -> Event {
    let values = [
        &mut event.previous_value,
        &mut event.desired_value,
        &mut event.historical_value,
    ];
    for value in values.into_iter().flatten() {
        *value = mask.apply_to_value(value);
    }
    if let Some(message) = &mut event.message {
        *message = mask.apply_except(message, event.property.as_deref().unwrap_or_default());
    }
    event
}

/// The property at the end of the path in the source of a message.
fn property(source: &str) -> &str {
    let (path, property) = source.rsplit_once('/').unwrap_or_default();
    if path.ends_with(']') { property } else { "" }
}

fn masked_operations(
    operations: Arc<[OperationRecord]>,
    mask: &SecretMask,
) -> Arc<[OperationRecord]> {
    if !operations.iter().any(|record| is_secret(record, mask)) {
        return operations;
    }
    operations
        .iter()
        .map(|record| OperationRecord {
            operation: masked_operation(&record.operation, mask),
            result: record
                .result
                .as_ref()
                .map(|(outcome, took)| (masked_outcome(outcome, mask), *took)),
        })
        .collect()
}

/// Whether a record shows a secret.
fn is_secret(record: &OperationRecord, mask: &SecretMask) -> bool {
    let in_command = match &record.operation.action {
        Action::Line(line) => line
            .mode
            .iter()
            .chain(&line.text)
            .chain(&line.body)
            .any(|text| mask.finds(&text.to_string())),
        Action::Request(request) => mask.finds(&request.to_string()),
        Action::Edit(edit) => mask.finds(&edit.config.to_string()),
    };
    let in_outcome = |(outcome, _): &(Outcome, _)| masked_outcome(outcome, mask) != *outcome;
    in_command || record.result.as_ref().is_some_and(in_outcome)
}

/// The commands that undo a plan without secrets.
pub(super) fn masked_undo(mut planned: PlannedUndo, mask: &SecretMask) -> PlannedUndo {
    for (_, undo) in &mut planned.resources {
        for operation in &mut undo.operations {
            *operation = masked_operation(operation, mask);
        }
        for reason in &mut undo.not_restored {
            *reason = mask.apply(reason);
        }
    }
    planned.not_restored = mask.apply(&planned.not_restored);
    planned
}

fn masked_operation(operation: &Operation, mask: &SecretMask) -> Operation {
    let mut operation = operation.clone();
    match &mut operation.action {
        Action::Line(line) => {
            let texts = line.mode.iter_mut().chain(&mut line.text);
            for text in texts.chain(&mut line.body) {
                *text = mask.apply_to_text(text);
            }
        }
        Action::Request(request) => {
            request.path = mask.apply(&request.path);
            request.body = request.body.as_ref().map(|body| mask.apply_to_text(body));
        }
        Action::Edit(edit) => edit.config = mask.apply_to_text(&edit.config),
    }
    operation
}

fn masked_outcome(outcome: &Outcome, mask: &SecretMask) -> Outcome {
    match outcome {
        Outcome::Done { messages } => Outcome::Done {
            messages: messages.iter().map(|text| mask.apply(text)).collect(),
        },
        Outcome::Refused { message } => Outcome::Refused {
            message: mask.apply(message),
        },
        Outcome::Unknown { reason, cause } => Outcome::Unknown {
            reason: mask.apply(reason),
            cause: *cause,
        },
        other => other.clone(),
    }
}

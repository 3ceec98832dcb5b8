//! Masks the secrets of a device in the events of its run: a device or a server can repeat a secret
//! anywhere in its messages.
//!
//! References, names of properties, tags and positions remain: a title is not a secret.

use std::sync::Arc;

use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::value::Value;

use crate::transaction::{CommandRecord, Event, LogEntry, ResourceStatus, RunEvent};

/// The event without secrets. It is copied only if it contains one.
pub(super) fn masked(event: RunEvent, mask: &SecretMask) -> RunEvent {
    match event {
        RunEvent::Log(entry) if is_secret_log(&entry, mask) => {
            let property = property(&entry.source);
            let masked = |text: &str| mask.apply_except(text, property);
            let mut entry = LogEntry::clone(&entry);
            entry.message = masked(&entry.message);
            if let Some(text) = entry.kind.text_mut() {
                *text = masked(text);
            }
            RunEvent::Log(Arc::new(entry))
        }
        RunEvent::Operations {
            reference,
            commands,
            ..
        } => RunEvent::Operations {
            reference,
            // They have secrets; receivers need the text only.
            operations: Arc::default(),
            commands: masked_commands(commands, mask),
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

fn is_secret_log(entry: &LogEntry, mask: &SecretMask) -> bool {
    mask.finds(entry.text()) || mask.finds(&entry.message)
}

fn masked_status(status: Arc<ResourceStatus>, mask: &SecretMask) -> Arc<ResourceStatus> {
    if !has_secret(&status, mask) {
        return status;
    }
    let status = (*status).clone();
    let events = status.events.into_iter();
    Arc::new(ResourceStatus {
        events: events.map(|event| masked_change(event, mask)).collect(),
        operations: masked_commands(status.operations, mask),
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
        .any(|command| is_secret(command, mask))
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

fn masked_commands(commands: Arc<[CommandRecord]>, mask: &SecretMask) -> Arc<[CommandRecord]> {
    if !commands.iter().any(|command| is_secret(command, mask)) {
        return commands;
    }
    let masked = commands.iter().map(|command| {
        let mut command = command.clone();
        for text in command.texts_mut() {
            *text = mask.apply(text);
        }
        command
    });
    masked.collect()
}

/// Whether a command shows a secret.
fn is_secret(command: &CommandRecord, mask: &SecretMask) -> bool {
    command.texts().any(|text| mask.finds(text))
}

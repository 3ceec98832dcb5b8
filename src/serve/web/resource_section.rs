//! A resource in a run: events, commands and the answers of the device.

use super::shared_views::{position, resource_path};
use super::status_label::StatusLabel;
use crate::history::runs::RunResource;
use crate::report::command_lines::CommandLines;
use crate::report::stored::{StoredEvent, StoredOperation};

/// A resource.
pub(super) struct ResourceSection {
    pub(super) path: String,
    pub(super) reference: String,
    pub(super) status: StatusLabel,
    pub(super) position: String,
    pub(super) skip_reason: Option<String>,
    pub(super) events: Vec<String>,
    pub(super) operations: Vec<OperationView>,
}

/// A command with the answer of the device.
pub(super) struct OperationView {
    pub(super) lines: String,
    pub(super) problem: Option<String>,
    pub(super) answer: Option<String>,
    pub(super) milliseconds: Option<u64>,
}

impl ResourceSection {
    pub(super) fn new(device: &str, resource: &RunResource) -> Self {
        Self {
            path: resource_path(device, &resource.resource),
            reference: resource.resource.clone(),
            status: StatusLabel::new(resource.status.clone()),
            position: position(resource.file.as_deref(), resource.line),
            skip_reason: resource.skip_reason.clone(),
            events: resource
                .events
                .iter()
                .filter_map(StoredEvent::text)
                .collect(),
            operations: operations(&resource.operations),
        }
    }
}

fn operations(parts: &[StoredOperation]) -> Vec<OperationView> {
    let mut commands = CommandLines::default();
    let views = parts.iter().map(|part| OperationView {
        lines: commands.next(&part.mode, part.text.as_deref()).join("\n"),
        problem: part.problem().map(str::to_owned),
        answer: part.device_message.clone(),
        milliseconds: part.milliseconds,
    });
    views.collect()
}

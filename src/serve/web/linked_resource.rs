//! A resource in a run with the path of its page.

use std::sync::Arc;

use super::shared_views::resource_path;
use crate::report::command_lines::{self, CommandBlock};
use crate::transaction::ResourceStatus;

/// A resource in a run.
pub(super) struct LinkedResource {
    pub(super) path: String,
    pub(super) status: Arc<ResourceStatus>,
}

impl LinkedResource {
    pub(super) fn new(device: &str, status: &Arc<ResourceStatus>) -> Self {
        Self {
            path: resource_path(device, status.reference.as_str()),
            status: Arc::clone(status),
        }
    }

    pub(super) fn position(&self) -> String {
        self.status.position().unwrap_or_default()
    }

    /// The events in words.
    pub(super) fn events(&self) -> impl Iterator<Item = String> {
        self.status.changes().filter_map(|event| event.text())
    }

    pub(super) fn commands(&self) -> Vec<CommandBlock<'_>> {
        command_lines::blocks(&self.status.operations)
    }
}

//! A resource in a run with the path of its page.

use std::sync::Arc;

use super::shared_views::resource_path;
use crate::report::command_lines;
use crate::transaction::ResourceStatus;

/// A resource in a run.
pub(super) struct LinkedResource {
    pub(super) path: String,
    pub(super) status: Arc<ResourceStatus>,
}

/// Commands up to one that had a problem or an answer.
#[derive(Default)]
pub(super) struct CommandPart {
    pub(super) lines: Vec<String>,
    pub(super) problem: Option<&'static str>,
    pub(super) answer: Option<String>,
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

    pub(super) fn commands(&self) -> Vec<CommandPart> {
        let mut parts = Vec::new();
        let mut part = CommandPart::default();
        for block in command_lines::blocks(&self.status.operations) {
            part.lines.extend(block.lines);
            part.problem = block.command.problem();
            part.answer.clone_from(&block.command.device_message);
            if part.problem.is_some() || part.answer.is_some() {
                parts.push(std::mem::take(&mut part));
            }
        }
        if !part.lines.is_empty() {
            parts.push(part);
        }
        parts
    }

    /// The time of all commands. `None`: none was sent.
    pub(super) fn milliseconds(&self) -> Option<u64> {
        let times = self.status.operations.iter();
        times
            .filter_map(|command| command.milliseconds)
            .reduce(|sum, one| sum + one)
    }
}

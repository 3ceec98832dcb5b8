//! The undo of changes, as text.

use serde::{Deserialize, Serialize};
use switchtender_devices::provider::state::PlannedUndo;
use switchtender_devices::secret_mask::SecretMask;

use super::command_lines;
use crate::transaction::CommandRecord;

/// What undoes the changes of a plan; secrets are masked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UndoPlan {
    /// Last change first.
    pub(crate) resources: Vec<ResourceUndo>,
    /// What the configuration then lacks of the one before, as a unified diff; empty for nothing.
    pub(crate) not_restored: String,
}

/// The undo of a resource: planned, or made after a failure. Secrets are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResourceUndo {
    pub(crate) resource: String,
    /// What is sent, or was sent.
    pub(crate) operations: Vec<String>,
    /// What is not restored, with reasons.
    pub(crate) not_restored: Vec<String>,
}

impl UndoPlan {
    pub(crate) fn new(planned: &PlannedUndo, mask: &SecretMask) -> Self {
        let masked = |text: String| mask.apply(&text);
        let resources = planned.resources.iter().map(|(reference, undo)| {
            let commands: Vec<CommandRecord> =
                undo.operations.iter().map(CommandRecord::planned).collect();
            let reasons = undo.not_restored.iter();
            ResourceUndo {
                resource: reference.to_string(),
                operations: command_lines::lines(&commands)
                    .into_iter()
                    .map(masked)
                    .collect(),
                not_restored: reasons.cloned().map(masked).collect(),
            }
        });
        Self {
            resources: resources.collect(),
            not_restored: mask.apply(&planned.not_restored),
        }
    }

    /// Whether it has commands, and not only what cannot be restored.
    pub(crate) fn has_operations(&self) -> bool {
        let mut resources = self.resources.iter();
        resources.any(|undo| !undo.operations.is_empty())
    }
}

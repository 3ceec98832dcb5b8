//! The changes that the run has sent, and what they leave for the rest of the run and for later runs.

use std::sync::Arc;

use super::DeviceState;
use crate::change::{Change, ChangeKind, Desired, Instance};
use crate::operation::{Operation, OperationResult, Outcome};
use crate::provider::CommitResult;
use crate::value::Value;

/// The changes that the run has sent.
#[derive(Default)]
pub(in crate::provider) struct CommittedChanges {
    /// The changes of which something was sent, each with the instances of other resources that it
    /// removed.
    pub(in crate::provider) changes: Vec<(Change, Vec<Instance>)>,
    /// Resources that were set without a failure.
    pub(in crate::provider) applied: Vec<Arc<Desired>>,
    /// The device accepted at least one change.
    pub(in crate::provider) has_changed: bool,
}

impl DeviceState {
    /// Whether this run changed the device, also if a resource was applied only in part.
    pub fn has_changed(&self) -> bool {
        self.committed.has_changed
    }

    /// Whether something of a change was sent.
    pub fn has_committed(&self) -> bool {
        !self.committed.changes.is_empty()
    }

    /// Records what a change with its final result leaves for the rest of the run and for later runs.
    pub(in crate::provider) fn conclude(
        &mut self,
        change: &Change,
        displaced: Vec<Instance>,
        committed: &CommitResult,
    ) {
        let is_sent = |(_, result): &(Operation, OperationResult)| {
            matches!(
                result.outcome,
                Outcome::Done { .. } | Outcome::Unknown { .. }
            )
        };
        // A removed block has removed what was in it.
        let is_removed = change.kind == ChangeKind::Remove && committed.operations.is_empty();
        if is_removed || committed.operations.iter().any(is_sent) {
            self.committed
                .changes
                .push((change.clone(), displaced.clone()));
        }
        self.record_displaced(change, displaced);
        self.remember(change, committed);
        if committed
            .attributes
            .iter()
            .all(|(_, outcome)| outcome.is_ok())
        {
            self.committed.applied.push(Arc::clone(&change.desired));
        }
        self.inspections.remove(&change.desired.reference);
    }

    /// Stores digests of the secrets that this change set.
    fn remember(&self, change: &Change, committed: &CommitResult) {
        if change.desired.is_absent() {
            return;
        }
        let failed = |name: &str| {
            committed
                .attributes
                .iter()
                .any(|(attr, outcome)| attr == name && outcome.is_err())
        };
        if failed("ensure") {
            return;
        }
        for (name, value) in &change.desired.attributes {
            let changed = change.is_create_or_remove() || change.attributes.contains(name);
            if matches!(value, Value::Sensitive(_)) && changed && !failed(name) {
                self.memory.remember(&change.desired.reference, name, value);
            }
        }
    }
}

//! Changes that the device applies together: their effect, before they are sent.

use super::DeviceState;
use crate::change::{Change, Instance};
use crate::operation::{Action, Operation, Precondition};
use crate::provider::ProviderError;
use crate::read::State;

/// The staged changes of a run.
#[derive(Default)]
pub(in crate::provider) struct StagedChanges {
    pub(in crate::provider) changes: Vec<StagedChange>,
    /// The state before the first of them.
    pub(in crate::provider) before: State,
}

/// A change that is sent with others.
pub(in crate::provider) struct StagedChange {
    pub(in crate::provider) change: Change,
    pub(in crate::provider) operations: Vec<Operation>,
    pub(in crate::provider) displaced: Vec<Instance>,
}

impl StagedChanges {
    /// Adds answers that were read after the first change.
    pub(in crate::provider) fn extend_state(&mut self, read: &State) {
        if !self.changes.is_empty() {
            self.before.extend(read.clone());
        }
    }
}

impl DeviceState {
    /// Stages a change, unless the device has to apply it alone.
    pub(in crate::provider) fn stage(&mut self, change: &Change) -> Result<bool, ProviderError> {
        let change = self.resolved(change);
        let operations = self.render(&change, &self.now)?;
        // A condition holds for the answer that was read, not for one with staged changes.
        let has_condition = |operation: &Operation| match &operation.action {
            Action::Request(request) => request.precondition != Precondition::None,
            Action::Line(_) | Action::Edit(_) => false,
        };
        if operations.iter().any(has_condition) {
            return Ok(false);
        }
        if self.staged.changes.is_empty() {
            self.staged.before = self.now.clone();
        }
        let displaced = self.driver.displaced(&change, &self.now);
        self.driver
            .predict(&change.desired.model, &mut self.now, &operations);
        self.inspections.remove(&change.desired.reference);
        self.staged.changes.push(StagedChange {
            change,
            operations,
            displaced,
        });
        Ok(true)
    }
}

//! Changes of several resources that the device applies together.

use super::DriverProvider;
use super::committing::failed_commit;
use crate::change::{Change, Instance};
use crate::operation::{Action, Operation, Precondition};
use crate::provider::{CommitResult, ProviderError};
use crate::read::State;

/// The staged changes of a run.
#[derive(Default)]
pub(super) struct StagedChanges {
    changes: Vec<StagedChange>,
    /// The state before the first of them.
    before: State,
}

struct StagedChange {
    change: Change,
    operations: Vec<Operation>,
    displaced: Vec<Instance>,
}

impl StagedChanges {
    /// Adds answers that were read after the first change.
    pub(super) fn extend_state(&mut self, read: &State) {
        if !self.changes.is_empty() {
            self.before.extend(read.clone());
        }
    }
}

impl DriverProvider {
    /// Stages a change, if the device applies it with others.
    pub(super) fn stage_change(&mut self, change: &Change) -> Result<bool, ProviderError> {
        if !self.session.commits_together() {
            return Ok(false);
        }
        if let Some(disconnect) = &self.disconnect {
            return Err(disconnect.error());
        }
        let change = self.resolved(change);
        let operations = self.render(&change, &self.state)?;
        // A condition holds for the answer that was read, not for one with staged changes.
        let has_condition = |operation: &Operation| match &operation.action {
            Action::Request(request) => request.precondition != Precondition::None,
            Action::Line(_) | Action::Edit(_) => false,
        };
        if operations.iter().any(has_condition) {
            return Ok(false);
        }
        if self.staged.changes.is_empty() {
            self.staged.before = self.state.clone();
        }
        let displaced = self.driver.displaced(&change, &self.state);
        self.driver
            .predict(&change.desired.model, &mut self.state, &operations);
        self.inspections().remove(&change.desired.reference);
        self.staged.changes.push(StagedChange {
            change,
            operations,
            displaced,
        });
        Ok(true)
    }

    /// Sends all operations of the staged changes, and records what the device did.
    pub(super) async fn commit_staged_changes(&mut self) -> Vec<CommitResult> {
        let staged = std::mem::take(&mut self.staged);
        if staged.changes.is_empty() {
            return Vec::new();
        }
        let operations = staged.changes.iter().flat_map(|one| &one.operations);
        let operations: Vec<Operation> = operations.cloned().collect();
        tracing::debug!(
            resources = staged.changes.len(),
            operations = operations.len(),
            "committing the changes of several resources"
        );
        if let Err(error) = self.ensure_protected().await {
            self.state = staged.before;
            let failed = |one: StagedChange| failed_commit(&one.change, &error);
            return staged.changes.into_iter().map(failed).collect();
        }
        let mut results = self.session.commit(&operations).await.into_iter();
        self.state = staged.before;
        let mut recorded = Vec::new();
        for one in staged.changes {
            let own = results.by_ref().take(one.operations.len()).collect();
            let committed = self
                .record_results(&one.change, one.operations, own, Vec::new())
                .await;
            recorded.push((one.change, one.displaced, committed));
        }
        let mut confirmed: Vec<_> = recorded
            .iter_mut()
            .map(|(change, _, committed)| (&*change, committed))
            .collect();
        self.confirm_commits(&mut confirmed).await;
        let concluded = recorded.into_iter().map(|(change, displaced, committed)| {
            self.conclude(&change, displaced, &committed);
            committed
        });
        concluded.collect()
    }
}

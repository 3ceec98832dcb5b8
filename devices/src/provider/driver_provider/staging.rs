//! Changes of several resources that the device applies together.

use super::DriverProvider;
use super::committing::failed_commit;
use crate::change::Change;
use crate::operation::Operation;
use crate::provider::state::StagedChange;
use crate::provider::{CommitResult, ProviderError};

impl DriverProvider {
    /// Stages a change, if the device applies it with others.
    pub(super) fn stage_change(&mut self, change: &Change) -> Result<bool, ProviderError> {
        if !self.session.commits_together() {
            return Ok(false);
        }
        if let Some(disconnect) = &self.disconnect {
            return Err(disconnect.error());
        }
        self.state.stage(change)
    }

    /// Sends all operations of the staged changes, and records what the device did.
    pub(super) async fn commit_staged_changes(&mut self) -> Vec<CommitResult> {
        let staged = std::mem::take(&mut self.state.staged);
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
        if let Err(error) = self.before_change().await {
            self.state.now = staged.before;
            let failed = |one: StagedChange| failed_commit(&one.change, &error);
            return staged.changes.into_iter().map(failed).collect();
        }
        let mut results = self.session.commit(&operations).await.into_iter();
        self.state.now = staged.before;
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
            self.state.conclude(&change, displaced, &committed);
            committed
        });
        concluded.collect()
    }
}

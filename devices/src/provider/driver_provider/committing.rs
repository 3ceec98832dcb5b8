//! Sends changes and refreshes, and records their results: the state in memory, the digests of
//! secrets and the resources that were applied.

use std::sync::Arc;

use super::DriverProvider;
use super::unknown_outcome::render_operation;
use crate::change::{Change, Desired};
use crate::operation::{Operation, OperationResult, Outcome};
use crate::provider::{CommitResult, Note, ProviderError};
use crate::value::Name;

/// The note about a second attempt.
const CHANGED: &str = "the object changed after it was read: it was read again";

impl DriverProvider {
    /// Sends the operations of a change and records what the device did.
    pub(super) async fn commit_change(&mut self, change: &Change) -> CommitResult {
        let mut change = self.state.resolved(change);
        let failed = |error: ProviderError| failed_commit(&change, &error);
        if let Some(disconnect) = &self.disconnect {
            return failed(disconnect.error());
        }
        let mut operations = match self.state.render(&change, &self.state.now) {
            Ok(operations) => operations,
            Err(error) => return failed(error),
        };
        tracing::debug!(
            resource = &*change.desired.reference,
            kind = ?change.kind,
            operations = operations.len(),
            "changing the device"
        );
        self.state.previewed = None;
        let displaced = self.state.driver.displaced(&change, &self.state.now);
        if !operations.is_empty()
            && let Err(error) = self.before_change().await
        {
            return failed(error);
        }
        let mut results = self.session.commit(&operations).await;
        let mut notes = Vec::new();
        if results.first().is_some_and(|first| first.is_stale)
            && let Ok(renewed) = self.renewed(&change).await
        {
            notes.push(Note::warning(CHANGED.to_owned()));
            (change, operations, results) = match renewed {
                Some((change, operations)) => {
                    let results = self.session.commit(&operations).await;
                    (change, operations, results)
                }
                None => (change, Vec::new(), Vec::new()),
            };
        }
        let mut committed = self
            .record_results(&change, operations, results, notes)
            .await;
        self.confirm_commits(&mut [(&change, &mut committed)]).await;
        self.state.conclude(&change, displaced, &committed);
        committed
    }

    /// The result of a change after its operations, with the state that follows what the device did.
    pub(super) async fn record_results(
        &mut self,
        change: &Change,
        operations: Vec<Operation>,
        results: Vec<OperationResult>,
        mut notes: Vec<Note>,
    ) -> CommitResult {
        let mut done = Vec::new();
        let reported: Vec<Name> = change.reported_attributes().collect();
        for (operation, result) in operations.iter().zip(&results) {
            if let Outcome::Done { messages } = &result.outcome {
                done.push(operation.clone());
                let warnings = messages.iter().map(|line| {
                    format!(
                        "the device answered `{}`: {line}",
                        render_operation(operation)
                    )
                });
                notes.extend(warnings.map(Note::warning));
                notes.extend(operation.warning().map(Note::warning));
            }
        }
        self.state.committed.has_changed |= !done.is_empty();
        self.state
            .driver
            .predict(&change.desired.model, &mut self.state.now, &done);
        if done.iter().any(Operation::writes_document)
            && let Err(error) = self.read_again(change).await
        {
            notes.push(Note::warning(format!(
                "the document was not read again: {error}"
            )));
        }
        let sent: Vec<(Operation, OperationResult)> = operations.into_iter().zip(results).collect();
        let mut committed = CommitResult::from_operations(change, sent);
        committed
            .attributes
            .retain(|(name, _)| reported.contains(name));
        for name in reported {
            // The device has the value already.
            if !committed.attributes.iter().any(|(known, _)| *known == name) {
                committed.attributes.push((name, Ok(())));
            }
        }
        committed.notes = notes;
        self.reconcile_unknown(change, &mut committed).await;
        committed
    }

    /// The change and its operations after the object was read again; `None` if the device has the
    /// desired state.
    async fn renewed(
        &mut self,
        change: &Change,
    ) -> Result<Option<(Change, Vec<Operation>)>, ProviderError> {
        self.read_again(change).await?;
        let inspection = self.state.inspect(&change.desired)?;
        self.state
            .check_not_understood(&change.desired, &inspection)?;
        let mut differs = inspection.differs;
        if !change.is_create_or_remove() {
            differs.retain(|name| change.attributes.contains(name));
        }
        if differs.is_empty() {
            return Ok(None);
        }
        let current = inspection.current.as_deref().cloned();
        let renewed = Change::new(Arc::clone(&change.desired), current, differs);
        let operations = self.state.render(&renewed, &self.state.now)?;
        Ok(Some((renewed, operations)))
    }

    /// Sends the operations of a refresh; `None` if the type has none.
    pub(super) async fn send_refresh(&mut self, desired: &Desired) -> Option<CommitResult> {
        if !self.state.driver.has_refresh(&desired.model) {
            return None;
        }
        let failed = |error: ProviderError| {
            Some(CommitResult {
                failure: Some(error),
                ..CommitResult::default()
            })
        };
        if let Some(disconnect) = &self.disconnect {
            return failed(disconnect.error());
        }
        let current = self
            .state
            .driver
            .instance(desired, &self.state.now)
            .ok()
            .flatten();
        let operations = match self.state.driver.refresh(desired, current.as_ref()) {
            Ok(operations) => operations,
            Err(error) => return failed(ProviderError::failed(error.to_string())),
        };
        if let Err(error) = self.before_change().await {
            return failed(error);
        }
        let results = self.session.commit(&operations).await;
        let mut failure = results.iter().find_map(ProviderError::from_result);
        if self.session.awaits_confirmation()
            && let Err(error) = self.session.confirm(failure.is_none()).await
        {
            failure = Some(self.mark_lost(&error));
        }
        Some(CommitResult {
            operations: operations.into_iter().zip(results).collect(),
            failure,
            ..CommitResult::default()
        })
    }
}

/// The result of a change of which nothing was sent.
pub(super) fn failed_commit(change: &Change, error: &ProviderError) -> CommitResult {
    let names = change.reported_attributes();
    CommitResult {
        attributes: names.map(|name| (name, Err(error.clone()))).collect(),
        ..CommitResult::default()
    }
}

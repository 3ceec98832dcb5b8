//! Sends changes and refreshes, and records their results: the state in memory, the digests of
//! secrets and the resources that were applied.

use std::fmt::Write as _;
use std::sync::{Arc, PoisonError};

use super::DriverProvider;
use super::unknown_outcome::render_operation;
use crate::change::{Change, ChangeKind, Desired, Instance};
use crate::operation::{Action, Operation, OperationResult, Outcome};
use crate::provider::{CommitResult, Note, ProviderError, ProviderErrorKind};
use crate::read::{CONFIG, State};
use crate::secret::Text;
use crate::value::{Name, Value};

/// How many lines a warning names that go with a removed block.
const LINES_NAMED: usize = 20;

/// The note about a second attempt.
const CHANGED: &str = "the object changed after it was read: it was read again";

impl DriverProvider {
    /// Sends the operations of a change and records what the device did.
    pub(super) async fn commit_change(&mut self, change: &Change) -> CommitResult {
        let mut change = self.resolved(change);
        let failed = |error: ProviderError| failed_commit(&change, &error);
        if let Some(disconnect) = &self.disconnect {
            return failed(disconnect.error());
        }
        let mut operations = match self.render(&change, &self.state) {
            Ok(operations) => operations,
            Err(error) => return failed(error),
        };
        tracing::debug!(
            resource = &*change.desired.reference,
            kind = ?change.kind,
            operations = operations.len(),
            "changing the device"
        );
        *self
            .previewed
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner) = None;
        let displaced = self.driver.displaced(&change, &self.state);
        if !operations.is_empty()
            && let Err(error) = self.ensure_protected().await
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
        self.conclude(&change, displaced, &committed);
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
        self.changed |= !done.is_empty();
        self.driver
            .predict(&change.desired.model, &mut self.state, &done);
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

    /// Records what a change with its final result leaves for the rest of the run and for later runs.
    pub(super) fn conclude(
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
            self.committed.push((change.clone(), displaced.clone()));
        }
        self.record_displaced(change, displaced);
        self.remember(change, committed);
        if committed
            .attributes
            .iter()
            .all(|(_, outcome)| outcome.is_ok())
        {
            self.applied.push(Arc::clone(&change.desired));
        }
        self.inspections().remove(&change.desired.reference);
    }

    /// The change and its operations after the object was read again; `None` if the device has the
    /// desired state.
    async fn renewed(
        &mut self,
        change: &Change,
    ) -> Result<Option<(Change, Vec<Operation>)>, ProviderError> {
        self.read_again(change).await?;
        let inspection = self.inspect(&change.desired)?;
        self.check_not_understood(&change.desired, &inspection)?;
        let mut differs = inspection.differs;
        if !change.is_create_or_remove() {
            differs.retain(|name| change.attributes.contains(name));
        }
        if differs.is_empty() {
            return Ok(None);
        }
        let current = inspection.current.as_deref().cloned();
        let renewed = Change::new(Arc::clone(&change.desired), current, differs);
        let operations = self.render(&renewed, &self.state)?;
        Ok(Some((renewed, operations)))
    }

    /// Sends the operations of a refresh; `None` if the type has none.
    pub(super) async fn send_refresh(&mut self, desired: &Desired) -> Option<CommitResult> {
        if !self.driver.has_refresh(&desired.model) {
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
        let current = self.driver.instance(desired, &self.state).ok().flatten();
        let operations = match self.driver.refresh(desired, current.as_ref()) {
            Ok(operations) => operations,
            Err(error) => return failed(ProviderError::failed(error.to_string())),
        };
        if let Err(error) = self.ensure_protected().await {
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

    /// The operations of a change. A removal inside a block that the run has removed sends nothing:
    /// the line that enters the block would create it again.
    pub(super) fn render(
        &self,
        change: &Change,
        state: &State,
    ) -> Result<Vec<Operation>, ProviderError> {
        let operations = self.driver.render(change, state);
        let operations = operations.map_err(|error| {
            let kind = if error.lacks_object {
                ProviderErrorKind::LacksObject
            } else {
                ProviderErrorKind::Failed
            };
            ProviderError::new(kind, error.to_string())
        })?;
        let is_inside_removed = |operation: &Operation| match &operation.action {
            Action::Line(line) => (1..=line.mode.len()).any(|depth| {
                let headers = &line.mode[..depth];
                has_block(&self.read, headers) && !has_block(state, headers)
            }),
            Action::Request(_) | Action::Edit(_) => false,
        };
        if change.kind == ChangeKind::Remove && operations.iter().all(is_inside_removed) {
            return Ok(Vec::new());
        }
        Ok(self.with_removed_lines(change, state, operations))
    }

    /// The operations of a change, with a warning about what goes with a removed block.
    fn with_removed_lines(
        &self,
        change: &Change,
        state: &State,
        mut operations: Vec<Operation>,
    ) -> Vec<Operation> {
        let last = operations.last_mut().map(|last| &mut last.action);
        let (ChangeKind::Remove, Some(Action::Line(last))) = (change.kind, last) else {
            return operations;
        };
        let lines = self.driver.removed_with(&change.desired, state);
        if lines.is_empty() {
            return operations;
        }
        let rest = lines.len().saturating_sub(LINES_NAMED);
        let mut text = lines[..lines.len() - rest].join(", ");
        if rest > 0 {
            let _ = write!(text, " and {rest} more");
        }
        let message = format!("the removal of the block also removes {text}");
        last.warning = Some(match last.warning.take() {
            Some(warning) => format!("{warning}; {message}"),
            None => message,
        });
        operations
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

/// The result of a change of which nothing was sent.
pub(super) fn failed_commit(change: &Change, error: &ProviderError) -> CommitResult {
    let names = change.reported_attributes();
    CommitResult {
        attributes: names.map(|name| (name, Err(error.clone()))).collect(),
        ..CommitResult::default()
    }
}

/// Whether the configuration has a block with these headers, outermost first.
fn has_block(state: &State, headers: &[Text]) -> bool {
    let mut nodes = state.tree(CONFIG).map_or(&[][..], |tree| &tree.nodes);
    headers.iter().all(|header| {
        let header = header.reveal();
        let block = nodes
            .iter()
            .find(|node| node.text.eq_ignore_ascii_case(&header));
        nodes = block.map_or(&[], |node| &node.children.nodes);
        block.is_some()
    })
}

//! Edits of one resource: entered together, committed together.

use std::time::Duration;

use super::NetconfSession;
use super::locking::DatastoreLock;
use crate::clock;
use crate::dialogue::netconf::Capability;
use crate::operation::{Action, Operation, OperationResult, Outcome, UnknownCause};
use crate::secret::Text;
use crate::session::Access;
use crate::session::error::SessionErrorKind;

/// The configuration that edits change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Datastore {
    /// Takes effect when it is committed.
    Candidate,
    /// Takes effect at once.
    Running,
}

/// Whether the device reverts all commits of a session unless they are confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitProtection {
    None,
    /// From the next commit.
    Required,
    /// The device waits for the confirmation.
    Pending,
}

/// The identifier of protected commits, so that they outlive their session.
const PERSIST: &str = "switchtender";

/// Why edits did not take effect.
enum EditFailure {
    /// The device refused the edit at this index.
    Refused(usize, String),
    /// The device refused to lock, to validate or to commit.
    AllRefused(String),
    /// The session ended at the edit at this index.
    Lost(usize, SessionErrorKind),
    /// The session ended during the commit.
    CommitLost(SessionErrorKind),
}

impl EditFailure {
    /// Why the edit at an index failed. What the fence refused was not sent.
    fn of(index: usize, kind: SessionErrorKind) -> Self {
        match kind {
            SessionErrorKind::Fenced { .. } => Self::Refused(index, kind.to_string()),
            kind => Self::Lost(index, kind),
        }
    }
}

impl Datastore {
    pub(super) fn name(self) -> &'static str {
        match self {
            Datastore::Candidate => "candidate",
            Datastore::Running => "running",
        }
    }
}

/// Edits of the running configuration before a failure are applied; those of the candidate are
/// discarded.
fn fill_applied(
    results: &mut [OperationResult],
    target: Datastore,
    done: &dyn Fn(Vec<String>) -> OperationResult,
) {
    if target == Datastore::Running {
        results.fill_with(|| done(Vec::new()));
    }
}

impl NetconfSession {
    pub(super) async fn commit_edits(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        let not_sent = |_: &Operation| OperationResult::not_sent();
        let mut results: Vec<OperationResult> = operations.iter().map(not_sent).collect();
        if self.access == Access::ReadOnly || self.broken.is_some() || operations.is_empty() {
            return results;
        }
        let started = clock::instant();
        let edits: Option<Vec<&Text>> = operations
            .iter()
            .map(|operation| match &operation.action {
                Action::Edit(edit) => Some(&edit.config),
                Action::Line(_) | Action::Request(_) => None,
            })
            .collect();
        let Some(edits) = edits else {
            let message = "NETCONF accepts only edits".to_owned();
            results[0] = OperationResult::new(Outcome::Refused { message }, Duration::ZERO);
            return results;
        };
        let Some(target) = self.target() else {
            let message =
                "the device has neither the capability `candidate` nor `writable-running`"
                    .to_owned();
            results[0] = OperationResult::new(Outcome::Refused { message }, Duration::ZERO);
            return results;
        };
        let ended = self.apply(target, &edits).await;
        let took = started.elapsed();
        let done = |messages: Vec<String>| OperationResult::new(Outcome::Done { messages }, took);
        let refused = |message: String| OperationResult::new(Outcome::Refused { message }, took);
        let unknown = |kind: &SessionErrorKind| {
            let outcome = Outcome::Unknown {
                reason: kind.to_string(),
                cause: UnknownCause::NoAnswer,
            };
            OperationResult::new(outcome, took)
        };
        match ended {
            Ok(warnings) => {
                for (result, warnings) in results.iter_mut().zip(warnings) {
                    *result = done(warnings);
                }
            }
            Err(EditFailure::AllRefused(message)) => {
                results.fill_with(|| refused(message.clone()));
            }
            Err(EditFailure::CommitLost(kind)) => results.fill_with(|| unknown(&kind)),
            Err(EditFailure::Refused(at, message)) => {
                results[at] = refused(message);
                fill_applied(&mut results[..at], target, &done);
            }
            Err(EditFailure::Lost(at, kind)) => {
                results[at] = unknown(&kind);
                fill_applied(&mut results[..at], target, &done);
            }
        }
        results
    }

    pub(super) fn target(&self) -> Option<Datastore> {
        if self.server.has(Capability::Candidate) {
            return Some(Datastore::Candidate);
        }
        let is_writable = self.server.has(Capability::WritableRunning);
        is_writable.then_some(Datastore::Running)
    }

    /// Enters the edits and commits them. Returns the warnings of each.
    async fn apply(
        &mut self,
        target: Datastore,
        edits: &[&Text],
    ) -> Result<Vec<Vec<String>>, EditFailure> {
        let locked = self.lock_before_read().await;
        locked.map_err(|kind| EditFailure::of(0, kind))?;
        if let DatastoreLock::Refused(reason) = &self.lock {
            return Err(EditFailure::AllRefused(reason.clone()));
        }
        let mut warnings = Vec::new();
        for (index, edit) in edits.iter().enumerate() {
            self.statistics.writes += 1;
            let answer = self.send(self.edit_config(target, edit)).await;
            let answer = answer.map_err(|kind| EditFailure::of(index, kind))?;
            if !answer.reply.errors.is_empty() {
                self.abandon(target).await;
                let message = answer.reply.errors.join("; ");
                return Err(EditFailure::Refused(index, message));
            }
            warnings.push(answer.reply.warnings);
        }
        if target == Datastore::Candidate {
            self.commit_candidate().await?;
        }
        Ok(warnings)
    }

    fn edit_config(&self, target: Datastore, edit: &Text) -> Text {
        let name = target.name();
        let mut operation = Text::plain(format!("<edit-config><target><{name}/></target>"));
        // A candidate is validated as a whole by its commit: one edit alone may be invalid.
        if target == Datastore::Candidate && self.server.has(Capability::Validate) {
            operation.push("<test-option>set</test-option>");
        }
        if self.server.has(Capability::RollbackOnError) {
            operation.push("<error-option>rollback-on-error</error-option>");
        }
        operation.push("<config xmlns:nc=\"urn:ietf:params:xml:ns:netconf:base:1.0\">");
        operation.append(edit.clone());
        operation.push("</config></edit-config>");
        operation
    }

    async fn commit_candidate(&mut self) -> Result<(), EditFailure> {
        let validation = "<validate><source><candidate/></source></validate>";
        if self.rules.check && self.server.has(Capability::Validate) {
            self.commit_step(validation).await?;
        }
        let Some(limit) = self.confirm_timeout() else {
            return self.commit_step("<commit/>").await;
        };
        let identifier = match self.protection {
            CommitProtection::None => String::new(),
            CommitProtection::Required => format!("<persist>{PERSIST}</persist>"),
            CommitProtection::Pending => {
                format!("<persist>{PERSIST}</persist><persist-id>{PERSIST}</persist-id>")
            }
        };
        let seconds = limit.as_secs();
        let commit = format!(
            "<commit><confirmed/><confirm-timeout>{seconds}</confirm-timeout>{identifier}</commit>"
        );
        self.commit_step(&commit).await?;
        match self.protection {
            CommitProtection::None => self.unconfirmed = true,
            _ => self.protection = CommitProtection::Pending,
        }
        Ok(())
    }

    /// The time after which the device reverts a commit that is not confirmed.
    pub(super) fn confirm_timeout(&self) -> Option<Duration> {
        let confirm = self.rules.confirm;
        let can_confirm = self.server.has(Capability::ConfirmedCommit)
            && self.target() == Some(Datastore::Candidate);
        confirm.filter(|_| can_confirm)
    }

    /// Validates or commits. After a refusal the candidate is discarded.
    async fn commit_step(&mut self, operation: &str) -> Result<(), EditFailure> {
        match self.must(operation).await {
            Ok(()) => Ok(()),
            Err(SessionErrorKind::CommandRefused { command, output }) => {
                self.abandon(Datastore::Candidate).await;
                let message = format!("the device refused to {command} the candidate: {output}");
                Err(EditFailure::AllRefused(message))
            }
            Err(kind @ SessionErrorKind::Fenced { .. }) => {
                Err(EditFailure::AllRefused(kind.to_string()))
            }
            Err(kind) => Err(EditFailure::CommitLost(kind)),
        }
    }

    /// Discards the candidate. If the device refuses it, the session ends, which discards the candidate too.
    async fn abandon(&mut self, target: Datastore) {
        if target == Datastore::Candidate
            && let Err(kind) = self.must("<discard-changes/>").await
        {
            self.broken = Some(kind);
        }
    }

    /// Confirms or cancels all commits of a protected run, also those of an earlier session.
    pub(super) async fn end_protected_commits(
        &mut self,
        keep: bool,
    ) -> Result<(), SessionErrorKind> {
        if self.protection == CommitProtection::Required {
            // The session has committed nothing.
            self.protection = CommitProtection::None;
            return Ok(());
        }
        let identifier = format!("<persist-id>{PERSIST}</persist-id>");
        let operation = if keep {
            format!("<commit>{identifier}</commit>")
        } else {
            format!("<cancel-commit>{identifier}</cancel-commit>")
        };
        self.must(&operation).await?;
        self.protection = CommitProtection::None;
        Ok(())
    }

    /// Confirms a commit, or cancels it so that the device has its former configuration again.
    pub(super) async fn end_confirmed_commit(
        &mut self,
        keep: bool,
    ) -> Result<(), SessionErrorKind> {
        if !std::mem::take(&mut self.unconfirmed) {
            return Ok(());
        }
        let operation = if keep {
            "<commit/>"
        } else {
            "<cancel-commit/>"
        };
        match self.must(operation).await {
            Ok(()) => Ok(()),
            Err(kind) => {
                // The device reverts the commit when the session ends.
                self.broken.get_or_insert_with(|| kind.clone());
                self.connection.close().await;
                Err(kind)
            }
        }
    }
}

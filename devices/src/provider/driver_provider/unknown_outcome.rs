//! Handling of unknown outcomes: the device is read again. After a broken connection nothing else is
//! sent.

use super::DriverProvider;
use crate::change::Change;
use crate::operation::{Action, Operation, Outcome, UnknownCause};
use crate::provider::state::{FoundState, is_unknown, report_as_found};
use crate::provider::{CommitResult, Note, ProviderError, ProviderErrorKind};
use crate::session::SessionError;

/// The connection broke: the run changes nothing more.
pub(super) struct Disconnect {
    /// The reason why nothing more is sent.
    pub(crate) reason: String,
    /// A new connection exists, so the device can still be read.
    pub(crate) is_readable: bool,
    /// A change was sent before, which may have broken the connection.
    pub(crate) after_change: bool,
}

impl Disconnect {
    pub(super) fn error(&self) -> ProviderError {
        let message = format!("it was not sent: {}", self.reason);
        ProviderError::new(ProviderErrorKind::NotSent, message)
    }
}

impl DriverProvider {
    /// Records that nothing can be sent any more.
    pub(super) fn mark_lost(&mut self, error: &SessionError) -> ProviderError {
        let failure = ProviderError::failed(error.kind.to_string());
        self.disconnect = Some(Disconnect {
            reason: format!("the connection broke: {}", error.kind),
            is_readable: false,
            after_change: self.state.committed.has_changed || self.is_disconnected_after_change(),
        });
        failure
    }

    /// Reads the device again if the outcome of an operation is unknown, and reports each attribute
    /// as it was found. What cannot be read stays unknown. After a broken connection the run sends
    /// nothing more, because the change may have broken it.
    pub(super) async fn reconcile_unknown(
        &mut self,
        change: &Change,
        committed: &mut CommitResult,
    ) {
        let unknown = committed.operations.iter().filter_map(|(_, result)| {
            let Outcome::Unknown { reason, cause } = &result.outcome else {
                return None;
            };
            Some((reason.clone(), *cause))
        });
        // A broken session is the last of several causes.
        let Some((reason, cause)) = unknown.max_by_key(|(_, cause)| cause.ends_session()) else {
            return;
        };
        if cause.ends_session() {
            self.reconcile_after_disconnect(change, committed, &reason, cause)
                .await;
            return;
        }
        let found = self.read_again(change).await;
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let text = format!("{reason}; cannot read the device again: {error}");
                for (_, outcome) in &mut committed.attributes {
                    if is_unknown(outcome) {
                        *outcome = Err(ProviderError::unknown(&text));
                    }
                }
                return;
            }
        };
        let has_failed = report_as_found(change, committed, &found, (&reason, cause));
        self.state.committed.has_changed = true;
        if !has_failed {
            let text = found.render(change, &reason);
            if found.missing(change).is_empty() {
                committed.notes.push(Note::warning(text));
            } else {
                committed.failure = Some(ProviderError::failed(text));
            }
        }
    }

    async fn reconcile_after_disconnect(
        &mut self,
        change: &Change,
        committed: &mut CommitResult,
        reason: &str,
        cause: UnknownCause,
    ) {
        let found = self.reconnect_and_read(change).await;
        self.disconnect = Some(Disconnect {
            reason: format!(
                "the connection broke in {}: {reason}",
                change.desired.reference
            ),
            is_readable: found.is_ok(),
            after_change: true,
        });
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let text = format!("{reason}; cannot read the device again: {error}");
                committed.notes.push(Note::warning(text));
                return;
            }
        };
        let has_failed = report_as_found(change, committed, &found, (reason, cause));
        // A failed attribute already reports the reason.
        if !has_failed {
            self.state.committed.has_changed = true;
            committed.failure = Some(ProviderError::failed(found.render(change, reason)));
        }
    }

    async fn reconnect_and_read(&mut self, change: &Change) -> Result<FoundState, ProviderError> {
        let session = self.reconnect.reconnect().await;
        let session = session.map_err(|error| ProviderError::failed(error.to_string()))?;
        let broken = std::mem::replace(&mut self.session, session);
        self.closed_statistics = self.closed_statistics.plus(broken.statistics());
        self.read_again(change).await
    }

    /// Reads the resource of a change again, and compares it.
    pub(super) async fn read_again(
        &mut self,
        change: &Change,
    ) -> Result<FoundState, ProviderError> {
        let requests = self.state.driver.reads_for(&[&change.desired]);
        let again = self.read_state(requests).await?;
        self.state.check_failed_reads(&change.desired.model)?;
        self.state.now.forget_sent(&change.desired.model.name);
        self.state.now.extend(again);
        self.state.found_after(change)
    }
}

/// An operation in one line, for messages.
pub(super) fn render_operation(operation: &Operation) -> String {
    match &operation.action {
        Action::Line(line) => line.to_string(),
        Action::Request(request) => format!("{} {}", request.method, request.path),
        Action::Edit(edit) => edit.config.to_string(),
    }
}

//! Handling of unknown outcomes: the device is read again. After a broken connection nothing else is
//! sent.

use std::sync::{Mutex, PoisonError};

use super::DriverProvider;
use crate::change::Change;
use crate::driver::SecretHistory;
use crate::operation::{Action, Operation, Outcome, UnknownCause};
use crate::provider::{CommitResult, Note, ProviderError, ProviderErrorKind};
use crate::session::SessionError;
use crate::value::{Name, Value};

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
            after_change: self.changed || self.is_disconnected_after_change(),
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
        self.changed = true;
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
            self.changed = true;
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
        let requests = self.driver.reads_for(&[&change.desired]);
        let again = self.read_state(requests).await?;
        self.check_failed_reads(&change.desired.model)?;
        self.state.forget_sent(&change.desired.model.name);
        self.state.extend(again);
        let unreadable = UnreadableAttributes::default();
        let current = self
            .driver
            .instance(&change.desired, &self.state)
            .map_err(|error| ProviderError::failed(error.to_string()))?;
        let resolved = self
            .driver
            .resolve(&change.desired, current.as_ref(), &self.state);
        let differs = self
            .driver
            .differs(&resolved, current.as_ref(), &unreadable);
        Ok(FoundState {
            differs,
            unreadable: unreadable.into_names(),
        })
    }
}

/// A resource after an unknown outcome, as the device has it.
pub(super) struct FoundState {
    /// Attributes that do not have the desired value.
    differs: Vec<Name>,
    /// Those of them that the device does not show.
    unreadable: Vec<String>,
}

impl FoundState {
    /// Attributes of the change that do not have the desired value.
    fn missing(&self, change: &Change) -> Vec<&str> {
        let differs = self.differs.iter();
        let missing = differs.filter(|name| concerns(change, name));
        missing.map(Name::as_str).collect()
    }

    /// Attributes of the change of which the device shows another value.
    pub(super) fn missing_values(&self, change: &Change) -> Vec<&str> {
        let mut missing = self.missing(change);
        missing.retain(|name| !self.unreadable.iter().any(|unreadable| unreadable == name));
        missing
    }

    /// The message about a change without a failed attribute.
    fn render(&self, change: &Change, reason: &str) -> String {
        let state = match self.missing(change).as_slice() {
            [] => "it was applied".to_owned(),
            missing => format!("it was applied, except {}", missing.join(", ")),
        };
        format!("{reason}; the device was read again: {state}")
    }
}

/// Records the attributes for which the driver needs the history, because the device does not show
/// their values.
#[derive(Default)]
pub(super) struct UnreadableAttributes(Mutex<Vec<String>>);

impl UnreadableAttributes {
    pub(super) fn into_names(self) -> Vec<String> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SecretHistory for UnreadableAttributes {
    fn matches_last_set(&self, _: &str, attribute: &str, _: &Value) -> Option<bool> {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.push(attribute.to_owned());
        None
    }
}

/// Whether a change concerns an attribute: its own ones; for a new or removed instance, all.
fn concerns(change: &Change, name: &Name) -> bool {
    change.is_create_or_remove() || change.attributes.contains(name)
}

fn is_unknown(outcome: &Result<(), ProviderError>) -> bool {
    matches!(outcome, Err(error) if error.kind == ProviderErrorKind::Unknown)
}

/// Replaces unknown outcomes, and successes that the device does not show. Returns whether an
/// attribute failed.
fn report_as_found(
    change: &Change,
    committed: &mut CommitResult,
    found: &FoundState,
    (reason, cause): (&str, UnknownCause),
) -> bool {
    for (name, outcome) in &mut committed.attributes {
        let is_missing = found.differs.contains(name) && concerns(change, name);
        let is_unreadable = found.unreadable.iter().any(|unreadable| name == unreadable);
        if is_missing && is_unreadable && is_unknown(outcome) {
            *outcome = Err(ProviderError::new(
                ProviderErrorKind::Unknown,
                format!(
                    "{reason}; the device does not show its value: it is unknown whether it was applied"
                ),
            ));
        } else if is_missing && !is_unreadable && (is_unknown(outcome) || outcome.is_ok()) {
            // The device can accept a command that takes effect only later: it creates a VLAN when
            // its mode is left.
            let (kind, state) = if cause.may_be_pending() {
                (
                    ProviderErrorKind::Unknown,
                    "the value is unknown, not present yet",
                )
            } else {
                (ProviderErrorKind::NotSent, "it was not applied")
            };
            *outcome = Err(ProviderError::new(
                kind,
                format!("{reason}; the device was read again: {state}"),
            ));
        } else if !is_missing && is_unknown(outcome) {
            *outcome = Ok(());
        }
    }
    let mut attributes = committed.attributes.iter();
    attributes.any(|(_, outcome)| outcome.is_err())
}

/// An operation in one line, for messages.
pub(super) fn render_operation(operation: &Operation) -> String {
    match &operation.action {
        Action::Line(line) => line.to_string(),
        Action::Request(request) => format!("{} {}", request.method, request.path),
        Action::Edit(edit) => edit.config.to_string(),
    }
}

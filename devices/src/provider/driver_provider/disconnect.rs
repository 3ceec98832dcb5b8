//! Handling of a connection that broke: the device is read once more, and nothing else is sent.

use super::DriverProvider;
use crate::change::Change;
use crate::operation::{Action, Operation, Outcome};
use crate::provider::{CommitResult, Note, ProviderError, ProviderErrorKind};
use crate::session::SessionError;
use crate::value::Name;

/// The connection broke: the run changes nothing more.
pub(super) struct Disconnect {
    /// The error of all later resources.
    pub(crate) error: ProviderError,
    /// A new connection exists, so the device can still be read.
    pub(crate) is_readable: bool,
    /// A change was sent before, which may have broken the connection.
    pub(crate) after_change: bool,
}

impl DriverProvider {
    /// Records that nothing can be sent any more.
    pub(super) fn mark_lost(&mut self, error: &SessionError) -> ProviderError {
        let failure = ProviderError::failed(error.kind.to_string());
        self.disconnect = Some(Disconnect {
            error: failure.clone(),
            is_readable: false,
            after_change: self.changed || self.disconnected_after_change(),
        });
        failure
    }

    /// Reads the device again if the connection broke in the change: attributes with an unknown
    /// outcome become done or not applied. What cannot be read stays unknown. The run sends
    /// nothing more, because the change may have broken the connection.
    pub(super) async fn reconcile_after_disconnect(
        &mut self,
        change: &Change,
        committed: &mut CommitResult,
    ) {
        let mut results = committed.operations.iter();
        let reason = results.find_map(|(_, result)| match &result.outcome {
            Outcome::Unknown { reason } => Some(reason.clone()),
            _ => None,
        });
        let Some(reason) = reason else { return };
        let inspected = self.inspect_again(change).await;
        self.disconnect = Some(Disconnect {
            error: ProviderError::new(ProviderErrorKind::NotSent, format!("not sent: {reason}")),
            is_readable: inspected.is_ok(),
            after_change: true,
        });
        let differs = match inspected {
            Ok(differs) => differs,
            Err(error) => {
                let text = format!("{reason}; cannot read the device again: {error}");
                committed.notes.push(Note::warning(text));
                return;
            }
        };
        // A change concerns its attributes; a new or removed instance, all wanted attributes.
        let is_missing = |name: &Name| {
            differs.contains(name)
                && (change.is_create_or_remove() || change.attributes.contains(name))
        };
        for (name, outcome) in &mut committed.attributes {
            let unknown = matches!(outcome, Err(error) if error.kind == ProviderErrorKind::Unknown);
            if is_missing(name) && (unknown || outcome.is_ok()) {
                // The device can accept a command that takes effect only later: it creates a VLAN
                // when its mode is left.
                *outcome = Err(ProviderError::new(
                    ProviderErrorKind::NotSent,
                    format!("{reason}; the device was read again: it was not applied"),
                ));
            } else if unknown {
                self.changed = true;
                *outcome = Ok(());
            }
        }
        // A failed attribute already reports the reason.
        if committed
            .attributes
            .iter()
            .all(|(_, outcome)| outcome.is_ok())
        {
            self.changed = true;
            let missing: Vec<&str> = differs
                .iter()
                .filter(|name| is_missing(name))
                .map(Name::as_str)
                .collect();
            let found = match missing.as_slice() {
                [] => "it was applied".to_owned(),
                missing => format!("it was applied, except {}", missing.join(", ")),
            };
            let text = format!("{reason}; the device was read again: {found}");
            committed.failure = Some(ProviderError::failed(text));
        }
    }

    async fn inspect_again(&mut self, change: &Change) -> Result<Vec<Name>, ProviderError> {
        let session = self.reconnect.reconnect().await;
        let session = session.map_err(|error| ProviderError::failed(error.to_string()))?;
        let broken = std::mem::replace(&mut self.session, session);
        self.closed_statistics = self.closed_statistics.plus(broken.statistics());
        let requests = self.driver.reads_for(&[&change.wanted]);
        let again = self.read_state(requests).await?;
        self.check_failed_reads(&change.wanted.model)?;
        // The state of other types stays valid. The predicted state of this one does not.
        self.state.forget_predicted(&change.wanted.model.name);
        self.state.extend(again);
        self.inspect(&change.wanted)
            .map(|inspection| inspection.differs)
    }
}

/// An operation in one line, for messages.
pub(super) fn render_operation(operation: &Operation) -> String {
    match &operation.action {
        Action::Line(line) => line.to_string(),
        Action::Request(request) => format!("{} {}", request.method, request.path),
    }
}

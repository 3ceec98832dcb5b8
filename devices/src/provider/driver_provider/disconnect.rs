//! What becomes of a run whose connection broke: the device is looked at once more, and nothing more
//! is sent.

use super::DriverProvider;
use crate::change::Change;
use crate::operation::{Action, Operation, Outcome};
use crate::provider::{CommitResult, Note, ProviderError, ProviderErrorKind};
use crate::session::SessionError;
use crate::value::Name;

/// The connection broke: nothing more is changed in this run.
pub struct Disconnect {
    pub error: ProviderError,
    /// Another connection was made, so the device can still be read.
    pub readable: bool,
    /// A change had been sent, which may have been what broke the connection.
    pub after_change: bool,
}

impl DriverProvider {
    /// Nothing can be sent any more.
    pub(super) fn mark_lost(&mut self, error: &SessionError) -> ProviderError {
        let failure = ProviderError::failed(error.kind.to_string());
        self.disconnect = Some(Disconnect {
            error: failure.clone(),
            readable: false,
            after_change: self.changed || self.disconnected_after_change(),
        });
        failure
    }

    /// Looks again after a connection that broke: what was under way is told as done, or as not
    /// applied. What cannot be found out stays unknown. Nothing more is sent in this run: the
    /// change may have been what broke it.
    pub(super) async fn reconcile_after_disconnect(
        &mut self,
        change: &Change,
        committed: &mut CommitResult,
    ) {
        let why =
            committed
                .operations
                .iter()
                .find_map(|(operation, result)| match &result.outcome {
                    Outcome::Unknown { reason: why } => {
                        Some(with_command(why, &render_operation(operation)))
                    }
                    _ => None,
                });
        let Some(why) = why else { return };
        let found = self.inspect_again(change).await;
        self.disconnect = Some(Disconnect {
            error: ProviderError::new(ProviderErrorKind::NotSent, format!("not sent: {why}")),
            readable: found.is_ok(),
            after_change: true,
        });
        let differs = match found {
            Ok(differs) => differs,
            Err(error) => {
                let text = format!("{why}; looking at the device once more failed: {error}");
                committed.notes.push(Note::warning(text));
                return;
            }
        };
        // Of a change, what it was about; of a whole instance, all that is wanted of it.
        let missing = |name: &Name| {
            differs.contains(name) && (change.is_whole() || change.attributes.contains(name))
        };
        for (name, outcome) in &mut committed.attributes {
            let unknown = matches!(outcome, Err(error) if error.kind == ProviderErrorKind::Unknown);
            if missing(name) && (unknown || outcome.is_ok()) {
                // Something may have been taken and yet not have come to be, as a VLAN is made when
                // its mode is left.
                *outcome = Err(ProviderError::new(
                    ProviderErrorKind::NotSent,
                    format!("{why}; the device was read again: it was not applied"),
                ));
            } else if unknown {
                self.changed = true;
                *outcome = Ok(());
            }
        }
        // An attribute that failed has told it.
        if committed.attributes.iter().all(|(_, told)| told.is_ok()) {
            self.changed = true;
            let lacking: Vec<&str> = differs
                .iter()
                .filter(|name| missing(name))
                .map(Name::as_str)
                .collect();
            let found = match lacking.as_slice() {
                [] => "it was applied".to_owned(),
                lacking => format!("it was applied, but not {}", lacking.join(", ")),
            };
            let text = format!("{why}; the device was read again: {found}");
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
        // What was read of other types still holds, and is not read again. What was foreseen of this
        // one does not: the device has told.
        self.state.forget_predicted(&change.wanted.model.name);
        self.state.extend(again);
        self.inspect(&change.wanted).map(|looked| looked.differs)
    }
}

/// Why it is not known what became of a command, with the command.
fn with_command(why: &str, command: &str) -> String {
    if why.contains(command) {
        why.to_owned()
    } else {
        format!("{why} after `{command}`")
    }
}

/// An operation in one line, for messages.
pub fn render_operation(operation: &Operation) -> String {
    match &operation.action {
        Action::Line(line) => line.to_string(),
        Action::Request(request) => format!("{} {}", request.method, request.path),
    }
}

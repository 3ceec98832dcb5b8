//! Connections to devices: the only module of the package with network I/O.
//!
//! A [`Session`] is one logged-in connection. It sends reads and operations, and assigns each
//! answer to its command.

mod cli;
pub mod connect_params;
pub mod deadline;
mod error;
pub mod fence;
pub mod ledger;
pub mod login_files;
mod mask;
mod netconf;
mod open;
mod recorder;
mod rest;
pub mod saved;
#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "test servers end with their runtime"
)]
mod scripted;
mod ssh;
mod terminal;
mod transcript;
mod transport;
mod write_guard;

pub use error::{SessionError, SessionErrorKind};
pub use mask::mask_device_text;
pub use open::{open, open_and_read};
pub use recorder::RecordingFile;

pub use crate::dialogue::protect_rules::{RevertAbsence, RevertMethod};
pub use crate::dialogue::{GuaranteeClass, LineTransport, WriteGuarantee};

use std::time::Duration;

use crate::operation::{Operation, OperationResult};
use crate::read::{ReadRequest, Reads};
use async_trait::async_trait;

/// The beginning of notes about host keys and certificates that were stored at the first connection.
pub const FIRST_CONNECTION: &str = "first connection to";

/// Whether the device reverts changes unless they are confirmed, if this could be read. `None`: it does
/// not show it.
pub type TimerState = Result<Option<bool>, SessionError>;

/// When a device reverts changes that are not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevertLimit {
    /// The time from the start.
    pub timer: Duration,
    /// The time of the restart after it; zero: the device does not restart.
    pub boot: Duration,
}

/// The answers of reads, and whether the device reverts changes unless they are confirmed. `None`: it
/// does not show this.
pub type AnswersWithTimer = (Vec<String>, Option<bool>);

/// One logged-in connection to a device.
#[async_trait]
pub trait Session: Send {
    /// Sends the reads and returns their answers in the same order.
    ///
    /// # Cancellation
    /// Must not be dropped midway; every wait has a limit.
    async fn read(&mut self, requests: &[ReadRequest]) -> Result<Vec<String>, SessionError>;

    /// Sends the operations of one resource, in order, and returns one result for each. After a
    /// refusal nothing more is sent. If the connection breaks, operations without an answer are
    /// [`Unknown`](crate::operation::Outcome::Unknown), and later ones `NotSent`.
    ///
    /// # Cancellation
    /// Must not be dropped midway; every wait has a limit.
    async fn commit(&mut self, operations: &[Operation]) -> Vec<OperationResult>;

    /// Whether operations of several resources take effect together, in one
    /// [`commit`](Session::commit).
    fn commits_together(&self) -> bool {
        false
    }

    /// Whether the device reverts the last commit unless it is confirmed.
    fn awaits_confirmation(&self) -> bool {
        false
    }

    /// Confirms the last commit; with `keep = false` the device reverts it at once.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    async fn confirm(&mut self, keep: bool) -> Result<(), SessionError> {
        let _ = keep;
        Ok(())
    }

    /// The time after which the device reverts the changes of a protected run; `None`: it does not have
    /// the method.
    fn revert_limit(&self, method: RevertMethod) -> Option<RevertLimit> {
        let _ = method;
        None
    }

    /// Why the device cannot use the method, as far as it says so before.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    async fn missing_for_revert(
        &mut self,
        method: RevertMethod,
    ) -> Result<Option<RevertAbsence>, SessionError> {
        let missing = self.revert_limit(method).is_none();
        Ok(missing.then(|| method.absence()))
    }

    /// Sends the reads, and reads whether the device reverts changes unless they are confirmed.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    async fn read_with_timer(
        &mut self,
        requests: &[ReadRequest],
        method: RevertMethod,
    ) -> Result<AnswersWithTimer, SessionError> {
        let _ = method;
        Ok((self.read(requests).await?, None))
    }

    /// From now, the device reverts all changes after [`Session::revert_limit`]. A second call starts
    /// the time again.
    ///
    /// # Errors
    /// It is not certain that the device accepted the command. The inner result is what the device
    /// shows afterwards.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    async fn protect(&mut self, method: RevertMethod) -> Result<TimerState, SessionError> {
        let _ = method;
        Ok(Ok(None))
    }

    /// Confirms the changes of a protected run; with `keep = false` the device reverts them at once, but does
    /// not restart before its time.
    ///
    /// # Errors
    /// It is not certain that the device accepted the command. The inner result is what the device
    /// shows afterwards.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    async fn end_protection(
        &mut self,
        method: RevertMethod,
        keep: bool,
    ) -> Result<TimerState, SessionError> {
        let _ = (method, keep);
        Ok(Ok(None))
    }

    /// Saves the running configuration as the startup configuration. Returns the device's answer.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    async fn save(&mut self) -> Result<String, SessionError>;

    /// Leaves configuration mode, logs off and closes the connection, within a time limit.
    /// Returns messages for the user.
    async fn close(&mut self) -> Vec<String>;

    /// Messages for the user about how the session was opened: a key that was stored or not
    /// verified.
    fn notes(&self) -> Vec<String>;

    /// The answers that were saved before, in place of a device. Their secrets can be masked.
    fn saved_answers(&self) -> Option<&Reads> {
        None
    }

    /// The fingerprint of the device's host key, `SHA256:…`, or of its certificate, `AB:CD:…`. `None`: the
    /// connection has neither.
    fn host_key(&self) -> Option<String> {
        None
    }

    /// Facts about the connection itself, such as the negotiated algorithms.
    fn facts(&self) -> Vec<(&'static str, String)>;

    /// Round trips, reads and writes so far.
    fn statistics(&self) -> Statistics;
}

/// What a session may do; enforced before anything is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads only. A commit sends nothing.
    ReadOnly,
    /// Reads and writes.
    ReadWrite,
}

/// Cost of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Waits for the device after something was sent, login included.
    pub round_trips: u64,
    /// Lines or requests that change the device.
    pub(crate) writes: u64,
    /// Reads sent.
    pub(crate) reads: u64,
    /// Time until the session was ready.
    pub login: Duration,
}

impl Statistics {
    /// The sum of two sessions.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            round_trips: self.round_trips + other.round_trips,
            writes: self.writes + other.writes,
            reads: self.reads + other.reads,
            login: self.login + other.login,
        }
    }
}

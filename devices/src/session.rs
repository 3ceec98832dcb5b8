//! Connections to devices: the only room with I/O.
//!
//! A [`Session`] is one logged-in connection. It sends reads and operations and attributes each
//! answer; what to send is decided elsewhere.

pub mod target;

use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::operation::{Operation, OperationResult};
use crate::read::ReadRequest;

/// One logged-in connection to a device.
#[async_trait]
pub trait Session: Send {
    /// Sends the reads and returns their texts in the same order. Reads that cannot ask questions
    /// go out together.
    ///
    /// # Cancellation
    /// Must not be dropped midway; every wait has a limit.
    async fn read(&mut self, requests: &[ReadRequest]) -> Result<Vec<String>, SessionError>;

    /// Sends the operations of one resource, in order. After a refusal nothing more is sent; the
    /// result has an entry for each operation. Never fails as a whole: a lost connection is
    /// [`Outcome::Unknown`](crate::operation::Outcome::Unknown) for what was under way and `NotSent` for the rest.
    ///
    /// # Cancellation
    /// Must not be dropped midway. `stop` is looked at between operations.
    async fn commit(
        &mut self,
        operations: &[Operation],
        stop: &CancellationToken,
    ) -> Vec<OperationResult>;

    /// Leaves configuration mode, logs off and ends the connection, within a time limit.
    async fn close(&mut self) -> Vec<String>;

    fn statistics(&self) -> Statistics;
}

/// What a session may do; enforced where bytes leave the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads only. A commit is refused before anything is sent.
    ReadOnly,
    ReadWrite,
}

/// What a session has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Times that we waited for the device after sending something, login included.
    pub round_trips: u64,
    /// Lines or requests sent that change the device.
    pub writes: u64,
    /// Reads sent.
    pub reads: u64,
    /// Time until the session was ready.
    pub login: Duration,
}

/// Why a session could not be opened, or ended.
///
/// Messages carry device and command, never a secret. `hint` says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{device}: {kind}")]
pub struct SessionError {
    pub device: String,
    pub kind: SessionErrorKind,
}

/// What went wrong with a session. More kinds are added where the session is built.
#[derive(Debug, thiserror::Error)]
pub enum SessionErrorKind {
    #[error("cannot reach {address}: {why}")]
    Unreachable { address: String, why: String },
}

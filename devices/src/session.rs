//! Connections to devices: the only room with I/O.
//!
//! A [`Session`] is one logged-in connection. It sends reads and operations and attributes each
//! answer; what to send is decided elsewhere.

mod cli;
pub mod connect_params;
mod error;
mod mask;
mod open;
mod rest;
#[cfg(test)]
mod scripted;
mod ssh;
mod transcript;
mod transport;
mod write_guard;

pub use error::{SessionError, SessionErrorKind};
pub use open::{open, open_and_read};

use std::time::Duration;

use async_trait::async_trait;

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
    /// result has an entry for each operation; where it ended at a line on the way to the operation's
    /// mode, the result has that line. Never fails as a whole: a lost connection is
    /// [`Outcome::Unknown`](crate::operation::Outcome::Unknown) for what was under way and `NotSent` for the rest.
    ///
    /// # Cancellation
    /// Must not be dropped midway; every wait has a limit.
    async fn commit(&mut self, operations: &[Operation]) -> Vec<OperationResult>;

    /// Makes the running configuration the one that the device starts with. Returns its words.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    async fn save(&mut self) -> Result<String, SessionError>;

    /// Leaves configuration mode, logs off and ends the connection, within a time limit.
    async fn close(&mut self) -> Vec<String>;

    /// What people should know of how the session came about: a key stored or not checked.
    fn notes(&self) -> Vec<String>;

    /// Facts about the connection itself, such as the negotiated algorithms.
    fn facts(&self) -> Vec<(&'static str, String)>;

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

impl Statistics {
    /// The costs of two sessions of one run together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            round_trips: self.round_trips + other.round_trips,
            writes: self.writes + other.writes,
            reads: self.reads + other.reads,
            login: self.login + other.login,
        }
    }
}

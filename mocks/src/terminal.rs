//! The interface between a terminal session and its connection.

use std::time::Duration;

use crate::fault::EndlessOutput;

/// State of the connection after the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    /// It remains open.
    Open,
    /// It is closed properly.
    Close,
    /// It is cut without notice.
    Cut,
}

/// Output of a terminal, and the state of the connection after it.
#[derive(Debug)]
pub(crate) struct TerminalOutput {
    /// Bytes to send.
    pub(crate) bytes: Vec<u8>,
    /// State of the connection afterwards.
    pub(crate) ending: ConnectionState,
    /// Output after these bytes that does not end.
    pub(crate) endless: Option<EndlessOutput>,
    /// A command is executed after this delay, or when the device is resumed.
    pub(crate) deferral: Option<Option<Duration>>,
}

/// One terminal session: bytes in, bytes out.
pub(crate) trait Terminal: Send {
    /// The message of the day and the first prompt.
    fn greet(&mut self) -> TerminalOutput;

    /// Answers bytes from the terminal.
    fn feed(&mut self, bytes: &[u8]) -> TerminalOutput;

    /// Executes the deferred command and the input after it, as if the session was still open.
    fn resume(&mut self) -> TerminalOutput;
}

//! A byte stream to a device over SSH, and the end of its connection.

use std::time::Duration;

use super::ssh::SshConnection;
use super::transport::{CloseReason, Stream};

/// Time to end a session, and again for its connection.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// A byte stream to a device, with the reason why it closed.
pub(super) struct Terminal {
    pub(super) stream: Box<dyn Stream>,
    pub(super) close_reason: CloseReason,
    pub(super) connection: SessionConnection,
}

/// The connection of a session, until it is closed. A stream in memory has none.
#[derive(Default)]
pub(super) struct SessionConnection(Option<SshConnection>);

impl From<SshConnection> for SessionConnection {
    fn from(connection: SshConnection) -> Self {
        Self(Some(connection))
    }
}

impl SessionConnection {
    /// Disconnects; again, it does nothing.
    pub(super) async fn close(&mut self) {
        if let Some(connection) = self.0.take() {
            connection.close(CLOSE_TIMEOUT).await;
        }
    }

    /// What a person should know about the login.
    pub(super) fn notes(&self) -> Vec<String> {
        let connection = self.0.as_ref();
        connection.map_or_else(Vec::new, SshConnection::notes)
    }

    /// The fingerprint of the device's host key.
    pub(super) fn host_key(&self) -> Option<String> {
        self.0.as_ref()?.host_key()
    }

    /// The negotiated algorithms.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let connection = self.0.as_ref();
        connection.map_or_else(Vec::new, SshConnection::facts)
    }
}

//! A tunnel through a jump host for REST sessions.
//!
//! It begins at a socket in a private directory, because a loopback port is open to all users of
//! this machine.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use super::{SSH_PORT, SshConnection, handler, log_in_through_jumps};
use crate::session::connect_params::ConnectParams;
use crate::session::error::SessionErrorKind;
use crate::task;

/// Forwards each connection to [`socket`](Self::socket) to the remote host.
pub(in crate::session) struct Tunnel {
    socket: PathBuf,
    connection: Arc<SshConnection>,
    refusal: Arc<Mutex<Option<String>>>,
    accept_task: AbortOnDropHandle<()>,
    _directory: TempDir,
}

impl Tunnel {
    /// Logs in to the jump host and creates the socket.
    ///
    /// # Cancellation
    /// May be dropped; the connection ends.
    pub(crate) async fn open(
        jump: &ConnectParams,
        host: &str,
        port: u16,
    ) -> Result<Self, SessionErrorKind> {
        let jump_error = |kind| SessionErrorKind::JumpHost {
            host: jump.host.clone(),
            kind: Box::new(kind),
        };
        let connection = Box::pin(log_in_through_jumps(jump, SSH_PORT))
            .await
            .map_err(jump_error)?;
        let connection = Arc::new(connection);
        let directory = tempfile::Builder::new().prefix("switchtender-").tempdir();
        let directory = directory.map_err(|error| socket_error(&std::env::temp_dir(), &error))?;
        let socket = directory.path().join("tunnel");
        let listener =
            UnixListener::bind(&socket).map_err(|error| socket_error(&socket, &error))?;
        let refusal = Arc::default();
        let accepting = accept(
            listener,
            Arc::clone(&connection),
            (host.to_owned(), port),
            Arc::clone(&refusal),
        );
        Ok(Self {
            socket,
            connection,
            refusal,
            accept_task: task::spawn(accepting),
            _directory: directory,
        })
    }

    /// The local socket.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Why the jump host could not connect to the remote host.
    pub(crate) fn refusal(&self) -> Option<String> {
        let refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        refusal.clone()
    }

    /// Notes for the user about the jump host.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.connection.notes()
    }

    /// Disconnects from the jump host.
    pub(crate) async fn close(self, limit: Duration) {
        self.accept_task.abort();
        // The task ends all forwarded connections and releases the SSH connection.
        let _ = self.accept_task.await;
        if let Some(connection) = Arc::into_inner(self.connection) {
            connection.close(limit).await;
        }
    }
}

async fn accept(
    listener: UnixListener,
    connection: Arc<SshConnection>,
    to: (String, u16),
    refusal: Arc<Mutex<Option<String>>>,
) {
    let mut forwarded = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while forwarded.try_join_next().is_some() {}
        match forward(&connection, &to, stream).await {
            Ok(forwarding) => {
                forwarded.spawn(forwarding);
            }
            Err(error) => {
                let mut refusal = refusal.lock().unwrap_or_else(PoisonError::into_inner);
                *refusal = Some(handler::render_error(&error));
            }
        }
    }
}

async fn forward(
    connection: &SshConnection,
    (host, port): &(String, u16),
    mut stream: UnixStream,
) -> Result<impl Future<Output = ()> + use<>, russh::Error> {
    let channel = connection
        .handle
        .channel_open_direct_tcpip(host, u32::from(*port), "127.0.0.1", 0)
        .await?;
    Ok(async move {
        let mut channel = channel.into_stream();
        // Either side may close; the other side is closed as well.
        let _ = tokio::io::copy_bidirectional(&mut stream, &mut channel).await;
    })
}

fn socket_error(path: &Path, error: &std::io::Error) -> SessionErrorKind {
    SessionErrorKind::File {
        action: "cannot create a socket in",
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

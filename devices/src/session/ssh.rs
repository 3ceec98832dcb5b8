//! SSH: the only place that knows russh.
//!
//! One connection carries one channel with a terminal on it. A device behind jump hosts is
//! reached through a channel of the connection to each of them, in turn; each has its own host
//! key, login and time limit.

mod algorithms;
mod handler;
mod known_hosts;
mod login;
#[cfg(test)]
pub(super) mod tests;
pub(super) mod tunnel;

use std::sync::Arc;
use std::time::Duration;

use russh::client::{Handle, Msg};
use russh::{ChannelStream, Disconnect};
use tokio::net::TcpStream;
use tokio::time::timeout;

use self::handler::{ClientHandler, ConnectionState};
use super::connect_params::{ConnectParams, HostKeyPolicy};
use super::error::SessionErrorKind;
use super::transport::{CloseReason, Stream};

/// A connection, with those that it runs through.
pub(super) struct SshConnection {
    handle: Handle<ClientHandler>,
    state: Arc<ConnectionState>,
    notes: Vec<String>,
    /// The connection to the jump host.
    jump: Option<Box<SshConnection>>,
}

/// The terminal that devices see: wide enough that nothing is wrapped.
const COLUMNS: u32 = 511;
const TERMINAL: &str = "vt100";
/// Keepalives begin after the login, whose limit is shorter: some servers do not bear them before.
const MIN_KEEPALIVE_INTERVAL: Duration = Duration::from_secs(30);
const MAX_UNANSWERED_KEEPALIVES: usize = 3;

/// Connects, checks the host key, logs in and opens a terminal.
///
/// # Cancellation
/// May be dropped; the connection ends.
pub(super) async fn connect(
    target: &ConnectParams,
    default_port: u16,
) -> Result<(ChannelStream<Msg>, SshConnection), SessionErrorKind> {
    let connection = log_in_through_jumps(target, default_port).await?;
    let opening = open_terminal(&connection);
    let stream = timeout(target.connect_timeout, opening)
        .await
        .map_err(|_| timeout_error(target, default_port))??;
    Ok((stream, connection))
}

/// A connection that is logged in.
async fn log_in_through_jumps(
    target: &ConnectParams,
    default_port: u16,
) -> Result<SshConnection, SessionErrorKind> {
    let Some(jump) = &target.ssh.jump else {
        let address = address(target, default_port);
        let limit = target.connect_timeout;
        return timeout(limit, async {
            let stream = connect_tcp(target, default_port).await?;
            log_in(target, default_port, stream, None).await
        })
        .await
        .map_err(|_| SessionErrorKind::ConnectTimeout { address, limit })?;
    };
    let in_jump = |kind| SessionErrorKind::JumpHost {
        host: jump.host.clone(),
        kind: Box::new(kind),
    };
    // A jump host is a host: its port is that of SSH.
    let hop = Box::pin(log_in_through_jumps(jump, SSH_PORT))
        .await
        .map_err(in_jump)?;
    let opened = timeout(target.connect_timeout, async {
        let port = u32::from(target.port.unwrap_or(default_port));
        let channel = hop
            .handle
            .channel_open_direct_tcpip(&target.host, port, "127.0.0.1", 0);
        let channel = channel
            .await
            .map_err(|error| SessionErrorKind::Unreachable {
                address: address(target, default_port),
                why: format!(
                    "the jump host {} says: {}",
                    jump.host,
                    handler::render_error(&error)
                ),
            })?;
        log_in(
            target,
            default_port,
            channel.into_stream(),
            Some(Box::new(hop)),
        )
        .await
    });
    opened
        .await
        .map_err(|_| timeout_error(target, default_port))?
}

const SSH_PORT: u16 = 22;

async fn connect_tcp(
    target: &ConnectParams,
    default_port: u16,
) -> Result<TcpStream, SessionErrorKind> {
    let port = target.port.unwrap_or(default_port);
    let unreachable = |error: std::io::Error| SessionErrorKind::Unreachable {
        address: address(target, default_port),
        why: error.to_string(),
    };
    let stream = TcpStream::connect((target.host.as_str(), port))
        .await
        .map_err(unreachable)?;
    // Lines are short and wait for nobody.
    stream.set_nodelay(true).map_err(unreachable)?;
    Ok(stream)
}

async fn log_in(
    target: &ConnectParams,
    default_port: u16,
    stream: impl Stream + 'static,
    jump: Option<Box<SshConnection>>,
) -> Result<SshConnection, SessionErrorKind> {
    let port = target.port.unwrap_or(default_port);
    let address = address(target, default_port);
    let judge = known_hosts::HostKeyVerifier::load(&target.host, port, &target.ssh.host_key)?;
    let config = russh::client::Config {
        preferred: algorithms::preferred(target.ssh.algorithms, &judge.known_algorithms()),
        gex: algorithms::group_exchange(target.ssh.algorithms),
        nodelay: true,
        keepalive_interval: Some(MIN_KEEPALIVE_INTERVAL.max(2 * target.connect_timeout)),
        keepalive_max: MAX_UNANSWERED_KEEPALIVES,
        ..Default::default()
    };
    let shared = Arc::new(ConnectionState::default());
    let client = ClientHandler::new(judge, Arc::clone(&shared));
    let handle = russh::client::connect_stream(Arc::new(config), stream, client).await;
    let mut handle = handle.map_err(|error| shared.session_error(&address, &error))?;
    login::log_in(&mut handle, target)
        .await
        .map_err(|failure| match failure {
            login::LoginFailure::Kind(kind) => kind,
            login::LoginFailure::Ssh(error) => shared.session_error(&address, &error),
        })?;
    let mut notes: Vec<_> = jump.iter().flat_map(|jump| jump.notes.clone()).collect();
    notes.extend(shared.notes());
    if target.ssh.host_key == HostKeyPolicy::Ignore {
        notes.push(format!(
            "the host key of {address} is not checked; pin it by `fingerprint`"
        ));
    }
    Ok(SshConnection {
        handle,
        state: shared,
        notes,
        jump,
    })
}

async fn open_terminal(connection: &SshConnection) -> Result<ChannelStream<Msg>, SessionErrorKind> {
    let refused = |error: russh::Error| SessionErrorKind::NoTerminal {
        why: connection
            .state
            .close_reason
            .get()
            .cloned()
            .unwrap_or_else(|| handler::render_error(&error)),
    };
    let channel = connection
        .handle
        .channel_open_session()
        .await
        .map_err(refused)?;
    // No replies are asked for: a refusal shows as a closed channel, and a round trip is saved.
    channel
        .request_pty(false, TERMINAL, COLUMNS, 0, 0, 0, &[])
        .await
        .map_err(refused)?;
    channel.request_shell(false).await.map_err(refused)?;
    Ok(channel.into_stream())
}

fn address(target: &ConnectParams, default_port: u16) -> String {
    format!("{}:{}", target.host, target.port.unwrap_or(default_port))
}

fn timeout_error(target: &ConnectParams, default_port: u16) -> SessionErrorKind {
    SessionErrorKind::ConnectTimeout {
        address: address(target, default_port),
        limit: target.connect_timeout,
    }
}

impl SshConnection {
    /// Why the connection ended, once it has.
    pub fn close_reason(&self) -> CloseReason {
        Arc::clone(&self.state.close_reason)
    }

    /// What people should know: a key that was stored or not checked.
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The negotiated algorithms.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        self.state.facts()
    }

    /// Says goodbye to the device and then to the jump hosts.
    pub async fn close(self, limit: Duration) {
        let goodbye = self.handle.disconnect(Disconnect::ByApplication, "", "en");
        // If it cannot be said, the connection is gone already.
        let _ = timeout(limit, goodbye).await;
        if let Some(jump) = self.jump {
            Box::pin(jump.close(limit)).await;
        }
    }
}

//! SSH: the only module that uses russh.
//!
//! A connection has one channel with a terminal or a subsystem. Behind jump hosts, each connection runs through a
//! channel of the previous one. Each hop has its own host key, login and timeout.
//! Keys are those of `known_hosts`; the first one is trusted on request only, and a changed key is always refused.

mod agent;
mod algorithms;
mod handler;
mod identification;
pub(super) mod known_hosts;
mod login;
mod subsystem;
mod terminal;
#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "test servers end with their runtime"
)]
pub(super) mod tests;
pub(super) mod tunnel;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use russh::client::Handle;
use russh::{Disconnect, SshId};
use rustix::net::sockopt::set_tcp_user_timeout;
use tokio::net::TcpStream;
use tokio::time::timeout;

use self::handler::{ClientHandler, ConnectionState};
use self::identification::{Identification, IdentifyingStream};
use super::connect_params::{ConnectParams, HostKeyPolicy};
use super::error::SessionErrorKind;
use super::transport::{CloseReason, Stream};

/// The note about a host key that is accepted without a check.
const NOT_VERIFIED: &str = "the host key is not verified; set `fingerprint`";

/// A logged-in connection, with those to its jump hosts.
pub(super) struct SshConnection {
    handle: Handle<ClientHandler>,
    state: Arc<ConnectionState>,
    notes: Vec<String>,
    /// The connection to the jump host.
    jump: Option<Box<SshConnection>>,
}

const CLIENT_ID: &str = concat!("SSH-2.0-Switchtender_", env!("CARGO_PKG_VERSION"));
/// Longer than the login timeout, because some servers do not accept keepalives before the login.
const MIN_KEEPALIVE_INTERVAL: Duration = Duration::from_secs(30);
const MAX_UNANSWERED_KEEPALIVES: usize = 3;

/// What a channel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    Terminal,
    Subsystem(&'static str),
}

/// Connects, checks the host key, logs in and opens a channel.
///
/// # Cancellation
/// May be dropped; the connection ends.
pub(super) async fn connect(
    target: &ConnectParams,
    default_port: u16,
    channel: Channel,
) -> Result<(Box<dyn Stream>, SshConnection), SessionErrorKind> {
    let connection = log_in_through_jumps(target, default_port).await?;
    let opening = async {
        match channel {
            Channel::Terminal => terminal::open(&connection).await,
            Channel::Subsystem(name) => subsystem::open(&connection, name).await,
        }
    };
    let stream = timeout(target.connect_timeout, opening)
        .await
        .map_err(|_| timeout_error(target, default_port, &Identification::default()))??;
    Ok((stream, connection))
}

/// Connects through all jump hosts and logs in.
async fn log_in_through_jumps(
    target: &ConnectParams,
    default_port: u16,
) -> Result<SshConnection, SessionErrorKind> {
    let Some(jump) = &target.ssh.jump else {
        let identification = Arc::default();
        return timeout(target.connect_timeout, async {
            let stream = connect_tcp(target, default_port).await?;
            let stream = IdentifyingStream::new(stream, &identification);
            log_in((target, default_port), stream, &identification, None).await
        })
        .await
        .map_err(|_| timeout_error(target, default_port, &identification))?;
    };
    let jump_error = |kind| SessionErrorKind::JumpHost {
        host: jump.host.clone(),
        kind: Box::new(kind),
    };
    // The default port of a jump host is that of SSH.
    let hop = Box::pin(log_in_through_jumps(jump, SSH_PORT))
        .await
        .map_err(jump_error)?;
    let identification = Arc::default();
    let opened = timeout(target.connect_timeout, async {
        let port = u32::from(target.port.unwrap_or(default_port));
        let channel = hop
            .handle
            .channel_open_direct_tcpip(&target.host, port, "127.0.0.1", 0);
        let channel = channel
            .await
            .map_err(|error| SessionErrorKind::Unreachable {
                address: address(target, default_port),
                reason: format!("jump host {}: {}", jump.host, handler::render_error(&error)),
            })?;
        let stream = IdentifyingStream::new(channel.into_stream(), &identification);
        let jump = Some(Box::new(hop));
        log_in((target, default_port), stream, &identification, jump).await
    });
    opened
        .await
        .map_err(|_| timeout_error(target, default_port, &identification))?
}

const SSH_PORT: u16 = 22;

async fn connect_tcp(
    target: &ConnectParams,
    default_port: u16,
) -> Result<TcpStream, SessionErrorKind> {
    let port = target.port.unwrap_or(default_port);
    let unreachable = |error: std::io::Error| SessionErrorKind::Unreachable {
        address: address(target, default_port),
        reason: error.to_string(),
    };
    let stream = TcpStream::connect((target.host.as_str(), port))
        .await
        .map_err(unreachable)?;
    // Lines are short and sent at once.
    stream.set_nodelay(true).map_err(unreachable)?;
    let limit = target.fence.unacknowledged_limit().as_millis();
    set_tcp_user_timeout(&stream, u32::try_from(limit).unwrap_or(u32::MAX))
        .map_err(|error| unreachable(error.into()))?;
    Ok(stream)
}

async fn log_in(
    (target, default_port): (&ConnectParams, u16),
    stream: impl Stream + 'static,
    identification: &Identification,
    jump: Option<Box<SshConnection>>,
) -> Result<SshConnection, SessionErrorKind> {
    let port = target.port.unwrap_or(default_port);
    let address = address(target, default_port);
    let verifier = known_hosts::HostKeyVerifier::load(&target.host, port, &target.ssh.host_key)?;
    let config = russh::client::Config {
        client_id: SshId::Standard(Cow::Borrowed(CLIENT_ID)),
        preferred: algorithms::preferred(target.ssh.algorithms, &verifier.known_algorithms()),
        gex: algorithms::group_exchange(target.ssh.algorithms),
        nodelay: true,
        keepalive_interval: Some(MIN_KEEPALIVE_INTERVAL.max(2 * target.connect_timeout)),
        keepalive_max: MAX_UNANSWERED_KEEPALIVES,
        ..Default::default()
    };
    let shared = Arc::new(ConnectionState::default());
    let client = ClientHandler::new(verifier, Arc::clone(&shared));
    let handle = russh::client::connect_stream(Arc::new(config), stream, client).await;
    let mut handle =
        handle.map_err(|error| shared.handshake_error(&address, identification, &error))?;
    login::log_in(&mut handle, &shared, target)
        .await
        .map_err(|failure| match failure {
            login::LoginFailure::Kind(kind) => kind,
            login::LoginFailure::Ssh(error) => SessionErrorKind::LoginClosed {
                user: target.user.clone(),
                reason: shared.close_reason(&error),
            },
        })?;
    let jump_notes = jump.iter().flat_map(|jump| jump.notes.iter());
    let jump_host = target.ssh.jump.iter().map(|jump| jump.host.as_str()).next();
    // The notes of further jump hosts name them.
    let mut notes: Vec<_> = jump_notes
        .map(|note| match (jump_host, note.as_str()) {
            (Some(host), NOT_VERIFIED) => format!("jump host {host}: {note}"),
            _ => note.clone(),
        })
        .collect();
    notes.extend(shared.notes());
    if target.ssh.host_key == HostKeyPolicy::Ignore {
        notes.push(NOT_VERIFIED.to_owned());
    }
    Ok(SshConnection {
        handle,
        state: shared,
        notes,
        jump,
    })
}

fn address(target: &ConnectParams, default_port: u16) -> String {
    format!("{}:{}", target.host, target.port.unwrap_or(default_port))
}

fn timeout_error(
    target: &ConnectParams,
    default_port: u16,
    identification: &Identification,
) -> SessionErrorKind {
    let address = address(target, default_port);
    match identification.other_answer() {
        Some(answer) => SessionErrorKind::NotSsh { address, answer },
        None => SessionErrorKind::ConnectTimeout {
            address,
            limit: target.connect_timeout,
        },
    }
}

impl SshConnection {
    /// Why the connection closed, if it has.
    pub(crate) fn close_reason(&self) -> CloseReason {
        Arc::clone(&self.state.close_reason)
    }

    /// Notes for the user: a host key that was stored or not verified.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The fingerprint of the device's host key.
    pub(crate) fn host_key(&self) -> Option<String> {
        self.state.host_key.get().cloned()
    }

    /// The negotiated algorithms.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        self.state.facts()
    }

    /// Disconnects from the device and then from the jump hosts.
    pub(crate) async fn close(self, limit: Duration) {
        let disconnecting = async {
            let mut next = Some(self);
            while let Some(connection) = next {
                // On an error the connection is already closed.
                let handle = connection.handle;
                let _ = handle.disconnect(Disconnect::ByApplication, "", "en").await;
                next = connection.jump.map(|jump| *jump);
            }
        };
        let _ = timeout(limit, disconnecting).await;
    }
}

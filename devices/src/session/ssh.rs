//! SSH: the only place that knows russh.
//!
//! One connection carries one channel with a terminal on it. A device behind jump hosts is
//! reached through a channel of the connection to each of them, in turn; each has its own host
//! key, login and time limit.

mod algorithms;
mod client;
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

use self::client::{Client, Shared};
use super::error::SessionErrorKind;
use super::target::{HostKeyPolicy, Target};
use super::wire::{EndReason, Stream};

/// A connection, with those that it runs through.
pub(super) struct Connection {
    handle: Handle<Client>,
    shared: Arc<Shared>,
    notes: Vec<String>,
    /// The connection to the jump host.
    jump: Option<Box<Connection>>,
}

/// The terminal that devices see: wide enough that nothing is wrapped.
const COLUMNS: u32 = 511;
const TERMINAL: &str = "vt100";
/// Keepalives begin after the login, whose limit is shorter: some servers do not bear them before.
const KEEPALIVE_LEAST: Duration = Duration::from_secs(30);
const KEEPALIVES_UNANSWERED: usize = 3;

/// Connects, checks the host key, logs in and opens a terminal.
///
/// # Cancellation
/// May be dropped; the connection ends.
pub(super) async fn connect(
    target: &Target,
    default_port: u16,
) -> Result<(ChannelStream<Msg>, Connection), SessionErrorKind> {
    let connection = connection(target, default_port).await?;
    let opening = open_terminal(&connection);
    let stream = timeout(target.connect_timeout, opening)
        .await
        .map_err(|_| too_slow(target, default_port))??;
    Ok((stream, connection))
}

/// A connection that is logged in.
async fn connection(target: &Target, default_port: u16) -> Result<Connection, SessionErrorKind> {
    let Some(jump) = &target.ssh.jump else {
        let address = address(target, default_port);
        let limit = target.connect_timeout;
        return timeout(limit, async {
            let stream = dial(target, default_port).await?;
            log_in(target, default_port, stream, None).await
        })
        .await
        .map_err(|_| SessionErrorKind::ConnectTimeout { address, limit })?;
    };
    let in_jump = |kind| SessionErrorKind::Jump {
        host: jump.host.clone(),
        kind: Box::new(kind),
    };
    // A jump host is a host: its port is that of SSH.
    let hop = Box::pin(connection(jump, SSH_PORT))
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
                    client::words(&error)
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
    opened.await.map_err(|_| too_slow(target, default_port))?
}

const SSH_PORT: u16 = 22;

async fn dial(target: &Target, default_port: u16) -> Result<TcpStream, SessionErrorKind> {
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
    target: &Target,
    default_port: u16,
    stream: impl Stream + 'static,
    jump: Option<Box<Connection>>,
) -> Result<Connection, SessionErrorKind> {
    let port = target.port.unwrap_or(default_port);
    let address = address(target, default_port);
    let judge = known_hosts::Judge::load(&target.host, port, &target.ssh.host_key)?;
    let config = russh::client::Config {
        preferred: algorithms::preferred(target.ssh.algorithms, &judge.known_algorithms()),
        gex: algorithms::group_exchange(target.ssh.algorithms),
        nodelay: true,
        keepalive_interval: Some(KEEPALIVE_LEAST.max(2 * target.connect_timeout)),
        keepalive_max: KEEPALIVES_UNANSWERED,
        ..Default::default()
    };
    let shared = Arc::new(Shared::default());
    let client = Client::new(judge, Arc::clone(&shared));
    let handle = russh::client::connect_stream(Arc::new(config), stream, client).await;
    let mut handle = handle.map_err(|error| shared.failure(&address, &error))?;
    login::log_in(&mut handle, target)
        .await
        .map_err(|failure| match failure {
            login::Failure::Kind(kind) => kind,
            login::Failure::Ssh(error) => shared.failure(&address, &error),
        })?;
    let mut notes: Vec<_> = jump.iter().flat_map(|jump| jump.notes.clone()).collect();
    notes.extend(shared.notes());
    if target.ssh.host_key == HostKeyPolicy::Ignore {
        notes.push(format!(
            "the host key of {address} is not checked; pin it by `fingerprint`"
        ));
    }
    Ok(Connection {
        handle,
        shared,
        notes,
        jump,
    })
}

async fn open_terminal(connection: &Connection) -> Result<ChannelStream<Msg>, SessionErrorKind> {
    let refused = |error: russh::Error| SessionErrorKind::NoTerminal {
        why: connection
            .shared
            .end
            .get()
            .cloned()
            .unwrap_or_else(|| client::words(&error)),
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

fn address(target: &Target, default_port: u16) -> String {
    format!("{}:{}", target.host, target.port.unwrap_or(default_port))
}

fn too_slow(target: &Target, default_port: u16) -> SessionErrorKind {
    SessionErrorKind::ConnectTimeout {
        address: address(target, default_port),
        limit: target.connect_timeout,
    }
}

impl Connection {
    /// Why the connection ended, once it has.
    pub fn end_reason(&self) -> EndReason {
        Arc::clone(&self.shared.end)
    }

    /// What people should know: a key that was stored or not checked.
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The negotiated algorithms.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        self.shared.facts()
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

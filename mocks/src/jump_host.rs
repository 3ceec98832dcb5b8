//! A jump host on loopback: an SSH server that forwards connections, with one fault.
//!
//! Faults of the connection occur between the SSH server and its client, so that they affect each
//! phase of the protocol, also that of the device behind the jump host.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use russh::keys::{Algorithm, HashAlg, PrivateKey};
use russh::server::{Auth, ChannelOpenHandle, Config, Handler, Msg, Session};
use russh::{Channel, ChannelOpenFailure, MethodKind, MethodSet};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::control::lock;
use crate::fault::{EndlessOutput, write_endlessly};
use crate::task;

/// One key for all jump hosts of a process.
static HOST_KEY: LazyLock<PrivateKey> = LazyLock::new(|| {
    PrivateKey::random(&mut russh::keys::key::safe_rng(), Algorithm::Ed25519)
        .expect("an Ed25519 key can be made from any random numbers")
});

/// Bytes between the SSH server and its client that were not forwarded yet.
const BUFFER: usize = 64 << 10;

/// A fault that occurs once. Positions are bytes that the client has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JumpFault {
    /// The login is refused.
    RefusedLogin,
    /// The connection to the device is refused.
    RefusedForwarding,
    /// The connection closes at this byte.
    Drop(u64),
    /// The client receives nothing after this byte. What it sends is still forwarded.
    Stall(u64),
    /// Text without end replaces the connection after this byte.
    Flood(u64),
}

/// A running jump host. Dropping it stops it.
#[derive(Debug)]
pub struct JumpHost {
    /// Address of the listener.
    pub address: SocketAddr,
    shared: Arc<JumpHostState>,
    stop: CancellationToken,
}

#[derive(Debug)]
struct JumpHostState {
    password: String,
    fault: Mutex<Option<JumpFault>>,
    has_fired: AtomicBool,
    /// Bytes that clients have received.
    sent: AtomicU64,
}

impl JumpHost {
    /// Starts a jump host on a free port. It accepts every user with this password.
    ///
    /// # Panics
    /// If loopback has no free port.
    pub async fn start(password: &str, fault: Option<JumpFault>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await;
        let listener = listener.expect("loopback has a free port");
        let address = listener.local_addr().expect("the listener is bound");
        let shared = Arc::new(JumpHostState {
            password: password.to_owned(),
            fault: Mutex::new(fault),
            has_fired: AtomicBool::new(false),
            sent: AtomicU64::new(0),
        });
        let stop = CancellationToken::new();
        let (state, token) = (Arc::clone(&shared), stop.clone());
        task::spawn(async move {
            loop {
                tokio::select! {
                    () = token.cancelled() => return,
                    accepted = listener.accept() => {
                        if let Ok((client, _)) = accepted {
                            serve(client, &state, &token);
                        }
                    }
                }
            }
        });
        Self {
            address,
            shared,
            stop,
        }
    }

    /// The fingerprint of the host key, as clients print it.
    pub fn fingerprint(&self) -> String {
        HOST_KEY
            .public_key()
            .fingerprint(HashAlg::Sha256)
            .to_string()
    }

    /// Number of bytes that clients have received.
    pub fn sent_bytes(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// Whether the fault has occurred.
    pub fn has_fired(&self) -> bool {
        self.shared.has_fired.load(Ordering::SeqCst)
    }

    /// Removes the fault.
    pub fn clear_fault(&self) {
        *lock(&self.shared.fault) = None;
    }
}

impl Drop for JumpHost {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl JumpHostState {
    /// Takes the fault if it is the expected one.
    fn fires(&self, expected: impl FnOnce(JumpFault) -> bool) -> Option<JumpFault> {
        let mut fault = lock(&self.fault);
        let fired = (*fault).filter(|fault| expected(*fault))?;
        *fault = None;
        self.has_fired.store(true, Ordering::SeqCst);
        Some(fired)
    }

    /// Counts bytes to the client. Returns the fault that occurs within them, and its position.
    fn count(&self, length: usize) -> Option<(JumpFault, usize)> {
        let before = self.sent.fetch_add(length as u64, Ordering::SeqCst);
        let position = |fault| match fault {
            JumpFault::Drop(byte) | JumpFault::Stall(byte) | JumpFault::Flood(byte) => Some(byte),
            JumpFault::RefusedLogin | JumpFault::RefusedForwarding => None,
        };
        let end = before + length as u64;
        let fault = self.fires(|fault| position(fault).is_some_and(|byte| byte <= end))?;
        let byte = position(fault)?.saturating_sub(before);
        Some((fault, usize::try_from(byte).unwrap_or(length)))
    }
}

/// Serves one connection until it ends.
fn serve(client: TcpStream, state: &Arc<JumpHostState>, stop: &CancellationToken) {
    let config = Arc::new(Config {
        methods: MethodSet::from([MethodKind::Password].as_slice()),
        keys: vec![HOST_KEY.clone()],
        inactivity_timeout: None,
        auth_rejection_time: Duration::ZERO,
        auth_rejection_time_initial: Some(Duration::ZERO),
        ..Config::default()
    });
    let (server, wire) = tokio::io::duplex(BUFFER);
    let handler = JumpHandler {
        state: Arc::clone(state),
    };
    task::spawn(async move {
        // An error is a disconnect of the client or a fault.
        if let Ok(session) = russh::server::run_stream(config, server, handler).await {
            let _ = session.await;
        }
    });
    let (state, stop) = (Arc::clone(state), stop.clone());
    task::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = relay(client, wire, &state) => {}
        }
    });
}

/// Copies between client and server until one of them ends, or the fault occurs.
async fn relay(client: TcpStream, server: DuplexStream, state: &JumpHostState) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let received = tokio::io::copy(&mut from_client, &mut to_server);
    let sent = async {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = from_server.read(&mut buffer).await {
            let fault = state.count(length);
            let passed = fault.map_or(length, |(_, position)| position);
            if to_client.write_all(&buffer[..passed]).await.is_err() {
                return;
            }
            match fault {
                None => {}
                Some((JumpFault::Flood(_), _)) => {
                    return write_endlessly(to_client, EndlessOutput::Flood).await;
                }
                Some((JumpFault::Stall(_), _)) => std::future::pending().await,
                Some(_) => return,
            }
        }
    };
    tokio::select! {
        _ = received => {}
        () = sent => {}
    }
}

struct JumpHandler {
    state: Arc<JumpHostState>,
}

impl Handler for JumpHandler {
    type Error = russh::Error;

    async fn auth_password(&mut self, _: &str, password: &str) -> Result<Auth, Self::Error> {
        let refused = self.state.fires(|fault| fault == JumpFault::RefusedLogin);
        Ok(if refused.is_none() && password == self.state.password {
            Auth::Accept
        } else {
            Auth::reject()
        })
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        channel: Channel<Msg>,
        host: &str,
        port: u32,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        let refused = self
            .state
            .fires(|fault| fault == JumpFault::RefusedForwarding);
        let device = match (refused, u16::try_from(port)) {
            (None, Ok(port)) => TcpStream::connect((host, port)).await.ok(),
            _ => None,
        };
        let Some(mut device) = device else {
            reply.reject(ChannelOpenFailure::ConnectFailed).await;
            return Ok(());
        };
        reply.accept().await;
        task::spawn(async move {
            // Either side may close.
            let _ = tokio::io::copy_bidirectional(&mut channel.into_stream(), &mut device).await;
        });
        Ok(())
    }
}

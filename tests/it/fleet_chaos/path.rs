//! A path that holds what it has accepted, as a jump host does, or that is cut.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use rustix::net::sockopt;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathState {
    Open,
    /// Connections stay; what was accepted arrives when the path is open again.
    Held,
    /// Connections end; what was accepted and not delivered is lost.
    Cut,
}

/// Where a path leads.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) address: Ipv4Addr,
    /// It can become another one.
    pub(super) port: Arc<AtomicU16>,
}

impl Target {
    pub(super) fn new(address: Ipv4Addr, port: u16) -> Self {
        let port = Arc::new(AtomicU16::new(port));
        Self { address, port }
    }
}

/// A listening port whose connections lead to a target.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) port: u16,
    state: watch::Sender<PathState>,
}

impl Path {
    pub(super) fn to(target: &Target, listener: TcpListener) -> Self {
        let port = listener.local_addr().unwrap().port();
        let state = watch::Sender::new(PathState::Open);
        let states = state.subscribe();
        let target = target.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                find_lost_peers(&stream);
                let (mut states, target) = (states.clone(), target.clone());
                tokio::spawn(async move {
                    let opened = states.wait_for(|state| *state != PathState::Held).await;
                    if opened.is_ok_and(|state| *state == PathState::Cut) {
                        return;
                    }
                    let port = target.port.load(Ordering::Relaxed);
                    let Ok(device) = TcpStream::connect((target.address, port)).await else {
                        return;
                    };
                    let (from, to) = stream.into_split();
                    let (back, forth) = device.into_split();
                    let both = (
                        forward(from, forth, states.clone()),
                        forward(back, to, states),
                    );
                    // One side ends both.
                    tokio::select! {
                        () = both.0 => {}
                        () = both.1 => {}
                    }
                });
            }
        });
        Self { port, state }
    }

    pub(super) fn set(&self, state: PathState) {
        self.state.send_replace(state);
    }
}

/// Devices end the sessions of hosts that are gone, as with `service tcp-keepalives-in`: later than a link is down, so that
/// what a kernel repeats still arrives.
fn find_lost_peers(stream: &TcpStream) {
    const IDLE: Duration = Duration::from_secs(30);
    const PROBES: u32 = 3;
    sockopt::set_socket_keepalive(stream, true).unwrap();
    sockopt::set_tcp_keepidle(stream, IDLE).unwrap();
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(1)).unwrap();
    sockopt::set_tcp_keepcnt(stream, PROBES).unwrap();
}

/// Forwards until one side ends, or the path is cut.
async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut states: watch::Receiver<PathState>,
) {
    let mut buffer = vec![0; 16 * 1024];
    let mut cut = states.clone();
    let work = async {
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            if states
                .wait_for(|state| *state == PathState::Open)
                .await
                .is_err()
            {
                break;
            }
            if to.write_all(&buffer[..length]).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = work => {}
        _ = cut.wait_for(|state| *state == PathState::Cut) => {}
    }
}

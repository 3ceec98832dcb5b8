//! A NETCONF server over SSH with a candidate configuration and confirmed commits.
//!
//! Written from RFC 6241 (protocol), 7317, 8343 and 8344 (the lists and their keys), independent of the drivers. It
//! has no models: it checks that interfaces have a type, and nothing else.

mod datastore;
mod device;
mod element;
mod session;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use switchtender_outline::{ElementList, NetconfInterface};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::control::lock;
use crate::fault::{self, Fault, MockKind, UnsupportedFault};
use crate::running::{ListenError, ListenOptions, RunningMock, ServedConnection};
use crate::ssh_server::{self, Account, HostKey, InvalidKey, LoginMethods};
use crate::terminal::Terminal;
pub use device::InvalidConfiguration;
pub(crate) use device::NetconfDevice;
use session::{NetconfSession, SessionContext};

/// The keys of the lists in ietf-interfaces, ietf-ip and ietf-system (RFC 8343, 8344 and 7317), and the
/// elements that they require.
const LISTS: &[(&str, &str, &[&str])] = &[
    ("interfaces/interface", "name", &["type"]),
    ("ipv4/address", "ip", &[]),
    ("ipv6/address", "ip", &[]),
    ("ipv4/neighbor", "ip", &[]),
    ("ipv6/neighbor", "ip", &[]),
    ("ntp/server", "name", &[]),
    ("dns-resolver/server", "name", &[]),
    ("authentication/user", "name", &[]),
];

/// The lists of the IETF models.
fn ietf_lists() -> Vec<ElementList> {
    let lists = LISTS.iter().map(|(path, key, required)| ElementList {
        path: path.split('/').map(str::to_owned).collect(),
        keys: vec![(*key).to_owned()],
        required: required.iter().map(|name| (*name).to_owned()).collect(),
    });
    lists.collect()
}

/// Options of a NETCONF server.
#[derive(Debug, Clone)]
pub struct NetconfOptions {
    /// Name in the log.
    pub name: String,
    /// User name for login.
    pub user: String,
    /// Password for login.
    pub password: String,
    /// Faults to inject.
    pub faults: Vec<Fault>,
}

/// Why a NETCONF server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartNetconfError {
    /// The configuration is invalid.
    #[error(transparent)]
    Configuration(#[from] InvalidConfiguration),
    /// A key is invalid.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// The mock does not support a fault.
    #[error(transparent)]
    Fault(#[from] UnsupportedFault),
    /// The port is not available.
    #[error(transparent)]
    Listen(#[from] ListenError),
}

/// A kind of mock device.
#[derive(Debug)]
pub struct NetconfServer;

/// The configuration of a running server.
#[derive(Debug)]
pub struct NetconfState {
    device: Arc<Mutex<NetconfDevice>>,
}

/// A running NETCONF server.
pub type RunningNetconfServer = RunningMock<NetconfState>;

impl NetconfServer {
    /// Starts a server on a port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    /// A fault is not supported or the port is in use.
    pub async fn start(
        options: NetconfOptions,
        port: u16,
    ) -> Result<RunningNetconfServer, StartNetconfError> {
        fault::check_supported(&options.faults, MockKind::NetconfServer)?;
        let account = Account::new(&options.user, &options.password, &[], LoginMethods::All)?;
        let state = NetconfState {
            device: Arc::new(Mutex::new(NetconfDevice::new(&NetconfInterface {
                lists: ietf_lists(),
                ..NetconfInterface::default()
            })?)),
        };
        let listen = ListenOptions {
            name: &options.name,
            port,
            faults: &options.faults,
            log: None,
            exchanges_in_memory: 100_000,
        };
        let (running, listener) = RunningMock::listen(state, listen).await?;
        let serve = server(&running, account, running.device.device.clone());
        running.accept(listener, serve);
        Ok(running)
    }
}

/// Serves each connection to a device until its token is cancelled.
pub(crate) fn server<S>(
    running: &RunningMock<S>,
    account: Account,
    device: Arc<Mutex<NetconfDevice>>,
) -> impl Fn(TcpStream, SocketAddr, CancellationToken) -> ServedConnection + use<S> {
    let shared = SessionContext {
        device: device.clone(),
        faults: running.faults.clone(),
        log: running.log.clone(),
    };
    let new_terminal = move |connection, _| {
        Box::new(NetconfSession::new(shared.clone(), connection)) as Box<dyn Terminal>
    };
    let serve = ssh_server::server(running, account, new_terminal);
    move |stream, peer, stop| {
        let mut device = lock(&device);
        device.expire();
        if device.is_cut_off {
            Box::pin(async move { drop(stream) })
        } else {
            serve(stream, peer, stop)
        }
    }
}

impl RunningNetconfServer {
    /// The host key.
    pub fn host_key(&self) -> HostKey {
        HostKey::of_this_process()
    }

    /// The running configuration as XML.
    pub fn running_config(&self) -> String {
        lock(&self.device.device).text()
    }

    /// Sets the clock of the device forward. A commit that is not confirmed by then is reverted.
    pub fn advance_clock(&self, time: Duration) {
        let mut device = lock(&self.device.device);
        device.clock_advance += time;
        device.expire();
    }

    /// Waits until a change has cut the connections to the device. The future does not borrow the mock.
    pub fn wait_for_cut_off(&self) -> impl Future<Output = ()> + Send + use<> {
        let cut_off = lock(&self.device.device).cut_off.clone();
        async move { cut_off.notified().await }
    }

    /// Keeps the sessions of lost connections open, as a device whose peer has vanished.
    pub fn keep_lost_sessions(&self) {
        lock(&self.device.device).keeps_lost = true;
    }

    /// Whether the device reverts a commit unless it is confirmed.
    pub fn is_revert_pending(&self) -> bool {
        lock(&self.device.device).is_pending()
    }
}

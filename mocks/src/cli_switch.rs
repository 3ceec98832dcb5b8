//! A switch with an IOS-like command line over SSH.
//!
//! Written from `docs/reference/devices/cisco_ios.md`, sections 2 to 13, and from what real devices print; it knows nothing of how
//! Switchtender drives such a device. Begin reading at `shell.rs` (a session), then `configure.rs` (a line), then the
//! grammars.
//!
//! It is strict: a line that it does not know is refused as a real image would refuse it. Running it by hand:
//! `switchtender mock switch --port 2222`, then `ssh -p 2222 admin@127.0.0.1`, password `admin`, `enable`, password `enable`.

mod configure;
mod device;
mod effect;
mod factory;
mod filter;
mod grammar;
mod hardware;
mod interface_name;
mod options;
mod ports;
mod running_config;
mod shell;
mod show;
mod ssh;
mod switchport;
mod tree;
mod type7;
mod vlan;
mod vlan_list;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::control::{ExchangeLog, lock};
use crate::fault::{self, FaultPlan, MockKind, UnsupportedFault};
use device::Device;
pub use options::{LoginMethods, SwitchOptions};
use shell::Shared;
pub use ssh::HostKey;

/// The product numbers that can be imitated, the default first.
pub fn models() -> Vec<&'static str> {
    hardware::ALL
        .iter()
        .map(|hardware| hardware.model)
        .collect()
}

/// Why a mock switch could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartSwitchError {
    /// No such machine.
    #[error("no mock switch of model `{model}`; there are: {}", models().join(", "))]
    Model {
        /// As given.
        model: String,
    },
    /// A line of `authorized_keys` is no public key.
    #[error("`{line}` is not a public key in OpenSSH's form")]
    Key {
        /// As given.
        line: String,
    },
    /// The mock does not support a fault.
    #[error(transparent)]
    Fault(#[from] UnsupportedFault),
    /// The port cannot be had.
    #[error("mock switch {name} cannot listen on port {port} of 127.0.0.1")]
    Listen {
        /// Name of the device.
        name: String,
        /// As given.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
}

/// A kind of mock device.
#[derive(Debug)]
pub struct CliSwitch;

impl CliSwitch {
    /// Starts a switch on a port of 127.0.0.1; 0 takes a free one.
    ///
    /// # Errors
    /// When the options make no sense or the port is taken.
    pub async fn start(
        options: SwitchOptions,
        port: u16,
    ) -> Result<RunningSwitch, StartSwitchError> {
        let hardware =
            hardware::Hardware::find(&options.model).ok_or_else(|| StartSwitchError::Model {
                model: options.model.clone(),
            })?;
        fault::check_supported(&options.faults, MockKind::Switch)?;
        let accounts =
            ssh::Accounts::new(&options).map_err(|line| StartSwitchError::Key { line })?;
        let listen = |source| StartSwitchError::Listen {
            name: options.name.clone(),
            port,
            source,
        };
        let listener = TcpListener::bind(("127.0.0.1", port))
            .await
            .map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (device, unknown_lines) = factory::device(hardware, &options);
        let device = Arc::new(Mutex::new(device));
        let log = ExchangeLog::new(&options.name, options.log.clone());
        let shared = Shared {
            device: device.clone(),
            faults: Arc::new(Mutex::new(FaultPlan::new(&options.faults))),
            log: log.clone(),
            enable_password: options.enable_password,
        };
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(ssh::serve(
            listener,
            shared,
            accounts,
            tasks.clone(),
            stop.clone(),
        ));
        Ok(RunningSwitch {
            address,
            device,
            log,
            unknown_lines,
            tasks,
            stop,
        })
    }
}

/// A switch that accepts connections until it is stopped or dropped.
#[derive(Debug)]
pub struct RunningSwitch {
    address: SocketAddr,
    device: Arc<Mutex<Device>>,
    log: ExchangeLog,
    unknown_lines: Vec<String>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl RunningSwitch {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The key that identifies it to clients.
    pub fn host_key(&self) -> HostKey {
        HostKey::of_this_process()
    }

    /// What it was told.
    pub fn log(&self) -> &ExchangeLog {
        &self.log
    }

    /// The running configuration as `show running-config` prints it, without the head.
    pub fn running_config(&self) -> String {
        let mut device = lock(&self.device);
        device.expire(Instant::now());
        running_config::lines(&device).join("\n") + "\n"
    }

    /// The VLAN table: number, name, shut down.
    pub fn vlans(&self) -> Vec<(u16, String, bool)> {
        let device = lock(&self.device);
        device
            .configuration
            .vlans
            .rows()
            .map(|(number, vlan)| (number, vlan.name.clone(), vlan.shutdown))
            .collect()
    }

    /// Lines of the given configuration that the mock keeps without knowing what they mean.
    pub fn unknown_lines(&self) -> &[String] {
        &self.unknown_lines
    }

    /// Ends all sessions and waits until they are gone.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for RunningSwitch {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

//! A switch with an IOS-like command line over SSH.
//!
//! Written from `docs/reference/devices/cisco_ios.md`, sections 2 to 13, and from output of real devices, independent of the drivers.
//! Start reading with `shell.rs` (a session), then `configure.rs` (a line), then the
//! grammars.
//!
//! It is strict: it refuses an unknown line as a real image does. To start one:
//! `switchtender mock switch --port 2222`, then `ssh -p 2222 admin@127.0.0.1`, password `admin`, `enable`, password `enable`.

mod configure;
mod device;
mod effect;
mod factory_config;
mod filter;
mod grammar;
mod interface_name;
mod offline;
mod options;
mod platform_profile;
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

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock;
use crate::control::{ExchangeLog, lock};
use crate::fault::{self, DeferredWork, FaultPlan, MockKind, UnsupportedFault};
use device::Device;
pub use offline::{OfflineSwitch, RejectedLine};
pub use options::{LoginMethods, SwitchOptions};
use platform_profile::PlatformProfile;
use shell::SwitchContext;
pub use ssh::HostKey;

/// The supported product numbers, the default first.
pub fn models() -> Vec<&'static str> {
    platform_profile::ALL
        .iter()
        .map(|profile| profile.model)
        .collect()
}

/// Why a mock switch cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartSwitchError {
    /// The product number is not supported.
    #[error("unknown model `{model}` of a mock switch; models: {}", models().join(", "))]
    Model {
        /// The value of the option.
        model: String,
    },
    /// A line of `authorized_keys` is not a public key.
    #[error("`{line}` is not a public key in OpenSSH format")]
    Key {
        /// The value of the option.
        line: String,
    },
    /// The mock does not support a fault.
    #[error(transparent)]
    Fault(#[from] UnsupportedFault),
    /// The port is not available.
    #[error("cannot listen on port {port} of 127.0.0.1 for the mock switch {name}")]
    Listen {
        /// Name of the device.
        name: String,
        /// The value of the option.
        port: u16,
        /// The reason.
        source: std::io::Error,
    },
}

/// The platform of the model in the options, or of their configuration.
fn profile(options: &SwitchOptions) -> Result<&'static PlatformProfile, StartSwitchError> {
    match &options.model {
        Some(model) => PlatformProfile::find(model).ok_or_else(|| StartSwitchError::Model {
            model: model.clone(),
        }),
        None => Ok(factory_config::profile_of(
            options.config.as_deref().unwrap_or_default(),
        )),
    }
}

/// A kind of mock device.
#[derive(Debug)]
pub struct CliSwitch;

impl CliSwitch {
    /// Starts a switch on a port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    /// The options are invalid or the port is in use.
    pub async fn start(
        options: SwitchOptions,
        port: u16,
    ) -> Result<RunningSwitch, StartSwitchError> {
        let profile = profile(&options)?;
        fault::check_supported(&options.faults, MockKind::Switch)?;
        let accounts = ssh::Accounts::new(&options)?;
        let listen = |source| StartSwitchError::Listen {
            name: options.name.clone(),
            port,
            source,
        };
        let listener = TcpListener::bind(("127.0.0.1", port))
            .await
            .map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (device, unknown_lines) = factory_config::new_device(profile, &options);
        let device = Arc::new(Mutex::new(device));
        let log = ExchangeLog::new(
            &options.name,
            options.log.clone(),
            options.exchanges_in_memory,
        );
        let deferred = DeferredWork::default();
        let faults = Arc::new(Mutex::new(FaultPlan::new(&options.faults)));
        let shared = SwitchContext {
            device: device.clone(),
            deferred: deferred.clone(),
            faults: faults.clone(),
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
            deferred,
            faults,
            log,
            unknown_lines,
            tasks,
            stop,
        })
    }
}

/// A running switch. It accepts connections until it is stopped or dropped.
#[derive(Debug)]
pub struct RunningSwitch {
    address: SocketAddr,
    device: Arc<Mutex<Device>>,
    deferred: DeferredWork,
    faults: Arc<Mutex<FaultPlan>>,
    log: ExchangeLog,
    unknown_lines: Vec<String>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl RunningSwitch {
    /// Address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The host key.
    pub fn host_key(&self) -> HostKey {
        HostKey::of_this_process()
    }

    /// The received commands and their answers.
    pub fn log(&self) -> &ExchangeLog {
        &self.log
    }

    /// The running configuration as `show running-config` prints it, without the header.
    pub fn running_config(&self) -> String {
        let mut device = lock(&self.device);
        device.expire(clock::instant());
        running_config::lines(&device).join("\n") + "\n"
    }

    /// The VLAN table: number, name, and whether the VLAN is shut down.
    pub fn vlans(&self) -> Vec<(u16, String, bool)> {
        let device = lock(&self.device);
        device
            .configuration
            .vlans
            .rows()
            .map(|(number, vlan)| (number, vlan.name.clone(), vlan.shutdown))
            .collect()
    }

    /// Whether the running configuration is saved.
    pub fn is_saved(&self) -> bool {
        let device = lock(&self.device);
        let saved = device.startup.as_ref();
        saved.is_some_and(|(hostname, configuration)| {
            *hostname == device.hostname && *configuration == device.configuration
        })
    }

    /// Lines of the initial configuration that the mock does not understand and keeps as text.
    pub fn unknown_lines(&self) -> &[String] {
        &self.unknown_lines
    }

    /// Removes all faults. Connections that a fault affects remain affected.
    pub fn clear_faults(&self) {
        lock(&self.faults).clear();
    }

    /// Number of times that a fault has fired. Faults that are always active are not counted.
    pub fn fired_faults(&self) -> u64 {
        lock(&self.faults).fired()
    }

    /// Number of bytes that the device has sent.
    pub fn sent_bytes(&self) -> u64 {
        lock(&self.faults).sent_bytes()
    }

    /// Executes the commands that the faults `busy` and `late-effect` have deferred without a time,
    /// and returns their number.
    pub fn resume(&self) -> usize {
        self.deferred.resume()
    }

    /// Waits until a fault has deferred a command without a time.
    pub async fn wait_for_deferred(&self) {
        self.deferred.wait().await;
    }

    /// Ends all sessions and waits for them.
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

//! A switch with an IOS-like command line over SSH.
//!
//! Written from `docs/reference/devices/cisco_ios.md`, sections 2 to 13, and from output of real devices, independent of the drivers.
//! Start reading with `shell.rs` (a session), then `configure.rs` (a line), then the
//! grammars.
//!
//! It is strict: it refuses an unknown line as a real image does. To start one:
//! `switchtender mock switch --port 2222`, then `ssh -p 2222 admin@127.0.0.1`, password `admin`, `enable`, password `enable`.

mod archive;
mod configure;
mod device;
mod effect;
mod factory_config;
pub(crate) mod filter;
mod grammar;
mod interface_name;
mod offline;
mod options;
mod platform_profile;
mod ports;
mod reload;
mod running_config;
mod shell;
mod show;
mod switchport;
mod tree;
mod type7;
mod vlan;
mod vlan_list;
mod vtp;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::control::lock;
use crate::fault::{self, MockKind, UnsupportedFault};
use crate::running::{ListenError, ListenOptions, RunningMock};
use crate::ssh_server::{self, Account, HostKey, InvalidKey};
use crate::terminal::Terminal;
use crate::terminal_lines::TerminalLines;
use device::Device;
pub use offline::{OfflineSwitch, RejectedLine};
pub use options::SwitchOptions;
use platform_profile::PlatformProfile;
use reload::RequestedReload;
use shell::{Shell, SwitchContext};

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
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// The mock does not support a fault.
    #[error(transparent)]
    Fault(#[from] UnsupportedFault),
    /// The port is not available.
    #[error(transparent)]
    Listen(#[from] ListenError),
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
        let account = Account::new(
            &options.user,
            &options.password,
            &options.authorized_keys,
            options.login,
        )?;
        let (device, unknown_lines) = factory_config::new_device(profile, &options);
        let switch = SwitchState {
            lines: Arc::default(),
            device: Arc::new(Mutex::new(device)),
            unknown_lines,
        };
        let listen = ListenOptions {
            name: &options.name,
            port,
            faults: &options.faults,
            log: options.log.clone(),
            exchanges_in_memory: options.exchanges_in_memory,
        };
        let (running, listener) = RunningMock::listen(switch, listen).await?;
        let shared = SwitchContext {
            device: running.device.device.clone(),
            faults: running.faults.clone(),
            log: running.log.clone(),
            enable_password: options.enable_password,
            user: options.user.clone(),
            lines: running.device.lines.clone(),
        };
        let new_terminal = move |connection, width| {
            let shell = Shell::new(shared.clone(), connection, options.start_privileged, width);
            Box::new(shell) as Box<dyn Terminal>
        };
        let device = running.device.device.clone();
        let serve = ssh_server::server(&running, account, new_terminal);
        running.accept(listener, move |stream, peer, stop| {
            let mut device = lock(&device);
            device.expire();
            if device.is_cut_off {
                device.refused_connection.notify_one();
                Box::pin(async move { drop(stream) })
            } else {
                serve(stream, peer, stop)
            }
        });
        Ok(running)
    }
}

/// The configuration of a running switch.
#[derive(Debug)]
pub struct SwitchState {
    device: Arc<Mutex<Device>>,
    lines: Arc<Mutex<TerminalLines>>,
    unknown_lines: Vec<String>,
}

/// A running switch.
pub type RunningSwitch = RunningMock<SwitchState>;

impl RunningSwitch {
    /// The host key.
    pub fn host_key(&self) -> HostKey {
        HostKey::of_this_process()
    }

    /// The running configuration as `show running-config` prints it, without the header.
    pub fn running_config(&self) -> String {
        let mut device = lock(&self.device.device);
        device.expire();
        running_config::lines(&device).join("\n") + "\n"
    }

    /// Sets the clock of the device forward. A timed change that is not confirmed by then is reverted, and a
    /// reload that is scheduled until then takes place.
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

    /// Waits until a connection is refused because a change has cut them. The future does not borrow the mock.
    pub fn wait_for_refused_connection(&self) -> impl Future<Output = ()> + Send + use<> {
        let refused = lock(&self.device.device).refused_connection.clone();
        async move { refused.notified().await }
    }

    /// Schedules a reload, as somebody else does.
    pub fn schedule_reload(&self, minutes: u64) {
        let requested = RequestedReload {
            minutes: Some(minutes),
            reason: reload::REASON.to_owned(),
            is_lost: false,
        };
        lock(&self.device.device).schedule_reload(minutes, requested);
    }

    /// Waits until a session asks twice in succession for a scheduled reload, as one that waits for it. The future
    /// does not borrow the mock.
    pub fn wait_for_reload_poll(&self) -> impl Future<Output = ()> + Send + use<> {
        let poll = lock(&self.device.device).reload_poll.clone();
        async move { poll.notified().await }
    }

    /// Whether the device reverts a change unless it is confirmed, or reloads.
    pub fn is_revert_pending(&self) -> bool {
        let device = lock(&self.device.device);
        device.revert.is_some() || device.reload.is_some()
    }

    /// The VLAN table: number, name, and whether the VLAN is shut down.
    pub fn vlans(&self) -> Vec<(u16, String, bool)> {
        let device = lock(&self.device.device);
        device
            .configuration
            .vlans
            .rows()
            .map(|(number, vlan)| (number, vlan.name.clone(), vlan.shutdown))
            .collect()
    }

    /// Whether the running configuration is saved.
    pub fn is_saved(&self) -> bool {
        let device = lock(&self.device.device);
        let saved = device.startup.as_ref();
        saved.is_some_and(|(hostname, configuration)| {
            *hostname == device.hostname && *configuration == device.configuration
        })
    }

    /// Keeps the terminal lines of lost connections in use, as a device whose peer has vanished.
    pub fn keep_lost_sessions(&self) {
        lock(&self.device.lines).keeps_lost = true;
    }

    /// Logs somebody in, on a line without a connection. Returns the number of the line.
    pub fn add_session(&self, user: &str) -> u64 {
        lock(&self.device.lines).occupy(None, user)
    }

    /// The sessions: number of the line, and user.
    pub fn sessions(&self) -> Vec<(u64, String)> {
        let lines = lock(&self.device.lines);
        lines
            .iter()
            .map(|line| (line.number, line.user.clone()))
            .collect()
    }

    /// Lines of the initial configuration that the mock does not understand and keeps as text.
    pub fn unknown_lines(&self) -> &[String] {
        &self.device.unknown_lines
    }
}

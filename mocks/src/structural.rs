//! A device with any command line over SSH, from a description of its structure.
//!
//! It keeps lines and blocks and prints them as its configuration. The description comes from the
//! definition that is tried, so that the two cannot contradict each other: the mock accepts every
//! line that the structure permits, also one that a real device refuses.

mod configuration;
mod list_line;
mod node;
mod set_line;
mod shape;
mod terminal;

use std::sync::{Arc, Mutex};

use switchtender_outline::CommandLine;

use crate::control::lock;
use crate::fault::{self, Fault, MockKind, UnsupportedFault};
use crate::running::{ListenError, ListenOptions, RunningMock};
use crate::ssh_server::{self, Account, HostKey, InvalidKey, LoginMethods};
use crate::terminal::Terminal;
pub(crate) use configuration::StructuralConfiguration;
pub use shape::InvalidShape;
pub(crate) use terminal::{StructuralTerminal, TerminalContext};

/// Options of a structural mock.
#[derive(Debug, Clone)]
pub struct StructuralOptions {
    /// Name in the log.
    pub name: String,
    /// User name for login.
    pub user: String,
    /// Password for login.
    pub password: String,
    /// Its command line.
    pub command_line: CommandLine,
    /// Initial configuration, as the device prints it.
    pub config: String,
    /// Maximum number of exchanges in memory; the oldest are removed.
    pub exchanges_in_memory: usize,
    /// The faults to inject.
    pub faults: Vec<Fault>,
}

/// Why a device with a described command line or a recording cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A pattern of the command line is invalid.
    #[error(transparent)]
    Shape(#[from] InvalidShape),
    /// A fault is unknown to the mock.
    #[error(transparent)]
    Fault(#[from] UnsupportedFault),
    /// The login is invalid.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// The port is not available.
    #[error(transparent)]
    Listen(#[from] ListenError),
}

/// A kind of mock device.
#[derive(Debug)]
pub struct StructuralDevice;

/// The configuration of a running structural mock.
#[derive(Debug)]
pub struct StructuralState {
    configuration: Arc<Mutex<StructuralConfiguration>>,
}

/// A running structural mock.
pub type RunningStructuralDevice = RunningMock<StructuralState>;

impl StructuralDevice {
    /// Starts a device on a port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    /// The structure is invalid or the port is in use.
    pub async fn start(
        options: StructuralOptions,
        port: u16,
    ) -> Result<RunningStructuralDevice, StartError> {
        fault::check_supported(&options.faults, MockKind::Structural)?;
        let configuration = StructuralConfiguration::new(&options.command_line, &options.config)?;
        let configuration = Arc::new(Mutex::new(configuration));
        let account = Account::new(&options.user, &options.password, &[], LoginMethods::All)?;
        let state = StructuralState {
            configuration: configuration.clone(),
        };
        let listen = ListenOptions {
            name: &options.name,
            port,
            faults: &options.faults,
            log: None,
            exchanges_in_memory: options.exchanges_in_memory,
        };
        let (running, listener) = RunningMock::listen(state, listen).await?;
        let context = TerminalContext {
            faults: running.faults.clone(),
            command_line: Arc::new(options.command_line),
            configuration,
            script: None,
            log: running.log.clone(),
        };
        let new_terminal = move |connection, _| {
            let terminal = StructuralTerminal::new(context.clone(), connection);
            Box::new(terminal) as Box<dyn Terminal>
        };
        let server = ssh_server::server(&running, account, new_terminal);
        running.accept(listener, server);
        Ok(running)
    }
}

impl RunningStructuralDevice {
    /// The host key.
    pub fn host_key(&self) -> HostKey {
        HostKey::of_this_process()
    }

    /// The configuration as the device prints it.
    pub fn running_config(&self) -> String {
        lock(&self.device.configuration).text()
    }
}

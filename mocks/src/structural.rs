//! A device with any command line, REST interface or NETCONF configuration, from a description of its
//! structure.
//!
//! It keeps lines and blocks, objects or elements, and prints them as its configuration. The description
//! comes from the definition that is tried, so that the two cannot contradict each other: the mock
//! accepts what the structure permits, also what a real device refuses.

mod configuration;
mod list_line;
mod node;
mod rest;
mod set_line;
mod shape;
mod terminal;

use std::sync::{Arc, Mutex};

use switchtender_outline::{CommandLine, NetconfInterface, RestInterface};

use crate::control::lock;
use crate::fault::{self, Fault, MockKind, UnsupportedFault};
use crate::http_server;
use crate::netconf_server::{self, InvalidConfiguration, NetconfDevice};
use crate::running::{ListenError, ListenOptions, RunningMock};
pub use crate::shape_pattern::InvalidShape;
use crate::ssh_server::{self, Account, HostKey, InvalidKey, LoginMethods};
use crate::terminal::Terminal;
use crate::tls;
pub(crate) use configuration::StructuralConfiguration;
use rest::{RestDevice, RestService};
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
    /// What it speaks.
    pub interface: StructuralInterface,
    /// Maximum number of exchanges in memory; the oldest are removed.
    pub exchanges_in_memory: usize,
    /// The faults to inject.
    pub faults: Vec<Fault>,
}

/// The interface of a structural mock.
#[derive(Debug, Clone)]
pub enum StructuralInterface {
    /// A command line over SSH.
    CommandLine {
        /// Its structure.
        structure: Box<CommandLine>,
        /// Initial configuration, as the device prints it.
        config: String,
    },
    /// REST over HTTPS.
    Rest(Box<RestInterface>),
    /// NETCONF over SSH.
    Netconf(Box<NetconfInterface>),
}

/// Why a device with a described structure or a recording cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Lines in requests need a command line.
    #[error("the device has no command line")]
    NoCommandLine,
    /// A pattern of the structure is invalid.
    #[error(transparent)]
    Shape(#[from] InvalidShape),
    /// The NETCONF configuration is invalid.
    #[error(transparent)]
    Configuration(#[from] InvalidConfiguration),
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

/// What a running structural mock stores.
#[derive(Debug)]
pub struct StructuralState(StoredConfiguration);

#[derive(Debug, Clone)]
enum StoredConfiguration {
    Lines(Arc<CommandLine>, Arc<Mutex<StructuralConfiguration>>),
    Objects(Arc<RestDevice>),
    Elements(Arc<Mutex<NetconfDevice>>),
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
        let kind = options.interface.mock_kind();
        fault::check_supported(&options.faults, kind)?;
        let account = Account::new(&options.user, &options.password, &[], LoginMethods::All)?;
        let login = (options.user.as_str(), options.password.as_str());
        let stored = match options.interface {
            StructuralInterface::CommandLine { structure, config } => {
                let configuration = StructuralConfiguration::new(&structure, &config)?;
                let configuration = Arc::new(Mutex::new(configuration));
                StoredConfiguration::Lines(Arc::new(*structure), configuration)
            }
            StructuralInterface::Rest(interface) => {
                StoredConfiguration::Objects(Arc::new(RestDevice::new(*interface, login)?))
            }
            StructuralInterface::Netconf(interface) => {
                let device = NetconfDevice::new(&interface)?;
                StoredConfiguration::Elements(Arc::new(Mutex::new(device)))
            }
        };
        let state = StructuralState(stored.clone());
        let listen = ListenOptions {
            name: &options.name,
            port,
            faults: &options.faults,
            log: None,
            exchanges_in_memory: options.exchanges_in_memory,
        };
        let (running, listener) = RunningMock::listen(state, listen).await?;
        match stored {
            StoredConfiguration::Lines(command_line, configuration) => {
                let context = TerminalContext {
                    faults: running.faults.clone(),
                    command_line,
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
            }
            StoredConfiguration::Objects(device) => {
                let service = RestService {
                    device,
                    faults: running.faults.clone(),
                    log: running.log.clone(),
                };
                running.accept(listener, http_server::server(&running, service));
            }
            StoredConfiguration::Elements(device) => {
                let server = netconf_server::server(&running, account, device);
                running.accept(listener, server);
            }
        }
        Ok(running)
    }
}

impl StructuralInterface {
    fn mock_kind(&self) -> MockKind {
        match self {
            Self::CommandLine { .. } => MockKind::Structural,
            Self::Rest(_) => MockKind::StructuralRest,
            Self::Netconf(_) => MockKind::NetconfServer,
        }
    }
}

impl RunningStructuralDevice {
    /// The host key; `None` if the device has a certificate.
    pub fn host_key(&self) -> Option<HostKey> {
        let has_certificate = matches!(self.device.0, StoredConfiguration::Objects(_));
        (!has_certificate).then(HostKey::of_this_process)
    }

    /// SHA-256 of the certificate of a device with HTTPS, `AB:CD:…`.
    pub fn fingerprint(&self) -> String {
        tls::fingerprint()
    }

    /// The authority of the certificate of a device with HTTPS, as PEM.
    pub fn ca_pem(&self) -> String {
        tls::authority_pem()
    }

    /// The token of requests, if no request issues one: the password.
    pub fn token(&self) -> Option<String> {
        match &self.device.0 {
            StoredConfiguration::Objects(device) => device.token(),
            StoredConfiguration::Lines(..) | StoredConfiguration::Elements(_) => None,
        }
    }

    /// The configuration as reads return it.
    pub fn running_config(&self) -> String {
        match &self.device.0 {
            StoredConfiguration::Lines(_, configuration) => lock(configuration).text(),
            StoredConfiguration::Objects(device) => device.text(),
            StoredConfiguration::Elements(device) => lock(device).text(),
        }
    }
}

//! A device that answers from a recording: a command line or NETCONF over SSH, or REST over HTTPS.
//!
//! It has no configuration. Each request has the answers of the recording in their order, the last
//! one again and again. A request that the recording does not have is refused and reported.

mod netconf;
mod rest;

use std::sync::{Arc, Mutex};

use switchtender_outline::{CommandLine, RestSession};

use crate::control::lock;
pub use crate::replay_script::{DepartureReport, RecordedAnswer};
use crate::replay_script::{ReplayScript, SharedScript};
use crate::running::{ListenOptions, RunningMock};
use crate::ssh_server::{self, Account, HostKey, LoginMethods};
use crate::structural::{StartError, StructuralConfiguration, StructuralTerminal, TerminalContext};
use crate::terminal::Terminal;
use crate::tls;
use netconf::NetconfTerminal;

/// Options of a device with recorded answers.
#[derive(Debug, Clone)]
pub struct ReplayOptions {
    /// Name in the log.
    pub name: String,
    /// User name for login.
    pub user: String,
    /// Password for login.
    pub password: String,
    /// What the device speaks.
    pub protocol: ReplayProtocol,
    /// Requests and answers in their order.
    pub answers: Vec<RecordedAnswer>,
    /// Is called with each request that the recording does not have.
    pub report: DepartureReport,
}

/// The protocol of a device with recorded answers.
#[derive(Debug, Clone)]
pub enum ReplayProtocol {
    /// A command line over SSH.
    CommandLine(Box<CommandLine>),
    /// REST over HTTPS.
    Rest(Box<RestSession>),
    /// NETCONF over SSH.
    Netconf,
}

/// A kind of mock device.
#[derive(Debug)]
pub struct ReplayDevice;

/// The answers of a running device.
#[derive(Debug)]
pub struct ReplayState {
    script: SharedScript,
    is_rest: bool,
}

/// A running device with recorded answers.
pub type RunningReplayDevice = RunningMock<ReplayState>;

impl ReplayDevice {
    /// Starts a device on a port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    /// The description of the command line is invalid or the port is in use.
    pub async fn start(
        options: ReplayOptions,
        port: u16,
    ) -> Result<RunningReplayDevice, StartError> {
        let script = ReplayScript::new(options.answers, options.report);
        let script = Arc::new(Mutex::new(script));
        let account = Account::new(&options.user, &options.password, &[], LoginMethods::All)?;
        let state = ReplayState {
            script: script.clone(),
            is_rest: matches!(options.protocol, ReplayProtocol::Rest(_)),
        };
        let listen = ListenOptions {
            name: &options.name,
            port,
            faults: &[],
            log: None,
            exchanges_in_memory: 0,
        };
        let (running, listener) = RunningMock::listen(state, listen).await?;
        match options.protocol {
            ReplayProtocol::CommandLine(command_line) => {
                let configuration = StructuralConfiguration::new(&command_line, "")?;
                let context = TerminalContext {
                    command_line: Arc::new(*command_line),
                    configuration: Arc::new(Mutex::new(configuration)),
                    script: Some(script),
                    log: running.log.clone(),
                    faults: running.faults.clone(),
                };
                let new_terminal = move |connection, _| {
                    let terminal = StructuralTerminal::new(context.clone(), connection);
                    Box::new(terminal) as Box<dyn Terminal>
                };
                let server = ssh_server::server(&running, account, new_terminal);
                running.accept(listener, server);
            }
            ReplayProtocol::Netconf => {
                let new_terminal =
                    move |_, _| Box::new(NetconfTerminal::new(script.clone())) as Box<dyn Terminal>;
                let server = ssh_server::server(&running, account, new_terminal);
                running.accept(listener, server);
            }
            ReplayProtocol::Rest(dialect) => {
                running.accept(listener, rest::server(*dialect, script)?);
            }
        }
        Ok(running)
    }
}

impl RunningReplayDevice {
    /// The host key; `None` if the device has a certificate.
    pub fn host_key(&self) -> Option<HostKey> {
        (!self.device.is_rest).then(HostKey::of_this_process)
    }

    /// SHA-256 of the certificate of a device with HTTPS, `AB:CD:…`.
    pub fn fingerprint(&self) -> String {
        tls::fingerprint()
    }

    /// The requests so far that the recording does not have.
    pub fn departures(&self) -> Vec<String> {
        lock(&self.device.script).departures().to_vec()
    }
}

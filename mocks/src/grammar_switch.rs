//! A switch with the command line of any platform, from a grammar that is data.
//!
//! Grammars are in `mocks/grammars`, and are written from command references of the vendors and from public
//! recordings of devices, never from definitions: mock and definition can contradict each other. The
//! switch is strict: it refuses what has no row. It serves SSH, and HTTPS on another port, with the
//! same state.
//!
//! Start reading with `command_grammar.rs` (the format), then `config_editor.rs` (a line of the
//! configuration), `line_session.rs` (a session) and `printed_config.rs`.

mod argument;
mod block_position;
mod command_grammar;
mod config_editor;
mod config_node;
mod device_state;
mod effective_line;
mod exec_action;
mod grammar_row;
mod interface_kind;
mod line_session;
mod line_terminal;
mod number_list;
mod offline;
mod output;
mod platform_settings;
mod printed_config;
mod request;
mod stored_text;
mod syntax;
mod typed_line;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::command_api::CommandApiContext;
use crate::control::{SharedWriter, lock};
use crate::fault::{self, Fault, MockKind, UnsupportedFault};
use crate::http_server;
use crate::running::{ListenError, ListenOptions, RunningMock};
use crate::serial_number;
use crate::ssh_server::{self, Account, HostKey, InvalidKey, LoginMethods};
use crate::terminal::Terminal;
use crate::tls;
use command_grammar::CommandGrammar;
pub use command_grammar::{GrammarError, platforms};
use device_state::GrammarDevice;
use line_terminal::{GrammarContext, LineTerminal};
pub use offline::{OfflineGrammarSwitch, OfflineRefusal};
use printed_config::PrintedLines;
use request::new_sessions;

/// Options of a switch.
#[derive(Debug, Clone)]
pub struct GrammarSwitchOptions {
    /// Its platform, one of [`platforms`].
    pub platform: String,
    /// Name in the log.
    pub name: String,
    /// Host name, unless the configuration sets it.
    pub hostname: String,
    /// User name for login.
    pub user: String,
    /// Password for login.
    pub password: String,
    /// Initial running configuration; `None` for the factory default.
    pub config: Option<String>,
    /// Faults to inject.
    pub faults: Vec<Fault>,
    /// A writer for exchanges, in addition to memory.
    pub log: Option<SharedWriter>,
    /// Maximum number of exchanges in memory; the oldest are removed.
    pub exchanges_in_memory: usize,
}

/// Why a switch cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartGrammarSwitchError {
    /// The platform has no grammar, or an invalid one.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// The login is invalid.
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
pub struct GrammarSwitch;

/// The state of a running switch.
#[derive(Debug)]
pub struct GrammarSwitchState {
    device: Arc<Mutex<GrammarDevice>>,
    platform: String,
    /// The listener for requests; it serves the same device.
    requests: RunningMock<()>,
}

/// A running switch.
pub type RunningGrammarSwitch = RunningMock<GrammarSwitchState>;

impl GrammarSwitchOptions {
    /// A switch of a platform with user `admin` and password `admin`.
    pub fn new(platform: &str, name: &str) -> Self {
        Self {
            platform: platform.to_owned(),
            name: name.to_owned(),
            hostname: name.to_owned(),
            user: "admin".to_owned(),
            password: "admin".to_owned(),
            config: None,
            faults: Vec::new(),
            log: None,
            exchanges_in_memory: 100_000,
        }
    }
}

impl GrammarSwitch {
    /// Starts a switch on a port of 127.0.0.1 for SSH, and on a free one for HTTPS; 0 selects a free
    /// one.
    ///
    /// # Errors
    /// The options are invalid or the port is in use.
    pub async fn start(
        options: GrammarSwitchOptions,
        port: u16,
    ) -> Result<RunningGrammarSwitch, StartGrammarSwitchError> {
        fault::check_supported(&options.faults, MockKind::Structural)?;
        let grammar = Arc::new(CommandGrammar::load(&options.platform)?);
        let form = grammar.settings.api.form;
        let account = Account::new(&options.user, &options.password, &[], LoginMethods::All)?;
        let device = new_device(grammar, &options);
        let device = Arc::new(Mutex::new(device));
        let listen = |port| ListenOptions {
            name: &options.name,
            port,
            faults: &options.faults,
            log: options.log.clone(),
            exchanges_in_memory: options.exchanges_in_memory,
        };
        let (requests, request_listener) = RunningMock::listen((), listen(0)).await?;
        let state = GrammarSwitchState {
            device: device.clone(),
            platform: options.platform.clone(),
            requests,
        };
        let (running, listener) = RunningMock::listen(state, listen(port)).await?;
        let context = GrammarContext {
            device,
            faults: running.faults.clone(),
            log: running.log.clone(),
        };
        let login = (options.user.as_str(), options.password.as_str());
        let api = CommandApiContext::new(form, login, new_sessions(context.clone()));
        let requests = &running.device.requests;
        requests.accept(request_listener, http_server::server(requests, api));
        let new_terminal = move |connection, _| {
            let terminal = LineTerminal::new(context.clone(), connection, &options.user);
            Box::new(terminal) as Box<dyn Terminal>
        };
        let server = ssh_server::server(&running, account, new_terminal);
        running.accept(listener, server);
        Ok(running)
    }
}

fn new_device(grammar: Arc<CommandGrammar>, options: &GrammarSwitchOptions) -> GrammarDevice {
    let serial = serial_number(&options.name);
    GrammarDevice::new(
        grammar,
        &options.hostname,
        serial,
        options.config.as_deref(),
    )
}

impl RunningGrammarSwitch {
    /// The host key of SSH.
    pub fn host_key(&self) -> HostKey {
        HostKey::of_this_process()
    }

    /// The platform of its grammar.
    pub fn platform(&self) -> &str {
        &self.device.platform
    }

    /// The address for requests over HTTPS.
    pub fn request_address(&self) -> SocketAddr {
        self.device.requests.address()
    }

    /// The SHA-256 fingerprint of the certificate of HTTPS.
    pub fn fingerprint(&self) -> String {
        tls::fingerprint()
    }

    /// The authority of the certificate of HTTPS, as PEM.
    pub fn ca_pem(&self) -> String {
        tls::authority_pem()
    }

    /// The running configuration without header.
    pub fn running_config(&self) -> String {
        let mut device = lock(&self.device.device);
        device.expire();
        device
            .lines(&device.running, PrintedLines::Changed)
            .join("\n")
            + "\n"
    }

    /// Whether the running configuration is saved.
    pub fn is_saved(&self) -> bool {
        let device = lock(&self.device.device);
        device.startup.as_ref() == Some(&device.running)
    }

    /// Sets the clock of the device forward. A timed change that is not confirmed by then is reverted.
    pub fn advance_clock(&self, time: Duration) {
        let mut device = lock(&self.device.device);
        device.clock_advance += time;
        device.expire();
    }

    /// Whether the device reverts a change unless it is confirmed.
    pub fn is_revert_pending(&self) -> bool {
        lock(&self.device.device).timed_change.is_some()
    }

    /// Keeps the terminal lines of lost connections in use, as a device whose peer has vanished.
    pub fn keep_lost_sessions(&self) {
        lock(&self.device.device).terminals.keeps_lost = true;
    }

    /// The sessions: number of the line, and user.
    pub fn sessions(&self) -> Vec<(u64, String)> {
        let device = lock(&self.device.device);
        let lines = device.terminals.iter();
        lines.map(|line| (line.number, line.user.clone())).collect()
    }

    /// Lines of the initial configuration that the grammar does not have and that remain as text.
    pub fn unknown_lines(&self) -> Vec<String> {
        lock(&self.device.device).unknown_lines.clone()
    }
}

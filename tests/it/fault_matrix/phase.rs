//! Phases of a run, and the phase of each command.

use switchtender_mocks::Exchange;

use super::scenario::Platform;

/// A phase of the run of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Connect,
    Login,
    Facts,
    Read,
    Change,
    Verify,
    Save,
    /// The session is closed, and the report is written.
    Report,
}

impl Phase {
    pub(super) const ALL: [Self; 8] = [
        Self::Connect,
        Self::Login,
        Self::Facts,
        Self::Read,
        Self::Change,
        Self::Verify,
        Self::Save,
        Self::Report,
    ];
}

/// A command as faults count it, and its phase.
#[derive(Clone, Debug)]
pub(super) struct PhasedCommand {
    pub(super) command: String,
    pub(super) phase: Phase,
}

/// The commands of a run. Passwords, answers and file names are input of their command.
pub(super) fn commands(platform: Platform, exchanges: &[Exchange]) -> Vec<PhasedCommand> {
    let mut after_change = false;
    let mut commands = Vec::new();
    for exchange in exchanges {
        if ["password", "confirm", "filename"].contains(&exchange.mode.as_str()) {
            continue;
        }
        let (command, phase) = match platform {
            Platform::CiscoIos => line(exchange, after_change),
            Platform::F5Bigip => request(exchange, after_change),
        };
        after_change |= phase == Phase::Change;
        commands.push(PhasedCommand { command, phase });
    }
    commands
}

fn line(exchange: &Exchange, after_change: bool) -> (String, Phase) {
    let line = exchange.received.as_str();
    let is_state = line.starts_with("show running-config") || line.starts_with("show vlan");
    let phase = if line.starts_with("copy ") || line.starts_with("write") {
        Phase::Save
    } else if exchange.mode.starts_with("config") || line.starts_with("configure") {
        Phase::Change
    } else if line.starts_with("show ") {
        match (after_change, is_state) {
            (true, _) => Phase::Verify,
            (false, true) => Phase::Read,
            (false, false) => Phase::Facts,
        }
    } else if ["exit", "logout", "quit"].contains(&line) {
        Phase::Report
    } else {
        Phase::Login
    };
    (line.to_owned(), phase)
}

fn request(exchange: &Exchange, after_change: bool) -> (String, Phase) {
    let mut words = exchange.received.split(' ');
    let method = words.next().unwrap_or_default();
    let target = words.next().unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default();
    let phase = if path.starts_with("/mgmt/shared/auth") {
        match method {
            "DELETE" => Phase::Report,
            _ => Phase::Login,
        }
    } else if method == "POST" && path.starts_with("/mgmt/tm/sys/config") {
        Phase::Save
    } else if method != "GET" {
        Phase::Change
    } else if after_change {
        Phase::Verify
    } else if path.starts_with("/mgmt/tm/ltm") {
        Phase::Read
    } else {
        Phase::Facts
    };
    (format!("{method} {path}"), phase)
}

//! The table of faults: one row per fault, from which parser, help and checks are made.
//!
//! To add a fault, add a row here, then handle its kind where it acts: text of answers and prompts in
//! `cli_switch/shell.rs`, withheld commands in `shell/fault_state.rs`, echo and keys in
//! `shell/line_editor.rs`, the connection in `ssh_server.rs`, HTTP in `http_server.rs`.

use std::fmt;

use super::argument::ArgumentFormat;

/// A kind of mock device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MockKind {
    /// A switch over SSH.
    Switch,
    /// A load balancer over HTTPS.
    LoadBalancer,
    /// A NETCONF server over SSH.
    NetconfServer,
    /// A structural mock with a command line over SSH.
    Structural,
    /// A structural mock with REST over HTTPS.
    StructuralRest,
}

impl fmt::Display for MockKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            MockKind::Switch => "switch",
            MockKind::LoadBalancer => "load balancer",
            MockKind::NetconfServer => "NETCONF server",
            MockKind::Structural => "platform",
            MockKind::StructuralRest => "platform with REST",
        })
    }
}

const EACH: &[MockKind] = &[
    MockKind::Switch,
    MockKind::LoadBalancer,
    MockKind::NetconfServer,
    MockKind::Structural,
    MockKind::StructuralRest,
];
const SESSIONS: &[MockKind] = &[MockKind::Switch, MockKind::NetconfServer];
const LINES: &[MockKind] = &[
    MockKind::Switch,
    MockKind::LoadBalancer,
    MockKind::Structural,
    MockKind::StructuralRest,
];
const BOTH: &[MockKind] = &[
    MockKind::Switch,
    MockKind::LoadBalancer,
    MockKind::StructuralRest,
];
const SWITCH: &[MockKind] = &[MockKind::Switch];
const NETCONF: &[MockKind] = &[MockKind::NetconfServer];
const LOAD_BALANCER: &[MockKind] = &[MockKind::LoadBalancer, MockKind::StructuralRest];

/// A row of the table.
#[derive(Debug)]
pub struct FaultDescription {
    /// The fault.
    pub kind: FaultKind,
    /// Name on the command line.
    pub name: &'static str,
    /// Format of the text after the equals sign.
    pub argument: ArgumentFormat,
    /// A complete fault, as written on the command line.
    pub example: &'static str,
    /// Mocks that support the fault.
    pub mocks: &'static [MockKind],
    /// The effect, as a verb phrase.
    pub help: &'static str,
}

impl FaultDescription {
    /// Name and argument, for example `drop-after=N|REGEX`.
    pub fn syntax(&self) -> String {
        format!("{}={}", self.name, self.argument)
    }

    /// Whether a mock supports the fault.
    pub fn is_supported_by(&self, mock: MockKind) -> bool {
        self.mocks.contains(&mock)
    }
}

macro_rules! fault_table {
    ($($kind:ident, $name:literal, $argument:ident, $example:literal, $mocks:ident, $help:literal;)*) => {
        /// The effect of a fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum FaultKind {
            $(#[doc = $help] $kind,)*
        }

        /// All faults, in the order of the help.
        pub const FAULTS: &[FaultDescription] = &[
            $(FaultDescription {
                kind: FaultKind::$kind,
                name: $name,
                argument: ArgumentFormat::$argument,
                example: $example,
                mocks: $mocks,
                help: $help,
            },)*
        ];
    };
}

fault_table! {
    Latency, "latency", Time, "latency=20ms", EACH,
        "delay everything that the device sends by TIME";
    DropAfter, "drop-after", Once, "drop-after=3", EACH,
        "close the connection on a command, without executing it";
    DropUnanswered, "drop-unanswered", Once, "drop-unanswered=^vlan 30", EACH,
        "execute a command, then close the connection without an answer";
    DropAtByte, "drop-at-byte", Bytes, "drop-at-byte=1000", LINES,
        "close the connection after N bytes of output";
    StallAfter, "stall-after", Once, "stall-after=^show version", EACH,
        "never answer a command or any later one on the connection";
    GarbageAfter, "garbage-after", Once, "garbage-after=5", BOTH,
        "answer a command with random bytes";
    DripBytes, "drip-bytes", Once, "drip-bytes=^show version", BOTH,
        "execute a command, then send one byte every 50 ms without end";
    Flood, "flood", Once, "flood=<connect>", BOTH,
        "execute a command, then send 8 MB per second without line ends and without end";
    Busy, "busy", Deferred, "busy=^vlan 30 for 5s", BOTH,
        "execute and answer a command after TIME, even if the client disconnects";
    LateEffect, "late-effect", Deferred, "late-effect=^vlan 30 for 5s", BOTH,
        "close the connection on a command, and execute it after TIME";
    UnlistedAnswer, "unlisted-answer", EachWithText, "unlisted-answer=^mtu => Low on memory", LINES,
        "execute matching commands, and answer TEXT instead of their output";
    Refuse, "refuse", EachWithText, "refuse=^name two => % Bad VLAN name", EACH,
        "refuse matching commands, with TEXT as the message";
    LoginRefused, "login-refused", Logins, "login-refused=1", EACH,
        "refuse the first N logins";
    LoginRefusedAt, "login-refused-at", Logins, "login-refused-at=2", EACH,
        "refuse the login with number N";
    LostWrite, "lost-write", Each, "lost-write=^vlan", LINES,
        "accept matching writes and discard them";
    Slow, "slow", Time, "slow=1ms", LINES,
        "pause for TIME between bytes (switch) or chunks (load balancer) of output";
    DripLines, "drip-lines", Once, "drip-lines=^show version", SWITCH,
        "execute a command, then send one line every 50 ms without end";
    EndlessPager, "endless-pager", Once, "endless-pager=^show version", SWITCH,
        "page the output of a command without end";
    EndlessQuestion, "endless-question", Once, "endless-question=^vlan 30", SWITCH,
        "ask a question instead of executing a command, and again after each answer";
    ModeLost, "mode-lost", Once, "mode-lost=^name two", SWITCH,
        "leave the mode of the session instead of executing a command";
    CutOff, "cut-off", Once, "cut-off=^shutdown", SESSIONS,
        "execute a command, then refuse all connections until an earlier configuration is restored";
    Restart, "restart", Once, "restart=^vlan 30", SESSIONS,
        "restart with the saved configuration instead of executing a command";
    LostRevert, "lost-revert", Each, "lost-revert=^configure terminal revert", SESSIONS,
        "keep the configuration when the timer of a matching command expires";
    Locked, "locked", Each, "locked=^<lock>", NETCONF,
        "from a matching command on, another session holds the lock of the candidate as soon as it is free";
    Confirm, "confirm", Each, "confirm=^reload", SWITCH,
        "ask an unexpected confirmation question";
    SyslogAfter, "syslog-after", Once, "syslog-after=^show", SWITCH,
        "print a log message in the middle of the output";
    HalfBody, "half-body", Once, "half-body=^GET /mgmt/tm/ltm/pool", LOAD_BALANCER,
        "send half of the response body, then close the connection";
    ErrorStatus, "error-status", Status, "error-status=502 ^POST", LOAD_BALANCER,
        "execute a request, then answer it with an HTTP error";
    Unavailable, "unavailable", First, "unavailable=2 ^GET", LOAD_BALANCER,
        "answer the first N (matching) requests with status 503";
}

impl FaultKind {
    /// The row of this fault.
    pub fn description(self) -> &'static FaultDescription {
        &FAULTS[self as usize]
    }
}

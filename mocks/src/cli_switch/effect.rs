//! What an understood line does: most are stored as the rule says, some run code.

use super::configure::{Command, Configuring};

/// The effect of a configuration line.
#[derive(Clone, Copy)]
pub enum Effect {
    /// The line is kept under its identity; `no` takes it out.
    Store,
    /// The same, but a line with this text is the default and is not kept.
    Unless(&'static str),
    /// On without being printed; the `no` form is what is kept.
    OnByDefault,
    /// Code decides.
    Run(fn(&mut Configuring<'_>, &Command) -> Reply),
    /// A command of the exec modes, run by the shell.
    Exec(ExecCommand),
}

/// What the device does in answer to a configuration line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing but the next prompt.
    Silent,
    /// Lines of text.
    Say(String),
    /// A question; the same command comes again with `confirmed` when the answer is yes.
    Ask(String),
    /// Text follows until the delimiter.
    Collect {
        /// `banner motd` …
        identity: String,
        /// What was on the first line after the delimiter.
        begun: String,
        /// The character that ends the text.
        delimiter: String,
    },
    /// The word of this index was not acceptable after all.
    Invalid(usize),
    /// More words are needed after all.
    Incomplete,
}

/// Commands of the exec modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecCommand {
    /// `enable`
    Enable,
    /// `disable`
    Disable,
    /// `exit`, `logout`, `quit`
    Exit,
    /// `configure terminal`
    Configure,
    /// `configure terminal revert timer N`
    ConfigureRevert,
    /// `configure confirm`
    ConfigureConfirm,
    /// `configure replace …`
    ConfigureReplace,
    /// `terminal length N`
    TerminalLength,
    /// `terminal width N`
    TerminalWidth,
    /// Other `terminal` settings, accepted without effect.
    TerminalOther,
    /// `show …`
    Show(Show),
    /// `write memory`
    WriteMemory,
    /// `copy running-config startup-config`
    CopyToStartup,
    /// `clear …`, accepted without effect.
    Clear,
}

/// What can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// `show version`
    Version,
    /// `show running-config`
    RunningConfig,
    /// `show running-config interface X`
    RunningConfigInterface,
    /// `show startup-config`
    StartupConfig,
    /// `show privilege`
    Privilege,
    /// `show vlan brief`
    VlanBrief,
    /// `show interfaces switchport`
    Switchport,
    /// `show interfaces status`
    InterfaceStatus,
    /// `show ip access-lists`
    AccessLists,
    /// `show snmp user`
    SnmpUser,
    /// `show spanning-tree summary`
    SpanningTreeSummary,
    /// `show vrf`
    Vrf,
    /// `show clock`
    Clock,
    /// `show ip interface brief`
    IpInterfaceBrief,
    /// `show etherchannel summary`
    EtherchannelSummary,
}

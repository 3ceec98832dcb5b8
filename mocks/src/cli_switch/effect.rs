//! Effects of parsed lines. Most lines are stored, some run code.

use super::configure::{Command, ConfigSession};
use super::grammar::block_kind::BlockKind;

/// The effect of a configuration line.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// The line is stored by its identity; `no` removes it.
    Store,
    /// Like `Store`, but a line with this text is the default and is not stored.
    Unless(&'static str),
    /// The line is the default and not printed; its `no` form is stored.
    OnByDefault,
    /// The line and its `no` form are both printed, whichever was last.
    BothForms,
    /// The line opens a block; `no` removes it with its lines.
    Enter(BlockKind),
    /// A function executes the line.
    Run(fn(&mut ConfigSession<'_>, &Command) -> Reply),
    /// A command of the exec modes, run by the shell.
    Exec(ExecCommand),
}

/// The answer to a configuration line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// Only the next prompt.
    Silent,
    /// Lines of text.
    Text(String),
    /// A question. After a positive answer the command runs again with `confirmed`.
    Ask(String),
    /// The device reads text until the delimiter.
    Collect {
        /// `banner motd` …
        identity: String,
        /// Text after the delimiter on the first line.
        started: String,
        /// The character that ends the text.
        delimiter: String,
    },
    /// The word of this index is invalid.
    Invalid(usize),
    /// Words are missing.
    Incomplete,
}

/// Commands of the exec modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExecCommand {
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
    /// `configure revert now`
    ConfigureRevertNow,
    /// `configure revert timer N`
    ConfigureRevertTimer,
    /// `archive config`
    ArchiveConfig,
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
    /// `reload`, `reload in …`
    Reload,
    /// `reload cancel`
    ReloadCancel,
    /// `clear …`, accepted without effect.
    Clear,
    /// `show users`
    ShowUsers,
    /// `clear line N`
    ClearLine,
}

/// Objects of `show`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    /// `show version`
    Version,
    /// `show running-config`
    RunningConfig,
    /// `show running-config interface X`
    RunningConfigInterface,
    /// `show startup-config`
    StartupConfig,
    /// `show archive`
    Archive,
    /// `show archive config rollback timer`
    RollbackTimer,
    /// `show reload`
    Reload,
    /// `show privilege`
    Privilege,
    /// `show vlan brief`
    VlanBrief,
    /// `show vtp status`
    VtpStatus,
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

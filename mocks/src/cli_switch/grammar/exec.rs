//! Commands of the exec modes.

use super::{Rule, RuleScope, always};
use crate::cli_switch::effect::{Effect, ExecCommand, Show};

const fn rule(pattern: &'static str, command: ExecCommand) -> Rule {
    Rule {
        pattern,
        effect: Effect::Exec(command),
        when: always,
    }
}

const fn privileged(pattern: &'static str, command: ExecCommand) -> Rule {
    Rule {
        pattern,
        effect: Effect::Exec(command),
        when: is_privileged,
    }
}

const fn on_switches(pattern: &'static str, command: ExecCommand) -> Rule {
    Rule {
        pattern,
        effect: Effect::Exec(command),
        when: is_switch,
    }
}

fn is_switch(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_switching
}

fn is_privileged(scope: &RuleScope<'_>) -> bool {
    scope.privileged
}

/// All rules of the mode.
pub(crate) const RULES: &[Rule] = &[
    rule("enable [<0-15>]", ExecCommand::Enable),
    rule("disable [<0-15>]", ExecCommand::Disable),
    rule("exit", ExecCommand::Exit),
    rule("logout", ExecCommand::Exit),
    rule("quit", ExecCommand::Exit),
    rule("terminal length <0-512>", ExecCommand::TerminalLength),
    rule("terminal width <0-512>", ExecCommand::TerminalWidth),
    rule("terminal no monitor", ExecCommand::TerminalOther),
    privileged("terminal monitor", ExecCommand::TerminalOther),
    rule("terminal no history", ExecCommand::TerminalOther),
    rule(
        "terminal history [size <0-256>]",
        ExecCommand::TerminalOther,
    ),
    privileged("configure [terminal]", ExecCommand::Configure),
    privileged(
        "configure terminal revert timer <1-120>",
        ExecCommand::ConfigureRevert,
    ),
    privileged("configure confirm", ExecCommand::ConfigureConfirm),
    privileged("configure revert now", ExecCommand::ConfigureRevertNow),
    privileged(
        "configure revert timer <1-120>",
        ExecCommand::ConfigureRevertTimer,
    ),
    privileged(
        "configure replace <word> [force]",
        ExecCommand::ConfigureReplace,
    ),
    privileged("archive config", ExecCommand::ArchiveConfig),
    privileged("show archive", ExecCommand::Show(Show::Archive)),
    privileged(
        "show archive config rollback timer",
        ExecCommand::Show(Show::RollbackTimer),
    ),
    privileged("reload [in <delay> [<line>]]", ExecCommand::Reload),
    privileged("reload cancel", ExecCommand::ReloadCancel),
    privileged("show reload", ExecCommand::Show(Show::Reload)),
    privileged("write [memory]", ExecCommand::WriteMemory),
    privileged(
        "copy running-config startup-config",
        ExecCommand::CopyToStartup,
    ),
    privileged(
        "clear (logging | counters | host <word> | ip arp | mac address-table)",
        ExecCommand::Clear,
    ),
    rule("show version", ExecCommand::Show(Show::Version)),
    privileged(
        "show running-config [all]",
        ExecCommand::Show(Show::RunningConfig),
    ),
    privileged(
        "show running-config interface <interface>",
        ExecCommand::Show(Show::RunningConfigInterface),
    ),
    privileged(
        "show startup-config",
        ExecCommand::Show(Show::StartupConfig),
    ),
    rule("show privilege", ExecCommand::Show(Show::Privilege)),
    on_switches("show vlan [brief]", ExecCommand::Show(Show::VlanBrief)),
    on_switches("show vtp status", ExecCommand::Show(Show::VtpStatus)),
    on_switches(
        "show interfaces switchport",
        ExecCommand::Show(Show::Switchport),
    ),
    on_switches(
        "show interfaces <interface> switchport",
        ExecCommand::Show(Show::Switchport),
    ),
    on_switches(
        "show interfaces status",
        ExecCommand::Show(Show::InterfaceStatus),
    ),
    on_switches(
        "show interfaces <interface> status",
        ExecCommand::Show(Show::InterfaceStatus),
    ),
    rule(
        "show ip access-lists [<word>]",
        ExecCommand::Show(Show::AccessLists),
    ),
    rule(
        "show access-lists [<word>]",
        ExecCommand::Show(Show::AccessLists),
    ),
    rule("show snmp user", ExecCommand::Show(Show::SnmpUser)),
    on_switches(
        "show spanning-tree summary",
        ExecCommand::Show(Show::SpanningTreeSummary),
    ),
    rule("show vrf [brief]", ExecCommand::Show(Show::Vrf)),
    rule("show ip vrf [brief]", ExecCommand::Show(Show::Vrf)),
    rule("show clock", ExecCommand::Show(Show::Clock)),
    rule("show users", ExecCommand::ShowUsers),
    privileged("clear line <0-999>", ExecCommand::ClearLine),
    rule(
        "show ip interface brief",
        ExecCommand::Show(Show::IpInterfaceBrief),
    ),
    rule(
        "show etherchannel summary",
        ExecCommand::Show(Show::EtherchannelSummary),
    ),
];

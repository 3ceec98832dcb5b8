//! The program of the device: its version, services, name and processes.

use super::{blocks, keys, naming};
use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::block_kind::BlockKind;
use crate::cli_switch::grammar::{Rule, rule};

/// The program, its services and its name.
pub(super) const IDENTITY: &[Rule] = &[
    rule("version <word>", Effect::Run(nothing)),
    rule(
        "service timestamps debug ! [uptime | datetime (localtime | msec | show-timezone | year)*]",
        Effect::Store,
    ),
    rule(
        "service timestamps log ! [uptime | datetime (localtime | msec | show-timezone | year)*]",
        Effect::Store,
    ),
    rule(
        "configuration mode exclusive (auto | manual)",
        Effect::Store,
    ),
    rule(
        "service password-encryption",
        Effect::Run(keys::password_encryption),
    ),
    // Cisco IOS Configuration Fundamentals Command Reference, "service ...".
    rule(
        "service (dhcp | pad | password-recovery)",
        Effect::OnByDefault,
    ),
    rule(
        "service (call-home | compress-config | config | finger | internal | linenumber | nagle | sequence-numbers | tcp-keepalives-in | tcp-keepalives-out | tcp-small-servers | udp-small-servers | unsupported-transceiver)",
        Effect::Store,
    ),
    rule("hostname ! <word>", Effect::Run(naming::hostname)),
    rule("vrf definition <word>", Effect::Run(blocks::vrf)),
];

/// Processes, and scripts for events.
pub(super) const SCHEDULER: &[Rule] = &[
    // Cisco IOS Network Management Command Reference, "scheduler ..."; recording i0803, "no scheduler allocate".
    rule(
        "process-max-time ! <20-200>",
        Effect::Unless("process-max-time 200"),
    ),
    rule(
        "scheduler allocate ! <400-60000> <100-4000>",
        Effect::BothForms,
    ),
    rule("scheduler interval ! <500-4294967295>", Effect::Store),
    rule(
        "scheduler max-task-time ! <500-4294967295>",
        Effect::Unless("scheduler max-task-time 2000"),
    ),
    rule(
        "event manager applet <word>",
        Effect::Enter(BlockKind::Applet),
    ),
];

fn nothing(_: &mut ConfigSession<'_>, _: &Command) -> Reply {
    Reply::Silent
}

//! Global lines about ports and VLANs of a switch.

use super::has_switching;
use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::block_kind::BlockKind;
use crate::cli_switch::grammar::{Rule, on};
use crate::cli_switch::tree::Entry;
use crate::cli_switch::vlan_list::VlanList;
use crate::cli_switch::vtp;

/// The stack, and what ports are protected from.
pub(super) const RULES: &[Rule] = &[
    // "stack-mac persistent timer", "switch provision": Catalyst 3750 Command Reference.
    on(
        has_switching,
        "stack-mac persistent timer ! <0-60>",
        Effect::Store,
    ),
    on(
        has_switching,
        "switch <1-16> provision ! <word>",
        Effect::Store,
    ),
    // "ip device tracking" in the Catalyst 2960-X Command Reference, "device-tracking policy" in that of Catalyst 9300.
    on(
        has_switching,
        "ip device tracking probe count ! <1-255>",
        Effect::Unless("ip device tracking probe count 3"),
    ),
    on(
        has_switching,
        "ip device tracking probe interval ! <30-1814400>",
        Effect::Unless("ip device tracking probe interval 30"),
    ),
    on(
        has_switching,
        "ip device tracking probe delay ! <1-120>",
        Effect::Store,
    ),
    on(
        has_switching,
        "ip device tracking probe use-svi",
        Effect::Store,
    ),
    on(has_switching, "ip device tracking", Effect::Store),
    on(
        has_switching,
        "device-tracking policy <word>",
        Effect::Enter(BlockKind::DeviceTracking),
    ),
    // "udld": Catalyst 3560 Command Reference. The modes replace one another.
    on(
        has_switching,
        "udld message time ! <1-90>",
        Effect::Unless("udld message time 15"),
    ),
    on(
        has_switching,
        "udld (aggressive | enable)",
        Effect::Run(udld),
    ),
    // "ip arp inspection ...": Catalyst 3560 Command Reference.
    on(
        has_switching,
        "ip arp inspection vlan <vlan-list>",
        Effect::Run(inspected_vlans),
    ),
    on(
        has_switching,
        "ip arp inspection validate ! [src-mac] [dst-mac] [ip [allow-zeros]]",
        Effect::Store,
    ),
    on(
        has_switching,
        "ip arp inspection filter <word> vlan <vlan-list> [static]",
        Effect::Store,
    ),
    on(
        has_switching,
        "ip arp inspection log-buffer entries ! <0-1024>",
        Effect::Unless("ip arp inspection log-buffer entries 32"),
    ),
    // "ip dhcp snooping ..." in the Catalyst 3560 Command Reference.
    on(
        has_switching,
        "ip dhcp snooping vlan <vlan-list>",
        Effect::Run(snooped_vlans),
    ),
    on(
        has_switching,
        "ip dhcp snooping information option allow-untrusted",
        Effect::Store,
    ),
    on(
        has_switching,
        "ip dhcp snooping information option",
        Effect::OnByDefault,
    ),
    on(
        has_switching,
        "ip dhcp snooping verify mac-address",
        Effect::OnByDefault,
    ),
    on(
        has_switching,
        "ip dhcp snooping database (timeout | write-delay) ! <0-86400>",
        Effect::Store,
    ),
    on(
        has_switching,
        "ip dhcp snooping database ! <word>",
        Effect::Store,
    ),
    on(has_switching, "ip dhcp snooping", Effect::Store),
    // "errdisable detect", "errdisable recovery": Catalyst 3560 Command Reference.
    on(
        has_switching,
        "errdisable detect cause (all | arp-inspection | bpduguard | channel-misconfig | dhcp-rate-limit | dtp-flap | gbic-invalid | inline-power | link-flap | loopback | pagp-flap | psp | security-violation | sfp-config-mismatch | small-frame) ! [shutdown vlan]",
        Effect::OnByDefault,
    ),
    on(
        has_switching,
        "errdisable flap-setting cause (dtp-flap | link-flap | pagp-flap) ! max-flaps <1-100> time <1-120>",
        Effect::Store,
    ),
    on(
        has_switching,
        "errdisable recovery cause (all | arp-inspection | bpduguard | channel-misconfig | dhcp-rate-limit | dtp-flap | inline-power | link-flap | loopback | mac-limit | pagp-flap | port-mode-failure | psecure-violation | psp | security-violation | small-frame | storm-control | udld | vmps)",
        Effect::Store,
    ),
    on(
        has_switching,
        "errdisable recovery interval ! <30-86400>",
        Effect::Unless("errdisable recovery interval 300"),
    ),
];

/// VTP.
pub(super) const VTP: &[Rule] = &[
    // VTP: Catalyst 3560 Command Reference, "vtp (global configuration)"; recorded sessions with `vtp ...`.
    on(
        has_switching,
        "vtp domain ! <word>",
        Effect::Run(vtp::domain),
    ),
    on(
        has_switching,
        "vtp mode ! (server | client | transparent | off)",
        Effect::Run(vtp::mode),
    ),
    on(
        has_switching,
        "vtp version ! <1-3>",
        Effect::Run(vtp::version),
    ),
    on(has_switching, "vtp pruning", Effect::Run(vtp::pruning)),
    on(
        has_switching,
        "vtp password ! <word>",
        Effect::Run(vtp::password),
    ),
];

/// 802.1X.
pub(super) const DOT1X: &[Rule] = &[
    // 802.1X: published configurations with `dot1x critical eapol`.
    on(has_switching, "dot1x system-auth-control", Effect::Store),
    on(has_switching, "dot1x critical eapol", Effect::Store),
];

/// "ip dhcp snooping vlan" in the Catalyst 3560 Command Reference.
fn snooped_vlans(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    vlans(session, command, "ip dhcp snooping vlan")
}

/// "ip arp inspection vlan" in the Catalyst 3560 Command Reference.
fn inspected_vlans(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    vlans(session, command, "ip arp inspection vlan")
}

/// Adds VLANs, or removes some. One line has all of them.
fn vlans(session: &mut ConfigSession<'_>, command: &Command, identity: &str) -> Reply {
    let Some(named) = VlanList::parse(command.word(4)) else {
        return Reply::Invalid(4);
    };
    let root = &mut session.device.edit().root;
    let current = root.value(identity).and_then(VlanList::parse);
    let current = current.unwrap_or_default();
    let vlans = if command.is_set() {
        current.union(&named)
    } else {
        current.without(&named)
    };
    if vlans.is_empty() {
        root.remove(identity);
    } else {
        root.set(Entry::line(
            command.rule,
            identity,
            format!("{identity} {vlans}"),
        ));
    }
    Reply::Silent
}

/// The line of one mode replaces that of the other.
fn udld(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let root = &mut session.device.edit().root;
    if command.sign == LinePrefix::Set {
        root.remove("udld aggressive");
        root.remove("udld enable");
        root.set(command.entry(command.text()));
    } else {
        root.remove(&command.text());
    }
    Reply::Silent
}

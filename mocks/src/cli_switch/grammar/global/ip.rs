//! Lines about IP: forwarding, and the device as a host.

use super::{blocks, has_routing, has_switching, is_router};
use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::{Rule, on, rule};

/// Ports whose broadcasts a device forwards by default ("ip forward-protocol" in the Cisco IOS IP Application Services
/// Command Reference).
const FORWARDED: [&str; 6] = [
    "domain",
    "netbios-dgm",
    "netbios-ns",
    "tacacs",
    "tftp",
    "time",
];

/// How packets are forwarded.
pub(super) const FORWARDING: &[Rule] = &[
    on(has_routing, "ip vrf <word>", Effect::Run(blocks::vrf)),
    rule(
        "system mtu ! <1500-9198>",
        Effect::Unless("system mtu 1500"),
    ),
    on(has_switching, "ip routing", Effect::Store),
    on(is_router, "ip routing", Effect::OnByDefault),
    // Cisco IOS IP Application Services Command Reference; recording i0803, "no ip icmp rate-limit unreachable".
    rule("ip source-route", Effect::OnByDefault),
    rule("ip options ! (drop | ignore)", Effect::Store),
    rule(
        "ip icmp rate-limit unreachable ! <1-4294967295>",
        Effect::BothForms,
    ),
    rule("ip gratuitous-arps", Effect::OnByDefault),
    rule("ip subnet-zero", Effect::OnByDefault),
    rule("ip classless", Effect::OnByDefault),
    rule("ip finger ! [rfc-compliant]", Effect::Store),
    rule("ip bootp server", Effect::OnByDefault),
    rule("ip cef", Effect::OnByDefault),
    rule("ip cef distributed", Effect::OnByDefault),
    rule("ip cef optimize neighbor resolution", Effect::OnByDefault),
    rule(
        "ip cef load-sharing algorithm ! (original | (tunnel | universal) [<word>] | include-ports (source [<word>] | destination [<word>] | source [<word>] destination [<word>]))",
        Effect::Store,
    ),
];

/// IPv6.
pub(super) const VERSION_6: &[Rule] = &[
    on(has_routing, "ipv6 unicast-routing", Effect::Store),
    on(has_routing, "ipv6 cef", Effect::BothForms),
];

/// The device as a host.
pub(super) const HOST: &[Rule] = &[
    rule("ip default-gateway ! <ipv4>", Effect::Store),
    rule("ip forward-protocol nd", Effect::Store),
    rule(
        "ip forward-protocol udp <port>",
        Effect::Run(forwarded_port),
    ),
    // Cisco IOS IP Application Services Command Reference, "ip tcp ...".
    rule(
        "ip tcp synwait-time ! <5-300>",
        Effect::Unless("ip tcp synwait-time 30"),
    ),
    rule("ip tcp window-size ! <0-1073741823>", Effect::Store),
    rule("ip tcp mss ! <68-10000>", Effect::Store),
    rule("ip tcp selective-ack", Effect::Store),
    rule(
        "ip tcp path-mtu-discovery ! [age-timer (<10-30> | infinite)]",
        Effect::Store,
    ),
    rule("ip local policy route-map ! <word>", Effect::Store),
    rule("ip ftp source-interface ! <interface>", Effect::Store),
    rule("ip tftp source-interface ! <interface>", Effect::Store),
    rule("ip scp server enable", Effect::Store),
];

/// The ports that are forwarded by default are printed if they are not.
fn forwarded_port(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let is_default = FORWARDED.contains(&command.word(3));
    let text = match (command.sign, is_default) {
        (LinePrefix::Set, false) => command.text(),
        (LinePrefix::No, true) => format!("no {}", command.text()),
        _ => return session.remove(command),
    };
    session.set(command.entry(text))
}

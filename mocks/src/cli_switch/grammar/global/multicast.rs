//! Lines about multicast routing.

use crate::cli_switch::effect::Effect;
use crate::cli_switch::grammar::{Rule, rule};

/// Routing of multicast packets, and IGMP.
pub(super) const ROUTING: &[Rule] = &[
    // Cisco IOS Multiprotocol Label Switching and IP Multicast Command References.
    rule(
        "ip multicast-routing vrf <word> ! [distributed]",
        Effect::Store,
    ),
    rule("ip multicast-routing ! [distributed]", Effect::Store),
    rule("ip multicast multipath", Effect::Store),
    rule("ip igmp snooping querier", Effect::Store),
    rule("ip igmp snooping", Effect::OnByDefault),
];

/// PIM and MSDP.
pub(super) const PIM: &[Rule] = &[
    rule("ip pim bidir-enable", Effect::Store),
    rule("ip pim autorp listener", Effect::Store),
    rule(
        "ip pim [vrf <word>] rp-address <ipv4> ! [<word>] [override] [bidir]",
        Effect::Store,
    ),
    rule(
        "ip pim bsr-candidate ! <interface> [<0-32> [<0-255>]]",
        Effect::Store,
    ),
    rule(
        "ip pim rp-candidate <interface> ! (group-list <word> | interval <1-16383> | priority <0-255>)*",
        Effect::Store,
    ),
    rule(
        "ip pim send-rp-announce ! <interface> scope <1-255> [<line>]",
        Effect::Store,
    ),
    rule(
        "ip pim send-rp-discovery ! [<interface>] scope <1-255> [<line>]",
        Effect::Store,
    ),
    rule("ip pim register-source ! <interface>", Effect::Store),
    rule(
        "ip pim accept-register ! (list | route-map) <word>",
        Effect::Store,
    ),
    rule(
        "ip pim spt-threshold ! (<0-4294967> | infinity) [group-list <word>]",
        Effect::Store,
    ),
    rule("ip pim ssm ! (default | range <word>)", Effect::Store),
    rule(
        "ip msdp peer <ipv4> ! [connect-source <interface>] [remote-as <word>]",
        Effect::Store,
    ),
    rule("ip msdp description <ipv4> ! <line>", Effect::Store),
    rule(
        "ip msdp sa-filter (in | out) <ipv4> ! [list <word> | route-map <word>]",
        Effect::Store,
    ),
    rule("ip msdp mesh-group <word> <ipv4>", Effect::Store),
    rule("ip msdp originator-id ! <interface>", Effect::Store),
];

//! Lines about NAT.

use crate::cli_switch::effect::Effect;
use crate::cli_switch::grammar::{Rule, rule};

/// Timers, pools and translations.
pub(super) const RULES: &[Rule] = &[
    // "ip nat ..." in the Cisco IOS IP Addressing Services Command Reference.
    rule(
        "ip nat translation timeout ! <0-2147483647>",
        Effect::Unless("ip nat translation timeout 86400"),
    ),
    rule(
        "ip nat translation tcp-timeout ! <0-2147483647>",
        Effect::Unless("ip nat translation tcp-timeout 86400"),
    ),
    rule(
        "ip nat translation udp-timeout ! <0-2147483647>",
        Effect::Unless("ip nat translation udp-timeout 300"),
    ),
    rule(
        "ip nat pool <word> ! <ipv4> <ipv4> (netmask <mask> | prefix-length <1-32>) [type rotary]",
        Effect::Store,
    ),
    rule(
        "ip nat (inside | outside) source (list | route-map) <word> (interface <interface> | pool <word>) [overload]",
        Effect::Store,
    ),
    rule(
        "ip nat (inside | outside) source static <ipv4> <ipv4> [extendable]",
        Effect::Store,
    ),
    rule(
        "ip nat inside source static (tcp | udp) <ipv4> <1-65535> (<ipv4> | interface <interface>) <1-65535> [extendable]",
        Effect::Store,
    ),
    rule(
        "ip nat inside destination list <word> pool <word>",
        Effect::Store,
    ),
];

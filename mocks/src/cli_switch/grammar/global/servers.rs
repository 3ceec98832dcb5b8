//! Lines about TACACS+ and RADIUS servers.

use super::{blocks, has_named_servers, keys};
use crate::cli_switch::effect::Effect;
use crate::cli_switch::grammar::{Rule, on, rule};

/// The addresses from which the device asks servers.
pub(super) const SOURCES: &[Rule] = &[
    rule(
        "ip tacacs source-interface ! <interface> [vrf <word>]",
        Effect::Store,
    ),
    rule(
        "ip radius source-interface ! <interface> [vrf <word>]",
        Effect::Store,
    ),
];

/// TACACS+ and RADIUS.
pub(super) const RULES: &[Rule] = &[
    rule(
        "tacacs-server timeout ! <1-1000>",
        Effect::Unless("tacacs-server timeout 5"),
    ),
    rule("tacacs-server directed-request", Effect::Store),
    rule(
        "tacacs-server key ! [0 | 6 | 7] <line>",
        Effect::Run(keys::key),
    ),
    // Cisco IOS Security Command Reference, "tacacs-server host": images of all releases have the line.
    rule(
        "tacacs-server host <host> ! [single-connection] [port <1-65535>] [timeout <1-1000>] [key [0 | 6 | 7] <line>]",
        Effect::Store,
    ),
    on(
        has_named_servers,
        "tacacs server <word>",
        Effect::Run(blocks::tacacs_server),
    ),
    // RADIUS: Catalyst 3560 Software Configuration Guide 78-16156-01, p. 8-29; the lines of puppetlabs-cisco_ios 2.0.0.
    rule("radius-server attribute <1-255> <line>", Effect::Store),
    rule(
        "radius-server retransmit ! <0-100>",
        Effect::Unless("radius-server retransmit 3"),
    ),
    rule(
        "radius-server timeout ! <1-1000>",
        Effect::Unless("radius-server timeout 5"),
    ),
    rule(
        "radius-server key ! [0 | 6 | 7] <line>",
        Effect::Run(keys::key),
    ),
    on(
        has_named_servers,
        "radius server <word>",
        Effect::Run(blocks::radius_server),
    ),
];

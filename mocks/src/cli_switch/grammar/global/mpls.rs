//! Lines about MPLS.

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::{Rule, routing_block, rule};

/// Labels and their distribution.
pub(super) const RULES: &[Rule] = &[
    rule("mpls ip propagate-ttl", Effect::OnByDefault),
    rule("mpls ip", Effect::OnByDefault),
    rule(
        "mpls label range ! <16-1048575> <16-1048575>",
        Effect::Store,
    ),
    rule("mpls label protocol ! (ldp | tdp)", Effect::Store),
    rule("mpls ldp explicit-null", Effect::Store),
    rule("mpls ldp graceful-restart", Effect::Store),
    rule("mpls ldp session protection", Effect::Store),
    rule("mpls ldp igp sync holddown ! <1-2147483647>", Effect::Store),
    rule(
        "mpls ldp neighbor <ipv4> targeted ! [ldp]",
        Effect::Run(targeted),
    ),
    rule(
        "mpls ldp holdtime ! <15-65535>",
        Effect::Unless("mpls ldp holdtime 180"),
    ),
    rule(
        "mpls ldp discovery hello interval ! <1-65535>",
        Effect::Unless("mpls ldp discovery hello interval 5"),
    ),
    rule(
        "mpls ldp discovery hello holdtime ! <1-65535>",
        Effect::Unless("mpls ldp discovery hello holdtime 15"),
    ),
    rule("mpls ldp discovery targeted-hello accept", Effect::Store),
    rule("mpls ldp logging neighbor-changes", Effect::OnByDefault),
    rule("mpls traffic-eng tunnels", Effect::Store),
    rule(
        "mpls traffic-eng reoptimize timers frequency ! <0-604800>",
        Effect::Unless("mpls traffic-eng reoptimize timers frequency 3600"),
    ),
];

/// The router of labels, and explicit paths.
pub(super) const PATHS: &[Rule] = &[
    rule("mpls ldp router-id ! <interface> [force]", Effect::Store),
    rule(
        "ip explicit-path name <word> ! [disable | enable]",
        Effect::Run(routing_block::explicit_path),
    ),
];

/// The protocol is printed.
fn targeted(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    session.set(command.entry(format!("{} ldp", command.identity_text())))
}

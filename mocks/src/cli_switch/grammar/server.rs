//! Lines of the submodes of authentication servers and their groups: `tacacs server`, `radius server`,
//! `aaa group server`.

use super::global::keys::key;
use super::{Rule, RuleScope, rule};
use crate::cli_switch::configure::{Command, ConfigSession, end, exit};
use crate::cli_switch::effect::{Effect, Reply};

fn has_routing(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_routing
}

/// `(config-server-tacacs)#`
pub(crate) const TACACS: &[Rule] = &[
    rule(
        "address (ipv4 ! (<ipv4> | <hostname>) | ipv6 ! (<ipv6> | <hostname>))",
        Effect::Run(tacacs_address),
    ),
    rule("key ! [0 | 6 | 7] <line>", Effect::Run(key)),
    rule("timeout ! <1-1000>", Effect::Store),
    rule("port ! <1-65535>", Effect::Store),
    rule("single-connection", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-radius-server)#`
pub(crate) const RADIUS: &[Rule] = &[
    rule(
        "address ! (ipv4 (<ipv4> | <hostname>) | ipv6 (<ipv6> | <hostname>)) [auth-port <0-65535>] [acct-port <0-65535>]",
        Effect::Run(radius_address),
    ),
    rule("timeout ! <1-1000>", Effect::Store),
    rule("retransmit ! <0-100>", Effect::Store),
    rule("key ! [0 | 6 | 7] <line>", Effect::Run(key)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-sg-tacacs+)#`
pub(crate) const TACACS_GROUP: &[Rule] = &[
    rule("server (name <word> | <host>)", Effect::Store),
    // Groups precede `ip vrf` in a configuration, so the VRF may not exist yet.
    Rule {
        pattern: "ip vrf forwarding ! <word>",
        effect: Effect::Store,
        when: has_routing,
    },
    rule("ip tacacs source-interface ! <interface>", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-sg-radius)#`
pub(crate) const RADIUS_GROUP: &[Rule] = &[
    rule(
        "server (name <word> | <host>) ! [auth-port <0-65535>] [acct-port <0-65535>]",
        Effect::Run(group_server),
    ),
    rule(
        "server-private <host> ! [auth-port <0-65535>] [acct-port <0-65535>] [timeout <1-1000>] [retransmit <0-100>] [key [0 | 6 | 7] <word>]",
        Effect::Run(group_server),
    ),
    Rule {
        pattern: "ip vrf forwarding ! <word>",
        effect: Effect::Store,
        when: has_routing,
    },
    rule("ip radius source-interface ! <interface>", Effect::Store),
    rule("deadtime ! <1-1440>", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// A server in its order. The ports of an address are always printed, a name has none.
fn group_server(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        session.block().remove(&identity);
        return Reply::Silent;
    }
    if command.word(1) == "name" {
        session.block().set(command.entry(identity));
        return Reply::Silent;
    }
    let mut text = format!("{identity} {}", ports(command));
    let rest = &command.words[command.identity..];
    let is_option = |word: &String| ["timeout", "retransmit", "key"].contains(&word.as_str());
    if let Some(first) = rest.iter().position(is_option) {
        text = format!("{text} {}", rest[first..].join(" "));
    }
    session.block().set(command.entry(text));
    Reply::Silent
}

/// A server has one address of either family. `no` removes only the given one.
fn tacacs_address(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    let block = session.block();
    if command.is_set() {
        block.retain(|line| !line.identity.starts_with("address "));
        block.set(command.entry(command.text()));
    } else if command.words.len() == command.identity
        || block.value(&identity) == command.words.last().map(String::as_str)
    {
        block.remove(&identity);
    }
    Reply::Silent
}

/// The ports are always printed.
fn radius_address(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        session.block().remove("address");
        return Reply::Silent;
    }
    let text = format!("{} {}", command.words[..3].join(" "), ports(command));
    session.block().set(command.entry(text));
    Reply::Silent
}

/// The ports of a RADIUS server.
fn ports(command: &Command) -> String {
    let port = |kind: &str, default: &str| {
        let at = command.words.iter().position(|word| word == kind);
        let port = at.map_or(default, |at| command.word(at + 1));
        format!("{kind} {port}")
    };
    format!(
        "{} {}",
        port("auth-port", "1645"),
        port("acct-port", "1646")
    )
}

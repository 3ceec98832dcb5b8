//! Lines about routing: processes, static routes, prefix lists and route maps.

use super::{blocks, has_routing};
use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::block_kind::BlockKind;
use crate::cli_switch::grammar::{Rule, on, rule};

/// Processes of routing protocols.
pub(super) const PROCESSES: &[Rule] = &[
    on(
        has_routing,
        "router eigrp <1-65535>",
        Effect::Run(blocks::eigrp),
    ),
    // OSPF: recordings i0755 and i0760; Cisco IOS IP Routing: OSPF Command Reference.
    on(
        has_routing,
        "router ospf <1-65535> ! [vrf <word>]",
        Effect::Run(blocks::ospf),
    ),
    on(has_routing, "router bgp <word>", Effect::Run(blocks::bgp)),
    on(has_routing, "router isis ! [<name>]", Effect::Run(isis)),
    on(has_routing, "router rip", Effect::Enter(BlockKind::Rip)),
    on(
        has_routing,
        "router eigrp <name>",
        Effect::Enter(BlockKind::EigrpNamed),
    ),
];

/// Static routes, prefix lists and route maps.
pub(super) const ROUTES: &[Rule] = &[
    rule(
        "ip route [vrf <word>] <ipv4> <mask> (<ipv4> | Null0 | <interface> [<ipv4>]) ! [<1-255>] [tag <1-4294967295>] [permanent | track <1-1000>] [name <word>]",
        Effect::Run(route),
    ),
    // Prefix lists: recording i0737; Cisco IOS IP Configuration Guide, "Configuring a Prefix List Entry".
    rule("ip prefix-list <word> description ! <line>", Effect::Store),
    rule(
        "ip prefix-list <word> seq <1-4294967294> ! (permit | deny) <prefix> [ge <1-32>] [le <1-32>]",
        Effect::Run(prefix_list_entry),
    ),
    rule(
        "ipv6 prefix-list <word> description ! <line>",
        Effect::Store,
    ),
    rule(
        "ipv6 prefix-list <word> seq <1-4294967294> ! (permit | deny) <ipv6-prefix> [ge <1-128>] [le <1-128>]",
        Effect::Run(prefix_list_entry),
    ),
    rule(
        "route-map <word> ! [(permit | deny) <0-65535>]",
        Effect::Run(blocks::route_map),
    ),
];

/// The default distance is not printed.
fn route(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    if command.word(2) == "vrf" && !session.device.has_vrf(command.word(3)) {
        return Reply::Text(format!("% VRF {} not configured.", command.word(3)));
    }
    let mut words = command.words.clone();
    if words.get(command.identity).is_some_and(|word| word == "1") {
        words.remove(command.identity);
    }
    session.set(command.entry(words.join(" ")))
}

/// A number is taken until its entry is removed.
fn prefix_list_entry(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    let root = &session.device.configuration.root;
    let other = root.find(&command.identity_text());
    if other.is_some_and(|other| other.text != command.text()) {
        return Reply::Text("%Insertion failed - seq # exists".to_owned());
    }
    session.set(command.entry(command.text()))
}

/// A process without a name is printed without one.
fn isis(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let mut command = command.clone();
    command.identity = command.words.len();
    if !command.is_set() {
        return session.remove(&command);
    }
    session.enter(BlockKind::Isis, &command);
    Reply::Silent
}

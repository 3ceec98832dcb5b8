//! Lines of a BGP process and of its address families.
//!
//! Recordings i0760 (`maximum-paths`), i0789 (`redistribute`), i0791 (a VRF), i0803 and i0830; published configurations
//! of IPv6 peers (`address-family ipv6`); Cisco IOS IP Routing: BGP Command Reference for options of the process and of
//! neighbors, and for families of VPNs. Options of a process without `address-family ipv4` are not there.

use std::net::IpAddr;

use super::line_options::change_options;
use super::{Rule, rule};
use crate::cli_switch::configure::{Command, ConfigSession, end, exit, grammar};
use crate::cli_switch::device::Mode;
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::tree::{Block, Entry};

macro_rules! redistribution {
    () => {
        "(match (external | internal | nssa-external)* | metric <0-4294967295> | route-map <word>)*"
    };
}

/// `(config-router)#`
pub(crate) const PROCESS: &[Rule] = &[
    rule("bgp router-id ! <ipv4>", Effect::Store),
    rule("bgp log-neighbor-changes", Effect::Store),
    rule("bgp asnotation dot", Effect::Store),
    rule("bgp cluster-id ! (<0-4294967295> | <ipv4>)", Effect::Store),
    rule("bgp confederation identifier ! <word>", Effect::Store),
    rule(
        "bgp confederation peers <word> (<word>)*",
        Effect::Run(confederation_peers),
    ),
    rule(
        "bgp graceful-restart restart-time ! <1-3600>",
        Effect::Store,
    ),
    rule(
        "bgp graceful-restart stalepath-time ! <1-3600>",
        Effect::Store,
    ),
    rule("bgp graceful-restart", Effect::Run(graceful_restart)),
    rule("bgp enforce-first-as", Effect::OnByDefault),
    rule("bgp fast-external-fallover", Effect::OnByDefault),
    rule("bgp default ipv4-unicast", Effect::OnByDefault),
    rule("bgp default route-target filter", Effect::OnByDefault),
    rule(
        "bgp default local-preference ! <0-4294967295>",
        Effect::Unless("bgp default local-preference 100"),
    ),
    rule("bgp always-compare-med", Effect::Store),
    rule("bgp deterministic-med", Effect::Store),
    rule(
        "bgp bestpath as-path (ignore | multipath-relax)",
        Effect::Store,
    ),
    rule("bgp bestpath compare-routerid", Effect::Store),
    rule(
        "bgp bestpath med (confed | missing-as-worst)",
        Effect::Store,
    ),
    rule("bgp maxas-limit ! <1-254>", Effect::Store),
    rule("bgp scan-time ! <5-60>", Effect::Unless("bgp scan-time 60")),
    rule(
        "bgp update-delay ! <0-3600>",
        Effect::Unless("bgp update-delay 120"),
    ),
    rule(
        "bgp listen limit ! <1-5000>",
        Effect::Unless("bgp listen limit 100"),
    ),
    rule(
        "bgp listen range <prefix> ! peer-group <word>",
        Effect::Store,
    ),
    rule(
        "timers bgp ! <0-65535> <0-65535> [<0-65535>]",
        Effect::Store,
    ),
    rule("neighbor <host> ! <never>", Effect::Run(no_neighbor)),
    rule("neighbor <host> peer-group ! [<word>]", Effect::Run(peer)),
    rule("neighbor <host> remote-as ! <word>", Effect::Run(peer)),
    rule("neighbor <host> description ! <line>", Effect::Run(setting)),
    rule(
        "neighbor <host> ebgp-multihop ! [<1-255>]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> update-source ! <interface>",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> timers ! <0-65535> <0-65535> [<0-65535>]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> password ! [0 | 7] <word>",
        Effect::Run(setting),
    ),
    rule("neighbor <host> fall-over bfd", Effect::Run(setting)),
    rule("neighbor <host> shutdown", Effect::Run(setting)),
    rule(
        "neighbor <host> local-as ! <word> [no-prepend [replace-as [dual-as]]]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> transport connection-mode ! (active | passive)",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> transport path-mtu-discovery ! [disable]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> ttl-security hops ! <1-254>",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> (disable-connected-check | dont-capability-negotiate)",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> inherit peer-session ! <word>",
        Effect::Run(setting),
    ),
    rule(
        "address-family ipv4 ! [unicast]",
        Effect::Run(address_family),
    ),
    rule(
        "address-family ipv6 ! [unicast]",
        Effect::Run(address_family),
    ),
    rule(
        "address-family (ipv4 | ipv6) vrf <word>",
        Effect::Run(address_family_of_vrf),
    ),
    rule(
        "address-family (vpnv4 | vpnv6) ! [unicast]",
        Effect::Run(further_family),
    ),
    rule(
        "address-family (ipv4 (mdt | multicast) | ipv6 multicast | l2vpn (evpn | vpls) | rtfilter unicast | nsap)",
        Effect::Run(further_family),
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

const REDISTRIBUTE: &str = concat!(
    "redistribute (connected | rip | static) !",
    redistribution!()
);
const REDISTRIBUTE_PROCESS: &str = concat!(
    "redistribute (eigrp | ospf) <1-4294967295> !",
    redistribution!()
);

/// `(config-router-af)#`
pub(crate) const FAMILY: &[Rule] = &[
    rule(
        "bgp dampening ! [route-map <word> | <1-45> [<1-20000> <1-50000> <1-255>]]",
        Effect::Store,
    ),
    rule(
        "bgp additional-paths select ! (all | backup | best <2-3> [group-best] | group-best)",
        Effect::Store,
    ),
    rule("bgp additional-paths install", Effect::Store),
    rule(
        "bgp additional-paths ! (receive | send [receive])",
        Effect::Store,
    ),
    rule(
        "bgp nexthop trigger delay ! <0-100>",
        Effect::Unless("bgp nexthop trigger delay 5"),
    ),
    rule("bgp redistribute-internal", Effect::Store),
    rule("table-map ! <word>", Effect::Store),
    rule("default-metric ! <1-4294967295>", Effect::Store),
    rule("distance bgp ! <1-255> <1-255> <1-255>", Effect::Store),
    rule("default-information originate", Effect::Store),
    rule("network <ipv4> mask <mask>", Effect::Run(network)),
    rule("network <ipv6-prefix>", Effect::Run(network)),
    rule(REDISTRIBUTE, Effect::Run(change_options)),
    rule(REDISTRIBUTE_PROCESS, Effect::Run(change_options)),
    rule("neighbor <host> activate", Effect::Run(activate)),
    rule(
        "neighbor <host> send-community ! [both | extended | standard]",
        Effect::Run(send_community),
    ),
    rule(
        "neighbor <host> (next-hop-self | route-reflector-client)",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> soft-reconfiguration inbound",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> (prefix-list | route-map) ! <word> (in | out)",
        Effect::Run(filter),
    ),
    rule("neighbor <host> weight ! <0-65535>", Effect::Run(setting)),
    rule(
        "neighbor <host> maximum-prefix ! <1-2147483647> [<1-100>] [restart <1-65535> | warning-only]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> advertisement-interval ! <0-600>",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> allowas-in ! [<1-10>]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> remove-private-as ! [all [replace-as]]",
        Effect::Run(setting),
    ),
    rule("neighbor <host> as-override", Effect::Run(setting)),
    rule("neighbor <host> next-hop-self all", Effect::Run(setting)),
    rule(
        "neighbor <host> next-hop-unchanged ! [allpaths]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> default-originate ! [route-map <word>]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> (distribute-list | filter-list) ! <word> (in | out)",
        Effect::Run(filter),
    ),
    rule(
        "neighbor <host> unsuppress-map ! <word>",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> capability orf prefix-list ! (both | receive | send)",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> additional-paths ! (disable | receive | send [receive])",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> advertise additional-paths ! (all | best <2-3> [group-best] | group-best)",
        Effect::Run(setting),
    ),
    rule("neighbor <host> send-label", Effect::Run(setting)),
    rule("neighbor <host> soo ! <rd>", Effect::Run(setting)),
    rule(
        "neighbor <host> inherit peer-policy ! <word>",
        Effect::Run(setting),
    ),
    rule(
        "aggregate-address <ipv4> <mask> ! (as-set | summary-only)*",
        Effect::Store,
    ),
    rule(
        "aggregate-address <ipv6-prefix> ! (as-set | summary-only)*",
        Effect::Store,
    ),
    rule("maximum-paths ibgp ! <1-32>", Effect::Store),
    rule("maximum-paths ! <1-32>", Effect::Unless("maximum-paths 1")),
    rule("exit-address-family", Effect::Run(exit)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-router-af)#` of a VRF, which has its own neighbors.
pub(crate) const VRF_FAMILY: &[Rule] = &[
    rule("bgp router-id ! <ipv4>", Effect::Store),
    rule("network <ipv4> mask <mask>", Effect::Store),
    rule("network <ipv6-prefix>", Effect::Store),
    rule("maximum-paths ! <1-32>", Effect::Unless("maximum-paths 1")),
    rule(REDISTRIBUTE, Effect::Run(change_options)),
    rule(REDISTRIBUTE_PROCESS, Effect::Run(change_options)),
    rule("neighbor <host> ! <never>", Effect::Run(no_neighbor)),
    rule("neighbor <host> peer-group ! [<word>]", Effect::Run(peer)),
    rule("neighbor <host> remote-as ! <word>", Effect::Run(peer)),
    rule("neighbor <host> description ! <line>", Effect::Run(setting)),
    rule(
        "neighbor <host> ebgp-multihop ! [<1-255>]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> update-source ! <interface>",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> timers ! <0-65535> <0-65535> [<0-65535>]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> password ! [0 | 7] <word>",
        Effect::Run(setting),
    ),
    rule("neighbor <host> fall-over bfd", Effect::Run(setting)),
    rule("neighbor <host> shutdown", Effect::Run(setting)),
    rule(
        "neighbor <host> local-as ! <word> [no-prepend [replace-as [dual-as]]]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> transport connection-mode ! (active | passive)",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> transport path-mtu-discovery ! [disable]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> ttl-security hops ! <1-254>",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> (disable-connected-check | dont-capability-negotiate)",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> inherit peer-session ! <word>",
        Effect::Run(setting),
    ),
    rule("neighbor <host> activate", Effect::Run(activate)),
    rule(
        "neighbor <host> send-community ! [both | extended | standard]",
        Effect::Run(send_community),
    ),
    rule(
        "neighbor <host> (next-hop-self | route-reflector-client)",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> soft-reconfiguration inbound",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> (prefix-list | route-map) ! <word> (in | out)",
        Effect::Run(filter),
    ),
    rule("neighbor <host> weight ! <0-65535>", Effect::Run(setting)),
    rule(
        "neighbor <host> maximum-prefix ! <1-2147483647> [<1-100>] [restart <1-65535> | warning-only]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> advertisement-interval ! <0-600>",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> allowas-in ! [<1-10>]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> remove-private-as ! [all [replace-as]]",
        Effect::Run(setting),
    ),
    rule("neighbor <host> as-override", Effect::Run(setting)),
    rule("neighbor <host> next-hop-self all", Effect::Run(setting)),
    rule(
        "neighbor <host> next-hop-unchanged ! [allpaths]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> default-originate ! [route-map <word>]",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> (distribute-list | filter-list) ! <word> (in | out)",
        Effect::Run(filter),
    ),
    rule(
        "neighbor <host> unsuppress-map ! <word>",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> capability orf prefix-list ! (both | receive | send)",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> additional-paths ! (disable | receive | send [receive])",
        Effect::Run(setting),
    ),
    rule(
        "neighbor <host> advertise additional-paths ! (all | best <2-3> [group-best] | group-best)",
        Effect::Run(setting),
    ),
    rule("neighbor <host> send-label", Effect::Run(setting)),
    rule("neighbor <host> soo ! <rd>", Effect::Run(setting)),
    rule(
        "neighbor <host> inherit peer-policy ! <word>",
        Effect::Run(setting),
    ),
    rule("exit-address-family", Effect::Run(exit)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// The beginning of the identities of a neighbor's lines.
fn lines_of(neighbor: &str) -> String {
    format!("neighbor {neighbor} ")
}

/// A line of a neighbor. Groups are printed before addresses, IPv6 before IPv4, and all lines of a neighbor together.
fn entry(rules: &[Rule], command: &Command, identity: String, text: String) -> Entry {
    let mut sort = match command.word(1).parse() {
        Err(_) => vec![0],
        Ok(IpAddr::V6(address)) => {
            let parts = address.segments().map(u32::from);
            [1].into_iter().chain(parts).collect()
        }
        Ok(IpAddr::V4(address)) => vec![2, u32::from(address)],
    };
    sort.extend(u32::try_from(command.rule));
    Entry {
        sort,
        ..Entry::line(first_neighbor(rules), identity, text)
    }
}

/// The place of all lines of neighbors among the rules of their mode.
fn first_neighbor(rules: &[Rule]) -> usize {
    let mut rules = rules.iter();
    let first = rules.position(|rule| rule.pattern.starts_with("neighbor <host> "));
    first.unwrap_or_default()
}

/// The rules of the mode.
fn rules(session: &ConfigSession<'_>) -> &'static [Rule] {
    grammar(&session.position.mode).rules
}

/// The lines of the process, also in an address family.
fn process<'s>(session: &'s mut ConfigSession<'_>) -> Option<&'s mut Block> {
    let identity = session.position.mode.block_identity()?;
    let root = &mut session.device.edit().root;
    root.find_mut(&identity)?.block.as_mut()
}

/// The lines that make the neighbors: those of the process, or of a VRF.
fn peers<'s>(session: &'s mut ConfigSession<'_>) -> Option<&'s mut Block> {
    if is_in_vrf(session) {
        Some(session.block())
    } else {
        process(session)
    }
}

fn is_in_vrf(session: &ConfigSession<'_>) -> bool {
    matches!(&session.position.mode, Mode::BgpFamily(_, family) if family.contains(" vrf "))
}

fn is_in_ipv6(session: &ConfigSession<'_>) -> bool {
    matches!(&session.position.mode, Mode::BgpFamily(_, family) if family.ends_with("ipv6"))
}

fn is_in_ipv4(session: &ConfigSession<'_>) -> bool {
    matches!(&session.position.mode, Mode::BgpFamily(_, family) if family == "address-family ipv4" || family.starts_with("address-family ipv4 vrf "))
}

/// A network of the address family.
fn network(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if is_in_ipv6(session) != command.word(1).contains(':') {
        return Reply::Invalid(1);
    }
    if command.is_set() {
        session.block().set(command.entry(command.text()))
    } else {
        drop(session.block().remove(&command.identity_text()))
    }
    Reply::Silent
}

fn has_neighbor(session: &mut ConfigSession<'_>, neighbor: &str) -> bool {
    let lines = lines_of(neighbor);
    peers(session).is_some_and(|block| {
        let mut entries = block.entries().iter();
        entries.any(|entry| entry.identity.starts_with(&lines))
    })
}

fn families(block: &mut Block) -> impl Iterator<Item = &mut Entry> {
    let is_family = |entry: &&mut Entry| {
        entry.identity.starts_with("address-family ") && !entry.identity.contains(" vrf ")
    };
    block.entries_mut().filter(is_family)
}

/// `no neighbor X` removes all lines of the neighbor, also in address families.
fn no_neighbor(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let lines = lines_of(command.word(1));
    let Some(block) = peers(session) else {
        return Reply::Invalid(0);
    };
    block.retain(|entry| !entry.identity.starts_with(&lines));
    for family in families(block) {
        if let Some(inner) = &mut family.block {
            inner.retain(|entry| !entry.identity.starts_with(&lines));
        }
    }
    Reply::Silent
}

/// The lines that make a neighbor. IPv4 routes are exchanged with addresses of IPv4 from the beginning; with a block
/// of the address family, that is a line.
fn peer(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let is_group = command.word(2) == "peer-group" && command.words.len() == 3;
    if !command.is_set() && is_group {
        return no_neighbor(session, command);
    }
    if !command.is_set() {
        session.block().remove(&command.identity_text());
        return Reply::Silent;
    }
    let is_new = !has_neighbor(session, command.word(1));
    let own = rules(session);
    let line = entry(own, command, command.identity_text(), command.text());
    session.block().set(line);
    if !is_new || is_group {
        return Reply::Silent;
    }
    let activate = activation(command.word(1));
    let identity = format!("neighbor {} activate", command.word(1));
    if is_in_vrf(session) {
        let line = entry(own, command, identity, activate);
        session.block().set(line);
        return Reply::Silent;
    }
    let line = entry(FAMILY, command, identity, activate);
    if let Some(block) = process(session)
        && let Some(family) = families(block).find(|family| family.identity.ends_with("ipv4"))
    {
        family.block.get_or_insert_default().set(line);
    }
    Reply::Silent
}

/// The line about IPv4 routes of a new neighbor.
fn activation(neighbor: &str) -> String {
    let is_ipv6 = neighbor.contains(':');
    format!(
        "{}neighbor {neighbor} activate",
        if is_ipv6 { "no " } else { "" }
    )
}

/// A line about a neighbor that exists.
fn setting(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    store(session, command, command.identity_text(), command.text())
}

fn store(
    session: &mut ConfigSession<'_>,
    command: &Command,
    identity: String,
    text: String,
) -> Reply {
    if !command.is_set() {
        session.block().remove(&identity);
        return Reply::Silent;
    }
    if !has_neighbor(session, command.word(1)) {
        return Reply::Text("% Specify remote-as or peer-group commands first".to_owned());
    }
    let line = entry(rules(session), command, identity, text);
    session.block().set(line);
    Reply::Silent
}

/// Both forms are printed; for other families than IPv4, only that a neighbor is active.
fn activate(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let (identity, text) = (command.identity_text(), command.text());
    if !has_neighbor(session, command.word(1)) {
        return Reply::Text("% Specify remote-as or peer-group commands first".to_owned());
    }
    let text = match command.is_set() {
        true => text,
        false if is_in_ipv6(session) => {
            session.block().remove(&identity);
            return Reply::Silent;
        }
        // A further family has no lines of a neighbor that is not active.
        false if !is_in_ipv4(session) => {
            let lines = lines_of(command.word(1));
            let block = session.block();
            block.retain(|entry| !entry.identity.starts_with(&lines));
            return Reply::Silent;
        }
        false => format!("no {text}"),
    };
    let line = entry(rules(session), command, identity, text);
    session.block().set(line);
    Reply::Silent
}

/// The default kind of communities is not printed.
fn send_community(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let text = command.text();
    let text = text.strip_suffix(" standard").unwrap_or(&text).to_owned();
    store(session, command, command.identity_text(), text)
}

/// Each direction has one filter of a kind.
fn filter(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let direction = command.words.last().map_or("", String::as_str);
    let identity = format!("{} {direction}", command.identity_text());
    store(session, command, identity, command.text())
}

/// Enters an address family. The first time, the neighbors get the line that they are active.
fn address_family(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Mode::Bgp(process) = session.position.mode.clone() else {
        return Reply::Invalid(0);
    };
    let identity = format!("address-family {}", command.word(1));
    let block = session.block();
    if !command.is_set() {
        block.remove(&identity);
        return Reply::Silent;
    }
    if block.find(&identity).is_none() {
        let mut inner = Block::default();
        let peers = block.entries().iter().filter_map(|entry| {
            let words: Vec<&str> = entry.identity.split(' ').collect();
            let is_address =
                words.get(2) == Some(&"remote-as") && words[1].parse::<IpAddr>().is_ok();
            is_address.then(|| (words[1], &entry.sort))
        });
        for (peer, sort) in peers.filter(|_| command.word(1) == "ipv4") {
            inner.set(Entry {
                sort: sort.clone(),
                ..Entry::line(
                    first_neighbor(FAMILY),
                    format!("neighbor {peer} activate"),
                    activation(peer),
                )
            });
        }
        block.set(Entry {
            block: Some(inner),
            ..Entry::line(command.rule, identity.clone(), identity.clone())
        });
    }
    session.position.mode = Mode::BgpFamily(process, identity);
    Reply::Silent
}

/// Enters the address family of a VRF.
fn address_family_of_vrf(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Mode::Bgp(process) = session.position.mode.clone() else {
        return Reply::Invalid(0);
    };
    let identity = command.identity_text();
    let vrf = command.word(3);
    if command.is_set() && !session.device.has_vrf(vrf) {
        return Reply::Text(format!("% VRF {vrf} not configured."));
    }
    let block = session.block();
    if !command.is_set() {
        block.remove(&identity);
        return Reply::Silent;
    }
    if block.find(&identity).is_none() {
        block.set(Entry {
            block: Some(Block::default()),
            ..command.entry(identity.clone())
        });
    }
    session.position.mode = Mode::BgpFamily(process, identity);
    Reply::Silent
}

/// Enters a family in which a neighbor is active only by its own line.
fn further_family(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Mode::Bgp(process) = session.position.mode.clone() else {
        return Reply::Invalid(0);
    };
    let identity = command.identity_text();
    let block = session.block();
    if !command.is_set() {
        block.remove(&identity);
        return Reply::Silent;
    }
    if block.find(&identity).is_none() {
        block.set(Entry {
            block: Some(Block::default()),
            ..Entry::line(command.rule, identity.clone(), identity.clone())
        });
    }
    session.position.mode = Mode::BgpFamily(process, identity);
    Reply::Silent
}

/// A further line adds systems, and `no` removes those that it names.
fn confederation_peers(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    const IDENTITY: &str = "bgp confederation peers";
    let before = session.block().value(IDENTITY).unwrap_or_default();
    let mut peers: Vec<String> = before.split_whitespace().map(str::to_owned).collect();
    let named = &command.words[3..];
    peers.retain(|peer| !named.contains(peer));
    if command.is_set() {
        peers.extend_from_slice(named);
    }
    peers.sort_by_key(|peer| peer.parse::<u64>().unwrap_or(u64::MAX));
    if peers.is_empty() {
        session.block().remove(IDENTITY);
        return Reply::Silent;
    }
    let text = format!("{IDENTITY} {}", peers.join(" "));
    let mut entry = command.entry(text);
    entry.identity = IDENTITY.to_owned();
    session.block().set(entry);
    Reply::Silent
}

/// With the line, both times are printed.
fn graceful_restart(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let block = session.block();
    let times = [("restart-time", 120), ("stalepath-time", 360)];
    for (index, (name, seconds)) in (0..).zip(times) {
        let identity = format!("{} {name}", command.text());
        if !command.is_set() {
            block.remove(&identity);
        } else if block.find(&identity).is_none() {
            let text = format!("{identity} {seconds}");
            block.set(Entry::line(command.rule - 2 + index, identity, text));
        }
    }
    if command.is_set() {
        block.set(command.entry(command.text()));
    } else {
        block.remove(&command.text());
    }
    Reply::Silent
}

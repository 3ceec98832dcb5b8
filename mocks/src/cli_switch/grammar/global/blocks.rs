//! Lines that enter a submode.

use super::access::has_aaa;
use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix};
use crate::cli_switch::device::{Mode, interface_identity};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::block_kind::BlockKind;
use crate::cli_switch::grammar::interface::RULES as INTERFACE_RULES;
use crate::cli_switch::grammar::{Rule, rule};
use crate::cli_switch::interface_name::InterfaceName;
use crate::cli_switch::tree::{Block, Entry};
use crate::cli_switch::vlan::{PendingVlans, RESERVED};
use crate::cli_switch::vlan_list::VlanList;

/// Objects that other lines name.
pub(super) const POLICIES: &[Rule] = &[
    rule(
        "track <1-1000> ! (interface <interface> (ip routing | line-protocol) | ip route <ipv4> <mask> reachability | ip sla <1-2147483647> [reachability | state] | list (boolean (and | or) | threshold (percentage | weight)))",
        Effect::Enter(BlockKind::Track),
    ),
    rule(
        "class-map (match-all | match-any) <word>",
        Effect::Enter(BlockKind::ClassMap),
    ),
    rule("policy-map <word>", Effect::Enter(BlockKind::PolicyMap)),
    rule(
        "crypto pki trustpoint <word>",
        Effect::Enter(BlockKind::Trustpoint),
    ),
];

/// VLANs and interfaces.
pub(super) const PORTS: &[Rule] = &[
    rule("vlan <vlan-list>", Effect::Run(vlan)),
    rule(
        "interface <interface> [point-to-point | multipoint | type (ethernet | serial | tunnel)]",
        Effect::Run(interface),
    ),
];

/// The console and terminals.
pub(super) const LINES: &[Rule] = &[
    // Lines: recordings i0737 and i0760.
    rule("line (con | console) <0-0>", Effect::Run(line)),
    rule("line vty <0-97> [<1-97>]", Effect::Run(line)),
];

/// Index of the rule of an interface line, which determines its place.
fn interface_rule_of(pattern: &str) -> usize {
    let mut rules = INTERFACE_RULES.iter();
    rules
        .position(|rule| rule.pattern == pattern)
        .unwrap_or_default()
}

pub(super) fn vrf(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    let name = command.word(2).to_owned();
    if command.is_set() {
        let root = &mut session.device.edit().root;
        if root.find(&identity).is_none() {
            root.set(Entry {
                block: Some(Block::default()),
                ..command.entry(command.text())
            });
        }
        session.position.mode = Mode::Vrf(identity);
        return Reply::Silent;
    }
    if session.device.edit().root.remove(&identity).is_none() {
        return Reply::Text(format!("% VRF {name} not configured."));
    }
    let forwarding = [
        format!("ip vrf forwarding {name}"),
        format!("vrf forwarding {name}"),
    ];
    for entry in session.device.edit().root.entries_mut() {
        let Some(block) = &mut entry.block else {
            continue;
        };
        if block
            .entries()
            .iter()
            .any(|line| forwarding.contains(&line.text))
        {
            block.retain(|line| {
                !forwarding.contains(&line.text) && !line.identity.starts_with("ip address")
            });
        }
    }
    Reply::Text(format!(
        "% IPv4 addresses from all interfaces in VRF {name} have been removed"
    ))
}

fn vlan(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Some(list) = VlanList::parse(command.word(1)) else {
        return Reply::Invalid(1);
    };
    if session.device.configuration.vtp.mode == "client" {
        return Reply::Text(
            "VTP VLAN configuration not allowed when device is in CLIENT mode.".to_owned(),
        );
    }
    if command.is_set() {
        session.device.commit(session.position);
        session.position.pending = Some(PendingVlans {
            list,
            name: None,
            shutdown: None,
        });
        session.position.mode = Mode::Vlan;
        return Reply::Silent;
    }
    if let Some(number) = RESERVED.into_iter().find(|number| list.contains(*number)) {
        return Reply::Text(format!("Default VLAN {number} may not be deleted."));
    }
    session.device.edit().vlans.remove(&list);
    Reply::Silent
}

fn interface(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Some(name) = InterfaceName::parse(command.word(1)) else {
        return Reply::Invalid(1);
    };
    let exists = session.device.interface(&name).is_some();
    match command.sign {
        LinePrefix::Set => {
            let highest = if name.is_vlan() { 4094 } else { 4096 };
            if !exists && (!name.is_virtual() || name.number() > highest) {
                return Reply::Invalid(1);
            }
            session.device.add_interface(command.rule, &name);
            let identity = interface_identity(&name);
            let words = command.words.get(2..).unwrap_or_default();
            if let Some(entry) = session.device.edit().root.find_mut(&identity)
                && !words.is_empty()
            {
                entry.text = format!("{identity} {}", words.join(" "));
            }
            session.position.mode = Mode::Interface(name);
            Reply::Silent
        }
        LinePrefix::No if !name.is_virtual() => {
            Reply::Text("% Removal of physical interfaces is not permitted.".to_owned())
        }
        LinePrefix::No if name.is_vlan() && name.number() == 1 => {
            Reply::Text("% Interface Vlan1 cannot be deleted.".to_owned())
        }
        LinePrefix::No => {
            session
                .device
                .edit()
                .root
                .remove(&interface_identity(&name));
            if name.is_port_channel() {
                let bundle = format!("channel-group {}", name.number());
                let is_member = |line: &Entry| {
                    let rest = line.text.strip_prefix(&bundle);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
                };
                for entry in session.device.edit().root.entries_mut() {
                    let Some(block) = &mut entry.block else {
                        continue;
                    };
                    if block.entries().iter().any(is_member) {
                        block.retain(|line| !is_member(line));
                        // The members of a bundle that is removed are shut down.
                        let rule = interface_rule_of("shutdown");
                        block.set(Entry::line(rule, "shutdown", "shutdown"));
                    }
                }
            }
            Reply::Silent
        }
        LinePrefix::Default if !exists => Reply::Invalid(1),
        LinePrefix::Default => {
            let identity = interface_identity(&name);
            if let Some(entry) = session.device.edit().root.find_mut(&identity) {
                entry.block = Some(Block::default());
            }
            Reply::Text(format!("Interface {name} set to default configuration"))
        }
    }
}

fn line(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let mut words = command.words.clone();
    if words[1] == "console" {
        "con".clone_into(&mut words[1]);
    }
    let identity = words.join(" ");
    if !command.is_set() {
        session.device.edit().root.remove(&identity);
        return Reply::Silent;
    }
    let root = &mut session.device.edit().root;
    if root.find(&identity).is_none() {
        root.set(Entry {
            block: Some(Block::default()),
            ..Entry::line(command.rule, identity.clone(), identity.clone())
        });
    }
    session.position.mode = Mode::Line(identity);
    Reply::Silent
}

pub(super) fn tacacs_server(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    server(session, command, Mode::TacacsServer)
}

pub(super) fn radius_server(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    server(session, command, Mode::RadiusServer)
}

pub(super) fn eigrp(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    server(session, command, Mode::Eigrp)
}

/// A process keeps its VRF.
pub(super) fn ospf(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let vrf = command.word(4);
    if command.is_set() && !vrf.is_empty() && !session.device.has_vrf(vrf) {
        return Reply::Text(format!("% VRF {vrf} not configured."));
    }
    server(session, command, Mode::Ospf)
}

/// A device has one process. Changes of sessions are logged by default, and the line is printed (recording i0830).
pub(super) fn bgp(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    let entries = session.device.configuration.root.entries();
    let mut other = entries.iter().map(|entry| &entry.identity);
    let other = other.find(|line| line.starts_with("router bgp ") && **line != identity);
    if let (true, Some(other)) = (command.is_set(), other) {
        let asn = other.trim_start_matches("router bgp ");
        return Reply::Text(format!("BGP is already running; AS is {asn}"));
    }
    let is_new = session.device.configuration.root.find(&identity).is_none();
    let reply = server(session, command, Mode::Bgp);
    if is_new && command.is_set() {
        let line = "bgp log-neighbor-changes";
        session.block().set(Entry::line(1, line, line));
    }
    reply
}

/// An entry keeps its lines if its action changes.
pub(super) fn route_map(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let map = command.identity_text();
    let sequence = command.word(3);
    if !command.is_set() && sequence.is_empty() {
        let all = format!("{map} ");
        session
            .device
            .edit()
            .root
            .retain(|entry| !entry.identity.starts_with(&all));
        return Reply::Silent;
    }
    let identity = format!("{map} {sequence}");
    let root = &mut session.device.edit().root;
    if !command.is_set() {
        root.remove(&identity);
        return Reply::Silent;
    }
    let mut sort: Vec<u32> = map.bytes().map(u32::from).collect();
    sort.extend([0, sequence.parse().unwrap_or_default()]);
    let block = root.remove(&identity).and_then(|entry| entry.block);
    root.set(Entry {
        sort,
        block: Some(block.unwrap_or_default()),
        ..Entry::line(command.rule, identity.clone(), command.text())
    });
    session.position.mode = Mode::RouteMap(identity);
    Reply::Silent
}

pub(super) fn tacacs_group(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    group(session, command, Mode::TacacsGroup)
}

pub(super) fn radius_group(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    group(session, command, Mode::RadiusGroup)
}

/// Groups require `aaa new-model`.
fn group(session: &mut ConfigSession<'_>, command: &Command, mode: fn(String) -> Mode) -> Reply {
    if !has_aaa(session) {
        return Reply::Invalid(1);
    }
    server(session, command, mode)
}

/// Enters the submode of a server or a group and creates it, or removes it.
fn server(session: &mut ConfigSession<'_>, command: &Command, mode: fn(String) -> Mode) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        return session.remove(command);
    }
    if session.device.configuration.root.find(&identity).is_none() {
        session.set(Entry {
            block: Some(Block::default()),
            ..command.entry(command.text())
        });
    }
    session.position.mode = mode(identity);
    Reply::Silent
}

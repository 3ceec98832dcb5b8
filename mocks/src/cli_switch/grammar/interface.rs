//! Lines of the interface submode, in the order in which the running configuration prints them.

mod switchport_line;

use self::switchport_line::{
    access_vlan, encapsulation, mode, nonegotiate, switchport, vlan_list, voice_vlan,
};
use super::{Rule, RuleScope};
use crate::cli_switch::configure::{
    Command, ConfigSession, LinePrefix, end, exit, interface_rule_index,
};
use crate::cli_switch::device::Mode;
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::interface_name::InterfaceName;
use crate::cli_switch::switchport::Switchport;

const fn rule(pattern: &'static str, effect: Effect) -> Rule {
    Rule {
        pattern,
        effect,
        when: always,
    }
}

const fn on(when: fn(&RuleScope<'_>) -> bool, pattern: &'static str, effect: Effect) -> Rule {
    Rule {
        pattern,
        effect,
        when,
    }
}

fn always(_: &RuleScope<'_>) -> bool {
    true
}

fn is_switchable(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_switching && scope.interface.is_some_and(InterfaceName::is_switchable)
}

/// A physical Ethernet port or a port channel.
fn is_ethernet(scope: &RuleScope<'_>) -> bool {
    scope.interface.is_some_and(InterfaceName::is_switchable)
}

fn is_router(scope: &RuleScope<'_>) -> bool {
    !scope.profile.has_switching && is_physical(scope)
}

fn is_routable_port(scope: &RuleScope<'_>) -> bool {
    is_switchable(scope) && scope.profile.has_routing
}

fn has_isl(scope: &RuleScope<'_>) -> bool {
    is_switchable(scope) && scope.profile.isl
}

fn has_mtu(scope: &RuleScope<'_>) -> bool {
    scope.profile.interface_mtu
}

fn is_physical(scope: &RuleScope<'_>) -> bool {
    scope.interface.is_some_and(|name| !name.is_virtual())
}

fn is_bundle(scope: &RuleScope<'_>) -> bool {
    scope.interface.is_some_and(InterfaceName::is_port_channel)
}

fn is_fast_ethernet(scope: &RuleScope<'_>) -> bool {
    scope
        .interface
        .is_some_and(|name| name.type_name() == "FastEthernet")
}

fn is_gigabit(scope: &RuleScope<'_>) -> bool {
    scope
        .interface
        .is_some_and(|name| name.type_name() == "GigabitEthernet" || name.is_port_channel())
}

fn is_beyond_gigabit(scope: &RuleScope<'_>) -> bool {
    is_ethernet(scope) && !is_fast_ethernet(scope) && !is_gigabit(scope)
}

fn has_vrf(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_routing
}

/// All rules of the mode.
pub(crate) const RULES: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    on(is_routable_port, "switchport", Effect::Run(switchport)),
    on(
        is_switchable,
        "switchport access vlan ! <1-4094>",
        Effect::Run(access_vlan),
    ),
    on(
        has_isl,
        "switchport trunk encapsulation ! (dot1q | isl | negotiate)",
        Effect::Run(encapsulation),
    ),
    on(
        is_switchable,
        "switchport trunk native vlan ! <1-4094>",
        Effect::Unless("switchport trunk native vlan 1"),
    ),
    on(
        is_switchable,
        "switchport trunk allowed vlan ! (all | none | <vlan-list> | (add | except | remove) <vlan-list>)",
        Effect::Run(vlan_list),
    ),
    on(
        is_switchable,
        "switchport trunk pruning vlan ! (none | <vlan-list> | (add | except | remove) <vlan-list>)",
        Effect::Run(vlan_list),
    ),
    on(
        is_switchable,
        "switchport mode ! (access | trunk | dynamic (auto | desirable))",
        Effect::Run(mode),
    ),
    on(
        is_switchable,
        "switchport nonegotiate",
        Effect::Run(nonegotiate),
    ),
    on(
        is_switchable,
        "switchport voice vlan ! (<1-4094> | dot1p | none | untagged)",
        Effect::Run(voice_vlan),
    ),
    on(is_switchable, "switchport protected", Effect::Store),
    on(
        is_switchable,
        "switchport port-security ! [maximum <1-3072>]",
        Effect::Store,
    ),
    on(
        has_vrf,
        "vrf forwarding ! <word>",
        Effect::Run(vrf_forwarding),
    ),
    on(
        has_vrf,
        "ip vrf forwarding ! <word>",
        Effect::Run(vrf_forwarding),
    ),
    rule(
        "ip address ! (<ipv4> <mask> [secondary] | dhcp)",
        Effect::Run(ip_address),
    ),
    rule("ip access-group <word> ! (in | out)", Effect::Store),
    rule("ip helper-address <ipv4>", Effect::Store),
    rule("standby [<0-255>] ip ! <ipv4>", Effect::Store),
    rule("vrrp <1-255> ip ! <ipv4>", Effect::Store),
    rule("glbp <0-1023> ip ! <ipv4>", Effect::Store),
    rule("ip redirects", Effect::OnByDefault),
    rule("ip proxy-arp", Effect::OnByDefault),
    rule("ip route-cache cef", Effect::OnByDefault),
    on(
        is_physical,
        "ip dhcp snooping limit rate ! <1-2048>",
        Effect::Store,
    ),
    on(is_physical, "ip dhcp snooping trust", Effect::Store),
    on(has_mtu, "mtu ! <1500-9198>", Effect::Run(mtu)),
    rule("bandwidth ! <1-200000000>", Effect::Store),
    rule(
        "ipv6 address <ipv6-prefix> [eui-64 | link-local]",
        Effect::Store,
    ),
    rule("ipv6 enable", Effect::Store),
    rule(
        "load-interval ! <30-600>",
        Effect::Unless("load-interval 300"),
    ),
    rule("logging event link-status", Effect::OnByDefault),
    rule(
        "logging event (bundle-status | nfas-status | power-inline-status | spanning-tree | status | subif-link-status | trunk-status)",
        Effect::Store,
    ),
    rule("shutdown", Effect::Store),
    on(
        is_fast_ethernet,
        "speed ! (10 | 100 | auto)",
        Effect::Run(speed),
    ),
    on(
        is_gigabit,
        "speed ! (10 | 100 | 1000 | auto | nonegotiate)",
        Effect::Run(speed),
    ),
    on(
        is_beyond_gigabit,
        "speed ! (10 | 100 | 1000 | 2500 | 5000 | 10000 | 25000 | 40000 | 50000 | 100000 | auto | nonegotiate)",
        Effect::Run(speed),
    ),
    on(
        is_ethernet,
        "duplex ! (auto | full | half)",
        Effect::Run(duplex),
    ),
    on(
        is_ethernet,
        "flowcontrol receive ! (desired | off | on)",
        Effect::Unless("flowcontrol receive off"),
    ),
    rule("snmp trap link-status", Effect::OnByDefault),
    rule("snmp trap link-status permit duplicates", Effect::Store),
    on(
        is_physical,
        "snmp trap mac-notification change (added | removed)",
        Effect::Store,
    ),
    on(
        is_physical,
        "channel-group ! <1-128> mode (active | (auto | desirable) [silent | non-silent] | on | passive)",
        Effect::Run(channel_group),
    ),
    on(
        is_router,
        "channel-group ! <1-128>",
        Effect::Run(channel_group),
    ),
    on(is_bundle, "port-channel min-links ! <2-8>", Effect::Store),
    on(
        is_switchable,
        "spanning-tree portfast ! [disable | edge [trunk] | trunk]",
        Effect::Store,
    ),
    on(
        is_switchable,
        "spanning-tree bpduguard ! (disable | enable)",
        Effect::Store,
    ),
    on(
        is_switchable,
        "spanning-tree bpdufilter ! (disable | enable)",
        Effect::Store,
    ),
    on(
        is_switchable,
        "spanning-tree guard ! (loop | none | root)",
        Effect::Store,
    ),
    on(
        is_switchable,
        "spanning-tree cost ! <1-200000000>",
        Effect::Store,
    ),
    on(
        is_switchable,
        "storm-control (broadcast | multicast | unicast) ! level <1-100>",
        Effect::Store,
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

fn this(session: &ConfigSession<'_>) -> Option<InterfaceName> {
    match &session.position.mode {
        Mode::Interface(name) => Some(name.clone()),
        _ => None,
    }
}

fn view(session: &mut ConfigSession<'_>) -> Switchport {
    let profile = session.device.profile;
    Switchport::of(session.block(), profile)
}

/// Stores or removes a line by its identity, if it is valid.
fn store(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() {
        session.block().set(command.entry(command.text()));
    } else {
        session.block().remove(&command.identity_text());
    }
    Reply::Silent
}

/// The default is not printed: the MTU of the switch, or 1500 where no frames are
/// switched.
fn mtu(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let switched = match &session.position.mode {
        Mode::Interface(name) => name.is_switchable() && name.to_string() != MANAGEMENT,
        _ => false,
    };
    let root = &session.device.configuration.root;
    let system = root.find("system mtu").filter(|_| switched);
    let by_itself = system.map_or("mtu 1500", |entry| entry.text.trim_start_matches("system "));
    if command.is_set() && command.text() == by_itself {
        session.block().remove(&command.identity_text());
        return Reply::Silent;
    }
    store(session, command)
}

/// The management port, on platforms that have one.
const MANAGEMENT: &str = "GigabitEthernet0/0";

fn vrf_forwarding(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let name = command.words.last().cloned().unwrap_or_default();
    let form = command.identity_text().replace("vrf forwarding", "vrf");
    let defined = if form == "vrf" {
        format!("vrf definition {name}")
    } else {
        format!("ip vrf {name}")
    };
    let root = &session.device.configuration.root;
    if command.is_set() && root.find(&defined).is_none() {
        return Reply::Text(format!("% VRF {name} not configured."));
    }
    let identity = command.identity_text();
    let block = session.block();
    let same = block
        .find(&identity)
        .is_some_and(|line| line.text == command.text());
    if same && command.is_set() {
        return Reply::Silent;
    }
    let addresses = block
        .entries()
        .iter()
        .any(|line| line.identity.starts_with("ip address"));
    block.retain(|line| !line.identity.starts_with("ip address"));
    if command.is_set() {
        // An interface is in one VRF, whatever the form of its line.
        block.retain(|line| {
            !["vrf forwarding", "ip vrf forwarding"].contains(&line.identity.as_str())
        });
    }
    store(session, command);
    if !addresses {
        return Reply::Silent;
    }
    let interface = this(session)
        .map(|name| name.to_string())
        .unwrap_or_default();
    let verb = if command.is_set() {
        "enabling"
    } else {
        "disabling"
    };
    Reply::Text(format!(
        "% Interface {interface} IPv4 disabled and address(es) removed due to {verb} VRF {name}"
    ))
}

fn ip_address(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Some(name) = this(session) else {
        return Reply::Invalid(0);
    };
    let port = view(session);
    let profile = session.device.profile;
    let is_switched =
        name.is_switchable() && profile.has_switching && name.to_string() != MANAGEMENT;
    if is_switched && (port.enabled || !profile.has_routing) {
        return Reply::Text("% IP addresses may not be configured on L2 links.".to_owned());
    }
    let mut entry = command.entry(command.text());
    if command.word(4) == "secondary" {
        entry.identity = command.text();
        entry.sort = vec![1];
    }
    match command.sign {
        LinePrefix::Set => {
            let mine = session.position.mode.block_identity();
            let taken = session.device.interfaces().find(|(other, block)| {
                mine.as_deref() != Some(&format!("interface {other}"))
                    && command.word(2) != "dhcp"
                    && block.entries().iter().any(|line| {
                        line.text.split(' ').nth(2) == Some(command.word(2))
                            && line.identity.starts_with("ip address")
                    })
            });
            if let Some((other, _)) = taken {
                return Reply::Text(format!("% {} overlaps with {other}", command.word(2)));
            }
            session.block().set(entry);
        }
        _ if command.words.len() == command.identity => {
            session
                .block()
                .retain(|line| !line.identity.starts_with("ip address"));
        }
        _ => {
            session.block().remove(&entry.identity);
        }
    }
    Reply::Silent
}

fn speed(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() && command.word(1) != "auto" {
        return store(session, command);
    }
    session.block().remove("speed");
    Reply::Silent
}

/// Older images require a fixed speed before a fixed duplex.
fn duplex(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() || command.word(1) == "auto" {
        session.block().remove("duplex");
        return Reply::Silent;
    }
    if !session.device.profile.is_ios_xe && session.block().find("speed").is_none() {
        return Reply::Text("% Cannot set duplex while speed is set to auto.".to_owned());
    }
    store(session, command)
}

fn channel_group(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return store(session, command);
    }
    let (Some(name), Ok(number)) = (this(session), command.word(1).parse::<u32>()) else {
        return Reply::Invalid(1);
    };
    let port_channel =
        InterfaceName::parse(&format!("Port-channel{number}")).expect("a well-formed name");
    let family = |text: &str| match text.split(' ').nth(3) {
        Some("active" | "passive") => "lacp",
        Some("auto" | "desirable") => "pagp",
        _ => "on",
    };
    let text = command.text();
    let refused = session.device.interfaces().any(|(other, block)| {
        block.find("channel-group").is_some_and(|line| {
            let same_bundle = line.text.split(' ').nth(1) == Some(command.word(1));
            if other == name {
                line.text != text
            } else {
                same_bundle && family(&line.text) != family(&text)
            }
        })
    });
    if refused {
        return Reply::Text(format!(
            "Command rejected ({port_channel}, {}): the mode does not fit the channel group's",
            name.short()
        ));
    }
    let created = session.device.interface(&port_channel).is_none();
    session
        .device
        .add_interface(interface_rule_index(), &port_channel);
    store(session, command);
    if created {
        Reply::Text(format!(
            "Creating a port-channel interface Port-channel {number}\n"
        ))
    } else {
        Reply::Silent
    }
}

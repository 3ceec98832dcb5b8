//! Lines of the interface submode, in the order in which the running configuration prints them.

mod ip_line;
mod switchport_line;

use self::ip_line::{access_group, ip_address, standby_group, standby_priority, vrf_forwarding};
use self::switchport_line::{
    access_vlan, encapsulation, mode, nonegotiate, switchport, vlan_list, voice_vlan,
};
use super::{Rule, RuleScope};
use crate::cli_switch::configure::{Command, ConfigSession, end, exit, interface_rule_index};
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

/// The management port, on platforms that have one.
const MANAGEMENT: &str = "GigabitEthernet0/0";

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
        "switchport port-security maximum ! <1-3072>",
        Effect::Unless("switchport port-security maximum 1"),
    ),
    on(
        is_switchable,
        "switchport port-security violation ! (protect | restrict | shutdown)",
        Effect::Unless("switchport port-security violation shutdown"),
    ),
    on(
        is_switchable,
        "switchport port-security aging time ! <0-1440>",
        Effect::Unless("switchport port-security aging time 0"),
    ),
    on(
        is_switchable,
        "switchport port-security aging type ! (absolute | inactivity)",
        Effect::Unless("switchport port-security aging type absolute"),
    ),
    on(
        is_switchable,
        "switchport port-security mac-address sticky [<mac>]",
        Effect::Store,
    ),
    on(
        is_switchable,
        "switchport port-security mac-address <mac>",
        Effect::Store,
    ),
    on(
        is_switchable,
        "switchport port-security",
        Effect::Run(port_security),
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
    rule(
        "ip access-group ! <word> (in | out)",
        Effect::Run(access_group),
    ),
    rule("ip helper-address <ipv4>", Effect::Store),
    rule("ip mtu ! <68-9198>", Effect::Store),
    rule("ip unreachables", Effect::OnByDefault),
    rule("standby <0-255> ! <never>", Effect::Run(standby_group)),
    rule("standby [<0-255>] ip ! [<ipv4>]", Effect::Store),
    rule(
        "standby <0-255> priority ! <0-255>",
        Effect::Run(standby_priority),
    ),
    rule("standby <0-255> preempt", Effect::Store),
    rule("standby <0-255> authentication ! <word>", Effect::Store),
    rule("standby <0-255> name ! <word>", Effect::Store),
    rule(
        "standby <0-255> track <1-1000> ! decrement <1-255>",
        Effect::Store,
    ),
    rule(
        "ip ospf network ! (broadcast | non-broadcast | point-to-multipoint | point-to-point)",
        Effect::Store,
    ),
    rule(
        "ip ospf priority ! <0-255>",
        Effect::Unless("ip ospf priority 1"),
    ),
    rule("ip ospf cost ! <1-65535>", Effect::Store),
    rule("ip ospf hello-interval ! <1-65535>", Effect::Store),
    rule("ip ospf dead-interval ! <1-65535>", Effect::Store),
    rule("ip ospf mtu-ignore", Effect::Store),
    rule("ip ospf <1-65535> ! area <area>", Effect::Store),
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
    rule("cdp enable", Effect::OnByDefault),
    rule("lldp (transmit | receive)", Effect::OnByDefault),
    on(
        is_switchable,
        "authentication host-mode ! (single-host | multi-host | multi-domain | multi-auth)",
        Effect::Unless("authentication host-mode single-host"),
    ),
    on(
        is_switchable,
        "authentication (order | priority) ! (dot1x | mab | webauth) (dot1x | mab | webauth)*",
        Effect::Store,
    ),
    on(
        is_switchable,
        "authentication port-control ! (auto | force-authorized | force-unauthorized)",
        Effect::Unless("authentication port-control force-authorized"),
    ),
    on(is_switchable, "authentication periodic", Effect::Store),
    on(is_switchable, "mab", Effect::Store),
    on(is_switchable, "dot1x pae authenticator", Effect::Store),
    on(
        is_switchable,
        "dot1x timeout tx-period ! <1-65535>",
        Effect::Unless("dot1x timeout tx-period 30"),
    ),
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
        "spanning-tree port-priority ! <0-240>",
        Effect::Run(port_priority),
    ),
    on(
        is_switchable,
        "spanning-tree link-type ! (point-to-point | shared)",
        Effect::Store,
    ),
    on(
        is_switchable,
        "storm-control (broadcast | multicast | unicast) level ! (<percent> [<percent>] | (bps | pps) <word> [<word>])",
        Effect::Store,
    ),
    on(
        is_switchable,
        "storm-control action (shutdown | trap)",
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

/// A dynamic port has no secure addresses.
fn port_security(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let port = view(session);
    if command.is_set() && port.mode.starts_with("dynamic") {
        let name = this(session)
            .map(|name| name.to_string())
            .unwrap_or_default();
        return Reply::Text(format!("Command rejected: {name} is a dynamic port."));
    }
    store(session, command)
}

/// Priorities of ports are multiples of 16.
fn port_priority(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let priority: u32 = command.word(2).parse().unwrap_or_default();
    if command.is_set() && !priority.is_multiple_of(16) {
        return Reply::Text("% Port Priority in increments of 16 is required".to_owned());
    }
    if command.is_set() && priority == 128 {
        session.block().remove(&command.identity_text());
        return Reply::Silent;
    }
    store(session, command)
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

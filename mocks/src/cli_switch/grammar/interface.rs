//! Lines of the interface submode, in the order in which the running configuration prints them.

mod ip_line;
mod port_line;
mod switchport_line;

use self::ip_line::{
    access_group, encapsulation_dot1q, ip_address, ip_unnumbered, isis_metric, pim_mode,
    standby_authentication, standby_group, standby_priority, vrf_forwarding,
};
use self::port_line::{channel_group, duplex, mtu, port_priority, port_security, power, speed};
use self::switchport_line::{
    access_vlan, encapsulation, mode, nonegotiate, switchport, vlan_list, voice_vlan,
};
use super::global::spanning_tree::portfast;
use super::{Rule, RuleScope, on, rule};
use crate::cli_switch::configure::{Command, ConfigSession, end, exit};
use crate::cli_switch::device::Mode;
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::interface_name::InterfaceName;
use crate::cli_switch::switchport::Switchport;

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

fn is_lan_subinterface(scope: &RuleScope<'_>) -> bool {
    let name = scope.interface;
    name.is_some_and(InterfaceName::is_lan_subinterface)
}

fn is_serial(scope: &RuleScope<'_>) -> bool {
    scope
        .interface
        .is_some_and(|name| name.type_name() == "Serial")
}

fn is_tunnel(scope: &RuleScope<'_>) -> bool {
    scope.interface.is_some_and(InterfaceName::is_tunnel)
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

fn has_port_types(scope: &RuleScope<'_>) -> bool {
    is_switchable(scope) && scope.profile.has_port_types()
}

/// Images with types of ports know `edge trunk` only.
fn has_portfast_trunk(scope: &RuleScope<'_>) -> bool {
    is_switchable(scope) && !scope.profile.has_port_types()
}

fn has_vrf(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_routing
}

/// The management port, on platforms that have one.
const MANAGEMENT: &str = "GigabitEthernet0/0";

/// All rules of the mode.
pub(crate) const RULES: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    // "encapsulation dot1q" in the Cisco IOS LAN Switching Command Reference.
    on(
        is_lan_subinterface,
        "encapsulation dot1q ! <1-4094> [native | second-dot1q (any | <vlan-list>)]",
        Effect::Run(encapsulation_dot1q),
    ),
    // Recordings i0760, i0802: `negotiation auto` of routers, `no mop ...` of IOS XE.
    on(is_router, "negotiation auto", Effect::BothForms),
    on(is_router, "mop enabled", Effect::OnByDefault),
    on(is_router, "mop sysid", Effect::BothForms),
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
        "switchport block (multicast | unicast)",
        Effect::Store,
    ),
    // Port security: Catalyst 3550 Command Reference, "switchport port-security aging"; Catalyst 4500, "switchport port-security".
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
    // "ip unnumbered" in the Cisco IOS IP Addressing Services Command Reference.
    rule(
        "ip unnumbered ! <interface> [poll]",
        Effect::Run(ip_unnumbered),
    ),
    rule(
        "ip access-group ! <word> (in | out)",
        Effect::Run(access_group),
    ),
    rule("ip helper-address <ipv4>", Effect::Store),
    // Cisco IOS IP Addressing Services, IP Switching and Security Command References.
    rule("ip nat ! (inside | outside)", Effect::Store),
    rule("ip virtual-reassembly ! [in]", Effect::Store),
    rule("ip policy route-map ! <word>", Effect::Store),
    rule(
        "ip verify unicast source reachable-via ! (any | rx) [allow-default] [allow-self-ping]",
        Effect::Store,
    ),
    rule("ip directed-broadcast ! [<word>]", Effect::Store),
    rule("ip (local-proxy-arp | mask-reply)", Effect::Store),
    rule("ip (mroute-cache | route-cache)", Effect::OnByDefault),
    rule("ip flow (egress | ingress)", Effect::Store),
    rule("ip dhcp relay information trusted", Effect::Store),
    rule("ip mtu ! <68-9198>", Effect::Store),
    rule("ip tcp adjust-mss ! <500-1460>", Effect::Store),
    rule("ip unreachables", Effect::OnByDefault),
    // HSRP: IOS XE Qualified Command Reference, "HSRP Commands"; recording i0827.
    rule("standby <0-255> ! <never>", Effect::Run(standby_group)),
    rule("standby [<0-255>] ip ! [<ipv4>]", Effect::Store),
    rule(
        "standby <0-255> priority ! <0-255>",
        Effect::Run(standby_priority),
    ),
    rule(
        "standby <0-255> preempt ! [delay minimum <0-3600> [reload <0-3600>] | delay reload <0-3600>]",
        Effect::Store,
    ),
    rule(
        "standby <0-255> authentication ! (md5 key-string [0 | 7] <word> | text <word> | <word>)",
        Effect::Run(standby_authentication),
    ),
    rule("standby <0-255> name ! <word>", Effect::Store),
    rule(
        "standby <0-255> track <1-1000> ! decrement <1-255>",
        Effect::Store,
    ),
    // OSPF: recordings i0755 (cost) and i0805 (network); Cisco IOS IP Routing: OSPF Command Reference.
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
    // "ip arp inspection", "ip verify source": Catalyst 3560 Command Reference.
    on(is_switchable, "ip arp inspection trust", Effect::Store),
    on(
        is_switchable,
        "ip arp inspection limit ! (rate <0-2048> [burst interval <1-15>] | none)",
        Effect::Store,
    ),
    on(
        is_switchable,
        "ip verify source ! [port-security | mac-check]",
        Effect::Store,
    ),
    // Catalyst 3560 Command Reference, "mls qos trust", "priority-queue", "srr-queue bandwidth share".
    rule("service-policy (input | output) ! <word>", Effect::Store),
    on(
        is_switchable,
        "mls qos trust ! (cos | dscp | ip-precedence)",
        Effect::Store,
    ),
    on(is_switchable, "priority-queue out", Effect::Store),
    on(
        is_switchable,
        "srr-queue bandwidth share ! <1-255> <1-255> <1-255> <1-255>",
        Effect::Unless("srr-queue bandwidth share 25 25 25 25"),
    ),
    on(
        is_ethernet,
        "media-type ! (auto-select | gbic | rj45 | sfp)",
        Effect::Store,
    ),
    // Cisco IOS Dial Technologies and Wide-Area Networking Command References; recording i0825, "serial restart-delay 0".
    on(
        is_serial,
        "encapsulation ! (frame-relay [ietf] | hdlc | ppp)",
        Effect::Unless("encapsulation hdlc"),
    ),
    on(is_serial, "clock rate ! <300-8064000>", Effect::Store),
    on(is_serial, "serial restart-delay ! <0-900>", Effect::Store),
    on(is_serial, "fair-queue", Effect::OnByDefault),
    on(
        is_serial,
        "ppp authentication ! (chap | eap | ms-chap | ms-chap-v2 | pap) (chap | eap | ms-chap | ms-chap-v2 | pap)* [callin]",
        Effect::Store,
    ),
    on(is_serial, "ppp chap hostname ! <word>", Effect::Store),
    on(
        is_serial,
        "ppp multilink group ! <1-2147483647>",
        Effect::Store,
    ),
    on(is_serial, "ppp multilink", Effect::Store),
    // "power inline", "udld port", "ip device tracking maximum": Catalyst 3560 Command Reference; "device-tracking
    // attach-policy": Catalyst 9300 Command Reference.
    on(
        is_switchable,
        "ip device tracking maximum ! <0-65535>",
        Effect::Store,
    ),
    on(
        is_switchable,
        "device-tracking attach-policy <word> [vlan <vlan-list>]",
        Effect::Store,
    ),
    on(
        is_switchable,
        "power inline ! (auto [max <4000-90000>] | never | static [max <4000-90000>])",
        Effect::Run(power),
    ),
    on(
        is_switchable,
        "power inline consumption ! <4000-90000>",
        Effect::Store,
    ),
    on(
        is_switchable,
        "power inline police ! [action (errdisable | log)]",
        Effect::Store,
    ),
    on(
        is_switchable,
        "power inline port priority ! (critical | high | low)",
        Effect::Unless("power inline port priority low"),
    ),
    on(
        is_switchable,
        "udld port ! [aggressive | disable]",
        Effect::Store,
    ),
    // Cisco IOS Interface and Hardware Component Command Reference.
    rule("carrier-delay ! (<0-60> | msec <0-1000>)", Effect::Store),
    rule("delay ! <1-16777215>", Effect::Store),
    on(
        is_physical,
        "keepalive ! [<0-32767> [<1-255>]]",
        Effect::BothForms,
    ),
    rule(
        "arp timeout ! <0-2147483>",
        Effect::Unless("arp timeout 14400"),
    ),
    on(has_mtu, "mtu ! <1500-9198>", Effect::Run(mtu)),
    rule("bandwidth ! <1-200000000>", Effect::Store),
    // "tunnel ..." in the Cisco IOS Interface and Hardware Component Command Reference.
    on(
        is_tunnel,
        "tunnel source ! (<ipv4> | <ipv6> | dynamic | <interface>)",
        Effect::Store,
    ),
    on(
        is_tunnel,
        "tunnel mode ! (gre (ip | ipv6 | multipoint) | ipip | ipsec (ipv4 | ipv6) | ipv6 | mpls traffic-eng | ipv6ip [6to4 | isatap])",
        Effect::Unless("tunnel mode gre ip"),
    ),
    on(
        is_tunnel,
        "tunnel destination ! (<ipv4> | <ipv6> | dynamic | <hostname>)",
        Effect::Store,
    ),
    on(is_tunnel, "tunnel key ! <0-4294967295>", Effect::Store),
    on(is_tunnel, "tunnel vrf ! <word>", Effect::Store),
    on(
        is_tunnel,
        "tunnel protection ipsec profile ! <word> [shared]",
        Effect::Store,
    ),
    on(is_tunnel, "tunnel path-mtu-discovery", Effect::Store),
    on(is_tunnel, "tunnel checksum", Effect::Store),
    on(is_tunnel, "tunnel sequence-datagrams", Effect::Store),
    on(
        is_tunnel,
        "tunnel ttl ! <1-255>",
        Effect::Unless("tunnel ttl 255"),
    ),
    on(is_tunnel, "tunnel tos ! <0-255>", Effect::Store),
    on(
        is_tunnel,
        "tunnel route-via ! <interface> (mandatory | preferred)",
        Effect::Store,
    ),
    on(is_tunnel, "qos pre-classify", Effect::Store),
    on(
        is_tunnel,
        "keepalive ! [<0-32767> [<1-255>]]",
        Effect::Store,
    ),
    // Cisco IOS IP Addressing Services Command Reference, "ip nhrp ..."; IP Routing: OSPF Command Reference, "ip ospf ...".
    on(is_tunnel, "ip nhrp authentication ! <word>", Effect::Store),
    on(is_tunnel, "ip nhrp group ! <word>", Effect::Store),
    on(
        is_tunnel,
        "ip nhrp map multicast (dynamic | <ipv4>)",
        Effect::Store,
    ),
    on(is_tunnel, "ip nhrp map <ipv4> <ipv4>", Effect::Store),
    on(
        is_tunnel,
        "ip nhrp network-id ! <1-4294967295>",
        Effect::Store,
    ),
    on(is_tunnel, "ip nhrp holdtime ! <1-65535>", Effect::Store),
    on(
        is_tunnel,
        "ip nhrp nhs (<ipv4> | dynamic) [nbma <word>] [multicast]",
        Effect::Store,
    ),
    on(is_tunnel, "ip nhrp registration no-unique", Effect::Store),
    on(
        is_tunnel,
        "ip nhrp registration timeout ! <1-65535>",
        Effect::Store,
    ),
    on(
        is_tunnel,
        "ip nhrp (redirect | server-only | shortcut)",
        Effect::Store,
    ),
    rule(
        "ip ospf retransmit-interval ! <1-65535>",
        Effect::Unless("ip ospf retransmit-interval 5"),
    ),
    rule(
        "ip ospf transmit-delay ! <1-65535>",
        Effect::Unless("ip ospf transmit-delay 1"),
    ),
    rule(
        "ip ospf dead-interval minimal hello-multiplier ! <3-20>",
        Effect::Store,
    ),
    rule(
        "ip ospf (demand-circuit | flood-reduction | shutdown)",
        Effect::Store,
    ),
    rule("ip ospf database-filter all out", Effect::Store),
    rule("ip ospf prefix-suppression ! [disable]", Effect::Store),
    rule("ip ospf ttl-security hops ! <1-254>", Effect::Store),
    // Cisco IOS IP Multicast, Multiprotocol Label Switching, and IP Routing: ISIS and EIGRP Command References.
    rule(
        "ip pim dr-priority ! <0-4294967294>",
        Effect::Unless("ip pim dr-priority 1"),
    ),
    rule(
        "ip pim query-interval ! <0-18724>",
        Effect::Unless("ip pim query-interval 30"),
    ),
    rule("ip pim bsr-border", Effect::Store),
    rule("ip pim neighbor-filter ! <word>", Effect::Store),
    rule("ip pim nbma-mode", Effect::Store),
    rule(
        "ip pim (dense-mode | passive | sparse-dense-mode | sparse-mode)",
        Effect::Run(pim_mode),
    ),
    rule(
        "ip multicast boundary ! <word> [filter-autorp | in | out]",
        Effect::Store,
    ),
    rule("ip igmp access-group ! <word>", Effect::Store),
    rule(
        "ip igmp version ! <1-3>",
        Effect::Unless("ip igmp version 2"),
    ),
    rule(
        "ip igmp query-interval ! <1-18000>",
        Effect::Unless("ip igmp query-interval 60"),
    ),
    rule(
        "ip igmp query-max-response-time ! <1-25>",
        Effect::Unless("ip igmp query-max-response-time 10"),
    ),
    rule(
        "ip igmp (join-group | static-group) <ipv4> [source <ipv4>]",
        Effect::Store,
    ),
    rule("ip mroute-cache", Effect::OnByDefault),
    rule(
        "ip (hello-interval | hold-time) eigrp <1-65535> ! <1-65535>",
        Effect::Store,
    ),
    rule(
        "ip (next-hop-self | split-horizon) eigrp <1-65535>",
        Effect::OnByDefault,
    ),
    rule(
        "ip authentication mode eigrp <1-65535> ! md5",
        Effect::Store,
    ),
    rule(
        "ip authentication key-chain eigrp <1-65535> ! <word>",
        Effect::Store,
    ),
    rule(
        "ip bandwidth-percent eigrp <1-65535> ! <1-999999>",
        Effect::Store,
    ),
    rule(
        "ip summary-address eigrp <1-65535> <ipv4> <mask> ! [<1-255>]",
        Effect::Store,
    ),
    rule("(ip | ipv6) router isis ! [<word>]", Effect::Store),
    rule("mpls ip", Effect::Store),
    rule("mpls label protocol ! (both | ldp | tdp)", Effect::Store),
    rule("mpls mtu ! <64-65535>", Effect::Store),
    rule(
        "mpls ldp discovery transport-address ! (interface | <ipv4>)",
        Effect::Store,
    ),
    rule("mpls ldp igp (autoconfig | sync)", Effect::OnByDefault),
    rule("mpls bgp forwarding", Effect::Store),
    rule("mpls traffic-eng tunnels", Effect::Store),
    rule(
        "mpls traffic-eng administrative-weight ! <0-4294967295>",
        Effect::Store,
    ),
    rule("mpls traffic-eng attribute-flags ! <word>", Effect::Store),
    rule(
        "ip rsvp bandwidth ! [<1-10000000> [<1-10000000>]]",
        Effect::Store,
    ),
    rule("ip rsvp signalling hello", Effect::Store),
    on(
        is_tunnel,
        "tunnel mpls traffic-eng autoroute announce",
        Effect::Store,
    ),
    on(
        is_tunnel,
        "tunnel mpls traffic-eng autoroute metric ! (absolute <1-4294967295> | relative <word> | <1-4294967295>)",
        Effect::Store,
    ),
    on(
        is_tunnel,
        "tunnel mpls traffic-eng (fast-reroute | forwarding-adjacency | record-route)",
        Effect::Store,
    ),
    on(
        is_tunnel,
        "tunnel mpls traffic-eng priority ! <0-7> [<0-7>]",
        Effect::Store,
    ),
    on(
        is_tunnel,
        "tunnel mpls traffic-eng bandwidth ! <1-4294967295>",
        Effect::Store,
    ),
    on(
        is_tunnel,
        "tunnel mpls traffic-eng affinity ! <word> [mask <word>]",
        Effect::Store,
    ),
    on(
        is_tunnel,
        "tunnel mpls traffic-eng path-option <1-1000> ! (dynamic | explicit (identifier | name) <word>)",
        Effect::Store,
    ),
    rule(
        "isis circuit-type ! (level-1 | level-1-2 | level-2-only)",
        Effect::Unless("isis circuit-type level-1-2"),
    ),
    rule("isis network point-to-point", Effect::Store),
    rule(
        "isis metric ! <1-16777214>",
        Effect::Unless("isis metric 10"),
    ),
    rule(
        "isis metric <1-16777214> (level-1 | level-2)",
        Effect::Run(isis_metric),
    ),
    rule("isis ipv6 metric ! <1-16777214>", Effect::Store),
    rule(
        "isis hello-interval ! (<1-65535> | minimal)",
        Effect::Unless("isis hello-interval 10"),
    ),
    rule(
        "isis hello-multiplier ! <3-1000>",
        Effect::Unless("isis hello-multiplier 3"),
    ),
    rule(
        "isis priority ! <0-127>",
        Effect::Unless("isis priority 64"),
    ),
    rule(
        "isis csnp-interval ! <0-65535>",
        Effect::Unless("isis csnp-interval 10"),
    ),
    rule("isis hello padding", Effect::OnByDefault),
    rule("isis password ! <word>", Effect::Store),
    rule("isis authentication mode ! (md5 | text)", Effect::Store),
    rule("isis authentication key-chain ! <word>", Effect::Store),
    rule("isis bfd", Effect::Store),
    rule("isis three-way-handshake ietf", Effect::Store),
    rule("crypto map ! <word>", Effect::Store),
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
    // CDP and LLDP: published configurations with `no cdp enable`, `no lldp transmit`, `no lldp receive`.
    rule("cdp enable", Effect::OnByDefault),
    rule("lldp (transmit | receive)", Effect::OnByDefault),
    // 802.1X: "dot1x timeout" in the Command References of Catalyst 2950 (OL-10102-01, p. 2-106) and 3750 Metro (p. 2-96).
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
    // Spanning tree: Catalyst 2960 Command Reference, "spanning-tree ..." of an interface.
    on(
        has_portfast_trunk,
        "spanning-tree portfast ! [disable | trunk]",
        Effect::Run(portfast),
    ),
    on(
        has_port_types,
        "spanning-tree portfast ! [disable | edge [trunk] | network]",
        Effect::Run(portfast),
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
    // Storm control: Catalyst 3560 Command Reference, "storm-control": percentages have two decimals.
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

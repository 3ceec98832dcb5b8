//! Lines of the global configuration mode, in the order in which the running configuration prints them.

mod access;
mod banner;
pub(super) mod bgp_list;
mod blocks;
mod clock;
pub(crate) mod keys;
mod logging;
mod naming;
mod ntp;
mod ports;
mod routing;
mod snmp;
pub(crate) mod spanning_tree;

pub(crate) use banner::set_banner;

use super::block_kind::BlockKind;
use super::{Rule, RuleScope, access_list, communities, crypto, on, routing_block, rule};
use crate::cli_switch::configure::{Command, ConfigSession, end, exit};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::vtp;

fn has_routing(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_routing
}

fn has_switching(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_switching
}

fn has_port_types(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_port_types()
}

fn is_router(scope: &RuleScope<'_>) -> bool {
    !scope.profile.has_switching
}

fn is_ios_xe(scope: &RuleScope<'_>) -> bool {
    scope.profile.is_ios_xe
}

/// IOS 12 configures a server by its address in one line.
fn has_named_servers(scope: &RuleScope<'_>) -> bool {
    !scope.profile.is_release_12()
}

fn is_classic_ios(scope: &RuleScope<'_>) -> bool {
    !scope.profile.is_ios_xe
}

/// All rules of the mode.
pub(crate) const RULES: &[Rule] = &[
    rule("version <word>", Effect::Run(nothing)),
    rule(
        "service timestamps debug ! [uptime | datetime (localtime | msec | show-timezone | year)*]",
        Effect::Store,
    ),
    rule(
        "service timestamps log ! [uptime | datetime (localtime | msec | show-timezone | year)*]",
        Effect::Store,
    ),
    rule(
        "configuration mode exclusive (auto | manual)",
        Effect::Store,
    ),
    rule(
        "service password-encryption",
        Effect::Run(keys::password_encryption),
    ),
    // Cisco IOS Configuration Fundamentals Command Reference, "service ...".
    rule(
        "service (dhcp | pad | password-recovery)",
        Effect::OnByDefault,
    ),
    rule(
        "service (call-home | compress-config | config | finger | internal | linenumber | nagle | sequence-numbers | tcp-keepalives-in | tcp-keepalives-out | tcp-small-servers | udp-small-servers | unsupported-transceiver)",
        Effect::Store,
    ),
    rule("hostname ! <word>", Effect::Run(naming::hostname)),
    rule("vrf definition <word>", Effect::Run(blocks::vrf)),
    rule("logging on", Effect::OnByDefault),
    rule(
        "logging buffered ! [discriminator <word>] [<4096-2147483647>] [<severity>]",
        Effect::Run(logging::logging_destination),
    ),
    rule(
        "logging console ! [discriminator <word>] [<severity>]",
        Effect::Run(logging::logging_destination),
    ),
    rule(
        "logging monitor ! [discriminator <word>] [<severity>]",
        Effect::Run(logging::logging_destination),
    ),
    rule(
        "enable secret ! [0 | 5 | 8 | 9] <line>",
        Effect::Run(access::enable_secret),
    ),
    rule(
        "enable password ! [0 | 7] <line>",
        Effect::Run(access::enable_secret),
    ),
    rule(
        "username <word> ! (nopassword | privilege <0-15>)* [(secret | password) [0 | 5 | 7 | 8 | 9] <line>]",
        Effect::Run(access::username),
    ),
    // AAA: recordings i0760 (on, with lists) and i0737 (off); Cisco IOS Security Command Reference, "aaa ...".
    rule("aaa new-model", Effect::Run(access::aaa_new_model)),
    rule(
        "aaa group server tacacs+ <word>",
        Effect::Run(blocks::tacacs_group),
    ),
    rule(
        "aaa group server radius <word>",
        Effect::Run(blocks::radius_group),
    ),
    on(
        is_ios_xe,
        "aaa authentication suppress null-username",
        Effect::Run(access::aaa_line),
    ),
    rule(
        "aaa authentication (arap | dot1x | enable | eou | login | onep | ppp | sgbp) <word> ! (cache <word> | group <word> | local | local-case | enable | line | none | switch-auth)*",
        Effect::Run(access::aaa_methods),
    ),
    rule(
        "aaa authorization (auth-proxy | configuration | exec | network | reverse-access) <word> ! (group <word> | local | if-authenticated | none)*",
        Effect::Run(access::aaa_methods),
    ),
    rule(
        "aaa authorization commands <0-15> <word> ! (group <word> | local | if-authenticated | none)*",
        Effect::Run(access::aaa_methods),
    ),
    rule(
        "aaa accounting update ! (newinfo [periodic <1-2147483647>] | periodic <1-2147483647>)",
        Effect::Run(access::aaa_line),
    ),
    rule(
        "aaa accounting identity <word> ! (none | (start-stop | stop-only) [broadcast] (group <word>)*)",
        Effect::Run(access::aaa_identity),
    ),
    rule(
        "aaa accounting (auth-proxy | connection | dot1x | exec | network | onep | resource | system) <word> ! (none | (start-stop | stop-only) [broadcast] (group <word>)*)",
        Effect::Run(access::aaa_line),
    ),
    rule(
        "aaa accounting commands <0-15> <word> ! (none | (start-stop | stop-only) [broadcast] (group <word>)*)",
        Effect::Run(access::aaa_line),
    ),
    rule(
        "aaa session-id ! (common | unique)",
        Effect::Run(access::aaa_session_id),
    ),
    rule("archive", Effect::Enter(BlockKind::Archive)),
    // "stack-mac persistent timer", "switch provision": Catalyst 3750 Command Reference.
    on(
        has_switching,
        "stack-mac persistent timer ! <0-60>",
        Effect::Store,
    ),
    on(
        has_switching,
        "switch <1-16> provision ! <word>",
        Effect::Store,
    ),
    // "ip device tracking" in the Catalyst 2960-X Command Reference, "device-tracking policy" in that of Catalyst 9300.
    on(
        has_switching,
        "ip device tracking probe count ! <1-255>",
        Effect::Unless("ip device tracking probe count 3"),
    ),
    on(
        has_switching,
        "ip device tracking probe interval ! <30-1814400>",
        Effect::Unless("ip device tracking probe interval 30"),
    ),
    on(
        has_switching,
        "ip device tracking probe delay ! <1-120>",
        Effect::Store,
    ),
    on(
        has_switching,
        "ip device tracking probe use-svi",
        Effect::Store,
    ),
    on(has_switching, "ip device tracking", Effect::Store),
    on(
        has_switching,
        "device-tracking policy <word>",
        Effect::Enter(BlockKind::DeviceTracking),
    ),
    // "udld": Catalyst 3560 Command Reference. The modes replace one another.
    on(
        has_switching,
        "udld message time ! <1-90>",
        Effect::Unless("udld message time 15"),
    ),
    on(
        has_switching,
        "udld (aggressive | enable)",
        Effect::Run(ports::udld),
    ),
    // "ip arp inspection ...": Catalyst 3560 Command Reference.
    on(
        has_switching,
        "ip arp inspection vlan <vlan-list>",
        Effect::Run(ports::inspected_vlans),
    ),
    on(
        has_switching,
        "ip arp inspection validate ! [src-mac] [dst-mac] [ip [allow-zeros]]",
        Effect::Store,
    ),
    on(
        has_switching,
        "ip arp inspection filter <word> vlan <vlan-list> [static]",
        Effect::Store,
    ),
    on(
        has_switching,
        "ip arp inspection log-buffer entries ! <0-1024>",
        Effect::Unless("ip arp inspection log-buffer entries 32"),
    ),
    // "ip dhcp snooping ..." in the Catalyst 3560 Command Reference.
    on(
        has_switching,
        "ip dhcp snooping vlan <vlan-list>",
        Effect::Run(ports::snooped_vlans),
    ),
    on(
        has_switching,
        "ip dhcp snooping information option allow-untrusted",
        Effect::Store,
    ),
    on(
        has_switching,
        "ip dhcp snooping information option",
        Effect::OnByDefault,
    ),
    on(
        has_switching,
        "ip dhcp snooping verify mac-address",
        Effect::OnByDefault,
    ),
    on(
        has_switching,
        "ip dhcp snooping database (timeout | write-delay) ! <0-86400>",
        Effect::Store,
    ),
    on(
        has_switching,
        "ip dhcp snooping database ! <word>",
        Effect::Store,
    ),
    on(has_switching, "ip dhcp snooping", Effect::Store),
    // "errdisable detect", "errdisable recovery": Catalyst 3560 Command Reference.
    on(
        has_switching,
        "errdisable detect cause (all | arp-inspection | bpduguard | channel-misconfig | dhcp-rate-limit | dtp-flap | gbic-invalid | inline-power | link-flap | loopback | pagp-flap | psp | security-violation | sfp-config-mismatch | small-frame) ! [shutdown vlan]",
        Effect::OnByDefault,
    ),
    on(
        has_switching,
        "errdisable flap-setting cause (dtp-flap | link-flap | pagp-flap) ! max-flaps <1-100> time <1-120>",
        Effect::Store,
    ),
    on(
        has_switching,
        "errdisable recovery cause (all | arp-inspection | bpduguard | channel-misconfig | dhcp-rate-limit | dtp-flap | inline-power | link-flap | loopback | mac-limit | pagp-flap | port-mode-failure | psecure-violation | psp | security-violation | small-frame | storm-control | udld | vmps)",
        Effect::Store,
    ),
    on(
        has_switching,
        "errdisable recovery interval ! <30-86400>",
        Effect::Unless("errdisable recovery interval 300"),
    ),
    // "ip dhcp ..." in the Cisco IOS IP Addressing Services Command Reference.
    rule("ip dhcp conflict logging", Effect::OnByDefault),
    rule(
        "ip dhcp ping packets ! <0-10>",
        Effect::Unless("ip dhcp ping packets 2"),
    ),
    rule(
        "ip dhcp ping timeout ! <100-10000>",
        Effect::Unless("ip dhcp ping timeout 500"),
    ),
    rule("ip dhcp bootp ignore", Effect::Store),
    rule(
        "ip dhcp relay information (option | trust-all)",
        Effect::Store,
    ),
    rule("ip dhcp excluded-address <ipv4> [<ipv4>]", Effect::Store),
    rule("ip dhcp pool <word>", Effect::Enter(BlockKind::DhcpPool)),
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
    // Cisco IOS Multiprotocol Label Switching and IP Multicast Command References.
    rule(
        "ip multicast-routing vrf <word> ! [distributed]",
        Effect::Store,
    ),
    rule("ip multicast-routing ! [distributed]", Effect::Store),
    rule("ip multicast multipath", Effect::Store),
    rule("ip igmp snooping querier", Effect::Store),
    rule("ip igmp snooping", Effect::OnByDefault),
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
        Effect::Run(routing::targeted),
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
    // Cisco IOS Security Command Reference, "crypto ..."; recording i0803 for the order.
    rule("crypto logging session", Effect::Store),
    rule(
        "crypto ikev2 proposal <word>",
        Effect::Enter(BlockKind::Ikev2Proposal),
    ),
    rule(
        "crypto ikev2 policy <word>",
        Effect::Enter(BlockKind::Ikev2Policy),
    ),
    rule(
        "crypto ikev2 keyring <word>",
        Effect::Enter(BlockKind::Ikev2Keyring),
    ),
    rule(
        "crypto ikev2 profile <word>",
        Effect::Enter(BlockKind::Ikev2Profile),
    ),
    rule(
        "crypto ikev2 dpd ! <10-3600> <2-60> (on-demand | periodic)",
        Effect::Store,
    ),
    rule("crypto ikev2 fragmentation mtu ! <96-1500>", Effect::Store),
    rule(
        "crypto keyring <word> ! [vrf <word>]",
        Effect::Enter(BlockKind::CryptoKeyring),
    ),
    rule(
        "crypto isakmp policy <1-10000>",
        Effect::Enter(BlockKind::IsakmpPolicy),
    ),
    rule(
        "crypto isakmp key [0 | 6] <word> (address <ipv4> [<mask>] | hostname <hostname>) [no-xauth]",
        Effect::Run(crypto::isakmp_key),
    ),
    rule("crypto isakmp enable", Effect::OnByDefault),
    rule("crypto isakmp invalid-spi-recovery", Effect::Store),
    rule(
        "crypto isakmp keepalive ! <10-3600> [<2-60>] [on-demand | periodic]",
        Effect::Run(crypto::keepalive),
    ),
    rule("crypto isakmp nat keepalive ! <5-3600>", Effect::Store),
    rule(
        "crypto isakmp identity ! (address | dn | hostname)",
        Effect::Unless("crypto isakmp identity address"),
    ),
    rule("crypto isakmp aggressive-mode disable", Effect::Store),
    rule(
        "crypto isakmp profile <word>",
        Effect::Enter(BlockKind::IsakmpProfile),
    ),
    rule(
        "crypto ipsec security-association lifetime kilobytes ! (<2560-4294967295> | disable)",
        Effect::Unless("crypto ipsec security-association lifetime kilobytes 4608000"),
    ),
    rule(
        "crypto ipsec security-association lifetime seconds ! <120-2592000>",
        Effect::Unless("crypto ipsec security-association lifetime seconds 3600"),
    ),
    rule(
        "crypto ipsec security-association idle-time ! <60-86400>",
        Effect::Store,
    ),
    rule(
        "crypto ipsec security-association replay window-size ! (64 | 128 | 256 | 512 | 1024)",
        Effect::Unless("crypto ipsec security-association replay window-size 64"),
    ),
    rule(
        "crypto ipsec security-association replay disable",
        Effect::Store,
    ),
    rule(
        "crypto ipsec transform-set <word> ! (ah-md5-hmac | ah-sha-hmac | ah-sha256-hmac | ah-sha384-hmac | ah-sha512-hmac | comp-lzs | esp-3des | esp-aes [128 | 192 | 256] | esp-des | esp-gcm [128 | 192 | 256] | esp-gmac [128 | 192 | 256] | esp-md5-hmac | esp-null | esp-seal | esp-sha-hmac | esp-sha256-hmac | esp-sha384-hmac | esp-sha512-hmac)*",
        Effect::Enter(BlockKind::TransformSet),
    ),
    rule(
        "crypto ipsec df-bit ! (clear | copy | set)",
        Effect::Unless("crypto ipsec df-bit copy"),
    ),
    rule(
        "crypto ipsec fragmentation ! (after-encryption | before-encryption)",
        Effect::Unless("crypto ipsec fragmentation before-encryption"),
    ),
    rule(
        "crypto ipsec nat-transparency udp-encapsulation",
        Effect::OnByDefault,
    ),
    rule(
        "crypto ipsec profile <word>",
        Effect::Enter(BlockKind::IpsecProfile),
    ),
    rule(
        "crypto dynamic-map <word> <1-65535>",
        Effect::Enter(BlockKind::CryptoMap),
    ),
    rule(
        "crypto map <word> <1-65535> ! (ipsec-isakmp [dynamic <word>] | gdoi | ipsec-manual)",
        Effect::Enter(BlockKind::CryptoMap),
    ),
    // Cisco IOS Basic System Management Command Reference, "clock ...".
    rule(
        "clock timezone ! <word> <hours> [<0-59>]",
        Effect::Run(clock::timezone),
    ),
    rule(
        concat!(
            "clock summer-time ! <word> (recurring [",
            clock::week_day!(),
            " <word> ",
            clock::week_day!(),
            " <word> [<1-1440>]] | date <1-31> <word> <1993-2035> <word> <1-31> <word> <1993-2035> <word> [<1-1440>])"
        ),
        Effect::Store,
    ),
    rule("clock calendar-valid", Effect::Store),
    on(has_routing, "ip vrf <word>", Effect::Run(blocks::vrf)),
    rule(
        "system mtu ! <1500-9198>",
        Effect::Unless("system mtu 1500"),
    ),
    on(has_switching, "ip routing", Effect::Store),
    on(is_router, "ip routing", Effect::OnByDefault),
    // Cisco IOS IP Application Services Command Reference; recording i0803, "no ip icmp rate-limit unreachable".
    rule("ip source-route", Effect::OnByDefault),
    rule("ip options ! (drop | ignore)", Effect::Store),
    rule(
        "ip icmp rate-limit unreachable ! <1-4294967295>",
        Effect::BothForms,
    ),
    rule("ip gratuitous-arps", Effect::OnByDefault),
    rule("ip subnet-zero", Effect::OnByDefault),
    rule("ip classless", Effect::OnByDefault),
    rule("ip finger ! [rfc-compliant]", Effect::Store),
    rule("ip bootp server", Effect::OnByDefault),
    rule("ip cef", Effect::OnByDefault),
    rule("ip cef distributed", Effect::OnByDefault),
    rule("ip cef optimize neighbor resolution", Effect::OnByDefault),
    rule(
        "ip cef load-sharing algorithm ! (original | (tunnel | universal) [<word>] | include-ports (source [<word>] | destination [<word>] | source [<word>] destination [<word>]))",
        Effect::Store,
    ),
    rule(
        "ip name-server ! vrf <word> <host>",
        Effect::Run(naming::name_server),
    ),
    rule(
        "ip name-server ! <host> [<host>] [<host>] [<host>] [<host>] [<host>]",
        Effect::Run(naming::name_server),
    ),
    // Cisco IOS Security Command Reference, "login block-for", "login on-failure".
    rule(
        "login block-for ! <1-65535> attempts <1-65535> within <1-65535>",
        Effect::Store,
    ),
    rule("login delay ! <1-10>", Effect::Store),
    rule("login quiet-mode access-class ! <word>", Effect::Store),
    rule(
        "login (on-failure | on-success) (log | trap) ! [every <1-65535>]",
        Effect::Store,
    ),
    on(has_routing, "ipv6 unicast-routing", Effect::Store),
    on(has_routing, "ipv6 cef", Effect::BothForms),
    rule("ip domain lookup", Effect::Run(naming::domain)),
    rule(
        "ip domain lookup source-interface ! <interface>",
        Effect::Store,
    ),
    rule("ip domain list ! <word>", Effect::Run(naming::domain)),
    rule("ip domain name ! <word>", Effect::Run(naming::domain)),
    rule("ip domain-lookup", Effect::Run(naming::domain)),
    rule("ip domain-list ! <word>", Effect::Run(naming::domain)),
    rule("ip domain-name ! <word>", Effect::Run(naming::domain)),
    // VTP: Catalyst 3560 Command Reference, "vtp (global configuration)"; recorded sessions with `vtp ...`.
    on(
        has_switching,
        "vtp domain ! <word>",
        Effect::Run(vtp::domain),
    ),
    on(
        has_switching,
        "vtp mode ! (server | client | transparent | off)",
        Effect::Run(vtp::mode),
    ),
    on(
        has_switching,
        "vtp version ! <1-3>",
        Effect::Run(vtp::version),
    ),
    on(has_switching, "vtp pruning", Effect::Run(vtp::pruning)),
    on(
        has_switching,
        "vtp password ! <word>",
        Effect::Run(vtp::password),
    ),
    // Spanning tree: Catalyst 2960 Command Reference 12.2(25)FX, "spanning-tree ..."; recording i0737, "extend system-id".
    rule(
        "spanning-tree mode ! (pvst | rapid-pvst | mst)",
        Effect::Unless("spanning-tree mode pvst"),
    ),
    rule("spanning-tree bridge assurance", Effect::OnByDefault),
    on(
        has_port_types,
        "spanning-tree portfast (network | edge) default",
        Effect::Run(spanning_tree::portfast),
    ),
    rule(
        "spanning-tree portfast [edge] (default | bpduguard default | bpdufilter default)",
        Effect::Run(spanning_tree::portfast),
    ),
    rule("spanning-tree loopguard default", Effect::Store),
    rule("spanning-tree extend system-id", Effect::Store),
    rule(
        "spanning-tree pathcost method ! (long | short)",
        Effect::Unless("spanning-tree pathcost method short"),
    ),
    rule("spanning-tree uplinkfast", Effect::Store),
    rule(
        "spanning-tree uplinkfast max-update-rate ! <0-32000>",
        Effect::Unless("spanning-tree uplinkfast max-update-rate 150"),
    ),
    rule(
        "spanning-tree mst configuration",
        Effect::Run(spanning_tree::region),
    ),
    rule(
        "spanning-tree mst hello-time ! <1-10>",
        Effect::Unless("spanning-tree mst hello-time 2"),
    ),
    rule(
        "spanning-tree mst forward-time ! <4-30>",
        Effect::Unless("spanning-tree mst forward-time 15"),
    ),
    rule(
        "spanning-tree mst max-age ! <6-40>",
        Effect::Unless("spanning-tree mst max-age 20"),
    ),
    rule(
        "spanning-tree mst max-hops ! <1-255>",
        Effect::Unless("spanning-tree mst max-hops 20"),
    ),
    rule(
        "spanning-tree mst <word> priority ! <0-61440>",
        Effect::Run(spanning_tree::priority),
    ),
    rule(
        "spanning-tree vlan <vlan-list> priority ! <0-61440>",
        Effect::Run(spanning_tree::of_vlans),
    ),
    rule(
        "spanning-tree vlan <vlan-list> hello-time ! <1-10>",
        Effect::Run(spanning_tree::of_vlans),
    ),
    rule(
        "spanning-tree vlan <vlan-list> forward-time ! <4-30>",
        Effect::Run(spanning_tree::of_vlans),
    ),
    rule(
        "spanning-tree vlan <vlan-list> max-age ! <6-40>",
        Effect::Run(spanning_tree::of_vlans),
    ),
    rule("vlan <vlan-list>", Effect::Run(blocks::vlan)),
    rule(
        "interface <interface> [point-to-point | multipoint | type (ethernet | serial | tunnel)]",
        Effect::Run(blocks::interface),
    ),
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
    on(
        has_routing,
        "router isis ! [<name>]",
        Effect::Run(routing::isis),
    ),
    on(has_routing, "router rip", Effect::Enter(BlockKind::Rip)),
    on(
        has_routing,
        "router eigrp <name>",
        Effect::Enter(BlockKind::EigrpNamed),
    ),
    // 802.1X: published configurations with `dot1x critical eapol`.
    on(has_switching, "dot1x system-auth-control", Effect::Store),
    on(has_switching, "dot1x critical eapol", Effect::Store),
    // CDP and LLDP: published help of `cdp timer ?` with the defaults (cciepursuit, 2007-07-07); recording i0802, "lldp run".
    rule("cdp run", Effect::OnByDefault),
    rule("cdp timer ! <5-254>", Effect::Unless("cdp timer 60")),
    rule(
        "cdp holdtime ! <10-255>",
        Effect::Unless("cdp holdtime 180"),
    ),
    rule("cdp advertise-v2", Effect::OnByDefault),
    rule("cdp log mismatch duplex", Effect::OnByDefault),
    rule("lldp run", Effect::Store),
    rule("lldp timer ! <5-65534>", Effect::Unless("lldp timer 30")),
    rule(
        "lldp holdtime ! <0-65535>",
        Effect::Unless("lldp holdtime 120"),
    ),
    rule("ip default-gateway ! <ipv4>", Effect::Store),
    rule("ip forward-protocol nd", Effect::Store),
    rule(
        "ip forward-protocol udp <port>",
        Effect::Run(routing::forwarded_port),
    ),
    // Cisco IOS IP Application Services Command Reference, "ip tcp ...".
    rule(
        "ip tcp synwait-time ! <5-300>",
        Effect::Unless("ip tcp synwait-time 30"),
    ),
    rule("ip tcp window-size ! <0-1073741823>", Effect::Store),
    rule("ip tcp mss ! <68-10000>", Effect::Store),
    rule("ip tcp selective-ack", Effect::Store),
    rule(
        "ip tcp path-mtu-discovery ! [age-timer (<10-30> | infinite)]",
        Effect::Store,
    ),
    rule("ip local policy route-map ! <word>", Effect::Store),
    rule("ip ftp source-interface ! <interface>", Effect::Store),
    rule("ip tftp source-interface ! <interface>", Effect::Store),
    rule("ip scp server enable", Effect::Store),
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
    rule("ip bgp-community new-format", Effect::Store),
    rule(
        concat!(
            "ip community-list (standard <word> | <1-99>) ! (permit | deny) (",
            communities!(),
            ")*"
        ),
        Effect::Run(bgp_list::standard_communities),
    ),
    rule(
        "ip community-list (expanded <word> | <100-500>) ! (permit | deny) <line>",
        Effect::Run(bgp_list::entry),
    ),
    rule(
        "ip as-path access-list <1-500> ! (permit | deny) <line>",
        Effect::Run(bgp_list::entry),
    ),
    rule("ip pim bidir-enable", Effect::Store),
    rule("ip pim autorp listener", Effect::Store),
    rule(
        "ip pim [vrf <word>] rp-address <ipv4> ! [<word>] [override] [bidir]",
        Effect::Store,
    ),
    rule(
        "ip pim bsr-candidate ! <interface> [<0-32> [<0-255>]]",
        Effect::Store,
    ),
    rule(
        "ip pim rp-candidate <interface> ! (group-list <word> | interval <1-16383> | priority <0-255>)*",
        Effect::Store,
    ),
    rule(
        "ip pim send-rp-announce ! <interface> scope <1-255> [<line>]",
        Effect::Store,
    ),
    rule(
        "ip pim send-rp-discovery ! [<interface>] scope <1-255> [<line>]",
        Effect::Store,
    ),
    rule("ip pim register-source ! <interface>", Effect::Store),
    rule(
        "ip pim accept-register ! (list | route-map) <word>",
        Effect::Store,
    ),
    rule(
        "ip pim spt-threshold ! (<0-4294967> | infinity) [group-list <word>]",
        Effect::Store,
    ),
    rule("ip pim ssm ! (default | range <word>)", Effect::Store),
    rule(
        "ip msdp peer <ipv4> ! [connect-source <interface>] [remote-as <word>]",
        Effect::Store,
    ),
    rule("ip msdp description <ipv4> ! <line>", Effect::Store),
    rule(
        "ip msdp sa-filter (in | out) <ipv4> ! [list <word> | route-map <word>]",
        Effect::Store,
    ),
    rule("ip msdp mesh-group <word> <ipv4>", Effect::Store),
    rule("ip msdp originator-id ! <interface>", Effect::Store),
    rule("mpls ldp router-id ! <interface> [force]", Effect::Store),
    rule(
        "ip explicit-path name <word> ! [disable | enable]",
        Effect::Run(routing_block::explicit_path),
    ),
    // The web server: recordings i0802 and i0810, both forms are printed.
    rule("ip http server", Effect::BothForms),
    rule(
        "ip http authentication ! (aaa | enable | local)",
        Effect::Unless("ip http authentication enable"),
    ),
    rule("ip http secure-server", Effect::BothForms),
    rule("ip ssh version ! (1 | 2)", Effect::Store),
    rule(
        "ip ssh time-out ! <1-120>",
        Effect::Unless("ip ssh time-out 120"),
    ),
    rule(
        "ip ssh authentication-retries ! <0-5>",
        Effect::Unless("ip ssh authentication-retries 3"),
    ),
    rule("ip ssh source-interface ! <interface>", Effect::Store),
    rule(
        "ip route [vrf <word>] <ipv4> <mask> (<ipv4> | Null0 | <interface> [<ipv4>]) ! [<1-255>] [tag <1-4294967295>] [permanent | track <1-1000>] [name <word>]",
        Effect::Run(routing::route),
    ),
    // Prefix lists: recording i0737; Cisco IOS IP Configuration Guide, "Configuring a Prefix List Entry".
    rule("ip prefix-list <word> description ! <line>", Effect::Store),
    rule(
        "ip prefix-list <word> seq <1-4294967294> ! (permit | deny) <prefix> [ge <1-32>] [le <1-32>]",
        Effect::Run(routing::prefix_list_entry),
    ),
    rule(
        "ipv6 prefix-list <word> description ! <line>",
        Effect::Store,
    ),
    rule(
        "ipv6 prefix-list <word> seq <1-4294967294> ! (permit | deny) <ipv6-prefix> [ge <1-128>] [le <1-128>]",
        Effect::Run(routing::prefix_list_entry),
    ),
    rule(
        "route-map <word> ! [(permit | deny) <0-65535>]",
        Effect::Run(blocks::route_map),
    ),
    rule(
        "ip access-list standard <word>",
        Effect::Run(access_list::block),
    ),
    rule(
        "ip access-list extended <word>",
        Effect::Run(access_list::block),
    ),
    rule(
        "access-list <1-2699> ! (permit | deny | remark) <line>",
        Effect::Run(access_list::numbered),
    ),
    rule(
        "ip tacacs source-interface ! <interface> [vrf <word>]",
        Effect::Store,
    ),
    rule(
        "ip radius source-interface ! <interface> [vrf <word>]",
        Effect::Store,
    ),
    rule(
        "logging source-interface ! <interface> [vrf <word>]",
        Effect::Store,
    ),
    rule(
        "logging facility ! (auth | cron | daemon | kern | local0 | local1 | local2 | local3 | local4 | local5 | local6 | local7 | lpr | mail | news | sys9 | sys10 | sys11 | sys12 | sys13 | sys14 | syslog | user | uucp)",
        Effect::Unless("logging facility local7"),
    ),
    rule(
        "logging trap ! [<severity>]",
        Effect::Run(logging::logging_trap),
    ),
    rule(
        "logging origin-id ! (hostname | ip | ipv6 | string <line>)",
        Effect::Store,
    ),
    rule(
        "logging host (ipv6 (<ipv6> | <hostname>) | <ipv4> | <hostname>) [vrf <word>] ! [transport (udp | tcp) [port <1-65535>]] [sequence-num-session] [discriminator <word>]",
        Effect::Run(logging::logging_host),
    ),
    rule("logging <host>", Effect::Run(logging::logging_host)),
    // SNMP: SNMP Command Reference IOS XE 3SE, "snmp-server manager"; Command Reference Catalyst 3650, "snmp-server host".
    rule("snmp-server ! <never>", Effect::Run(snmp::no_snmp)),
    on(
        is_ios_xe,
        "snmp-server community <word> ! [view <word>] (RO | RW) [ipv6 <word>] [<word>]",
        Effect::Run(snmp::snmp_community),
    ),
    on(
        is_classic_ios,
        "snmp-server community <word> ! [view <word>] [RO | RW] [ipv6 <word>] [<word>]",
        Effect::Run(snmp::snmp_community),
    ),
    // IPv6 Command Reference, "snmp-server user"; recorded output of `show snmp user`.
    rule(
        "snmp-server user <word> <word> (v1 | v2c) ! [access <word>]",
        Effect::Store,
    ),
    rule(
        "snmp-server user <word> <word> v3 ! [encrypted] [auth (md5 | sha) <word> [priv (aes (128 | 192 | 256) | des | 3des) <word>]] [access [ipv6 <word>] [<word>]]",
        Effect::Run(snmp::snmp_user),
    ),
    rule("snmp-server trap-source ! <interface>", Effect::Store),
    rule("snmp-server location ! <line>", Effect::Store),
    rule("snmp-server contact ! <line>", Effect::Store),
    rule("snmp-server system-shutdown", Effect::Store),
    rule(
        "snmp-server enable traps [<line>]",
        Effect::Run(snmp::snmp_traps),
    ),
    rule(
        "snmp-server host <host> [vrf <word>] [traps | informs] [version (1 | 2c | 3 (auth | noauth | priv))] <word> [udp-port <1-65535>] [<line>]",
        Effect::Run(snmp::snmp_host),
    ),
    rule("snmp-server manager", Effect::Store),
    rule(
        "snmp-server manager session-timeout ! <10-2147483>",
        Effect::Unless("snmp-server manager session-timeout 600"),
    ),
    rule("snmp ifmib ifindex persist", Effect::Store),
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
    rule("banner exec ! <raw>", Effect::Run(banner::banner)),
    rule("banner incoming ! <raw>", Effect::Run(banner::banner)),
    rule("banner login ! <raw>", Effect::Run(banner::banner)),
    rule("banner motd ! <raw>", Effect::Run(banner::banner)),
    rule("banner prompt-timeout ! <raw>", Effect::Run(banner::banner)),
    rule("banner slip-ppp ! <raw>", Effect::Run(banner::banner)),
    // Cisco IOS Configuration Fundamentals Command Reference, "alias".
    rule("alias <word> <word> ! <line>", Effect::Store),
    // Lines: recordings i0737 and i0760.
    rule("line (con | console) <0-0>", Effect::Run(blocks::line)),
    rule("line vty <0-97> [<1-97>]", Effect::Run(blocks::line)),
    // NTP: ME 3800X Software Configuration Guide OL-23400-01, p. 5-4; "Cisco IOS in a Nutshell", "ntp access-group".
    rule("ntp logging", Effect::Store),
    on(
        is_ios_xe,
        "ntp authentication-key <1-4294967295> ! (cmac-aes-128 | hmac-sha1 | hmac-sha2-256 | md5) <word> [0 | 7]",
        Effect::Run(ntp::ntp_key),
    ),
    on(
        is_classic_ios,
        "ntp authentication-key <1-4294967295> ! md5 <word> [0 | 7]",
        Effect::Run(ntp::ntp_key),
    ),
    rule("ntp authenticate", Effect::Store),
    rule("ntp trusted-key <1-4294967295>", Effect::Store),
    rule("ntp source ! <interface>", Effect::Store),
    rule(
        "ntp access-group [ipv4] (peer | query-only | serve | serve-only) ! <word>",
        Effect::Run(ntp::access_group),
    ),
    rule(
        "ntp access-group ipv6 (peer | query-only | serve | serve-only) ! <word>",
        Effect::Run(ntp::access_group),
    ),
    rule("ntp update-calendar", Effect::Store),
    rule(
        "ntp server [vrf <word>] (ip <hostname> | ipv6 <hostname> | <host>) ! (burst | iburst | key <1-4294967295> | maxpoll <4-17> | minpoll <4-17> | normal-sync | prefer | source <interface> | version <1-4>)*",
        Effect::Run(ntp::ntp_server),
    ),
    // Cisco IOS Network Management Command Reference, "scheduler ..."; recording i0803, "no scheduler allocate".
    rule(
        "process-max-time ! <20-200>",
        Effect::Unless("process-max-time 200"),
    ),
    rule(
        "scheduler allocate ! <400-60000> <100-4000>",
        Effect::BothForms,
    ),
    rule("scheduler interval ! <500-4294967295>", Effect::Store),
    rule(
        "scheduler max-task-time ! <500-4294967295>",
        Effect::Unless("scheduler max-task-time 2000"),
    ),
    rule(
        "event manager applet <word>",
        Effect::Enter(BlockKind::Applet),
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

fn nothing(_: &mut ConfigSession<'_>, _: &Command) -> Reply {
    Reply::Silent
}

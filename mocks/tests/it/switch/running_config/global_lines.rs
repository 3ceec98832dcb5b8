//! Lines of services, names and access lists, and the lines of the configuration afterwards.

use super::*;

pub(super) const GLOBAL_CASES: &[ConfigCase] = &[
    ConfigCase {
        model: XE,
        typed: &[
            "ntp source vlan 10",
            "ntp server 192.0.2.10 prefer source vl10 minpoll 6 maxpoll 10",
            "ntp server 192.0.2.11 key 3",
            "ntp server 192.0.2.11",
            "ntp server 2001:db8::a",
        ],
        printed: &[
            "ntp source Vlan10",
            "ntp server 192.0.2.10 maxpoll 10 minpoll 6 prefer source Vlan10",
            "ntp server 192.0.2.11",
            "ntp server 2001:DB8::A",
        ],
        absent: &["key 3"],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "ntp authentication-key 7 md5 cisco",
            "service password-encryption",
            "ntp authentication-key 8 md5 cisco 0",
            "ntp authentication-key 9 hmac-sha2-256 094F471A1A0A 7",
            "ntp trusted-key 7",
            "ntp authenticate",
        ],
        printed: &[
            "ntp authentication-key 7 md5 01100F175804 7",
            "ntp authentication-key 8 md5 01100F175804 7",
            "ntp authentication-key 9 hmac-sha2-256 094F471A1A0A 7",
            "ntp authenticate",
            "ntp trusted-key 7",
        ],
        absent: &[],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "logging 192.0.2.20",
            "logging host 192.0.2.21 transport udp port 514",
            "logging host 192.0.2.22 transport udp port 5140",
            "logging host 192.0.2.23",
            "no logging host 192.0.2.23",
        ],
        printed: &[
            "logging host 192.0.2.20",
            "logging host 192.0.2.21",
            "logging host 192.0.2.22 transport udp port 5140",
        ],
        absent: &["192.0.2.23"],
    },
    ConfigCase {
        model: OLD,
        typed: &["logging host 192.0.2.20", "logging host log.example.net"],
        printed: &["logging 192.0.2.20", "logging log.example.net"],
        absent: &["logging host"],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "logging host ipv6 2001:db8::1",
            "logging host ipv6 log.example.net",
            "logging host 192.0.2.1 transport tcp",
            "logging host 192.0.2.2 transport tcp port 602 sequence-num-session",
        ],
        printed: &[
            "logging host ipv6 2001:DB8::1",
            "logging host ipv6 log.example.net",
            "logging host 192.0.2.1 transport tcp port 601",
            "logging host 192.0.2.2 transport tcp port 602 sequence-num-session",
        ],
        absent: &[],
    },
    // Destinations log at level 7 by themselves, the buffer has 4096 bytes; neither is printed.
    ConfigCase {
        model: XE,
        typed: &[
            "logging console 7",
            "no logging monitor",
            "default logging monitor",
            "logging buffered 4096 debugging",
        ],
        printed: &[],
        absent: &["logging console", "logging monitor", "logging buffered"],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "logging console discriminator EXCESS debugging",
            "logging buffered discriminator QUIET 65536 debugging",
        ],
        printed: &[
            "logging buffered discriminator QUIET 65536",
            "logging console discriminator EXCESS",
        ],
        absent: &[],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "logging console 5",
            "logging monitor warn",
            "logging buffered 16384 6",
            "logging facility local7",
            "logging trap 4",
            "no logging on",
            "logging source-interface vl1",
        ],
        printed: &[
            "no logging on",
            "logging buffered 16384 informational",
            "logging console notifications",
            "logging monitor warnings",
        ],
        absent: &["facility"],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "no logging console",
            "logging trap 4",
            "logging facility syslog",
        ],
        printed: &["no logging console"],
        absent: &[],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "snmp-server community monitoring ro snmp-ro",
            "snmp-server community writer rw",
            "snmp-server community writer ro",
            "snmp-server location Hall 2,  rack 7 ",
            "snmp-server contact noc",
        ],
        printed: &[
            "snmp-server community monitoring RO snmp-ro",
            "snmp-server community writer RO",
            "snmp-server location Hall 2,  rack 7",
            "snmp-server contact noc",
        ],
        absent: &["RW"],
    },
    ConfigCase {
        model: OLD,
        typed: &[
            "snmp-server community old",
            "snmp-server community six ipv6 SIX 21",
        ],
        printed: &[
            "snmp-server community old RO",
            "snmp-server community six RO ipv6 SIX 21",
        ],
        absent: &[],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "snmp-server community a RO",
            "snmp-server contact x",
            "no snmp-server",
        ],
        printed: &[],
        absent: &["snmp"],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "ip domain-name lab.test",
            "ip domain list a.test",
            "ip domain-list b.test",
            "ip name-server 192.0.2.1 192.0.2.2",
            "ip name-server 192.0.2.3",
            "no ip name-server 192.0.2.2",
            "no ip domain-lookup",
        ],
        printed: &[
            "ip name-server 192.0.2.1 192.0.2.3",
            "no ip domain lookup",
            "ip domain list a.test",
            "ip domain list b.test",
            "ip domain name lab.test",
        ],
        absent: &[],
    },
    ConfigCase {
        model: OLD,
        typed: &[
            "ip domain name lab.test",
            "ip name-server 192.0.2.1 192.0.2.2",
        ],
        printed: &[
            "ip name-server 192.0.2.1",
            "ip name-server 192.0.2.2",
            "ip domain-name lab.test",
        ],
        absent: &[],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "ip vrf mgmt",
            "rd 65000:1",
            "route-target both 65000:1",
            "route-target import 65000:9",
            "interface Vlan10",
            "ip vrf forwarding mgmt",
            "ip address 10.0.0.1 255.255.255.0",
        ],
        printed: &[
            "ip vrf mgmt",
            " rd 65000:1",
            " route-target export 65000:1",
            " route-target import 65000:1",
            " route-target import 65000:9",
            "!",
        ],
        absent: &["both"],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "ip access-list extended web",
            "permit tcp any host 10.1.1.1 eq 80",
            "15 permit tcp 10.1.2.3 0.0.0.255 any eq 443 log",
            "permit udp any any eq 161",
            "deny ip any any",
            "no 30",
            "permit 17 0.0.0.0 255.255.255.255 10.0.0.9 0.0.0.0 range 67 68",
        ],
        printed: &[
            "ip access-list extended web",
            " 10 permit tcp any host 10.1.1.1 eq www",
            " 15 permit tcp 10.1.2.0 0.0.0.255 any eq 443 log",
            " 25 permit udp any any eq snmp",
            " 35 deny ip any any",
        ],
        absent: &[],
    },
    ConfigCase {
        model: OLD,
        typed: &[
            "access-list 10 permit host 10.1.1.1",
            "access-list 10 deny any log",
            "ip access-list standard mgmt",
            "permit 10.2.0.0 0.0.255.255",
        ],
        printed: &[
            "access-list 10 permit 10.1.1.1",
            "access-list 10 deny   any log",
        ],
        absent: &["host 10"],
    },
    ConfigCase {
        model: XE,
        typed: &[
            "hostname access-7",
            "banner motd %one line%",
            "banner login @",
        ],
        printed: &["hostname access-7"],
        absent: &[],
    },
];

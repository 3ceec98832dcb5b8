//! Lines of the command line, and what the switch keeps of them: its configuration afterwards.

use switchtender_mocks::cli_switch::RunningSwitch;

use super::terminal::{ISL, OLD, Terminal, XE, configuring};

/// A machine, lines typed in global configuration, and lines that its configuration must then have one after the other
/// (with the indentation), or must not have (with `-` before them).
struct Kept {
    model: &'static str,
    typed: &'static [&'static str],
    printed: &'static [&'static str],
    absent: &'static [&'static str],
}

const KEPT: &[Kept] = &[
    Kept {
        model: XE,
        typed: &[
            "interface gi 1/0/7",
            "desc  uplink to  core ",
            "switchport mode access",
            "sw acc vl 42",
            "spanning-tree portfast",
        ],
        printed: &[
            "interface GigabitEthernet1/0/7",
            " description uplink to  core",
            " switchport access vlan 42",
            " switchport mode access",
            " spanning-tree portfast",
            "!",
        ],
        absent: &[],
    },
    Kept {
        model: XE,
        typed: &[
            "interface Te1/1/1",
            "mtu 9000",
            "no shutdown",
            "speed auto",
            "duplex auto",
            "switchport mode dynamic auto",
        ],
        printed: &["interface TenGigabitEthernet1/1/1", " mtu 9000", "!"],
        absent: &["no shutdown", "speed", "duplex", "dynamic"],
    },
    Kept {
        model: XE,
        typed: &[
            "interface Te1/1/1",
            "speed 10000",
            "interface Port-channel1.10",
            "interface Gi1/0/2",
            "channel-group 3 mode desirable non-silent",
            "interface Gi1/0/3",
            "channel-group 4 mode active",
            "no interface Port-channel4",
        ],
        printed: &[
            "interface TenGigabitEthernet1/1/1",
            " speed 10000",
            "!",
            "",
            "interface GigabitEthernet1/0/2",
            " channel-group 3 mode desirable non-silent",
            "!",
            "",
            "interface GigabitEthernet1/0/3",
            " shutdown",
            "!",
        ],
        absent: &[],
    },
    Kept {
        model: XE,
        typed: &[
            "vrf definition CUST",
            "rd 1:1",
            "address-family ipv4",
            "route-target both 1:2",
            "exit-address-family",
            "address-family ipv6",
            "import map SIX",
            "vrf definition OTHER",
            "route-target import 2:2",
        ],
        printed: &[
            "vrf definition CUST",
            " rd 1:1",
            " !",
            " address-family ipv4",
            "  route-target export 1:2",
            "  route-target import 1:2",
            " exit-address-family",
            " !",
            " address-family ipv6",
            "  import map SIX",
            " exit-address-family",
            "!",
            "vrf definition OTHER",
            " route-target import 2:2",
            "!",
        ],
        absent: &[],
    },
    // IOS 15 and older do not indent the lines of an address family.
    Kept {
        model: ISL,
        typed: &[
            "vrf definition CUST",
            "address-family ipv6",
            "route-target import 1:2",
        ],
        printed: &[
            "vrf definition CUST",
            " !",
            " address-family ipv6",
            " route-target import 1:2",
            " exit-address-family",
            "!",
        ],
        absent: &[],
    },
    // What a port has by itself is the switch's MTU, and 1500 is not that any more.
    Kept {
        model: XE,
        typed: &[
            "system mtu 9000",
            "interface Te1/1/1",
            "mtu 9000",
            "interface Te1/1/2",
            "mtu 1500",
            "interface Vlan1",
            "mtu 1500",
        ],
        printed: &["interface TenGigabitEthernet1/1/2", " mtu 1500", "!"],
        absent: &[
            "interface TenGigabitEthernet1/1/1\n mtu",
            "interface Vlan1\n mtu",
        ],
    },
    Kept {
        model: XE,
        typed: &[
            "interface Gi1/0/1",
            "speed 100",
            "duplex full",
            "shutdown",
            "mtu 1500",
            "switchport access vlan 1",
        ],
        printed: &[
            "interface GigabitEthernet1/0/1",
            " shutdown",
            " speed 100",
            " duplex full",
            "!",
        ],
        absent: &["mtu", "access vlan"],
    },
    Kept {
        model: XE,
        typed: &[
            "interface Gi1/0/1",
            "switchport trunk allowed vlan 10,30,11,12",
            "switchport trunk allowed vlan add 13,40",
            "switchport trunk allowed vlan remove 30",
            "switchport trunk native vlan 99",
        ],
        printed: &[
            " switchport trunk native vlan 99",
            " switchport trunk allowed vlan 10-13,40",
        ],
        absent: &[],
    },
    Kept {
        model: XE,
        typed: &[
            "interface Gi1/0/1",
            "switchport trunk allowed vlan except 1-4090",
            "interface Gi1/0/2",
            "switchport trunk allowed vlan none",
            "interface Gi1/0/3",
            "switchport trunk allowed vlan 5",
            "switchport trunk allowed vlan all",
        ],
        printed: &[
            "interface GigabitEthernet1/0/1",
            " switchport trunk allowed vlan 4091-4094",
            "!",
            "interface GigabitEthernet1/0/2",
            " switchport trunk allowed vlan none",
            "!",
            "interface GigabitEthernet1/0/3",
            "!",
        ],
        absent: &[],
    },
    Kept {
        model: XE,
        typed: &[
            "interface Gi1/0/1",
            "switchport trunk allowed vlan 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48",
        ],
        printed: &[
            " switchport trunk allowed vlan 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42",
            " switchport trunk allowed vlan add 44,46,48",
        ],
        absent: &[],
    },
    Kept {
        model: ISL,
        typed: &[
            "interface Gi1/0/1",
            "switchport trunk encapsulation dot1q",
            "switchport mode trunk",
            "switchport nonegotiate",
        ],
        printed: &[
            " switchport trunk encapsulation dot1q",
            " switchport mode trunk",
            " switchport nonegotiate",
        ],
        absent: &[],
    },
    Kept {
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
    Kept {
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
    Kept {
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
    Kept {
        model: OLD,
        typed: &["logging host 192.0.2.20", "logging host log.example.net"],
        printed: &["logging 192.0.2.20", "logging log.example.net"],
        absent: &["logging host"],
    },
    Kept {
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
    Kept {
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
    Kept {
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
    Kept {
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
    Kept {
        model: XE,
        typed: &[
            "no logging console",
            "logging trap 4",
            "logging facility syslog",
        ],
        printed: &["no logging console"],
        absent: &[],
    },
    Kept {
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
    Kept {
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
    Kept {
        model: XE,
        typed: &[
            "snmp-server community a RO",
            "snmp-server contact x",
            "no snmp-server",
        ],
        printed: &[],
        absent: &["snmp"],
    },
    Kept {
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
    Kept {
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
    Kept {
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
    Kept {
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
    Kept {
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
    Kept {
        model: XE,
        typed: &["interface range"],
        printed: &[],
        absent: &["range"],
    },
    Kept {
        model: XE,
        typed: &[
            "interface Gi1/0/1",
            "channel-group 4 mode active",
            "interface Gi1/0/2",
            "channel-group 4 mode active",
            "interface Po4",
            "description to core",
            "port-channel min-links 2",
        ],
        printed: &[
            "interface Port-channel4",
            " description to core",
            " port-channel min-links 2",
            "!",
        ],
        absent: &[],
    },
    Kept {
        model: XE,
        typed: &[
            "interface Gi1/0/1",
            "channel-group 4 mode on",
            "no interface port-channel 4",
        ],
        printed: &["interface GigabitEthernet1/0/1", " shutdown", "!"],
        absent: &["Port-channel4", "channel-group"],
    },
    Kept {
        model: XE,
        typed: &[
            "interface Gi1/0/1",
            "description x",
            "shutdown",
            "default interface Gi1/0/1",
        ],
        printed: &["interface GigabitEthernet1/0/1", "!"],
        absent: &["description"],
    },
    Kept {
        model: XE,
        typed: &[
            "interface Gi1/0/1",
            "switchport access vlan 5",
            "no switchport",
            "ip address 192.0.2.1 255.255.255.0",
        ],
        printed: &[
            "interface GigabitEthernet1/0/1",
            " no switchport",
            " ip address 192.0.2.1 255.255.255.0",
            "!",
        ],
        absent: &["access vlan"],
    },
    Kept {
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

fn printed_together(config: &str, lines: &[&str]) -> bool {
    let all: Vec<&str> = config.lines().collect();
    lines.is_empty() || all.windows(lines.len()).any(|window| window == lines)
}

#[tokio::test]
async fn running_config_lines_are_normalized_like_the_device() {
    for case in KEPT {
        let (switch, mut terminal) = configuring(case.model).await;
        for line in case.typed {
            if *line == "banner login @" {
                terminal
                    .write("banner login @\nfirst\n\n  third\n@\n")
                    .await;
                terminal.until("@\r\n").await;
                terminal.until("'@'.\r\n").await;
                terminal.until_prompt().await;
            } else {
                terminal.command(line).await;
            }
        }
        let config = switch.running_config();
        let groups = case.printed.split(|line| line.is_empty());
        for group in groups {
            assert!(
                printed_together(&config, group),
                "{:?} gives no {group:#?}:\n{config}",
                case.typed
            );
        }
        for text in case.absent {
            assert!(
                !config.contains(text),
                "{:?} must leave no {text:?}:\n{config}",
                case.typed
            );
        }
        switch.stop().await;
    }
}

fn vlan(switch: &RunningSwitch, number: u16) -> Option<(String, bool)> {
    switch
        .vlans()
        .into_iter()
        .find(|(id, ..)| *id == number)
        .map(|(_, name, shut)| (name, shut))
}

#[tokio::test]
async fn vlan_exists_after_its_submode_ends() {
    let (switch, mut terminal) = configuring(XE).await;
    terminal.command("vlan 42").await;
    terminal.command("name lab").await;
    terminal.command("shutdown").await;
    assert_eq!(vlan(&switch, 42), None);
    terminal.command("vlan 43").await;
    assert_eq!(vlan(&switch, 42), Some(("lab".to_owned(), true)));
    terminal.command("end").await;
    assert_eq!(vlan(&switch, 43), Some(("VLAN0043".to_owned(), false)));
    terminal.command("configure terminal").await;
    terminal.command("vlan 42").await;
    terminal.command("no name").await;
    terminal.command("interface Gi1/0/1").await;
    assert_eq!(vlan(&switch, 42), Some(("VLAN0042".to_owned(), true)));
    terminal.command("no vlan 42-43").await;
    assert_eq!((vlan(&switch, 42), vlan(&switch, 43)), (None, None));
    assert!(
        !switch.running_config().contains("vlan 42"),
        "VLANs are no part of the configuration"
    );
}

#[tokio::test]
async fn banner_is_read_to_its_delimiter_and_printed_with_control_c() {
    let (switch, mut terminal) = configuring(XE).await;
    terminal
        .write("banner motd %\nAuthorised users only # really\n\n  indented\n%\n")
        .await;
    let seen = terminal.until_prompt().await;
    assert!(
        seen.contains("Enter TEXT message.  End with the character '%'.\r\n"),
        "{seen}"
    );
    assert!(
        switch
            .running_config()
            .contains("banner motd ^C\nAuthorised users only # really\n\n  indented\n^C\n")
    );
    let mut second = Terminal::login(&switch).await;
    assert!(
        second
            .command("show privilege")
            .await
            .contains("level is 1")
    );
    terminal.command("no banner motd").await;
    assert!(!switch.running_config().contains("banner"));
}

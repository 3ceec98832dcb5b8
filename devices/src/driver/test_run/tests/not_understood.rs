//! Lines of IOS that the definitions do not understand are listed, with secrets masked.

use std::sync::Arc;

use crate::driver::{Driver, Facts, Registry};
use crate::model::TypeModel;
use crate::read::{Reads, State};

/// The texts of a type that are not understood in one answer.
fn listed(type_name: &str, read: &str, text: &str) -> Vec<String> {
    let registry = Registry::shipped();
    let driver = Driver::new(registry.platform("cisco_ios").unwrap(), &Facts::default());
    let model: &Arc<TypeModel> = registry.model(type_name).unwrap();
    let mut reads = Reads::default();
    for request in driver.reads(&[model]) {
        reads.insert(request.name.clone(), String::new());
    }
    reads.insert(read.to_owned(), text.to_owned());
    let state: State = driver.platform().parse(&reads).unwrap();
    let found = driver.not_understood(&[model], &state);
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn lines_that_are_not_understood_are_listed_and_others_are_not() {
    let cases: [(&str, &str, &str, &[&str]); 28] = [
        // SNMP communities: the name is a secret.
        (
            "snmp_community",
            "config",
            "snmp-server community pub RO ipv6 SIX 21",
            &[],
        ),
        (
            "snmp_community",
            "config",
            "snmp-server community pub RO ipv6 SIX 21 vrf MGMT",
            &["snmp-server community •••• RO ipv6 SIX 21 vrf MGMT"],
        ),
        // Log hosts.
        (
            "syslog_server",
            "config",
            "logging host 10.0.0.2 transport tcp port 601",
            &[],
        ),
        (
            "syslog_server",
            "config",
            "logging 10.0.0.2 xml",
            &["logging 10.0.0.2 xml"],
        ),
        ("syslog_server", "config", "logging console warnings", &[]),
        // Speeds.
        (
            "network_interface",
            "config",
            "interface Gi1\n speed auto 10 100\n ip address 10.0.0.1 255.0.0.0",
            &["interface Gi1 / speed auto 10 100"],
        ),
        (
            "network_interface",
            "config",
            "interface Gi1\n speed 25000",
            &[],
        ),
        // Entries of access lists.
        (
            "ios_acl",
            "ip_access_lists",
            "Extended IP access list A\n 10 permit ip any any\n 20 permit ip any any future words",
            &["Extended IP access list A / 20 permit ip any any future words"],
        ),
        (
            "ios_acl",
            "ip_access_lists",
            "Extended IP access list A\n permit",
            &["Extended IP access list A / permit"],
        ),
        // Interfaces with words behind the name, and what is no bundle.
        (
            "network_interface",
            "config",
            "interface Virtual-Template1 type tunnel",
            &[],
        ),
        (
            "port_channel",
            "config",
            "interface Port-channel1 mystery\ninterface GigabitEthernet1/0/1",
            &["interface Port-channel1 mystery"],
        ),
        // Members of bundles.
        (
            "port_channel",
            "config",
            "interface Port-channel3\ninterface Gi1/0/1\n channel-group 3 mode odd",
            &["interface Gi1/0/1 / channel-group 3 mode odd"],
        ),
        (
            "port_channel",
            "config",
            "interface Gi1/0/1\n channel-group 3 mode active",
            &[],
        ),
        // Logging.
        (
            "syslog_settings",
            "config",
            "logging console discriminator EXCESS",
            &[],
        ),
        (
            "syslog_settings",
            "config",
            "logging buffered discriminator X 64000 debugging xml",
            &["logging buffered discriminator X 64000 debugging xml"],
        ),
        (
            "syslog_settings",
            "config",
            "logging source-interface Vlan10 vrf Mgmt",
            &["logging source-interface Vlan10 vrf Mgmt"],
        ),
        (
            "syslog_settings",
            "config",
            "logging event link-status global",
            &[],
        ),
        // Words that are kept, and repeated with the line.
        (
            "ntp_server",
            "config",
            "ntp server 10.0.0.1 prefer future 2",
            &["ntp server 10.0.0.1 prefer future 2"],
        ),
        (
            "ntp_server",
            "config",
            "ntp server 10.0.0.1 burst iburst version 2",
            &[],
        ),
        // Keys and source interfaces.
        (
            "ntp_auth_key",
            "config",
            "ntp authentication-key 2 hmac-sha2-256 0832 7",
            &[],
        ),
        (
            "ntp_auth_key",
            "config",
            "ntp authentication-key 2 md5 0832 7 more",
            &["ntp authentication-key 2 md5 ••••"],
        ),
        (
            "radius_global",
            "config",
            "ip radius source-interface Vlan10 vrf Mgmt",
            &["ip radius source-interface Vlan10 vrf Mgmt"],
        ),
        // Names with the address family or a VRF before them, or without numbers.
        (
            "ntp_server",
            "config",
            "ntp server ip time.example.net\nntp server vrf A 10.0.0.7\nntp server vrf B 10.0.0.7",
            &[],
        ),
        (
            "syslog_server",
            "config",
            "logging host ipv6 2001:DB8::1\nlogging host ipv6 2001:DB8::1 future",
            &["logging host ipv6 2001:DB8::1 future"],
        ),
        (
            "ios_acl",
            "ip_access_lists",
            "Standard IP access list 10\n    permit 10.0.0.1",
            &["Standard IP access list 10 / permit 10.0.0.1"],
        ),
        (
            "network_vlan",
            "vlan_brief",
            "VLAN Name                             Status    Ports\n---- -------------------------------- --------- -----\n10   a-name-of-more-than-thirty-two-characters active\n",
            &[
                "VLAN 10 / Name: a-name-of-more-than-thirty-two-ch",
                "VLAN 10 / Status: aracters a",
            ],
        ),
        // Tables.
        (
            "network_vlan",
            "vlan_brief",
            "VLAN Name   Status\n---- ------ ---------\nten  users  active\n20   guests odd\n",
            &["VLAN ten", "VLAN 20 / Status: odd"],
        ),
        // Inner blocks.
        (
            "vrf",
            "config",
            "vrf definition A\n rd 1:1 odd\n address-family ipv4 odd\n  import map X\n",
            &[
                "vrf definition A / rd 1:1 odd",
                "vrf definition A / address-family ipv4 odd",
            ],
        ),
    ];
    for (type_name, read, text, expected) in cases {
        assert_eq!(
            listed(type_name, read, text),
            expected,
            "{type_name}: {text}"
        );
    }
}

//! The catalog of a switch.

use super::*;

const SW1_READS: &[&str] = &[
    "show version",
    "show running-config",
    "show vlan brief",
    "show interfaces switchport",
    "show interfaces status",
];

#[tokio::test(flavor = "multi_thread")]
async fn sw1() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_catalog("sw1", &example("sw1"));

    let ran = lab.apply().await;
    ran.assert_code(2);
    // What the device has by itself (speed and duplex `auto`, ports that are up, VLANs that are
    // not shut down, VLAN 1 as native, port 514) is not sent.
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        [
            "ntp server 192.0.2.10 maxpoll 10 minpoll 6 prefer source Vlan10",
            "ntp server 192.0.2.11 maxpoll 10 minpoll 6 source Vlan10",
            "ntp server 192.0.2.12 maxpoll 10 minpoll 6 source Vlan10",
            "logging host 192.0.2.20",
            "logging host 192.0.2.21",
            "vlan 10",
            "name users",
            "vlan 20",
            "name voice",
            "vlan 30",
            "name guests",
            "interface GigabitEthernet1/0/1",
            "description access vlan 10",
            "switchport mode access",
            "switchport trunk native vlan 10",
            "interface GigabitEthernet1/0/2",
            "description access vlan 10",
            "switchport mode access",
            "switchport trunk native vlan 10",
            "interface GigabitEthernet1/0/3",
            "description access vlan 30",
            "switchport mode access",
            "switchport trunk native vlan 30",
            "interface TenGigabitEthernet1/1/1",
            "description uplink to core1.lab.test",
            "mtu 9000",
            "speed 10000",
            "duplex full",
            "switchport mode trunk",
            // After the VLAN that it requires, which a trunk must not name when it is removed.
            "snmp-server community monitoring RO snmp-ro",
        ]
    );
    let entered = lab.log("sw1").received();
    let entered = entered.iter().filter(|line| *line == "configure terminal");
    assert_eq!(entered.count(), 1, "the configuration mode is entered once");

    let config = lab.switches["sw1"].running_config();
    for line in [
        "ntp server 192.0.2.12 maxpoll 10 minpoll 6 source Vlan10",
        "logging host 192.0.2.21",
        "snmp-server community monitoring RO snmp-ro",
    ] {
        assert!(
            config.lines().any(|there| there == line),
            "{line}\n{config}"
        );
    }
    assert_eq!(
        block(&config, "interface GigabitEthernet1/0/2"),
        [
            "description access vlan 10",
            "switchport trunk native vlan 10",
            "switchport mode access"
        ]
    );
    let mut vlans = lab.switches["sw1"].vlans();
    vlans.retain(|(number, ..)| (2..1000).contains(number));
    let names = [(10, "users"), (20, "voice"), (30, "guests")];
    assert_eq!(
        vlans,
        names.map(|(number, name)| (number, name.to_owned(), false))
    );

    let defined =
        |reference: &str| format!("{reference}/ensure: success: defined 'ensure' as 'present'");
    let set = |reference: &str, property: &str, text: &str| {
        format!("{reference}/{property}: success: {property} changed {text}")
    };
    let mut expected = vec![
        defined("Ntp_server[192.0.2.10]"),
        defined("Ntp_server[192.0.2.11]"),
        defined("Ntp_server[192.0.2.12]"),
        defined("Syslog_server[192.0.2.20]"),
        defined("Syslog_server[192.0.2.21]"),
        "Notify[switch sw1 runs LabOS]/message: success: \
         defined 'message' as 'switch sw1 runs LabOS'"
            .to_owned(),
        defined("Network_vlan[10]"),
        defined("Network_vlan[20]"),
        defined("Network_vlan[30]"),
    ];
    for (port, vlan) in [(1, 10), (2, 10), (3, 30)] {
        let port = format!("GigabitEthernet1/0/{port}");
        let (interface, trunk) = (
            format!("Network_interface[{port}]"),
            format!("Network_trunk[{port}]"),
        );
        let text = format!("'unset' to 'access vlan {vlan}'");
        expected.push(set(&interface, "description", &text));
        expected.push(set(&trunk, "mode", "'dynamic_auto' to 'access'"));
        expected.push(set(&trunk, "untagged_vlan", &format!("1 to {vlan}")));
    }
    let uplink = "Network_interface[TenGigabitEthernet1/1/1]";
    expected.extend([
        set(
            uplink,
            "description",
            "'unset' to 'uplink to core1.lab.test'",
        ),
        set(uplink, "mtu", "1500 to 9000"),
        set(uplink, "speed", "'auto' to '10g'"),
        set(uplink, "duplex", "'auto' to 'full'"),
        set(
            "Network_trunk[TenGigabitEthernet1/1/1]",
            "mode",
            "'dynamic_auto' to 'trunk'",
        ),
        defined("Snmp_community[monitoring]"),
    ]);
    assert_eq!(ran.events("sw1"), expected);
    assert_eq!(ran.device("sw1")["status"], "changed");
    let of_title = "the title of this snmp_community is its secret name; titles are not masked \
                    (/etc/puppetlabs/code/environments/production/manifests/site.pp:35); \
                    use another title and set name => Sensitive(…)";
    assert_eq!(ran.warnings("sw1"), [of_title]);
    let positioned = ran.resource("sw1", "Snmp_community[monitoring]");
    assert_eq!(positioned["line"], 35);
    assert_eq!(
        positioned["operations"],
        json!(["snmp-server community •••• RO snmp-ro"])
    );

    lab.log("sw1").clear();
    let again = lab.apply().await;
    again.assert_code(2);
    // Puppet's `notify` logs its message in every run, and counts as a change.
    assert_eq!(again.device("sw1")["counts"]["changed"], 1);
    assert_eq!(again.device("sw1")["counts"]["operations"], 0);
    only_reads_once(&lab, "sw1", SW1_READS);

    lab.log("sw1").clear();
    let plain = lab.run(&["apply"]).await;
    plain.assert_code(0);
    only_reads_once(&lab, "sw1", SW1_READS);
}

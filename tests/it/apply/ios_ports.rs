//! Interfaces, bundles, VRFs and access lists of IOS devices that print them in several forms.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;

use test_support::catalog::resource;
use test_support::difference::{missing_lines, planned_lines};
use test_support::lab::{Lab, switch_options};

/// A lab with one switch that has a configuration.
async fn lab(model: Option<&str>, config: &str) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        model: model.map(str::to_owned),
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab
}

/// Applies resources twice. The lines of the first run; the second one has nothing to do. The plan
/// shows the difference that the device then prints.
async fn applied(lab: &Lab, resources: &[Value]) -> Vec<String> {
    lab.write_resources("sw1", resources);
    let before = lab.log("sw1").configuration_lines().len();
    let old = lab.switches["sw1"].running_config();
    let plan = lab.run(&["plan"]).await.stdout;
    let first = lab.apply().await;
    first.assert_code(2);
    let sent = lab.log("sw1").configuration_lines()[before..].to_vec();
    let new = lab.switches["sw1"].running_config();
    if let Some((added, removed)) = planned_lines(&plan) {
        assert_eq!(added, missing_lines(&old, &new), "{plan}");
        assert_eq!(removed, missing_lines(&new, &old), "{plan}");
    }
    lab.apply().await.assert_code(0);
    assert_eq!(
        lab.log("sw1").configuration_lines().len(),
        before + sent.len()
    );
    sent
}

const VRFS: &str = "\
version 15.2
!
vrf definition NEW
 rd 1:1
 !
 address-family ipv4
 exit-address-family
 !
 address-family ipv6
 route-target export 1:1
 exit-address-family
!
ip vrf OLD
!
interface GigabitEthernet1/0/1
 no switchport
 vrf forwarding NEW
!
interface GigabitEthernet1/0/2
 no switchport
!
end
";

#[tokio::test(flavor = "multi_thread")]
async fn interface_vrf_has_the_form_of_the_vrf() {
    let lab = lab(None, VRFS).await;
    let sent = applied(
        &lab,
        &[
            resource("Ios_interface", "Gi1/0/1", json!({"vrf": "OLD"})),
            resource("Ios_interface", "Gi1/0/2", json!({"vrf": "NEW"})),
        ],
    )
    .await;
    assert_eq!(
        sent,
        [
            "interface GigabitEthernet1/0/1",
            "ip vrf forwarding OLD",
            "interface GigabitEthernet1/0/2",
            "vrf forwarding NEW",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn interface_addresses_are_set_again_after_a_change_of_the_vrf() {
    let addresses = " ip address 192.0.2.1 255.255.255.0\n \
                     ip address 198.51.100.1 255.255.255.0 secondary\n";
    let config = format!("{VRFS}interface Vlan10\n vrf forwarding NEW\n{addresses}");
    let lab = lab(None, &config).await;
    let vlan = |vrf: &str| {
        let settings = json!({
            "vrf": vrf, "ipv4_address": "192.0.2.1", "ipv4_mask": "255.255.255.0",
        });
        resource("Ios_ip_interface", "Vlan10", settings)
    };
    let sent = applied(&lab, &[vlan("OLD")]).await;
    assert_eq!(
        sent,
        [
            "interface Vlan10",
            "ip vrf forwarding OLD",
            "ip address 192.0.2.1 255.255.255.0",
            "ip address 198.51.100.1 255.255.255.0 secondary",
        ]
    );
    let sent = applied(&lab, &[vlan("unset")]).await;
    assert_eq!(sent[1], "no ip vrf forwarding OLD");
    let config = lab.switches["sw1"].running_config();
    let block = format!("interface Vlan10\n{addresses}");
    assert!(config.contains(&block), "{config}");
    let none = json!({"vrf": "NEW", "ipv4_address": "unset", "ipv4_secondary": "unset"});
    lab.write_resources("sw1", &[resource("Ios_ip_interface", "Vlan10", none)]);
    lab.apply().await.assert_code(2);
    lab.apply().await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn vrf_route_targets_of_ipv6_are_left_alone() {
    let lab = lab(None, VRFS).await;
    let targets = json!({"ensure": "present", "route_targets": [["export", "1:1"]]});
    let sent = applied(&lab, &[resource("Vrf", "NEW", targets)]).await;
    assert_eq!(
        sent,
        [
            "vrf definition NEW",
            "address-family ipv4",
            "route-target export 1:1"
        ]
    );
    let config = lab.switches["sw1"].running_config();
    let families = " address-family ipv4\n route-target export 1:1\n exit-address-family\n !\n \
                    address-family ipv6\n route-target export 1:1\n exit-address-family\n";
    assert!(config.contains(families), "{config}");
}

#[tokio::test(flavor = "multi_thread")]
async fn access_list_entries_exchange_their_numbers_in_one_run() {
    let config =
        "ip access-list extended A\n 10 permit tcp any any eq 22\n 20 permit tcp any any eq 23\n";
    let lab = lab(None, config).await;
    let entry = |number: u8, port: &str| {
        resource(
            "Ios_acl",
            &format!("A extended {number}"),
            json!({
                "access_list": "A", "access_list_type": "extended", "entry": number.to_string(),
                "permission": "permit", "protocol": "tcp", "source_address_any": true,
                "destination_address_any": true, "destination_eq": [port],
            }),
        )
    };
    let lines = [
        "ip access-list extended A",
        "no 20",
        "no 10",
        "10 permit tcp any any eq 23",
        "20 permit tcp any any eq 22",
    ];
    lab.write_resources("sw1", &[entry(10, "23"), entry(20, "22")]);
    let plan = lab.run(&["plan"]).await;
    let commands = plan
        .stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("> "));
    let mut commands: Vec<&str> = commands.map(str::trim).collect();
    // Each resource of a plan names its mode.
    commands.dedup();
    let index = commands.iter().rposition(|line| *line == lines[0]);
    commands.remove(index.unwrap());
    assert_eq!(commands, lines);
    let sent = applied(&lab, &[entry(10, "23"), entry(20, "22")]).await;
    assert_eq!(sent, lines);
}

#[tokio::test(flavor = "multi_thread")]
async fn access_list_entries_that_are_not_understood_are_comments() {
    let config = "version 17.9\nip access-list extended A\n 10 permit tcp any any eq 22 log SSH\n \
                  20 permit object-group SVC any any\n 30 permit ip any any future words\n";
    let lab = lab(None, config).await;
    let printed = lab.run(&["resource", "sw1", "ios_acl"]).await;
    printed.assert_contains("log_cookie");
    printed.assert_contains("service_group");
    printed.assert_contains("# not understood, `30 permit ip any any future words`:");
    let entries: Vec<&str> = printed
        .stdout
        .lines()
        .filter(|line| line.contains("ios_acl {"))
        .collect();
    assert_eq!(
        entries,
        [
            "ios_acl { 'A extended 10':",
            "ios_acl { 'A extended 20':",
            "# ios_acl { 'A extended 30':",
        ]
    );
    // Other formats have no comments.
    let arguments = ["resource", "sw1", "ios_acl", "--output"];
    let json = lab.run(&[&arguments[..], &["json"]].concat()).await;
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let titles = |key: &str| {
        let titles = json[key].as_object().unwrap().keys();
        titles.map(String::as_str).collect::<Vec<_>>()
    };
    assert_eq!(titles("ios_acl"), ["A extended 10", "A extended 20"]);
    let entry = &json["not_managed"][0];
    assert_eq!(entry["title"], "A extended 30");
    assert_eq!(
        entry["reason"],
        "not understood, `30 permit ip any any future words`"
    );
    assert_eq!(entry["attributes"]["entry"], "30");
    let yaml = lab.run(&[&arguments[..], &["yaml"]].concat()).await;
    yaml.assert_contains("not_managed:\n");
    yaml.assert_contains("not understood, `30 permit ip any any future words`");
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_that_a_switch_lacks_are_left_out_with_a_notice() {
    let lab = lab(
        Some("WS-C3750G-24TS-1U"),
        "interface GigabitEthernet1/0/1\n",
    )
    .await;
    lab.write_resources(
        "sw1",
        &[
            resource(
                "Network_interface",
                "Gi1/0/1",
                json!({"enable": true, "mtu": 9000}),
            ),
            resource(
                "Ntp_server",
                "192.0.2.1",
                json!({"ensure": "present", "minpoll": 5, "maxpoll": 12}),
            ),
        ],
    );
    let ran = lab.run(&["apply", "--report", "reports"]).await;
    ran.assert_code(0);
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        ["ntp server 192.0.2.1"]
    );
    let reports = lab.files("reports");
    for message in [
        "Network_interface[Gi1/0/1]: mtu is ignored on cisco_ios: this device does not support it",
        "Ntp_server[192.0.2.1]: maxpoll is ignored on cisco_ios: this device does not support it",
    ] {
        ran.assert_contains(message);
        assert!(
            reports.iter().any(|(_, text)| text.contains(message)),
            "{message}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bundles_that_are_removed_shut_down_their_ports_with_a_warning() {
    let config = "interface Port-channel1\ninterface Port-channel1.10\n description routed\n\
                  interface GigabitEthernet1/0/1\n channel-group 1 mode active\n";
    let lab = lab(None, config).await;
    let printed = lab.run(&["resource", "sw1", "port_channel"]).await;
    assert!(!printed.stdout.contains("1.10"), "{}", printed.stdout);
    lab.write_resources(
        "sw1",
        &[resource(
            "Port_channel",
            "Port-channel1",
            json!({"ensure": "absent"}),
        )],
    );
    let plan = lab.run(&["plan"]).await;
    plan.assert_contains("- channel-group 1 mode active");
    plan.assert_contains("+ shutdown");
    let ran = lab.run(&["apply"]).await;
    ran.assert_contains("the removal of the bundle shuts down its ports: GigabitEthernet1/0/1");
    let config = lab.switches["sw1"].running_config();
    assert!(
        config.contains("interface Port-channel1.10\n description routed\n"),
        "{config}"
    );
}

/// Entering its block again would create the bundle.
#[tokio::test(flavor = "multi_thread")]
async fn bundle_and_its_switchport_are_removed_in_one_run() {
    let absent = |of: &str| resource(of, "Port-channel1", json!({"ensure": "absent"}));
    for of in ["Network_trunk", "Ios_network_trunk"] {
        let lab = lab(None, "interface Port-channel1\n switchport mode trunk\n").await;
        let sent = applied(&lab, &[absent("Port_channel"), absent(of)]).await;
        assert_eq!(
            sent,
            [
                "default interface Port-channel1",
                "no interface Port-channel1"
            ]
        );
        let config = lab.switches["sw1"].running_config();
        assert!(!config.contains("Port-channel1"), "{config}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trunk_becomes_dynamic_in_one_run() {
    let config = "interface GigabitEthernet1/0/1\n switchport trunk encapsulation dot1q\n switchport mode trunk\n";
    let lab = lab(Some("WS-C3750G-24TS-1U"), config).await;
    let port = json!({"ensure": "present", "mode": "dynamic_auto", "encapsulation": "negotiate"});
    let sent = applied(&lab, &[resource("Ios_network_trunk", "Gi1/0/1", port)]).await;
    assert_eq!(
        sent,
        [
            "interface GigabitEthernet1/0/1",
            "switchport mode dynamic auto",
            "no switchport trunk encapsulation",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn speeds_beyond_a_gigabit_are_sent_as_the_device_prints_them() {
    let lab = lab(None, "interface TenGigabitEthernet1/1/1\n speed 10000\n").await;
    let port = |speed: &str| {
        let settings = json!({"enable": true, "speed": speed});
        [resource("Network_interface", "Te1/1/1", settings)]
    };
    lab.write_resources("sw1", &port("10g"));
    lab.apply().await.assert_code(0);
    let sent = applied(&lab, &port("nonegotiate")).await;
    assert_eq!(
        sent,
        ["interface TenGigabitEthernet1/1/1", "speed nonegotiate"]
    );
}

/// A plan that shows a difference: `applied` compares it with what the device prints.
#[tokio::test(flavor = "multi_thread")]
async fn plan_shows_the_lines_that_the_device_prints_afterwards() {
    let config = "\
system mtu 2000
vrf definition BLUE
 rd 1:1
 !
 address-family ipv4
  route-target import 1:1
 exit-address-family
!
interface GigabitEthernet1/0/1
 description old
 switchport access vlan 10
 switchport mode access
!
interface GigabitEthernet1/0/2
 no switchport
 speed 100
 duplex full
!
interface GigabitEthernet1/0/3
 channel-group 3 mode active
!
interface GigabitEthernet1/0/4
!
banner motd ^C
old
^C
";
    let lab = lab(None, config).await;
    let resources = [
        resource(
            "Network_interface",
            "Gi1/0/1",
            json!({"enable": false, "description": "new", "mtu": 9000}),
        ),
        resource(
            "Network_interface",
            "Gi1/0/2",
            json!({"enable": true, "speed": "1g", "duplex": "auto", "mtu": 1500}),
        ),
        resource(
            "Network_interface",
            "Loopback1",
            json!({"enable": true, "description": "id"}),
        ),
        resource(
            "Ios_network_trunk",
            "Gi1/0/1",
            json!({
                "ensure": "present", "mode": "trunk", "untagged_vlan": 20, "access_vlan": false,
                "allowed_vlans": "10,20-29", "switchport_nonegotiate": true,
            }),
        ),
        resource(
            "Ios_interface",
            "Gi1/0/2",
            json!({
                "vrf": "BLUE", "logging_event": ["status"], "logging_event_link_status": false,
                "ip_dhcp_snooping_limit": 100, "ip_dhcp_snooping_trust": true, "route_cache_cef": false,
                "flowcontrol_receive": "on", "link_status_duplicates": true,
                "mac_notification_added": true, "mac_notification_removed": true,
            }),
        ),
        resource(
            "Port_channel",
            "Port-channel3",
            json!({
                "ensure": "present", "interfaces": ["Gi1/0/3", "Gi1/0/4"], "mode": "passive",
                "minimum_links": 2, "description": "bundle", "flowcontrol_receive": "desired",
            }),
        ),
        resource(
            "Vrf",
            "BLUE",
            json!({
                "ensure": "present", "route_distinguisher": "1:2", "import_map": "IN",
                "route_targets": [["both", "1:2"]],
            }),
        ),
        resource(
            "Banner",
            "default",
            json!({"motd": "new", "login": "two\nlines"}),
        ),
    ];
    applied(&lab, &resources).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_shows_changes_of_lines_that_another_command_prints() {
    let lab = lab(None, "interface GigabitEthernet1/0/1\n").await;
    let entry = json!({"ensure": "present", "permission": "deny", "source_address_any": true});
    let port = json!({"ensure": "present", "mode": "access"});
    lab.write_resources(
        "sw1",
        &[
            resource("Ios_acl", "7 standard 10", entry),
            resource("Network_trunk", "Gi1/0/1", port),
        ],
    );
    let plan = lab.run(&["plan"]).await;
    plan.assert_contains("+standard IP access list 7\n  + 10 deny any");
    plan.assert_contains("+ switchport mode access");
    assert!(!plan.stdout.contains("no difference"), "{}", plan.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn bundle_with_members_of_different_modes_gets_one_mode() {
    let config = "interface Port-channel3\ninterface GigabitEthernet1/0/1\n channel-group 3 mode active\n\
                  interface GigabitEthernet1/0/2\n channel-group 3 mode passive\n";
    let lab = lab(None, config).await;
    let printed = lab.run(&["resource", "sw1", "port_channel"]).await;
    printed.assert_code(0);
    printed.assert_contains("# cannot be managed: interfaces: needs mode:");
    printed.assert_contains(
        "# members differ in mode: GigabitEthernet1/0/1 `channel-group 3 mode active`, \
         GigabitEthernet1/0/2 `channel-group 3 mode passive`",
    );
    let bundle = |interfaces: &[&str]| {
        let attributes = json!({"ensure": "present", "interfaces": interfaces, "mode": "active"});
        [resource("Port_channel", "Port-channel3", attributes)]
    };
    let sent = applied(&lab, &bundle(&["Gi1/0/1", "Gi1/0/2"])).await;
    assert!(
        sent.contains(&"no channel-group 3 mode passive".to_owned()),
        "{sent:?}"
    );
    let config = lab.switches["sw1"].running_config();
    assert_eq!(config.matches("channel-group 3 mode active").count(), 2);
    assert!(!config.contains("passive"), "{config}");
}

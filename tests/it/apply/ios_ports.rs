//! Interfaces, bundles, VRFs and access lists of IOS devices that print them in several forms.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;

use test_support::catalog::resource;
use test_support::difference::{missing_lines, planned_lines};
use test_support::lab::{Lab, switch_options};

/// A lab with one switch that has a configuration.
async fn lab(config: &str) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn access_list_entries_that_are_not_understood_are_comments() {
    let config = "version 17.9\nip access-list extended A\n 10 permit tcp any any eq 22 log SSH\n \
                  20 permit object-group SVC any any\n 30 permit ip any any future words\n";
    let lab = lab(config).await;
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
    yaml.assert_contains(
        "# ios_acl A extended 30: not understood, `30 permit ip any any future words`\n",
    );
}

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
    let lab = lab(config).await;
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
    lab.write_resources("sw1", &resources);
    let old = lab.switches["sw1"].running_config();
    let plan = lab.run(&["plan"]).await.stdout;
    lab.apply().await.assert_code(2);
    let new = lab.switches["sw1"].running_config();
    let (added, removed) = planned_lines(&plan).expect("the plan shows all lines");
    assert_eq!(added, missing_lines(&old, &new), "{plan}");
    assert_eq!(removed, missing_lines(&new, &old), "{plan}");
    lab.apply().await.assert_code(0);
}

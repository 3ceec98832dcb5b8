//! Changes send differences, and nothing of a device is lost or taken for understood.

use serde_json::{Value as Json, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};

async fn lab(config: &str, resources: &[Json]) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab.write_resources("sw1", resources);
    lab
}

/// Applies twice: the first run sends these lines, the second one nothing.
async fn assert_sent(config: &str, resources: &[Json], lines: &[&str]) -> Lab {
    let lab = lab(config, resources).await;
    lab.apply().await.assert_code(2);
    assert_eq!(lab.log("sw1").configuration_lines(), lines);
    lab.apply().await.assert_code(0);
    assert_eq!(lab.log("sw1").configuration_lines(), lines);
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn trunk_keeps_its_vlans_while_one_is_added_to_a_long_list() {
    let numbers: Vec<String> = (500..574).map(|half| (half * 2 + 1).to_string()).collect();
    let (first, second) = numbers.split_at(40);
    let config = format!(
        "interface GigabitEthernet1/0/24\n switchport trunk encapsulation dot1q\n switchport mode trunk\n \
         switchport trunk allowed vlan {}\n switchport trunk allowed vlan add {}\n",
        first.join(","),
        second.join(",")
    );
    let trunk = |list: Json| {
        let attributes = json!({"mode": "trunk", "allowed_vlans": list});
        resource("Ios_network_trunk", "GigabitEthernet1/0/24", attributes)
    };
    let mode = "interface GigabitEthernet1/0/24";
    let added = [mode, "switchport trunk allowed vlan add 2000"];
    assert_sent(&config, &[trunk(json!(["add", "2000"]))], &added).await;
    let removed = [mode, "switchport trunk allowed vlan remove 1001,1003"];
    assert_sent(&config, &[trunk(json!(["remove", "1001,1003"]))], &removed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bundle_is_emptied_before_its_protocol_changes() {
    let port = |number: usize| {
        format!("interface GigabitEthernet1/0/{number}\n channel-group 1 mode desirable\n")
    };
    let config = format!("interface Port-channel1\n{}{}{}", port(1), port(2), port(3));
    let members = [
        "GigabitEthernet1/0/1",
        "GigabitEthernet1/0/2",
        "GigabitEthernet1/0/3",
    ];
    let attributes = json!({"ensure": "present", "interfaces": members, "mode": "active"});
    let headers = members.map(|member| format!("interface {member}"));
    let mut lines = Vec::new();
    for line in [
        "no channel-group 1 mode desirable",
        "channel-group 1 mode active",
    ] {
        for header in &headers {
            lines.extend([header.as_str(), line]);
        }
    }
    assert_sent(
        &config,
        &[resource("Port_channel", "Port-channel1", attributes)],
        &lines,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn snmp_user_keeps_its_access_list() {
    let user = resource(
        "Snmp_user",
        "ops v3",
        json!({"roles": ["NETOPS"], "auth": "sha", "password": "password-1", "privacy": "aes256",
               "private_key": "password-2"}),
    );
    let config =
        "snmp-server user ops NETOPS v3 auth sha password-1 priv aes 128 password-2 access 99\n";
    let line =
        "snmp-server user ops NETOPS v3 auth sha password-1 priv aes 256 password-2 access 99";
    assert_sent(config, &[user], &[line]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_of_a_kind_are_found_by_their_beginning() {
    let config = "snmp-server enable traps snmp linkdown linkup\nsnmp-server enable traps stpx inconsistency root-inconsistency loop-inconsistency\n";
    let kind = |title: &str, enable: bool| {
        resource("Snmp_notification", title, json!({ "enable": enable }))
    };
    let disabled = assert_sent(
        config,
        &[kind("stpx", false)],
        &["no snmp-server enable traps stpx"],
    )
    .await;
    assert!(!disabled.switches["sw1"].running_config().contains("stpx"));
    let one = assert_sent(
        config,
        &[kind("stpx root-inconsistency", false), kind("snmp", true)],
        &["no snmp-server enable traps stpx root-inconsistency"],
    )
    .await;
    one.switches["sw1"]
        .running_config()
        .lines()
        .find(|line| *line == "snmp-server enable traps stpx inconsistency loop-inconsistency")
        .expect("the other notifications stay");
    // A purge keeps what a declared kind has.
    let purge = resource("Resources", "snmp_notification", json!({"purge": true}));
    let lab = lab(config, &[kind("stpx", true), purge]).await;
    lab.run(&["apply", "--allow", "purge"]).await.assert_code(0);
    let sent = lab.log("sw1").configuration_lines();
    assert!(sent.iter().all(|line| !line.contains("stpx")), "{sent:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn declared_attribute_that_was_not_read_fails_its_resource() {
    let config = "interface GigabitEthernet1/0/1\n speed auto 10 100\n";
    // The device has neither, also not the default.
    for speed in ["1g", "auto"] {
        let attributes = json!({"speed": speed, "description": "unset"});
        let port = resource("Network_interface", "GigabitEthernet1/0/1", attributes);
        let lab = lab(config, &[port]).await;
        let text =
            "not understood on the device: `interface GigabitEthernet1/0/1 / speed auto 10 100`";
        lab.run(&["plan"]).await.assert_contains(text);
        lab.apply().await.assert_code(4);
        assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
        let applied = lab.run(&["apply", "--overwrite-unknown"]).await;
        applied.assert_code(0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn list_that_is_not_understood_is_removed_by_its_beginning() {
    let config = "aaa new-model\naaa authorization network A1 none\n\
                  aaa accounting network A2 start-stop broadcast group tacacs+\n";
    let absent = |of: &str, title: &str| resource(of, title, json!({"ensure": "absent"}));
    let lists = [
        absent("Ios_aaa_authorization", "network A1"),
        absent("Ios_aaa_accounting", "network A2"),
    ];
    let lines = [
        "no aaa authorization network A1",
        "no aaa accounting network A2",
    ];
    let lab = lab(config, &lists).await;
    lab.apply().await.assert_code(2);
    let mut sent = lab.log("sw1").configuration_lines();
    sent.sort_by_key(|line| lines.iter().position(|other| other == line));
    assert_eq!(sent, lines);
    lab.apply().await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn attribute_without_an_effect_is_reported() {
    let port = |attributes: Json| resource("Ios_network_trunk", "GigabitEthernet1/0/1", attributes);
    let declared = port(json!({"mode": "access", "switchport_nonegotiate": true}));
    let config = "interface GigabitEthernet1/0/1\n switchport mode access\n";
    let with_mode = lab(config, &[declared]).await;
    let plan = with_mode.run(&["plan"]).await;
    plan.assert_contains("switchport_nonegotiate: has no effect with mode access");
    let of_device = lab(config, &[port(json!({"switchport_nonegotiate": true}))]).await;
    let plan = of_device.run(&["plan"]).await;
    plan.assert_contains("switchport_nonegotiate has no effect with mode access of the device");
    let tree = resource("Ios_stp_global", "default", json!({"enable": false}));
    let lab = lab("interface Vlan1\n", &[tree]).await;
    let plan = lab.run(&["plan"]).await;
    plan.assert_contains("remove the settings one by one");
}

const ROUTED: &str = "interface Vlan10\n description uplink\n ip address 192.0.2.1 255.255.255.0\n standby 1 ip 192.0.2.2\n";

#[tokio::test(flavor = "multi_thread")]
async fn removal_of_an_interface_names_what_goes_with_it() {
    let absent = resource("Ios_ip_interface", "Vlan10", json!({"ensure": "absent"}));
    let lab = lab(ROUTED, std::slice::from_ref(&absent)).await;
    let plan = lab.run(&["plan"]).await;
    plan.assert_contains("the removal of the block also removes `description uplink` (");
    plan.assert_contains("`standby 1 ip 192.0.2.2` (ios_hsrp_group)");
    for part in [
        resource(
            "Ios_hsrp_group",
            "Vlan10 1",
            json!({"address": "192.0.2.2"}),
        ),
        resource(
            "Network_interface",
            "Vlan10",
            json!({"description": "uplink"}),
        ),
    ] {
        lab.write_resources("sw1", &[absent.clone(), part]);
        let refused = lab.run(&["plan"]).await;
        refused.assert_code(1);
        refused.assert_contains("error[conflicting-lines]");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn port_is_never_removed() {
    let config =
        "interface GigabitEthernet1/0/2\n no switchport\n ip address 192.0.2.1 255.255.255.0\n";
    let absent = resource(
        "Ios_ip_interface",
        "GigabitEthernet1/0/2",
        json!({"ensure": "absent"}),
    );
    let lab = lab(config, &[absent]).await;
    for command in [&["validate", "catalogs"][..], &["plan"], &["apply"]] {
        let refused = lab.run(command).await;
        refused.assert_code(1);
        refused.assert_contains("belongs to the device and cannot be removed");
    }
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn value_that_no_command_can_set_is_fine_while_the_device_has_it() {
    let lab = lab("interface Vlan1\n", &[]).await;
    lab.run(&["backup", "saved", "--with-secrets"])
        .await
        .assert_code(0);
    let path = lab.path("saved/sw1.json");
    let mut answers: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    answers["vlan_brief"] = "\nVLAN Name                             Status    Ports\n---- -------------------------------- --------- -------------------------------\n1    default                          active    \n5    Guest Wi-Fi 2nd floor            active    \n6    lab                              active    \n".into();
    std::fs::write(&path, answers.to_string()).unwrap();
    let plan = ["plan", "--running", "saved"];
    let vlan = |id: &str| {
        let name = json!({"vlan_name": "Guest Wi-Fi 2nd floor"});
        resource("Network_vlan", id, name)
    };
    lab.write_resources("sw1", &[vlan("5")]);
    let planned = lab.run(&plan).await;
    planned.assert_code(0);
    planned.assert_contains("unchanged");
    lab.write_resources("sw1", &[vlan("5"), vlan("6")]);
    let planned = lab.run(&plan).await;
    planned.assert_code(1);
    planned.assert_contains("cannot change vlan_name: \"Guest Wi-Fi 2nd floor\" contains spaces");
}

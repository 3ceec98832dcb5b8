//! An undo gives back what the device removed or changed together with a resource, or is refused. Most cases are from
//! reports in public issue trackers.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};

use super::{configuration, restores};

/// What a run does to a device, and whether it can be undone; `None`: restored or refused.
struct Case {
    name: &'static str,
    config: &'static str,
    resources: Vec<Value>,
    is_restored: Option<bool>,
}

fn absent(type_name: &str, title: &str) -> Value {
    resource(type_name, title, json!({"ensure": "absent"}))
}

fn cases() -> Vec<Case> {
    let case = |name, config, resources, is_restored| Case {
        name,
        config,
        resources,
        is_restored,
    };
    vec![
        case(
            "a location beside communities",
            "snmp-server community public RO\nsnmp-server host 192.0.2.9 version 2c public\n",
            vec![resource(
                "Network_snmp",
                "default",
                json!({"location": "room 1"}),
            )],
            Some(true),
        ),
        case(
            "a removed user",
            "username nick privilege 15 secret 9 $9$a$b\n",
            vec![absent("Ios_user", "nick")],
            Some(false),
        ),
        case(
            "a removed list with its entries",
            "ip access-list extended WEB\n 10 permit tcp any host 192.0.2.10 eq www\n\
             \x20 20 deny ip any any log\n",
            vec![absent("Ios_access_list", "WEB")],
            Some(true),
        ),
        case(
            "a removed BGP process with its neighbors",
            "router bgp 65000\n bgp router-id 192.0.2.1\n neighbor 198.51.100.1 remote-as 65002\n\
             \x20neighbor 198.51.100.1 description one\n neighbor 198.51.100.2 remote-as 65003\n",
            vec![absent("Ios_bgp_process", "65000")],
            Some(true),
        ),
        case(
            "a removed BGP process with the password of a neighbor",
            "router bgp 65000\n neighbor 198.51.100.1 remote-as 65002\n\
             \x20neighbor 198.51.100.1 password 7 0822455D0A16\n",
            vec![absent("Ios_bgp_process", "65000")],
            Some(false),
        ),
        case(
            "the ports of a removed bundle, which the device shuts down",
            "interface GigabitEthernet1/0/1\n channel-group 23 mode active\n\
             interface GigabitEthernet1/0/2\n channel-group 23 mode active\n\
             interface Port-channel23\n",
            vec![absent("Port_channel", "Port-channel23")],
            Some(true),
        ),
        // napalm-automation/napalm-ansible#195
        case(
            "the settings of a port",
            "interface GigabitEthernet1/0/6\n description Lab\n switchport mode trunk\n\
             \x20switchport nonegotiate\n spanning-tree portfast trunk\n",
            vec![
                resource(
                    "Network_interface",
                    "GigabitEthernet1/0/6",
                    json!({"description": "unset"}),
                ),
                resource(
                    "Ios_network_trunk",
                    "GigabitEthernet1/0/6",
                    json!({"mode": "access"}),
                ),
            ],
            Some(true),
        ),
        // ansible/ansible#26725, CiscoDevNet/terraform-provider-iosxe#183
        case(
            "the address of an interface whose VRF changes",
            "vrf definition RED\n address-family ipv4\n exit-address-family\n\
             interface Vlan10\n ip address 192.0.2.1 255.255.255.0\n",
            vec![resource(
                "Ios_ip_interface",
                "Vlan10",
                json!({"vrf": "RED"}),
            )],
            Some(true),
        ),
        // ansible-collections/cisco.ios#723
        case(
            "the interfaces of a removed VRF",
            "vrf definition RED\n address-family ipv4\n exit-address-family\n\
             interface Vlan10\n vrf forwarding RED\n ip address 192.0.2.1 255.255.255.0\n",
            vec![absent("Vrf", "RED")],
            None,
        ),
        // napalm-automation/napalm#1059
        case(
            "a time server beside others",
            "ntp server 192.0.2.1\nntp server 192.0.2.2 prefer\n",
            vec![absent("Ntp_server", "192.0.2.1")],
            Some(true),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_restores_side_effects_or_is_refused() {
    let mut problems = Vec::new();
    for case in cases() {
        let mut lab = Lab::new();
        lab.add_switch_with(SwitchOptions {
            config: Some(case.config.to_owned()),
            ..switch_options("sw1")
        })
        .await;
        lab.write_resources("sw1", &case.resources);
        let before = configuration(&lab, "sw1");
        let ran = lab.run(&["apply", "--allow", "own-path"]).await;
        if ran.code != Some(0) || configuration(&lab, "sw1") == before {
            problems.push(format!("{}: not applied: {}", case.name, ran.text()));
            continue;
        }
        let is_restored = restores(&lab, "sw1", &before).await;
        if case
            .is_restored
            .is_some_and(|expected| expected != is_restored)
        {
            let undo = ["undo", "--last", "--plan", "--allow", "own-path"];
            let planned = lab.run(&undo).await;
            problems.push(format!("{}: {is_restored}: {}", case.name, planned.text()));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Juniper/ansible-junos-stdlib#872, ansible-collections/cisco.iosxr#554: removing one thing takes all others along.
#[tokio::test(flavor = "multi_thread")]
async fn undo_does_not_remove_what_was_added_since() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let process = json!({"ensure": "present", "router_id": "192.0.2.1"});
    lab.write_resources("sw1", &[resource("Ios_bgp_process", "65000", process)]);
    lab.run(&["apply"]).await.assert_code(0);
    let first = lab.run(&["undo", "--output", "json"]).await.objects();
    let first = first[0]["run"].as_str().unwrap().to_owned();
    let neighbor = json!({"ensure": "present", "remote_as": "65002"});
    let neighbor = resource("Ios_bgp_neighbor", "65000 198.51.100.1", neighbor);
    lab.write_resources("sw1", &[neighbor]);
    lab.run(&["apply"]).await.assert_code(0);
    lab.log("sw1").clear();
    for option in ["--plan", "--yes"] {
        let refused = lab.run(&["undo", &first, option]).await;
        refused.assert_code(1);
        refused.assert_contains(
            "the undo would remove `router bgp 65000 / neighbor 198.51.100.1 remote-as 65002`, \
             which the run did not add",
        );
    }
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
}

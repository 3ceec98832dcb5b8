//! Another spelling of a value that the device has is no difference, and nothing is removed that an
//! added value equals.

use serde_json::json;
use switchtender_mocks::{LoadBalancerOptions, SwitchOptions};

use test_support::catalog::resource;
use test_support::lab::{Lab, PASSWORD, switch_options};

/// A partition whose objects are in route domain 30 unless their address has another one.
fn partition_with_default_domain() -> LoadBalancerOptions {
    LoadBalancerOptions {
        user: "ops".to_owned(),
        password: PASSWORD.to_owned(),
        config: Some(json!({
            "POST /mgmt/tm/auth/partition": {"name": "rd", "defaultRouteDomain": 30},
        })),
        ..LoadBalancerOptions::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn route_domain_0_stays_in_a_partition_with_another_default() {
    let mut lab = Lab::new();
    lab.add_load_balancer_with(partition_with_default_domain())
        .await;
    let node = |name: &str, address: &str| {
        let parameters = json!({"ensure": "present", "address": address});
        resource("F5_node", name, parameters)
    };
    let resources = [
        node("/rd/n0", "192.0.2.31%0"),
        node("/rd/n30", "192.0.2.32%30"),
        node("/rd/n", "192.0.2.33"),
        node("/Common/n0", "2001:DB8:0:0::1%0"),
        resource(
            "F5_virtualserver",
            "/rd/vs0",
            json!({"ensure": "present", "provider": "standard", "protocol": "tcp",
                   "destination_address": "203.0.113.20%0", "service_port": 80}),
        ),
    ];
    lab.write_resources("lb1", &resources);
    lab.apply().await.assert_code(2);

    let field = |path: &str, field: &str| {
        let object = lab.load_balancers["lb1"].get(path).unwrap();
        object[field].as_str().unwrap().to_owned()
    };
    let address = |path: &str| field(path, "address");
    assert_eq!(address("ltm/node/~rd~n0"), "192.0.2.31%0");
    assert_eq!(address("ltm/node/~rd~n30"), "192.0.2.32");
    assert_eq!(address("ltm/node/~rd~n"), "192.0.2.33");
    assert_eq!(address("ltm/node/~Common~n0"), "2001:db8::1");
    let destination = field("ltm/virtual/~rd~vs0", "destination");
    assert_eq!(destination, "/rd/203.0.113.20%0:80");

    lab.apply().await.assert_code(0);
}

/// The lines that the switch received in configuration modes.
fn sent(lab: &Lab) -> Vec<String> {
    let log = lab.log("sw1");
    let received = log.received();
    let is_change = |line: &String| {
        line.contains("ipv6 address") || line.contains("spanning-tree") || line.contains("instance")
    };
    received.into_iter().filter(is_change).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn address_in_another_spelling_is_not_removed() {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some("vlan 10\ninterface Vlan10\n ipv6 address 2001:DB8::1/64\n".to_owned()),
        ..switch_options("sw1")
    })
    .await;
    let addresses = |addresses: &serde_json::Value| {
        [resource(
            "Ios_ip_interface",
            "Vlan10",
            json!({"ipv6_addresses": addresses}),
        )]
    };
    lab.write_resources("sw1", &addresses(&json!(["2001:db8:0:0::1/64"])));
    lab.apply().await.assert_code(0);
    assert_eq!(sent(&lab), [""; 0]);

    let two = json!(["2001:db8:0:0::1/64", "2001:DB8:1::1/64"]);
    lab.write_resources("sw1", &addresses(&two));
    lab.apply().await.assert_code(2);
    assert_eq!(sent(&lab), ["ipv6 address 2001:db8:1::1/64"]);
    lab.apply().await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_vlans_converge_in_every_spelling() {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some("spanning-tree mst configuration\n instance 2 vlan 1-9, 30-65\n".to_owned()),
        ..switch_options("sw1")
    })
    .await;
    let tree = json!({
        "mst_inst_vlan_map": [[2, "30-65,1-9"], [3, [20, "10-12"]]],
        "vlan_priority": [["3, 1,2", 4096], ["5", 4096], ["9", 32768]],
        "vlan_hello_time": [["1-4094", 2]],
    });
    lab.write_resources("sw1", &[resource("Ios_stp_global", "default", tree)]);
    lab.apply().await.assert_code(2);
    let lines = sent(&lab);
    assert!(
        !lines.iter().any(|line| line.starts_with("no ")),
        "{lines:?}"
    );
    lab.apply().await.assert_code(0);
    assert_eq!(sent(&lab), lines);
}

//! Types on switches with the grammar of command references: over SSH and in requests, with the same catalog and
//! results.

use serde_json::{Value, json};
use switchtender_mocks::GrammarSwitchOptions;
use switchtender_mocks::grammar_switch::{GrammarSwitch, RunningGrammarSwitch};
use test_support::catalog::resource;
use test_support::lab::{Lab, PASSWORD};

const TRANSPORTS: [&str; 2] = ["ssh", "http"];

/// A laboratory with a Nexus switch.
async fn lab(transport: &str) -> (Lab, RunningGrammarSwitch) {
    let options = GrammarSwitchOptions {
        user: "ops".to_owned(),
        password: PASSWORD.to_owned(),
        ..GrammarSwitchOptions::new("cisco_nxos", "nx1")
    };
    let switch = GrammarSwitch::start(options, 0).await.unwrap();
    let mut lab = Lab::new();
    if transport == "http" {
        let port = switch.request_address().port();
        lab.add_device("nx1", "cisco_nxos", port, Some(&switch.fingerprint()));
        lab.configure("nx1", "transport = \"http\"");
    } else {
        let pin = switch.host_key().fingerprint;
        lab.add_device("nx1", "cisco_nxos", switch.address().port(), Some(&pin));
    }
    (lab, switch)
}

/// A part of a fabric. The features are not declared.
fn fabric() -> Vec<Value> {
    let neighbor = json!({"remote_as": 65001, "description": "spine 1", "ebgp_multihop": 2});
    let vlan = json!({"vlan_name": "users", "mapped_vni": 10010});
    let gateway = json!({
        "description": "users", "ipv4_address": "192.0.2.1", "ipv4_netmask_length": 24, "shutdown": false,
    });
    vec![
        resource("Cisco_vlan", "10", vlan),
        resource("Cisco_interface", "Vlan10", gateway),
        resource(
            "Cisco_bgp",
            "65000 default",
            json!({"router_id": "192.0.2.9"}),
        ),
        resource("Cisco_bgp_neighbor", "65000 default 198.51.100.1", neighbor),
        resource(
            "Network_interface",
            "Ethernet1/2",
            json!({"description": "to the core"}),
        ),
        resource("Syslog_server", "192.0.2.50", json!({"severity_level": 5})),
    ]
}

/// The lines of the configuration without features, which no undo removes.
fn lines(switch: &RunningGrammarSwitch) -> String {
    let config = switch.running_config();
    let lines = config.lines();
    let lines = lines.filter(|line| {
        !line.is_empty() && !line.starts_with("feature ") && *line != "interface Vlan1"
    });
    lines.map(|line| format!("{line}\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fabric_is_created_left_in_sync_and_undone_without_its_features() {
    for transport in TRANSPORTS {
        let (lab, switch) = lab(transport).await;
        lab.write_resources("nx1", &fabric());
        let before = lines(&switch);
        lab.apply().await.assert_code(2);
        let config = switch.running_config();
        for line in [
            "feature bgp",
            "feature interface-vlan",
            "feature vn-segment-vlan-based",
            "  vn-segment 10010",
            "  ip address 192.0.2.1/24",
            "    remote-as 65001",
        ] {
            let found = config.lines().any(|other| other == line);
            assert!(found, "{transport}: {line}\n{config}");
        }
        let ran = lab.apply().await;
        ran.assert_code(0);
        assert_eq!(
            ran.device("nx1")["counts"]["operations"],
            0,
            "{}",
            ran.text()
        );
        let undone = lab.run(&["undo", "--last", "--yes"]).await;
        undone.assert_code(0);
        undone.assert_contains("feature bgp");
        assert_eq!(lines(&switch), before, "{transport}: {}", undone.text());
        assert!(
            switch.running_config().contains("feature bgp"),
            "{transport}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn purge_removes_what_the_catalog_does_not_declare() {
    let purge = |name: &str| resource("Resources", name, json!({"purge": true}));
    for transport in TRANSPORTS {
        let (lab, switch) = lab(transport).await;
        lab.write_resources("nx1", &fabric());
        lab.apply().await.assert_code(2);
        lab.write_resources(
            "nx1",
            &[
                purge("cisco_bgp_neighbor"),
                purge("syslog_server"),
                purge("cisco_vlan"),
            ],
        );
        let ran = lab
            .run(&["apply", "--allow", "purge", "--allow", "own-path"])
            .await;
        ran.assert_code(0);
        let config = switch.running_config();
        for gone in [
            "neighbor 198.51.100.1",
            "logging server",
            "vn-segment 10010",
        ] {
            assert!(
                !config.contains(gone),
                "{transport}: {gone}\n{}\n{config}",
                ran.text()
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_has_the_words_of_the_device() {
    for transport in TRANSPORTS {
        let (lab, switch) = lab(transport).await;
        let port = json!({"description": "core"});
        lab.write_resources("nx1", &[resource("Network_interface", "Ethernet9/1", port)]);
        let ran = lab.run(&["apply"]).await;
        ran.assert_contains("ERROR: Invalid interface Ethernet9/1");
        assert!(
            !switch.running_config().contains("description core"),
            "{transport}"
        );
    }
}

/// NX-OS has no revert by a timer.
#[tokio::test(flavor = "multi_thread")]
async fn protection_is_refused() {
    let (mut lab, _switch) = lab("ssh").await;
    lab.configure("nx1", "protect = \"required\"");
    lab.write_resources("nx1", &fabric());
    let ran = lab.run(&["apply"]).await;
    assert!(ran.code != Some(0), "{}", ran.text());
    ran.assert_contains("the device has no timed revert");
}

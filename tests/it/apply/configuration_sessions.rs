//! Configuration sessions of `arista_eos` on its strict mock, over SSH and eAPI: each resource is a commit
//! with a timer, which is confirmed after a read.

use serde_json::json;
use switchtender_mocks::{GrammarSwitch, GrammarSwitchOptions, RunningGrammarSwitch};
use test_support::catalog::resource;
use test_support::lab::{Lab, PASSWORD};

#[derive(Clone, Copy, Debug)]
enum Transport {
    Terminal,
    Requests,
}

const TRANSPORTS: [Transport; 2] = [Transport::Terminal, Transport::Requests];

async fn start(faults: &[&str]) -> RunningGrammarSwitch {
    let mut options = GrammarSwitchOptions::new("arista_eos", "leaf1");
    options.user = "ops".to_owned();
    options.password = PASSWORD.to_owned();
    let faults = faults.iter().map(|fault| fault.parse().expect("a fault"));
    options.faults = faults.collect();
    GrammarSwitch::start(options, 0).await.expect("started")
}

fn lab(switch: &RunningGrammarSwitch, transport: Transport) -> Lab {
    let mut lab = Lab::new();
    match transport {
        Transport::Terminal => {
            let pin = switch.host_key().fingerprint;
            lab.add_device("leaf1", "arista_eos", switch.address().port(), Some(&pin));
        }
        Transport::Requests => {
            let port = switch.request_address().port();
            lab.add_device("leaf1", "arista_eos", port, Some(&switch.fingerprint()));
            lab.configure("leaf1", "transport = \"http\"");
        }
    }
    let vlan = resource("Eos_vlan", "10", json!({"vlan_name": "users"}));
    let port = resource(
        "Eos_ethernet",
        "Ethernet1",
        json!({"description": "uplink", "lacp_priority": 10}),
    );
    lab.write_resources("leaf1", &[vlan, port]);
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_committed_confirmed_and_undone() {
    for transport in TRANSPORTS {
        let switch = start(&[]).await;
        let lab = lab(&switch, transport);
        let before = switch.running_config();
        let applied = lab.apply().await;
        applied.assert_code(2);
        let after = switch.running_config();
        for line in ["vlan 10", "name users", "description uplink"] {
            assert!(
                after.contains(line),
                "{transport:?}: {after}\n{}",
                applied.text()
            );
        }
        assert!(!switch.is_revert_pending(), "{transport:?}");
        let again = lab.apply().await;
        again.assert_code(0);
        again.assert_contains("unchanged");
        let undone = lab.run(&["undo", "--last", "--yes"]).await;
        let restored = switch.running_config();
        assert_eq!(restored, before, "{transport:?}: {}", undone.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_line_discards_the_lines_of_its_resource() {
    for transport in TRANSPORTS {
        let switch = start(&["refuse=^lacp port-priority => % Not allowed"]).await;
        let lab = lab(&switch, transport);
        let applied = lab.apply().await;
        applied.assert_contains("Not allowed");
        let config = switch.running_config();
        assert!(config.contains("name users"), "{transport:?}: {config}");
        assert!(!config.contains("uplink"), "{transport:?}: {config}");
        assert!(!switch.is_revert_pending(), "{transport:?}");
    }
}

//! Limits for changes: a device that would exceed one is not changed at all.

use serde_json::{Value, json};
use test_support::lab::Lab;

fn vlan(id: u16, parameters: Value) -> Value {
    json!({"type": "Network_vlan", "title": id.to_string(), "parameters": parameters})
}

/// A switch with two VLANs; the catalog adds two, removes two and has one with `noop`.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    let options = switchtender_mocks::SwitchOptions {
        vlans: vec![(20, "old".to_owned()), (30, "old".to_owned())],
        ..test_support::lab::switch_options("sw1")
    };
    lab.add_switch_with(options).await;
    let resources = [
        vlan(40, json!({"vlan_name": "users"})),
        vlan(41, json!({"vlan_name": "voice"})),
        vlan(20, json!({"ensure": "absent"})),
        vlan(30, json!({"ensure": "absent"})),
        // Neither is a change of the run.
        vlan(50, json!({"ensure": "absent"})),
        vlan(42, json!({"vlan_name": "later", "noop": true})),
    ];
    lab.write_resources("sw1", &resources);
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn run_above_a_limit_changes_nothing() {
    let lab = lab().await;
    for (limit, number, expected) in [
        (
            "--max-changes",
            "3",
            "the run would change 4 resources, the limit is 3",
        ),
        (
            "--max-removals",
            "1",
            "the run would remove 2 resources, the limit is 1",
        ),
    ] {
        let refused = lab.run(&["apply", limit, number]).await;
        refused.assert_code(1);
        refused.assert_contains(&format!("sw1: Error: nothing was changed: {expected}\n"));
        refused.assert_contains("in [defaults] or the table of the device");
        assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
        let planned = lab.run(&["plan", limit, number]).await;
        planned.assert_code(1);
        planned.assert_contains(expected);
        // One word for the device, whatever found the limit.
        for output in [&refused, &planned] {
            output.assert_contains("\nsw1     not run ");
        }
        // The plan has all changes.
        planned.assert_contains("    >  name voice");
    }
}

/// The inventory sets a limit for its devices, and the flag replaces it.
#[tokio::test(flavor = "multi_thread")]
async fn limits_of_the_inventory_are_those_of_its_devices() {
    let mut lab = lab().await;
    lab.defaults
        .insert_str(0, "[group.core]\ndevices = [\"sw1\"]\nmax_changes = 3\n");
    let refused = lab.run(&["apply"]).await;
    refused.assert_code(1);
    refused.assert_contains("the run would change 4 resources, the limit is 3");
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
    lab.run(&["apply", "--max-changes", "4"])
        .await
        .assert_code(0);
    lab.configure("sw1", "max_removals = -1");
    let invalid = lab.run(&["plan"]).await;
    invalid.assert_code(1);
    invalid.assert_contains("-1 is not a limit (0 or more)");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_within_the_limits_reads_once_and_applies() {
    let lab = lab().await;
    let limits = ["apply", "--max-changes", "4", "--max-removals", "2"];
    let applied = lab.run(&limits).await;
    applied.assert_code(0);
    let vlans: Vec<u16> = lab.switches["sw1"]
        .vlans()
        .iter()
        .map(|vlan| vlan.0)
        .collect();
    assert!(vlans.contains(&40) && vlans.contains(&41), "{vlans:?}");
    assert!(
        !vlans.contains(&20) && !vlans.contains(&30) && !vlans.contains(&42),
        "{vlans:?}"
    );
    // Once before the changes, and once to verify them.
    let received = lab.log("sw1").received();
    let reads = received.iter().filter(|line| *line == "show vlan brief");
    assert_eq!(reads.count(), 2, "{received:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn purged_resources_are_removals() {
    let lab = lab().await;
    let purge =
        json!({"type": "Resources", "title": "network_vlan", "parameters": {"purge": true}});
    lab.write_resources("sw1", &[purge]);
    let arguments = ["apply", "--max-removals", "0", "--allow", "purge"];
    let refused = lab.run(&arguments).await;
    refused.assert_code(1);
    refused.assert_contains(
        "sw1: Error: nothing was changed: the run would remove 2 resources, the limit is 0",
    );
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
}

/// As for `validate`: the share of the interfaces in the catalog. The device is not contacted.
#[tokio::test(flavor = "multi_thread")]
async fn catalog_that_shuts_down_too_much_is_refused() {
    let mut lab = lab().await;
    let port = |number: u8, enable: bool| {
        let title = format!("GigabitEthernet1/0/{number}");
        json!({"type": "Network_interface", "title": title, "parameters": {"enable": enable}})
    };
    lab.write_resources("sw1", &[port(1, false), port(2, true)]);
    let refused = lab.run(&["apply", "--max-shutdown", "49"]).await;
    refused.assert_code(1);
    refused.assert_contains(
        "error[max-shutdown]: 1 of 2 interfaces would be shut down (50%, the limit is 49%)",
    );
    assert_eq!(lab.log("sw1").connections(), 0);
    lab.configure("sw1", "max_shutdown = 49");
    let of_inventory = lab.run(&["apply"]).await;
    of_inventory.assert_code(1);
    of_inventory.assert_contains("(50%, the limit is 49%)");
    lab.run(&["apply", "--max-shutdown", "50"])
        .await
        .assert_code(0);
}

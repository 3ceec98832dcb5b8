//! A resource with `noop => false` is changed in a run with `--noop`, as in Puppet, and the summary says so.

use serde_json::json;
use test_support::catalog::{resource, vlan};
use test_support::lab::Lab;

#[tokio::test(flavor = "multi_thread")]
async fn noop_run_names_devices_that_the_catalog_changes() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let text = "changed in spite of noop (noop => false in the catalog):";
    lab.write_resources("sw1", &[vlan(10, "first")]);
    let plain = lab.run(&["apply", "--noop"]).await;
    assert!(!plain.text().contains(text), "{}", plain.text());
    let insisting = json!({"ensure": "present", "vlan_name": "second", "noop": false});
    let insisting = resource("Network_vlan", "20", insisting);
    lab.write_resources("sw1", &[vlan(10, "first"), insisting]);
    let ran = lab.run(&["apply", "--noop"]).await;
    ran.assert_contains(text);
    let vlans = lab.switches["sw1"].vlans();
    assert!(vlans.iter().any(|vlan| vlan.0 == 20), "{vlans:?}");
    assert!(!vlans.iter().any(|vlan| vlan.0 == 10), "{vlans:?}");
}

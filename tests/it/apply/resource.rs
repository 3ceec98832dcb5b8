//! `resource` prints what is on a device, to begin a manifest with.

use test_support::lab::{Lab, switch_options};

#[tokio::test(flavor = "multi_thread")]
async fn resource_prints_reserved_instances_as_comments() {
    let mut lab = Lab::new();
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        vlans: vec![(10, "one".to_owned())],
        ..switch_options("sw1")
    })
    .await;
    let printed = lab.run(&["resource", "sw1", "network_vlan"]).await;
    printed.assert_code(0);
    let code = printed.stdout.lines();
    let titles: Vec<&str> = code
        .filter(|line| line.starts_with("network_vlan {"))
        .collect();
    assert_eq!(titles, ["network_vlan { '10':"]);
    printed.assert_contains("# network_vlan { '1002':");
    let one = lab.run(&["resource", "sw1", "network_vlan", "1"]).await;
    one.assert_contains("part of the device, cannot be changed");
}

/// A device without a secret has none to hide.
#[tokio::test(flavor = "multi_thread")]
async fn resource_reports_missing_secrets() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let printed = lab.run(&["resource", "sw1", "radius_global"]).await;
    printed.assert_code(0);
    assert!(!printed.stdout.contains("••••"), "{}", printed.stdout);
}

//! `--mock`: mocks in the place of the inventory's devices.

use serde_json::json;

use crate::lab::{Lab, resource, vlan};

/// An inventory of devices that are not there, by name and platform.
fn inventory(devices: &[(&str, &str)]) -> Lab {
    let mut lab = Lab::new();
    for (name, platform) in devices {
        lab.enter(name, platform, 1, None);
    }
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_without_a_mock_holds_no_other_device_up() {
    let lab = inventory(&[("r1", "frr"), ("sw1", "cisco_ios")]);
    lab.wants(
        "r1",
        &[resource("Notify", "hello", json!({ "message": "hello" }))],
    );
    lab.wants("sw1", &[vlan(10, "users")]);
    for command in ["apply", "plan"] {
        let ran = lab.run(&[command, "--mock"]).await;
        ran.ends_with(1);
        ran.says("r1: Error: there is no mock of platform frr");
        ran.says("r1: Hint: --target and --label choose other devices");
        let row = |name: &str| {
            let mut rows = ran.stdout.lines().filter(|line| line.starts_with(name));
            rows.next_back().unwrap_or_default().to_owned()
        };
        assert!(row("r1 ").contains("not run"), "{}", ran.text());
        let status = if command == "plan" {
            "pending"
        } else {
            "changed"
        };
        assert!(row("sw1 ").contains(status), "{}", ran.text());
    }
    lab.run(&["apply", "--mock", "--target", "sw1"])
        .await
        .ends_with(0);
    let ran = lab.run(&["facts", "r1", "--mock"]).await;
    ran.ends_with(1);
    ran.says("error: there is no mock of platform frr");
    ran.says("platforms that have one: cisco_ios, f5_bigip");
}

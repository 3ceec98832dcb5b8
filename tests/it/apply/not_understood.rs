//! Text of a device that was not understood is reported, and changes do not overwrite it.

use serde_json::{Value as Json, json};
use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};

const CONFIG: &str = "interface GigabitEthernet1/0/1\n description old\n speed auto 10 100\n\
                      ntp server 10.0.0.1 prefer\n";

async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        config: Some(CONFIG.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab
}

fn interface(attributes: Json) -> Json {
    resource("Network_interface", "GigabitEthernet1/0/1", attributes)
}

#[tokio::test(flavor = "multi_thread")]
async fn not_understood_lines_are_part_of_resource_plan_and_report() {
    let lab = lab().await;
    let printed = lab.run(&["resource", "sw1", "network_interface"]).await;
    printed
        .assert_contains("# not understood: `interface GigabitEthernet1/0/1 / speed auto 10 100`");
    printed.assert_contains("# speed was not understood");
    let printed = lab
        .run(&["resource", "sw1", "network_interface", "-f", "json"])
        .await;
    let json: Json = serde_json::from_str(&printed.stdout).unwrap();
    let text = "interface GigabitEthernet1/0/1 / speed auto 10 100";
    assert_eq!(json["not_understood"][0]["text"], text);
    assert_eq!(json["not_understood"][0]["type"], "network_interface");

    lab.write_resources("sw1", &[interface(json!({"description": "new"}))]);
    let plan = lab.run(&["plan", "--report", "reports"]).await;
    plan.assert_code(0);
    plan.assert_contains("not understood on the device:");
    plan.assert_contains(&format!("network_interface: {text}"));
    plan.assert_contains("Not understood");
    let (_, report) = lab.files("reports").into_iter().next().unwrap();
    let report: Json = serde_json::from_str(&report).unwrap();
    assert_eq!(report["not_understood"][0]["text"], text);
}

#[tokio::test(flavor = "multi_thread")]
async fn not_understood_lines_are_overwritten_only_on_request() {
    let lab = lab().await;
    lab.write_resources("sw1", &[interface(json!({"speed": "1g"}))]);
    let refused = lab.run(&["apply"]).await;
    refused.assert_code(1);
    refused.assert_contains(
        "not understood on the device: `interface GigabitEthernet1/0/1 / speed auto 10 100`",
    );
    assert!(lab.log("sw1").configuration_lines().is_empty());
    let plan = lab.run(&["plan"]).await;
    plan.assert_contains("`--overwrite-unknown` permits the change");
    let applied = lab.run(&["apply", "--overwrite-unknown"]).await;
    applied.assert_code(0);
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        ["interface GigabitEthernet1/0/1", "speed 1000"]
    );
}

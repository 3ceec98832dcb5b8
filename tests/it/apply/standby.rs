//! A standby unit of a pair: plans run, and changes are refused unless the inventory permits them.

use serde_json::json;
use switchtender_mocks::LoadBalancerOptions;
use test_support::catalog::resource;
use test_support::lab::{Lab, PASSWORD};

async fn lab(lines: &str) -> Lab {
    let mut lab = Lab::new();
    let options = LoadBalancerOptions {
        name: "lb1".to_owned(),
        hostname: "lb1.lab.test".to_owned(),
        user: "ops".to_owned(),
        password: PASSWORD.to_owned(),
        config: Some(json!({
            "PATCH /mgmt/tm/cm/device/~Common~lb1.lab.test": {"failoverState": "standby"}
        })),
        ..LoadBalancerOptions::default()
    };
    lab.add_load_balancer_with(options).await;
    lab.configure("lb1", lines);
    let node = json!({"ensure": "present", "address": "192.0.2.10"});
    lab.write_resources("lb1", &[resource("F5_node", "/Common/n1", node)]);
    lab
}

fn writes(lab: &Lab) -> Vec<String> {
    let received = lab.log("lb1").received();
    let is_write = |line: &String| line.starts_with("POST /mgmt/tm/ltm");
    received.into_iter().filter(is_write).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn standby_unit_is_planned_and_not_changed() {
    let lab = lab("").await;
    let plan = lab.run(&["plan"]).await;
    plan.assert_code(1);
    plan.assert_contains("`apply` will refuse the device: it is standby");
    plan.assert_contains("/Common/n1");
    let apply = lab.run(&["apply"]).await;
    apply.assert_code(1);
    apply
        .assert_contains("nothing was changed: the device is standby, and `standby` is \"refuse\"");
    apply.assert_contains("change the active unit");
    assert_eq!(writes(&lab), [""; 0]);
    // A run without a change is not refused.
    lab.write_resources("lb1", &[]);
    lab.run(&["apply"]).await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn standby_unit_is_changed_with_permission() {
    let lab = lab("standby = \"warn\"").await;
    let apply = lab.run(&["apply"]).await;
    apply.assert_code(0);
    apply.assert_contains("the device is the standby unit of a pair");
    assert_eq!(writes(&lab).len(), 1);
}

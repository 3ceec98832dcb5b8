//! What `apply` checks before it connects to the first device.

use serde_json::json;
use test_support::lab::Lab;

/// Two switches: the first one can be changed, the second one has an unknown attribute.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2", "sw3"] {
        lab.add_switch(name, &[]).await;
    }
    let vlan = |attribute: &str| json!({"type": "Network_vlan", "title": "40", "parameters": {attribute: "users"}});
    lab.write_resources("sw1", &[vlan("vlan_name")]);
    lab.write_resources("sw2", &[vlan("vlan_nmae")]);
    lab.write_resources("sw3", &[vlan("vlan_name")]);
    lab.configure("sw3", "password = { file = \"missing\" }");
    lab
}

#[tokio::test]
async fn error_of_one_device_ends_apply_before_the_first_connection() {
    let lab = lab().await;
    for output in ["human", "json"] {
        let ran = lab.run(&["apply", "--output", output]).await;
        ran.assert_code(1);
        ran.assert_contains("vlan_nmae");
        ran.assert_contains("missing");
        ran.assert_contains("nothing was changed: 2 of 3 devices cannot be applied");
        ran.assert_contains("--keep-going");
        for name in ["sw1", "sw2", "sw3"] {
            assert_eq!(lab.log(name).connections(), 0, "{}", ran.text());
        }
    }
    // Nothing ran, so nothing is reported.
    assert_eq!(lab.files("state"), []);
}

#[tokio::test]
async fn keep_going_leaves_devices_with_errors_out() {
    let lab = lab().await;
    let ran = lab.run(&["apply", "--keep-going"]).await;
    ran.assert_code(1);
    ran.assert_contains("3 devices: 1 changed, 2 not run in ");
    assert_eq!(lab.log("sw1").connections(), 1);
    assert_eq!(lab.log("sw2").connections(), 0);
    assert_eq!(lab.log("sw3").connections(), 0);
}

/// A plan changes nothing: it shows what it can, and one device alone fails by itself.
#[tokio::test]
async fn plan_and_noop_show_the_other_devices() {
    let lab = lab().await;
    for arguments in [&["plan"] as &[&str], &["apply", "--noop"]] {
        let ran = lab.run(arguments).await;
        ran.assert_code(1);
        ran.assert_contains("3 devices: 1 pending, 2 not run in ");
    }
}

//! A process that a device has once comes before what belongs to it, although no value names it.

use serde_json::json;
use test_support::catalog::resource;
use test_support::lab::Lab;

#[tokio::test(flavor = "multi_thread")]
async fn process_of_a_device_is_created_before_its_neighbors() {
    let lab = Lab::with_devices(&[("eos1", "arista_eos")]);
    let neighbor = json!({ "ensure": "present", "remote_as": "65001" });
    let process = json!({ "ensure": "present", "router_id": "10.0.0.1" });
    let resources = [
        resource("Eos_bgp_neighbor", "10.1.1.0", neighbor),
        resource("Eos_bgp_config", "65101", process),
    ];
    lab.write_resources("eos1", &resources);
    let ran = lab.run(&["apply", "--mock"]).await;
    ran.assert_code(0);
    let text = ran.text();
    let position = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("{words}: {text}"))
    };
    assert!(
        position("Eos_bgp_config[65101]") < position("Eos_bgp_neighbor[10.1.1.0]"),
        "{text}"
    );
}

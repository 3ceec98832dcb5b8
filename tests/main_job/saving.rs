//! What a device starts with is changed when the inventory says so, and only then.

use serde_json::json;

use crate::lab::{Lab, resource, vlan};

/// The lines or requests that save a configuration.
fn saves(lab: &Lab, device: &str) -> usize {
    let is_save = |told: &&String| {
        *told == "copy running-config startup-config"
            || told.starts_with("POST /mgmt/tm/sys/config")
    };
    lab.log(device).received().iter().filter(is_save).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_is_saved_when_the_inventory_says() {
    // Saves so far: after a run that may not write, one that changes, one that finds nothing to do.
    for (policy, expected) in [
        (None, [0, 0, 0]),
        (Some("never"), [0, 0, 0]),
        (Some("on_change"), [0, 1, 1]),
        (Some("always"), [0, 1, 2]),
    ] {
        let mut lab = Lab::new();
        lab.switch("sw1", &[]).await;
        lab.balancer("lb1", &[]).await;
        lab.wants("sw1", &[vlan(100, "made")]);
        let node = json!({"ensure": "present", "address": "198.51.100.11"});
        lab.wants("lb1", &[resource("F5_node", "/Common/web1", node)]);
        if let Some(policy) = policy {
            // For all devices, and for one that says so itself.
            let words = format!("save_config = \"{policy}\"");
            lab.preamble = lab
                .preamble
                .replacen("[defaults]", &format!("[defaults]\n{words}"), 1);
            lab.set("lb1", &words);
        }
        let noop = ["apply", "--output", "json", "--noop"];
        lab.run(&noop).await.ends_with(0);
        let mut saved = vec![[saves(&lab, "sw1"), saves(&lab, "lb1")]];
        for code in [2, 0] {
            lab.apply().await.ends_with(code);
            saved.push([saves(&lab, "sw1"), saves(&lab, "lb1")]);
        }
        assert_eq!(saved, expected.map(|times| [times; 2]), "{policy:?}");
        assert_eq!(
            lab.balancers["lb1"].is_saved(),
            expected[2] > 0,
            "{policy:?}"
        );
    }
}

/// A resource that failed half-way has changed the device all the same.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_the_device_took_is_a_change() {
    let port = |mut wanted: serde_json::Value| {
        wanted["enable"] = json!(true);
        resource("Network_interface", "GigabitEthernet1/0/1", wanted)
    };
    let one = port(json!({"description": "desk"}));
    let two = port(json!({"description": "desk", "mtu": 9000}));
    let made = json!({"enable": true, "description": "users"});
    let made = resource("Network_interface", "Vlan20", made);
    // What the device does, what is wanted of it, and what it has of that in the end.
    let cases = [
        ("refuse=^interface Vlan20", &made, None),
        ("refuse=^description", &made, Some("interface Vlan20\n")),
        ("refuse=^description", &one, None),
        ("refuse=^mtu", &two, Some(" description desk\n")),
        ("drop-after=^description", &one, None),
        (
            "drop-unanswered=^description",
            &one,
            Some(" description desk\n"),
        ),
    ];
    for (fault, wanted, has) in cases {
        let mut lab = Lab::new();
        lab.switch("sw1", &[fault]).await;
        lab.set("sw1", "save_config = \"on_change\"");
        lab.wants("sw1", std::slice::from_ref(wanted));
        let before = lab.switches["sw1"].running_config();
        let ran = lab.apply().await;
        assert_eq!(ran.device("sw1")["status"], "failed", "{fault}");
        let after = lab.switches["sw1"].running_config();
        match has {
            Some(line) => assert!(after.contains(line), "{fault}: {after}"),
            None => assert_eq!(after, before, "{fault}"),
        }
        let expected = usize::from(has.is_some());
        assert_eq!(saves(&lab, "sw1"), expected, "{fault}: {}", ran.text());
    }
}

//! The startup configuration of a device is saved only as the inventory declares.

use serde_json::json;

use test_support::catalog::{resource, vlan};
use test_support::lab::Lab;

/// The lines or requests that save a configuration.
fn saves(lab: &Lab, device: &str) -> usize {
    let is_save = |line: &&String| {
        *line == "copy running-config startup-config"
            || line.starts_with("write")
            || line.starts_with("POST /mgmt/tm/sys/config")
    };
    lab.log(device).received().iter().filter(is_save).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn save_config_follows_the_inventory() {
    // Saves so far: after a run that may not write, one that changes, one that finds nothing to do.
    // By default, a switch is saved, which shows that nothing else was unsaved.
    for (policy, switch, balancer) in [
        (None, [0, 1, 1], [0, 0, 0]),
        (Some("never"), [0, 0, 0], [0, 0, 0]),
        (Some("on_change"), [0, 1, 1], [0, 1, 1]),
        (Some("always"), [0, 1, 2], [0, 1, 2]),
    ] {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &[]).await;
        lab.add_load_balancer("lb1", &[]).await;
        lab.write_resources("sw1", &[vlan(100, "made")]);
        let node = json!({"ensure": "present", "address": "198.51.100.11"});
        lab.write_resources("lb1", &[resource("F5_node", "/Common/web1", node)]);
        lab.defaults = lab.defaults.replace("save_config = \"never\"\n", "");
        if let Some(policy) = policy {
            // For all devices, and for one device.
            let words = format!("save_config = \"{policy}\"");
            lab.defaults = lab
                .defaults
                .replacen("[defaults]", &format!("[defaults]\n{words}"), 1);
            lab.configure("lb1", &words);
        }
        let noop = ["apply", "--output", "json", "--noop"];
        lab.run(&noop).await.assert_code(0);
        let mut saved = vec![[saves(&lab, "sw1"), saves(&lab, "lb1")]];
        for code in [2, 0] {
            lab.apply().await.assert_code(code);
            saved.push([saves(&lab, "sw1"), saves(&lab, "lb1")]);
        }
        let expected = [0, 1, 2].map(|run| [switch[run], balancer[run]]);
        assert_eq!(saved, expected, "{policy:?}");
        assert_eq!(
            lab.load_balancers["lb1"].is_saved(),
            balancer[2] > 0,
            "{policy:?}"
        );
    }
}

/// What somebody else has changed and not saved is not saved by a run, and the operator knows it.
#[tokio::test(flavor = "multi_thread")]
async fn unsaved_changes_of_somebody_else_are_not_saved() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    // This run does not save: for the next one, somebody else has made its change.
    // VLANs of a VTP server are not in the configuration, and are never lost.
    let server = |name: &str| resource("Ntp_server", name, json!({"ensure": "present"}));
    lab.write_resources("sw1", &[server("192.0.2.1")]);
    lab.apply().await.assert_code(2);
    lab.configure("sw1", "save_config = \"on_change\"");
    lab.write_resources("sw1", &[server("192.0.2.2")]);
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(0);
    ran.assert_contains("the device had unsaved changes before the run");
    ran.assert_contains("a restart of the device loses the changes");
    assert_eq!(saves(&lab, "sw1"), 0);
    assert!(!lab.switches["sw1"].is_saved());
}

/// A device that does not show its saved configuration may have unsaved changes.
#[tokio::test(flavor = "multi_thread")]
async fn unknown_saved_configuration_is_not_replaced() {
    for (policy, saved) in [("on_change", 0), ("always", 1)] {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &["refuse=^show startup-config"])
            .await;
        lab.configure("sw1", &format!("save_config = \"{policy}\""));
        lab.write_resources("sw1", &[vlan(100, "made")]);
        let ran = lab.run(&["apply"]).await;
        ran.assert_code(0);
        let unknown = "the device does not show whether it had unsaved changes";
        assert_eq!(ran.text().contains(unknown), saved == 0, "{}", ran.text());
        assert_eq!(saves(&lab, "sw1"), saved, "{policy}");
    }
}

/// A device that is not saved is said with the key that changes it.
#[tokio::test(flavor = "multi_thread")]
async fn change_that_is_not_saved_is_printed_with_its_key() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(100, "made")]);
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(0);
    ran.assert_contains("not saved: sw1");
    ran.assert_contains("a restart of the device loses the changes");
    ran.assert_contains("save_config = \"on_change\"");
}

/// A resource that failed after its first command has changed the device.
#[tokio::test(flavor = "multi_thread")]
async fn save_config_after_a_partially_failed_change() {
    let port = |mut desired: serde_json::Value| {
        desired["enable"] = json!(true);
        resource("Network_interface", "GigabitEthernet1/0/1", desired)
    };
    let one = port(json!({"description": "desk"}));
    let two = port(json!({"description": "desk", "mtu": 9000}));
    let made = json!({"enable": true, "description": "users"});
    let made = resource("Network_interface", "Vlan20", made);
    // The effect of the fault, the desired state, and the part of it that the device has in the end.
    let cases = [
        ("refuse=^interface Vlan20", &made, None),
        ("refuse=^description", &made, Some("interface Vlan20\n")),
        ("refuse=^description", &one, None),
        ("refuse=^mtu", &two, Some(" description desk\n")),
    ];
    for (fault, desired, has) in cases {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &[fault]).await;
        lab.configure("sw1", "save_config = \"on_change\"");
        lab.write_resources("sw1", std::slice::from_ref(desired));
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

/// The warning that the configuration was not saved.
const NOT_SAVED: &str = "configuration not saved: the connection broke after a change was sent";

/// A laboratory in which the connection to one device breaks during or after a change.
async fn breaking(device: &str, fault: &str, policy: &str) -> Lab {
    let mut lab = Lab::new();
    if device == "sw1" {
        lab.add_switch(device, &[fault]).await;
        let desk = json!({"enable": true, "description": "desk"});
        let port = resource("Network_interface", "GigabitEthernet1/0/1", desk);
        lab.write_resources(device, &[vlan(10, "one"), port]);
    } else {
        lab.add_load_balancer(device, &[fault]).await;
        let node = json!({"ensure": "present", "address": "198.51.100.1"});
        let rule = json!({"ensure": "present", "definition": "when HTTP_REQUEST {\n  return\n}"});
        let desired = [
            resource("F5_node", "/Common/web1", node),
            resource("F5_irule", "/Common/hello", rule),
        ];
        lab.write_resources(device, &desired);
    }
    lab.configure(device, &format!("save_config = \"{policy}\""));
    lab
}

/// The change may have been what broke the connection. A restart takes back what was not saved, and
/// may be the only way to the device: saving would close it. The next run that gets through has
/// shown that the change was not the cause.
#[tokio::test(flavor = "multi_thread")]
async fn save_config_withheld_after_disconnect_in_a_change() {
    // What breaks, and whether the next run finds something to change.
    let cases = [
        ("sw1", "drop-after=^description", true),
        ("sw1", "drop-unanswered=^description", false),
        // The last line was answered, and the proof cannot be read.
        ("sw1", "drop-after=^end", false),
        ("lb1", "drop-after=^POST /mgmt/tm/ltm/rule", true),
        ("lb1", "drop-unanswered=^POST /mgmt/tm/ltm/rule", false),
    ];
    for (device, fault, left) in cases {
        for (policy, warns, later) in [
            ("never", false, false),
            ("on_change", true, left),
            ("always", true, true),
        ] {
            let case = format!("{policy}, {fault}");
            let lab = breaking(device, fault, policy).await;
            let ran = lab.apply().await;
            assert_eq!(ran.device(device)["status"], "failed", "{case}");
            assert_eq!(saves(&lab, device), 0, "{case}: {}", ran.text());
            let warned = warnings(&lab, device, &ran.warnings(device));
            assert_eq!(warned.len(), usize::from(warns), "{case}: {}", ran.text());
            for words in warned {
                let hint = "Check the device, then save the configuration manually or run again";
                assert!(words.contains(hint), "{case}: {words}");
            }

            let ran = lab.apply().await;
            ran.assert_code(if left { 2 } else { 0 });
            let saved = usize::from(later);
            assert_eq!(saves(&lab, device), saved, "{case}: {}", ran.text());
            let warned = warnings(&lab, device, &ran.warnings(device));
            assert_eq!(warned, Vec::<String>::new(), "{case}");
        }
    }
}

/// The warnings that the device was not told to save: the same while the run went on as in its
/// report.
fn warnings(lab: &Lab, device: &str, complaints: &[String]) -> Vec<String> {
    let prefix = NOT_SAVED;
    let warned: Vec<String> = complaints
        .iter()
        .filter(|words| words.starts_with(prefix))
        .cloned()
        .collect();
    let report = lab.report(device);
    let logs = report["logs"].as_array().unwrap().iter();
    let reported: Vec<&str> = logs
        .filter(|entry| entry["level"] == "warning")
        .map(|entry| entry["message"].as_str().unwrap())
        .filter(|words| words.starts_with(prefix))
        .collect();
    assert_eq!(warned, reported);
    warned
}

#[tokio::test(flavor = "multi_thread")]
async fn save_config_warns_about_unsaved_changes() {
    let lab = breaking("sw1", "drop-unanswered=^description", "always").await;
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(1);
    ran.assert_contains(&format!("sw1: Warning: {NOT_SAVED}"));
    ran.assert_contains("run again: the next run saves it");
    assert_eq!(saves(&lab, "sw1"), 0, "{}", ran.text());
}

/// A connection that breaks before anything was sent has not been broken by a change.
#[tokio::test(flavor = "multi_thread")]
async fn save_config_is_not_withheld_after_disconnect_in_a_read() {
    let lab = breaking("sw1", "drop-after=^show vlan brief", "always").await;
    let ran = lab.apply().await;
    assert_eq!(ran.device("sw1")["status"], "failed");
    let warned = warnings(&lab, "sw1", &ran.warnings("sw1"));
    assert_eq!(warned, Vec::<String>::new());
    assert_eq!(saves(&lab, "sw1"), 0, "{}", ran.text());
}

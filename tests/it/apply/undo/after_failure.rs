//! `on_failure`: a run undoes its changes after a failed resource, and names what it does not restore.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::{resource, vlan};
use test_support::lab::{Lab, switch_options};

use super::configuration;

/// Keeps or undoes the changes of a run with a refused resource.
#[tokio::test(flavor = "multi_thread")]
async fn changes_are_undone_after_a_failed_resource() {
    for policy in ["keep", "undo"] {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &["refuse=^name two => % Rejected"])
            .await;
        lab.add_load_balancer("lb1", &[]).await;
        for device in ["sw1", "lb1"] {
            lab.configure(device, &format!("on_failure = \"{policy}\""));
        }
        let desk = json!({"enable": true, "description": "desk"});
        let port = resource("Network_interface", "GigabitEthernet1/0/1", desk);
        let names = ["one", "two", "three"].iter().zip(10..);
        let vlans = names.map(|(name, id)| vlan(id, name));
        lab.write_resources("sw1", &[vec![port], vlans.collect()].concat());
        let pool =
            json!({"ensure": "present", "members": [{"name": "/Common/missing", "port": "80"}]});
        let zone = json!({"timezone": "UTC"});
        let resources = [
            resource("F5_ntp", "/Common/ntp", zone),
            resource("F5_pool", "/Common/web", pool),
        ];
        lab.write_resources("lb1", &resources);
        let before = ["sw1", "lb1"].map(|device| configuration(&lab, device));
        let ran = lab.apply().await;
        ran.assert_code(if policy == "keep" { 6 } else { 4 });
        let after = ["sw1", "lb1"].map(|device| configuration(&lab, device));
        let is_undone = policy == "undo";
        for (index, device) in ["sw1", "lb1"].into_iter().enumerate() {
            assert_eq!(
                after[index] == before[index],
                is_undone,
                "{device}: {}",
                ran.text()
            );
            assert_eq!(
                ran.device(device)["undone"],
                if is_undone { json!(true) } else { Value::Null }
            );
            assert_eq!(ran.device(device)["status"], "failed");
        }
        let undone = &lab.report("sw1")["undone"];
        if !is_undone {
            assert_eq!(*undone, Value::Null);
            continue;
        }
        // The last change first; the resources after the failed one were not applied.
        let names = undone.as_array().unwrap().iter();
        let names: Vec<&str> = names.map(|one| one["resource"].as_str().unwrap()).collect();
        let expected = [
            "Network_vlan[11]",
            "Network_vlan[10]",
            "Network_interface[GigabitEthernet1/0/1]",
        ];
        assert_eq!(names, expected, "{undone:#}");
        assert_eq!(undone[1]["operations"], json!(["no vlan 10"]));
        assert_eq!(undone[1]["not_restored"], json!([]));
        // Nothing is left to undo.
        let undo = lab.run(&["undo", "--last", "--yes"]).await;
        undo.assert_code(1);
        undo.assert_contains("no selected device has changes to undo");
    }
}

/// The undo is refused, too: what was not undone is reported.
#[tokio::test(flavor = "multi_thread")]
async fn undo_after_a_failure_reports_what_it_does_not_restore() {
    let mut lab = Lab::new();
    lab.add_switch(
        "sw1",
        &[
            "refuse=^name two => % Rejected",
            "refuse=^no vlan 10 => % Busy",
        ],
    )
    .await;
    lab.write_resources("sw1", &[vlan(10, "one"), vlan(11, "two")]);
    let arguments = ["apply", "--on-failure", "undo", "--detailed-exitcodes"];
    let ran = lab.run(&arguments).await;
    ran.assert_code(6);
    ran.assert_contains("Network_vlan[10]: not undone: ensure: ");
    ran.assert_contains("Network_vlan[11]: undone");
    let undone = &lab.report("sw1")["undone"][1]["not_restored"];
    assert!(undone[0].as_str().unwrap().contains("% Busy"), "{undone}");
}

/// The device shuts the members of a removed bundle down: the undo opens them again.
#[tokio::test(flavor = "multi_thread")]
async fn undo_after_a_failure_restores_what_the_device_changed() {
    let config = "interface GigabitEthernet1/0/1\n channel-group 23 mode active\n\
                  interface Port-channel23\nend\n";
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab.configure("sw1", "on_failure = \"undo\"");
    let mut bundle = resource(
        "Port_channel",
        "Port-channel23",
        json!({"ensure": "absent"}),
    );
    bundle["parameters"]["require"] = json!("Network_interface[GigabitEthernet1/0/1]");
    let member = json!({"enable": true});
    let member = resource("Network_interface", "GigabitEthernet1/0/1", member);
    lab.write_resources("sw1", &[member, bundle]);
    let before = configuration(&lab, "sw1");
    let ran = lab.apply().await;
    ran.assert_code(4);
    assert_eq!(ran.device("sw1")["undone"], true, "{}", ran.text());
    assert_eq!(configuration(&lab, "sw1"), before);
}

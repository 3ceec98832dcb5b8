//! Reverts that restore only a part, and plans of protected runs.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::{resource, sensitive, vlan};
use test_support::lab::{Lab, parsed, switch_options};

const ARCHIVE: &str = "archive\n path flash:before\n";

fn desk() -> Value {
    let desired = json!({"description": "desk"});
    resource("Network_interface", "GigabitEthernet1/0/1", desired)
}

async fn lab(config: &str, faults: &[&str]) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        faults: parsed(faults),
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab
}

/// IOS does not revert the VLANs of a VTP server.
#[tokio::test(flavor = "multi_thread")]
async fn partial_revert_names_what_the_device_still_has() {
    let lab = lab(ARCHIVE, &["login-refused-at=2"]).await;
    lab.write_resources("sw1", &[vlan(100, "made"), desk()]);
    let ran = lab.run(&["apply", "--protect", "required"]).await;
    ran.assert_code(1);
    ran.assert_contains(
        "the device has reverted only a part of the changes; it still has Network_vlan[100]: check the device",
    );
    let config = lab.switches["sw1"].running_config();
    assert!(!config.contains("description desk"), "{config}");
    let vlans = lab.switches["sw1"].vlans();
    assert!(vlans.iter().any(|(id, _, _)| *id == 100), "{vlans:?}");
    assert_eq!(lab.report("sw1")["protection"], "unknown");
}

/// The device does not show which secret it has, so the next run sends it again.
#[tokio::test(flavor = "multi_thread")]
async fn partial_revert_names_a_hidden_secret_and_sends_it_again() {
    let user = "username bob privilege 15 secret 9 $9$old\n";
    let lab = lab(&format!("{ARCHIVE}{user}"), &["login-refused-at=2"]).await;
    let desired = json!({"privilege": 15, "secret": "pl4nted"});
    let bob = sensitive(resource("Ios_user", "bob", desired), &["secret"]);
    lab.write_resources("sw1", &[bob.clone(), vlan(100, "made"), desk()]);
    let ran = lab.run(&["apply", "--protect", "required"]).await;
    ran.assert_code(1);
    ran.assert_contains(
        "the device still has Network_vlan[100], and does not show all values of Ios_user[bob]: check the device",
    );
    let config = lab.switches["sw1"].running_config();
    assert!(config.contains(user.trim()), "{config}");
    lab.write_resources("sw1", &[bob]);
    let ran = lab.run(&["apply", "--detailed-exitcodes"]).await;
    ran.assert_code(2);
    let config = lab.switches["sw1"].running_config();
    assert!(!config.contains(user.trim()), "{config}");
    // From now on it is known.
    let ran = lab.run(&["apply", "--detailed-exitcodes"]).await;
    ran.assert_code(0);
}

/// A plan for a protected run has the changes that the device would revert.
#[tokio::test(flavor = "multi_thread")]
async fn plan_of_a_protected_run_has_changes_of_the_own_path() {
    let own = "interface Vlan10\n ip address 127.0.0.1 255.0.0.0\n no shutdown\n";
    let refusal = "the session to the device uses it";
    let warning = "`apply` will refuse the device: the device answered `show archive`";
    for (config, policy, is_refused, is_warned) in [
        (ARCHIVE, "off", true, false),
        (ARCHIVE, "required", false, false),
        ("", "required", true, true),
        ("", "auto", true, false),
    ] {
        let title = format!("{config:?} {policy}");
        let lab = lab(&format!("{config}{own}"), &[]).await;
        let down = resource("Network_interface", "Vlan10", json!({"enable": false}));
        lab.write_resources("sw1", &[down, desk()]);
        let plan = lab.run(&["plan", "--protect", policy]).await;
        assert_eq!(
            plan.text().contains(refusal),
            is_refused,
            "{title}: {}",
            plan.text()
        );
        assert_eq!(
            plan.text().contains(warning),
            is_warned,
            "{title}: {}",
            plan.text()
        );
        let shuts_down = plan.text().contains("    >  shutdown\n");
        assert_eq!(shuts_down, !is_refused, "{title}: {}", plan.text());
        assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
    }
}

/// A plan has the status of the apply, its exit code and its reason.
#[tokio::test(flavor = "multi_thread")]
async fn plan_reports_a_device_that_required_refuses() {
    let mut lab = lab("", &[]).await;
    lab.write_resources("sw1", &[desk()]);
    let reason = "the device answered `show archive`: Archive feature not enabled";
    let hint = "configure `archive` with a `path` on the device, or use `protect = \"auto\"`";
    let required = ["--protect", "required", "--detailed-exitcodes"];
    for command in ["plan", "apply"] {
        let full = lab.run(&[&[command][..], &required].concat()).await;
        full.assert_contains(hint);
        let quiet = lab
            .run(&[&[command, "--quiet"][..], &required].concat())
            .await;
        for ran in [&full, &quiet] {
            ran.assert_code(1);
            ran.assert_contains("\nsw1     not run ");
            ran.assert_contains(reason);
        }
        // The plan has its changes.
        let changes = full.text().contains("    >  description desk\n");
        assert_eq!(changes, command == "plan", "{}", full.text());
        assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
    }
    let noop = lab.run(&["apply", "--noop", "--protect", "required"]).await;
    noop.assert_code(1);
    noop.assert_contains("`apply` will refuse the device");
    let auto = lab.run(&["plan", "--protect", "auto"]).await;
    auto.assert_code(0);
    auto.assert_contains(&format!("the changes would not be protected: {reason}"));

    // Another device with the same changes can revert them.
    lab.add_switch_with(SwitchOptions {
        config: Some(ARCHIVE.to_owned()),
        ..switch_options("sw2")
    })
    .await;
    lab.write_resources("sw2", &[desk()]);
    let both = lab.run(&["plan", "--protect", "required"]).await;
    both.assert_code(1);
    both.assert_contains("not run: sw1: `apply` will refuse the device");
}

/// Nothing is to be protected.
#[tokio::test(flavor = "multi_thread")]
async fn required_refuses_no_run_without_changes() {
    let lab = lab("", &[]).await;
    lab.write_resources("sw1", &[desk()]);
    lab.run(&["apply"]).await.assert_code(0);
    for command in ["plan", "apply"] {
        for policy in ["auto", "required"] {
            let ran = lab.run(&[command, "--protect", policy]).await;
            ran.assert_code(0);
            ran.assert_contains("unchanged");
            assert!(!ran.text().contains("Archive"), "{}", ran.text());
        }
    }
    let undo = ["undo", "--last", "--plan", "--protect", "required"];
    let undo = lab.run(&undo).await;
    undo.assert_code(1);
    undo.assert_contains("`undo` will refuse the device: the device answered `show archive`");
}

//! Protected runs on devices without a timed revert: a scheduled reload restores the saved configuration.

use std::time::Duration;

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::{resource, vlan};
use test_support::lab::{Lab, parsed, switch_options};
use test_support::program::ProgramOutput;
use tokio::task::JoinSet;

use super::interrupt::interrupted_while_deferred;

/// The time after which the device reloads, in the platform's definition.
const TIMER: Duration = Duration::from_secs(600);
const CHANGED: &str = " description desk\n";
const CONFIG: &str = "interface GigabitEthernet1/0/1\n no shutdown\n";

fn port(description: &str) -> Value {
    let desired = json!({"enable": true, "description": description});
    resource("Network_interface", "GigabitEthernet1/0/1", desired)
}

/// A switch without an archive, whose first interface is changed.
async fn lab(policy: &str, config: &str, faults: &[&str]) -> Lab {
    let mut lab = Lab::new();
    let options = SwitchOptions {
        faults: parsed(faults),
        config: Some(format!("{config}{CONFIG}")),
        ..switch_options("sw1")
    };
    lab.add_switch_with(options).await;
    let lines = format!("protect = \"{policy}\"\nprotect_by_reload = true");
    lab.configure("sw1", &lines);
    lab.write_resources("sw1", &[port("desk")]);
    lab
}

/// Runs `apply`. When it waits for the reload, or a change has cut off the switch, it is time for it.
async fn apply(lab: &Lab) -> ProgramOutput {
    let switch = &lab.switches["sw1"];
    let (cut_off, polled) = (switch.wait_for_cut_off(), switch.wait_for_reload_poll());
    let run = lab.apply();
    tokio::pin!(run, cut_off, polled);
    tokio::select! {
        output = &mut run => return output,
        () = cut_off => {}
        () = polled => {}
    }
    switch.advance_clock(TIMER);
    run.await
}

fn sent(lab: &Lab, line: &str) -> usize {
    let received = lab.log("sw1").received();
    received.iter().filter(|other| *other == line).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn reload_is_canceled_after_a_second_login_and_before_saving() {
    for policy in ["auto", "required"] {
        let lab = lab(policy, "", &[]).await;
        lab.write_inventory();
        let ran = lab.apply().await;
        ran.assert_code(2);
        assert_eq!(ran.device("sw1")["protection"], "applied", "{}", ran.text());
        ran.assert_contains("the device reloads within 10 minutes unless");
        let switch = &lab.switches["sw1"];
        assert!(!switch.is_revert_pending());
        assert!(switch.running_config().contains(CHANGED));
        let received = lab.log("sw1").received();
        let position = |line: &str| {
            let position = received.iter().position(|other| other == line);
            position.unwrap_or_else(|| panic!("{line} is not in {received:?}"))
        };
        assert!(position("reload in 10") < position("description desk"));
        assert!(position("description desk") < position("reload cancel"));
        assert_eq!(lab.log("sw1").connections(), 2);
        // A run without changes schedules nothing.
        lab.log("sw1").clear();
        lab.apply().await.assert_code(0);
        assert_eq!(sent(&lab, "reload in 10"), 0);
    }
    let mut lab = lab("required", "", &[]).await;
    lab.configure("sw1", "save_config = \"on_change\"");
    lab.apply().await.assert_code(2);
    assert!(lab.switches["sw1"].is_saved());
    let received = lab.log("sw1").received();
    let position = |line: &str| received.iter().position(|other| other.starts_with(line));
    assert!(position("reload cancel") < position("copy running-config"));
}

/// The verdict of a run that was not confirmed, by fault, and whether the device has the change then.
const FAULTS: [(&str, &str, bool); 13] = [
    ("drop-after=^reload in", "reverted", false),
    ("drop-unanswered=^reload in", "reverted", false),
    ("refuse=^description", "reverted", false),
    ("drop-after=^description", "reverted", false),
    ("drop-unanswered=^description", "reverted", false),
    ("mode-lost=^description", "reverted", false),
    ("cut-off=^description", "reverted", false),
    ("restart=^description", "reverted", false),
    ("lost-write=^description", "reverted", false),
    ("login-refused-at=2", "reverted", false),
    ("refuse=^reload cancel", "reverted", false),
    ("drop-after=^reload cancel", "reverted", false),
    ("drop-unanswered=^reload cancel", "applied", true),
];

async fn restores_the_device(fault: &str, verdict: &str, is_changed: bool) {
    let lab = lab("required", "", &[fault]).await;
    let switch = &lab.switches["sw1"];
    let before = switch.running_config();
    let ran = apply(&lab).await;
    let text = ran.text();
    assert_eq!(ran.device("sw1")["status"], "failed", "{fault}: {text}");
    assert_eq!(ran.device("sw1")["protection"], verdict, "{fault}: {text}");
    let after = switch.running_config();
    assert_eq!(after.contains(CHANGED), is_changed, "{fault}: {after}");
    assert_eq!(after == before, !is_changed, "{fault}: {after}");
    assert!(!switch.is_revert_pending(), "{fault}");
    switch.clear_faults();
    let next = lab.apply().await;
    assert!(!next.text().contains("ended early"), "{}", next.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn reload_restores_the_device_after_each_fault() {
    let mut cases = JoinSet::new();
    for (fault, verdict, is_changed) in FAULTS {
        cases.spawn(restores_the_device(fault, verdict, is_changed));
    }
    cases.join_all().await;
}

/// The device itself says that a reload would not restore its configuration. Nothing is scheduled.
#[tokio::test(flavor = "multi_thread")]
async fn reload_needs_a_saved_configuration() {
    for policy in ["auto", "required"] {
        let lab = lab(policy, "", &[]).await;
        let switch = &lab.switches["sw1"];
        lab.write_resources("sw1", &[port("other")]);
        lab.run(&["apply", "--protect", "off"]).await.assert_code(0);
        let before = switch.running_config();
        lab.log("sw1").clear();
        lab.write_resources("sw1", &[port("desk")]);
        let ran = lab.apply().await;
        assert_eq!(ran.device("sw1")["status"], "failed", "{}", ran.text());
        assert_eq!(ran.device("sw1")["protection"], Value::Null);
        ran.assert_contains("the running configuration is not saved");
        ran.assert_contains("save the configuration first");
        assert_eq!(switch.running_config(), before, "{policy}");
        assert!(
            !switch.is_saved() && !switch.is_revert_pending(),
            "{policy}"
        );
        assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
        let next = lab.apply().await;
        assert!(!next.text().contains("ended early"), "{}", next.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reload_that_someone_else_has_scheduled_stays() {
    let lab = lab("required", "", &[]).await;
    let switch = &lab.switches["sw1"];
    switch.schedule_reload(60);
    let before = switch.running_config();
    let ran = lab.apply().await;
    ran.assert_contains("a reload of the device is already scheduled");
    assert_eq!(ran.device("sw1")["status"], "failed", "{}", ran.text());
    assert_eq!(switch.running_config(), before);
    assert!(switch.is_revert_pending());
    assert_eq!(sent(&lab, "reload in 10") + sent(&lab, "reload cancel"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn reload_is_used_only_if_it_is_permitted_and_needed() {
    let archive = "archive\n path flash:before\n";
    for (config, faults, permitted, protected_by) in [
        ("", &[][..], false, None),
        (
            archive,
            &[],
            true,
            Some("configure terminal revert timer 5"),
        ),
        // Images without a timed revert have the archive.
        (
            archive,
            &["refuse=^configure terminal revert => % Invalid input detected at '^' marker."],
            true,
            Some("reload in 10"),
        ),
    ] {
        let mut lab = lab("auto", config, faults).await;
        if !permitted {
            let entry = lab.devices.get_mut("sw1").unwrap();
            *entry = entry.replace("protect_by_reload = true", "");
        }
        let ran = lab.apply().await;
        let text = ran.text();
        assert_eq!(ran.device("sw1")["status"], "changed", "{text}");
        let is_unprotected = text.contains("the changes were not protected: ");
        assert_eq!(is_unprotected, protected_by.is_none(), "{text}");
        let is_by_reload = protected_by == Some("reload in 10");
        assert_eq!(sent(&lab, "reload in 10"), usize::from(is_by_reload));
        assert_eq!(text.contains("the device reloads"), is_by_reload, "{text}");
        if let Some(line) = protected_by {
            assert_eq!(sent(&lab, line), 1, "{text}");
            assert_eq!(ran.device("sw1")["protection"], "applied", "{text}");
        }
    }
    // `--protect` alone does not permit it.
    let mut lab = lab("off", "", &[]).await;
    let entry = lab.devices.get_mut("sw1").unwrap();
    *entry = entry.replace("protect_by_reload = true", "");
    let ran = lab.run(&["apply", "--protect", "required"]).await;
    ran.assert_code(1);
    assert_eq!(sent(&lab, "reload in 10"), 0);
}

/// The lab reaches the device at 127.0.0.1.
#[tokio::test(flavor = "multi_thread")]
async fn reload_permits_a_change_of_the_own_path() {
    let config = "interface Vlan10\n ip address 127.0.0.1 255.0.0.0\n no shutdown\n";
    let down = resource("Network_interface", "Vlan10", json!({"enable": false}));
    let lab = lab("required", config, &["cut-off=^shutdown"]).await;
    lab.write_resources("sw1", &[down]);
    let plan = lab.run(&["plan"]).await;
    plan.assert_contains("the device would reload after 10 minutes unless");
    assert_eq!(sent(&lab, "reload in 10"), 0);
    let switch = &lab.switches["sw1"];
    let before = switch.running_config();
    let ran = apply(&lab).await;
    assert_eq!(
        ran.device("sw1")["protection"],
        "reverted",
        "{}",
        ran.text()
    );
    assert_eq!(switch.running_config(), before);
}

/// A change of the own path is not made without protection, although `auto` permits other changes.
#[tokio::test(flavor = "multi_thread")]
async fn own_path_is_not_changed_if_the_device_refuses_protection() {
    let config = "archive\n path flash:before\n\
                  interface Vlan10\n ip address 127.0.0.1 255.0.0.0\n no shutdown\n";
    let down = resource("Network_interface", "Vlan10", json!({"enable": false}));
    let faults = ["refuse=^configure terminal revert", "refuse=^reload in"];
    let lab = lab("auto", config, &faults).await;
    lab.write_resources("sw1", &[down]);
    let before = lab.switches["sw1"].running_config();
    let ran = lab.apply().await;
    assert_eq!(ran.device("sw1")["status"], "failed", "{}", ran.text());
    assert_eq!(lab.switches["sw1"].running_config(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn reload_of_a_killed_run_is_awaited_and_reported() {
    let before_it = "ended early: the device has the configuration from before it";
    for (fault, is_scheduled, text) in [
        // The device has no answer to its questions.
        ("busy=^reload in", false, before_it),
        ("busy=^description", true, "still reverts the changes"),
        (
            "busy=^reload cancel",
            false,
            "ended early: its changes, or later ones, are on the device",
        ),
    ] {
        let lab = lab("required", "", &[fault]).await;
        let switch = &lab.switches["sw1"];
        let before = switch.running_config();
        let mut child = lab.command(&["apply"]).spawn().unwrap();
        switch.wait_for_deferred().await;
        child.kill().await.unwrap();
        switch.clear_faults();
        switch.resume();
        assert_eq!(switch.is_revert_pending(), is_scheduled, "{fault}");
        let pending = lab.apply().await;
        assert!(pending.text().contains(text), "{}", pending.text());
        if !is_scheduled {
            assert!(switch.running_config().contains(CHANGED));
            continue;
        }
        switch.advance_clock(TIMER);
        assert_eq!(switch.running_config(), before);
        let next = lab.apply().await;
        assert!(next.text().contains(before_it), "{}", next.text());
        assert!(switch.running_config().contains(CHANGED));
        let last = lab.apply().await;
        assert!(!last.text().contains("ended early"), "{}", last.text());
    }
}

/// The program does not wait for the reload; the next run reports it.
#[tokio::test(flavor = "multi_thread")]
async fn reload_of_an_interrupted_run_is_reported_by_the_next_one() {
    let lab = lab("required", "", &["busy=^description"]).await;
    let switch = &lab.switches["sw1"];
    let before = switch.running_config();
    let command = lab.command(&["apply", "--output", "json"]);
    let ran = interrupted_while_deferred(&lab, command, "-INT").await;
    ran.assert_code(1);
    assert_eq!(ran.device("sw1")["protection"], "unknown", "{}", ran.text());
    assert!(switch.is_revert_pending());
    switch.advance_clock(TIMER);
    assert_eq!(switch.running_config(), before);
    let next = lab.apply().await;
    let text = "ended early: the device has the configuration from before it";
    assert!(next.text().contains(text), "{}", next.text());
}

/// VLANs of a VTP server are in `vlan.dat`, which a reload does not restore.
#[tokio::test(flavor = "multi_thread")]
async fn reload_leaves_the_vlans_of_a_vtp_server() {
    let lab = lab("required", "", &["login-refused-at=2"]).await;
    lab.write_resources("sw1", &[vlan(100, "made"), port("desk")]);
    let ran = apply(&lab).await;
    assert_eq!(ran.device("sw1")["protection"], "unknown", "{}", ran.text());
    ran.assert_contains("it still has Network_vlan[100]");
    assert!(!lab.switches["sw1"].running_config().contains(CHANGED));
}

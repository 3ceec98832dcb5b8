//! Protected runs: the device reverts the changes unless a second login confirms them.

use std::time::Duration;

use serde_json::{Value, json};
use switchtender_mocks::{CliSwitch, SwitchOptions};
use test_support::catalog::{resource, vlan};
use test_support::lab::{Lab, parsed, switch_options};
use test_support::program::ProgramOutput;
use test_support::pseudo_terminal::PseudoTerminal;
use tokio::net::{TcpListener, TcpStream};

use super::interrupt::interrupted_while_deferred;
use super::rest_transaction;

/// The time after which the device reverts, in the platform's definition.
const TIMER: Duration = Duration::from_secs(300);
const ARCHIVE: &str = "archive\n path flash:before\n";
const CHANGED: &str = " description desk\n";

fn desk() -> Value {
    let desired = json!({"enable": true, "description": "desk"});
    resource("Network_interface", "GigabitEthernet1/0/1", desired)
}

/// Switches with this configuration, whose first has faults, and a change of an interface.
async fn lab(policy: &str, config: &str, faults: &[&str]) -> Lab {
    let mut lab = Lab::new();
    for (device, faults) in [("sw1", faults), ("sw2", &[])] {
        let options = SwitchOptions {
            faults: parsed(faults),
            config: Some(format!(
                "{config}interface GigabitEthernet1/0/1\n no shutdown\n"
            )),
            ..switch_options(device)
        };
        lab.add_switch_with(options).await;
        lab.configure(device, &format!("protect = \"{policy}\""));
        lab.write_resources(device, &[desk()]);
    }
    lab
}

/// Runs `apply`; when a change has cut off the first switch, its timer ends.
async fn apply(lab: &Lab) -> ProgramOutput {
    let switch = &lab.switches["sw1"];
    let cut_off = switch.wait_for_cut_off();
    let run = lab.apply();
    tokio::pin!(run, cut_off);
    tokio::select! {
        output = &mut run => return output,
        () = cut_off => switch.advance_clock(TIMER),
    }
    run.await
}

/// A person in front of a terminal sees at once what the run waits for, and how long at most.
#[tokio::test(flavor = "multi_thread")]
async fn wait_for_a_revert_is_printed_at_once() {
    let lab = lab("required", ARCHIVE, &["cut-off=^description"]).await;
    let (code, output) = tokio::task::block_in_place(|| {
        let mut terminal = PseudoTerminal::start(&lab.blocking_command(&["apply", "--yes"]));
        let mut output = terminal.wait_for("1 waiting for a revert (at most ");
        lab.switches["sw1"].advance_clock(TIMER);
        let (code, rest) = terminal.end();
        output += &rest;
        (code, output)
    });
    assert_eq!(code, Some(1), "{output}");
    let of_wait = "waiting for the device to revert the changes, at most ";
    let at = |text: &str| {
        output
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {output}"))
    };
    // The group of the device comes at the end.
    assert!(at(of_wait) < at("sw1 (cisco_ios)"), "{output}");
    assert!(at("sw1 (cisco_ios)") < at("reverted: sw1"), "{output}");
}

/// The verdict of a run that was not confirmed, by phase and fault. The last column is what the
/// device has: the configuration from before the run, or the one of the catalog.
const FAULTS: [(&str, &str, &str, &str); 14] = [
    (
        "arm",
        "drop-after=^configure terminal revert",
        "reverted",
        "before",
    ),
    (
        "arm",
        "drop-unanswered=^configure terminal revert",
        "reverted",
        "before",
    ),
    (
        "arm",
        "drop-after=^show archive config rollback",
        "",
        "before",
    ),
    ("change", "refuse=^description", "reverted", "before"),
    ("change", "drop-after=^description", "reverted", "before"),
    (
        "change",
        "drop-unanswered=^description",
        "reverted",
        "before",
    ),
    ("change", "mode-lost=^description", "reverted", "before"),
    ("change", "cut-off=^description", "reverted", "before"),
    ("change", "restart=^description", "reverted", "before"),
    ("verify", "lost-write=^description", "reverted", "before"),
    ("login", "login-refused-at=2", "reverted", "before"),
    ("confirm", "refuse=^configure confirm", "reverted", "before"),
    (
        "confirm",
        "drop-after=^configure confirm",
        "reverted",
        "before",
    ),
    (
        "confirm",
        "drop-unanswered=^configure confirm",
        "applied",
        "after",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn protect_reports_what_the_device_has_after_each_fault() {
    for (phase, fault, verdict, expected) in FAULTS {
        for policy in ["auto", "required"] {
            let title = format!("{phase} {fault} {policy}");
            let lab = lab(policy, ARCHIVE, &[fault]).await;
            let switch = &lab.switches["sw1"];
            let before = switch.running_config();
            let ran = apply(&lab).await;
            let (one, other) = (ran.device("sw1"), ran.device("sw2"));
            assert_eq!(one["status"], "failed", "{title}: {}", ran.text());
            let reported = one["protection"].as_str().unwrap_or_default();
            assert_eq!(reported, verdict, "{title}: {}", ran.text());
            let after = switch.running_config();
            match expected {
                "before" => assert_eq!(after, before, "{title}"),
                _ => assert!(after.contains(CHANGED), "{title}: {after}"),
            }
            assert!(!switch.is_revert_pending(), "{title}");
            assert_eq!(other["protection"], "applied", "{title}");
            assert!(
                lab.switches["sw2"].running_config().contains(CHANGED),
                "{title}"
            );
            assert!(!lab.switches["sw2"].is_revert_pending(), "{title}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn protect_confirms_after_a_second_login_and_sends_nothing_without_a_change() {
    let lab = lab("required", ARCHIVE, &[]).await;
    let ran = lab.apply().await;
    ran.assert_code(2);
    assert_eq!(ran.device("sw1")["protection"], "applied");
    assert_eq!(lab.report("sw1")["protection"], "applied");
    let received = lab.log("sw1").received();
    let position = |line: &str| received.iter().position(|other| other == line);
    let armed = position("configure terminal revert timer 5").expect("it is sent");
    let changed = position("description desk").expect("it is sent");
    let confirmed = position("configure confirm").expect("it is sent");
    assert!(armed < changed && changed < confirmed, "{received:?}");
    assert_eq!(lab.log("sw1").connections(), 2);
    let changed_round_trips = ran.device("sw1")["round_trips"].as_u64().unwrap();
    lab.log("sw1").clear();
    let second = lab.apply().await;
    second.assert_code(0);
    let received = lab.log("sw1").received();
    assert!(
        !received.iter().any(|line| line.starts_with("configure")),
        "{received:?}"
    );
    assert_eq!(second.device("sw1")["protection"], Value::Null);
    assert!(second.device("sw1")["round_trips"].as_u64().unwrap() < changed_round_trips);
}

/// A device with equal key and facts can be behind the address at the second login. It has no timer.
#[tokio::test(flavor = "multi_thread")]
async fn protect_is_not_confirmed_by_a_login_to_another_device() {
    let mut lab = lab("required", ARCHIVE, &[]).await;
    let options = SwitchOptions {
        config: Some(lab.switches["sw1"].running_config()),
        ..switch_options("sw1")
    };
    let twin = CliSwitch::start(options, 0).await.unwrap();
    let pin = lab.switches["sw1"].host_key().fingerprint;
    assert_eq!(twin.host_key().fingerprint, pin);
    let (first, second) = (lab.switches["sw1"].address(), twin.address());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    lab.add_device(
        "sw1",
        "cisco_ios",
        listener.local_addr().unwrap().port(),
        Some(&pin),
    );
    lab.configure("sw1", "protect = \"required\"");
    let relay = tokio::spawn(async move {
        for target in [first, second, first, first] {
            let (mut near, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut far = TcpStream::connect(target).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    let before = lab.switches["sw1"].running_config();
    let ran = lab.apply().await;
    relay.abort();
    let device = ran.device("sw1");
    assert_eq!(device["status"], "failed", "{}", ran.text());
    assert_eq!(device["protection"], "reverted", "{}", ran.text());
    let text = "the second login reached a device on which no revert is pending";
    assert!(ran.text().contains(text), "{}", ran.text());
    assert_eq!(twin.log().connections(), 1);
    assert_eq!(lab.switches["sw1"].running_config(), before);
    assert!(!lab.switches["sw1"].is_revert_pending());
}

#[tokio::test(flavor = "multi_thread")]
async fn protect_option_overrides_the_inventory() {
    let lab = lab("required", ARCHIVE, &[]).await;
    let arguments = ["apply", "--output", "json", "--protect", "off"];
    lab.run(&arguments).await.assert_code(0);
    let received = lab.log("sw1").received();
    assert!(
        !received.iter().any(|line| line.contains("revert")),
        "{received:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn protect_without_an_archive_follows_the_policy() {
    for (policy, status, text, reason) in [
        (
            "auto",
            "changed",
            "the changes were not protected: ",
            "Turn config archive on",
        ),
        (
            "required",
            "not run",
            "nothing was changed: the device answered `show archive`",
            "Archive feature not enabled",
        ),
    ] {
        let lab = lab(policy, "", &[]).await;
        let ran = lab.apply().await;
        assert_eq!(
            ran.device("sw1")["status"],
            status,
            "{policy}: {}",
            ran.text()
        );
        assert!(ran.text().contains(text), "{policy}: {}", ran.text());
        assert!(ran.text().contains(reason), "{}", ran.text());
        let after = lab.switches["sw1"].running_config();
        assert_eq!(after.contains(CHANGED), policy == "auto", "{after}");
        let next = lab.apply().await;
        assert!(!next.text().contains("ended early"), "{}", next.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn protect_required_refuses_a_device_without_a_timed_revert() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let node = json!({"ensure": "present", "address": "198.51.100.11"});
    lab.write_resources("lb1", &[resource("F5_node", "/Common/web1", node)]);
    let required = ["apply", "--output", "json", "--protect", "required"];
    let ran = lab.run(&required).await;
    ran.assert_code(1);
    assert_eq!(ran.device("lb1")["status"], "not run", "{}", ran.text());
    assert_eq!(lab.log("lb1").writes(), Vec::<String>::new());
    let plan = ["plan", "--protect", "required", "--save", "change.plan"];
    let saved = lab.run(&plan).await;
    saved.assert_code(1);
    saved.assert_contains("lb1: not in the plan: ");
    saved.assert_contains("saved the plan in change.plan, devices: 0");
    let auto = ["apply", "--output", "json", "--protect", "auto"];
    let ran = lab.run(&auto).await;
    ran.assert_code(0);
    let warning = "the changes were not protected: the device has no timed revert";
    assert!(ran.text().contains(warning), "{}", ran.text());
}

/// The device is not lost: it refuses the timer, and nothing is sent to it.
#[tokio::test(flavor = "multi_thread")]
async fn protect_required_names_the_refusal_of_the_device() {
    let lab = lab("required", ARCHIVE, &["refuse=^configure terminal revert"]).await;
    let ran = lab.run(&["apply", "--target", "sw1"]).await;
    ran.assert_code(1);
    ran.assert_contains("the run is not protected: ");
    assert!(!ran.text().contains("connection broke"), "{}", ran.text());
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
}

/// The VLANs of a VTP server are not part of the configuration that a revert restores.
#[tokio::test(flavor = "multi_thread")]
async fn protect_reports_changes_that_a_revert_leaves() {
    for (fault, verdict) in [
        ("refuse=^configure confirm", "applied"),
        ("lost-revert=^configure terminal revert", "applied"),
    ] {
        let lab = lab("required", ARCHIVE, &[fault, "login-refused-at=2"]).await;
        let is_lost = fault.starts_with("lost-revert");
        let desired = if is_lost { desk() } else { vlan(100, "made") };
        lab.write_resources("sw1", &[desired]);
        let ran = lab.apply().await;
        assert_eq!(
            ran.device("sw1")["protection"],
            verdict,
            "{fault}: {}",
            ran.text()
        );
        assert_eq!(ran.device("sw1")["status"], "failed", "{fault}");
    }
}

/// The saved configuration is neither the one before the run nor the one of the catalog.
#[tokio::test(flavor = "multi_thread")]
async fn protect_reports_a_restart_with_another_configuration_as_unknown() {
    let lab = lab("required", ARCHIVE, &["restart=^description desk"]).await;
    let other = json!({"enable": true, "description": "other"});
    lab.write_resources(
        "sw1",
        &[resource("Network_interface", "GigabitEthernet1/0/1", other)],
    );
    lab.apply().await.assert_code(2);
    lab.write_resources("sw1", &[desk()]);
    let ran = lab.apply().await;
    ran.assert_code(4);
    assert_eq!(ran.device("sw1")["protection"], "unknown", "{}", ran.text());
    let after = lab.switches["sw1"].running_config();
    assert!(!after.contains("description"), "{after}");
}

#[tokio::test(flavor = "multi_thread")]
async fn protect_reverted_is_no_change_of_the_exit_code() {
    let lab = lab("required", ARCHIVE, &["login-refused-at=2"]).await;
    let arguments = [
        "apply",
        "--output",
        "human",
        "--detailed-exitcodes",
        "--target",
        "sw1",
    ];
    let ran = lab.run(&arguments).await;
    ran.assert_code(4);
    assert!(ran.text().contains("reverted: sw1"), "{}", ran.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn protect_of_a_killed_run_ends_with_its_timer_and_is_reported() {
    for confirms in [false, true] {
        let fault = if confirms {
            "busy=^configure confirm"
        } else {
            "busy=^description"
        };
        let lab = lab("required", ARCHIVE, &[fault]).await;
        let switch = &lab.switches["sw1"];
        let before = switch.running_config();
        let mut child = lab.command(&["apply", "--target", "sw1"]).spawn().unwrap();
        switch.wait_for_deferred().await;
        child.kill().await.unwrap();
        // The device executes what it has received.
        switch.clear_faults();
        switch.resume();
        let pending = lab.apply().await;
        let text = if confirms {
            "ended early"
        } else {
            "still reverts the changes"
        };
        assert!(pending.text().contains(text), "{}", pending.text());
        if confirms {
            assert!(switch.running_config().contains(CHANGED));
            continue;
        }
        switch.advance_clock(TIMER);
        assert_eq!(switch.running_config(), before);
        let next = lab.apply().await;
        let text = "ended early: the device has the configuration from before it";
        assert!(next.text().contains(text), "{}", next.text());
        assert!(switch.running_config().contains(CHANGED));
        let last = lab.apply().await;
        assert!(!last.text().contains("ended early"), "{}", last.text());
    }
}

/// A plan is applied as protected as its catalog.
#[tokio::test(flavor = "multi_thread")]
async fn protect_holds_for_stored_plans() {
    // Logins: the plan, the apply and its second login.
    for (faults, verdict) in [(&[][..], "applied"), (&["login-refused-at=3"], "reverted")] {
        let lab = lab("required", ARCHIVE, faults).await;
        let switch = &lab.switches["sw1"];
        let before = switch.running_config();
        lab.run(&["plan", "--save", "change.plan"])
            .await
            .assert_code(0);
        let apply = ["apply", "change.plan", "--output", "json"];
        let ran = lab.run(&apply).await;
        assert_eq!(ran.device("sw1")["protection"], verdict, "{}", ran.text());
        assert_eq!(ran.device("sw2")["protection"], "applied", "{}", ran.text());
        assert_eq!(switch.running_config() == before, verdict == "reverted");
        assert!(!switch.is_revert_pending());
        // The state is the one of the plan again, or its result.
        let again = lab.run(&apply).await;
        let is_refused = again.device("sw1")["status"] == "not run";
        assert_eq!(is_refused, verdict == "applied", "{}", again.text());
    }
}

/// The device reverts the changes of a protected run; `on_failure` has no effect then.
#[tokio::test(flavor = "multi_thread")]
async fn protect_takes_precedence_over_the_undo_of_a_failed_run() {
    let lab = lab("required", ARCHIVE, &["refuse=^description desk"]).await;
    lab.write_resources("sw1", &[vlan(100, "made"), desk()]);
    let arguments = ["apply", "--output", "json", "--on-failure", "undo"];
    let ran = lab.run(&arguments).await;
    ran.assert_code(1);
    assert_eq!(ran.device("sw1")["undone"], Value::Null, "{}", ran.text());
    let verdict = ran.device("sw1")["protection"].clone();
    assert!(verdict == "applied" || verdict == "reverted", "{verdict}");
    assert_eq!(lab.report("sw1")["undone"], Value::Null);
    // A revert leaves the VLANs of a VTP server. The run has a record, so that they can be undone.
    lab.run(&["undo", "--last", "--yes", "--target", "sw1"])
        .await
        .assert_code(0);
    assert!(
        !lab.switches["sw1"]
            .vlans()
            .iter()
            .any(|(id, _, _)| *id == 100)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn protect_reverts_a_run_that_is_interrupted() {
    for signal in ["-INT", "-TERM"] {
        let lab = lab("required", ARCHIVE, &["busy=^description"]).await;
        let switch = &lab.switches["sw1"];
        let before = switch.running_config();
        let command = lab.command(&["apply", "--output", "json", "--target", "sw1"]);
        let ran = interrupted_while_deferred(&lab, command, signal).await;
        ran.assert_code(1);
        assert_eq!(
            ran.device("sw1")["protection"],
            "reverted",
            "{}",
            ran.text()
        );
        assert_eq!(switch.running_config(), before, "{signal}");
        assert!(!switch.is_revert_pending(), "{signal}");
        let next = lab.apply().await;
        assert!(!next.text().contains("ended early"), "{}", next.text());
    }
}

/// The changes of a run are one transaction: it has no timer, so that the policy decides before it.
#[tokio::test(flavor = "multi_thread")]
async fn protect_and_a_commit_for_the_run() {
    for (policy, code) in [("auto", 0), ("required", 1)] {
        let mut lab = Lab::new();
        lab.add_load_balancer("lb1", &[]).await;
        let file = lab.path("definitions").join("f5_bigip/platform.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = rest_transaction::documented_transactions("scope = \"run\"");
        std::fs::write(file, text).unwrap();
        let node = |name: &str, address: &str| {
            let node = json!({"ensure": "present", "address": address});
            resource("F5_node", &format!("/Common/{name}"), node)
        };
        lab.write_resources("lb1", &[node("n1", "192.0.2.1"), node("n2", "192.0.2.2")]);
        let arguments = ["apply", "--definitions", "definitions", "--protect", policy];
        let ran = lab.run(&arguments).await;
        ran.assert_code(code);
        let writes = lab.log("lb1").writes();
        let committed = writes
            .iter()
            .filter(|line| line.starts_with("PATCH /mgmt/tm/transaction/"));
        assert_eq!(committed.count(), usize::from(code == 0), "{writes:#?}");
        assert_eq!(writes.is_empty(), code == 1, "{writes:#?}");
        let warning = "the changes were not protected: the device has no timed revert";
        assert_eq!(ran.text().contains(warning), code == 0, "{}", ran.text());
    }
}

/// The lab reaches the devices at 127.0.0.1.
#[tokio::test(flavor = "multi_thread")]
async fn own_path_is_changed_only_with_protection_or_permission() {
    let config = format!(
        "{ARCHIVE}interface Vlan10\n ip address 127.0.0.1 255.0.0.0\n no shutdown\n\
         interface Vlan20\n ip address 198.51.100.1 255.255.255.0\n no shutdown\n"
    );
    let down = |name: &str| resource("Network_interface", name, json!({"enable": false}));
    for (policy, arguments, refused) in [
        ("off", &["apply", "--output", "json"][..], true),
        (
            "off",
            &["apply", "--output", "json", "--allow", "own-path"],
            false,
        ),
        ("required", &["apply", "--output", "json"], false),
    ] {
        let lab = lab(policy, &config, &[]).await;
        lab.write_resources("sw1", &[down("Vlan10"), down("Vlan20")]);
        let ran = lab.run(arguments).await;
        let lines = lab.log("sw1").configuration_lines();
        let changed = |name: &str| lines.contains(&format!("interface {name}"));
        assert!(changed("Vlan20"), "{policy} {arguments:?}: {lines:?}");
        assert_eq!(
            changed("Vlan10"),
            !refused,
            "{policy} {arguments:?}: {lines:?}"
        );
        let text = "the session to the device uses it";
        assert_eq!(ran.text().contains(text), refused, "{}", ran.text());
    }
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let present = |type_name: &str, title: &str, mut attributes: Value| {
        attributes["ensure"] = json!("present");
        resource(type_name, title, attributes)
    };
    let own = |lockdown: Value| {
        let own =
            json!({ "address": "127.0.0.1/24", "vlan": "/Common/ops", "port_lockdown": lockdown });
        present("F5_selfip", "/Common/self-ops", own)
    };
    let ops = || present("F5_vlan", "/Common/ops", json!({ "vlan_tag": 10 }));
    lab.write_resources("lb1", &[ops(), own(json!(["default"]))]);
    lab.run(&["apply"]).await.assert_code(0);
    lab.log("lb1").clear();
    lab.write_resources("lb1", &[ops(), own(json!(["none"]))]);
    for arguments in [&["plan"][..], &["apply"]] {
        let ran = lab.run(arguments).await;
        ran.assert_code(1);
        assert_eq!(lab.log("lb1").writes(), Vec::<String>::new());
    }
    lab.run(&["apply", "--allow", "own-path"])
        .await
        .assert_code(0);
    assert_eq!(lab.log("lb1").writes().len(), 1);
}

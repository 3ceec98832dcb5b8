//! `--mock`: mocks in the place of the inventory's devices.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use test_support::catalog::{resource, vlan};
use test_support::lab::Lab;
use test_support::program::{self, ProgramOutput};

#[tokio::test(flavor = "multi_thread")]
async fn mock_missing_for_one_platform_does_not_stop_other_devices() {
    let lab = Lab::with_devices(&[("r1", "linux"), ("sw1", "cisco_ios")]);
    lab.write_resources(
        "r1",
        &[resource("Notify", "hello", json!({ "message": "hello" }))],
    );
    lab.write_resources("sw1", &[vlan(10, "users")]);
    for command in ["apply", "plan"] {
        let ran = lab.run(&[command, "--mock"]).await;
        ran.assert_code(1);
        ran.assert_contains("r1: Error: there is no mock of platform linux");
        ran.assert_contains("r1: Hint: choose other devices with --target or --label");
        let row = |name: &str| {
            let mut rows = ran.stdout.lines().filter(|line| line.starts_with(name));
            rows.next_back().unwrap_or_default().to_owned()
        };
        assert!(row("r1 ").contains("not run"), "{}", ran.text());
        let status = if command == "plan" {
            "pending"
        } else {
            "changed"
        };
        assert!(row("sw1 ").contains(status), "{}", ran.text());
    }
    lab.run(&["apply", "--mock", "--target", "sw1"])
        .await
        .assert_code(0);
    let ran = lab.run(&["facts", "r1", "--mock"]).await;
    ran.assert_code(1);
    ran.assert_contains("error: there is no mock of platform linux");
    ran.assert_contains(
        "a mock needs a read `config` of lines; record a device with `--record DIR`",
    );
}

/// `mock` with arguments that do not let it start.
fn not_started(arguments: &[&str]) -> ProgramOutput {
    program::run(&[&["mock"], arguments].concat())
}

#[test]
fn mock_of_a_platform_needs_a_configuration_of_lines() {
    let refused = not_started(&["platform", "linux"]);
    refused.assert_code(1);
    refused.assert_contains("cannot start a mock of platform linux");
    refused
        .assert_contains("no command line with a configuration mode and a read `config` of lines");
    not_started(&["platform", "frrr"]).assert_contains("did you mean `frr`?");
}

#[test]
fn mock_faults_are_listed_per_mock_and_unsupported_ones_refused() {
    for (mock, fault, words) in [
        (
            "load-balancer",
            "confirm=^x",
            "the mock load balancer does not support the fault `confirm`; supported: latency=TIME, ",
        ),
        (
            "switch",
            "half-body=1",
            "the mock switch does not support the fault `half-body`; supported: latency=TIME, ",
        ),
    ] {
        let ran = not_started(&[mock, "--fault", fault]);
        ran.assert_code(1);
        ran.assert_contains(words);
    }
    let help = not_started(&["faults"]);
    help.assert_code(0);
    let below = |head: &str| {
        let lines = help.stdout.lines().skip_while(|line| *line != head).skip(1);
        let lines = lines.take_while(|line| line.starts_with(' '));
        let names = lines.map(|line| line.trim().split(['=', ' ']).next().unwrap());
        names.collect::<Vec<_>>()
    };
    assert!(below("Switch:").contains(&"confirm"));
    assert!(!below("Load balancer:").contains(&"confirm"));
    assert!(below("Load balancer:").contains(&"half-body"));
    assert!(!below("Switch:").contains(&"half-body"));
    assert!(below("All mocks:").contains(&"latency"));
    help.assert_contains("`METHOD /path` without query and body");
}

#[tokio::test]
async fn mock_log_is_readable_by_the_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    let (new, old) = (dir.path().join("new.log"), dir.path().join("old.log"));
    std::fs::write(&old, "").unwrap();
    std::fs::set_permissions(&old, Permissions::from_mode(0o644)).unwrap();
    for log in [new, old] {
        let mut command = tokio::process::Command::new(program::path());
        command.args(["mock", "switch", "--log"]).arg(&log);
        let mut mock = command
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        // The log exists when the address is printed.
        let mut lines = BufReader::new(mock.stdout.take().unwrap()).lines();
        assert!(lines.next_line().await.unwrap().is_some());
        let mode = log.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", log.display());
    }
}

/// The inventory that mocks write is complete: devices are read with it.
#[tokio::test]
async fn mock_writes_an_inventory() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mocks.toml");
    let mut command = tokio::process::Command::new(program::path());
    command.args(["mock", "switch", "--count", "2", "--inventory"]);
    let mut mock = command
        .arg(&file)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(mock.stdout.take().unwrap()).lines();
    loop {
        let line = lines.next_line().await.unwrap().expect("it runs");
        if line.contains("mocks.toml is written") {
            break;
        }
    }
    let file = file.display().to_string();
    let state = dir.path().join("state").display().to_string();
    let mut command = tokio::process::Command::new(program::path());
    let read = [
        "facts",
        "switch2",
        "--inventory",
        &file,
        "--state-dir",
        &state,
    ];
    let facts = command.args(read).output().await.unwrap();
    let facts = program::ProgramOutput::from(facts);
    facts.assert_code(0);
    facts.assert_contains("\"switch2\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn mock_lists_unsupported_configuration_lines() {
    let lab = Lab::with_devices(&[
        ("sw1", "cisco_ios"),
        ("sw2", "cisco_ios"),
        ("lb1", "f5_bigip"),
        ("lb2", "f5_bigip"),
    ]);
    let hello = resource("Notify", "hello", json!({ "message": "hello" }));
    for name in ["sw1", "sw2", "lb1", "lb2"] {
        lab.write_resources(name, std::slice::from_ref(&hello));
    }
    std::fs::create_dir(lab.path("begin")).unwrap();
    let begin =
        |name: &str, text: &str| std::fs::write(lab.path("begin").join(name), text).unwrap();
    begin(
        "sw1.cfg",
        "hostname sw1\nmacro name one\nmacro name two\nvlan 10\nepm logging\nplatform qos on\n",
    );
    begin(
        "lb1.cfg",
        r#"{"POST /mgmt/tm/ltm/node": {"name": "a", "address": "192.0.2.1"}}"#,
    );

    let unknown = "the mock does not understand these configuration lines (kept as text): \
                   `macro name one`, `macro name two`, `epm logging`, and 1 more";
    let ran = lab
        .run(&[
            "apply",
            "--mock",
            "--output",
            "json",
            "--mock-config",
            "begin",
        ])
        .await;
    ran.assert_code(0);
    assert_eq!(ran.warnings("sw1"), [unknown]);
    assert_eq!(ran.warnings("lb1"), Vec::<String>::new());
    for name in ["sw2", "lb2"] {
        let factory = format!(
            "begin/{name}.cfg does not exist: the mock starts with its factory configuration"
        );
        assert_eq!(ran.warnings(name), [factory]);
    }
    // Of the second run of two it would not be true.
    let ran = lab
        .run(&[
            "apply",
            "--mock",
            "--check-idempotence",
            "--mock-config",
            "begin",
        ])
        .await;
    ran.assert_code(0);
    assert_eq!(
        ran.text().matches(&format!("Warning: {unknown}")).count(),
        1
    );
    let ran = lab
        .run(&["facts", "sw1", "--mock", "--mock-config", "begin"])
        .await;
    ran.assert_code(0);
    ran.assert_contains(&format!("warning: sw1: {unknown}"));
}

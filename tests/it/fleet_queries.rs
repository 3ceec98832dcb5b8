//! Facts and resources of many devices, and expressions that select them.

use std::fs;

use test_support::program::{self, ProgramOutput};

const INVENTORY: &str = "[defaults]
user = \"u\"
password = { env = \"PASSWORD\" }
connect_timeout = \"5s\"
[platform.cisco_ios]
enable_password = { env = \"PASSWORD\" }
[device]
sw1 = { platform = \"cisco_ios\", address = \"127.0.0.1\", port = 1, labels = { role = \"access\" } }
sw2 = { platform = \"cisco_ios\", address = \"127.0.0.2\", port = 1, labels = { role = \"core\" } }
lb1 = { platform = \"f5_bigip\", address = \"127.0.0.3\", port = 1, site = \"berlin\" }
";

fn run(arguments: &[&str]) -> ProgramOutput {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("inventory.toml");
    fs::write(&path, INVENTORY).expect("written");
    let file = path.display().to_string();
    program::run(&[arguments, &["--inventory", &file]].concat())
}

#[test]
fn facts_of_many_devices_are_a_table() {
    let table = run(&["facts", "sw*", "lb1", "--mock"]);
    table.assert_code(0);
    let lines: Vec<&str> = table.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{table:?}");
    assert!(lines[0].starts_with("device  hostname"), "{table:?}");
    assert!(
        lines[1].starts_with("sw1 ") && lines[3].starts_with("lb1 "),
        "{table:?}"
    );

    let arguments = [
        "facts",
        "role in (access, core)",
        "--mock",
        "--output",
        "csv",
    ];
    let csv = run(&[&arguments[..], &["--columns", "operatingsystem,model"]].concat());
    csv.assert_code(0);
    assert_eq!(
        csv.stdout,
        "device,operatingsystem,model\nsw1,cisco_ios,9300\nsw2,cisco_ios,9300\n"
    );

    // A pattern has an object for each device, also if it matches one.
    let json = run(&["facts", "sw*, !sw2", "--mock", "--output", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["sw1"]["operatingsystem"], "cisco_ios");
    let json = run(&["facts", "sw1", "--mock"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["operatingsystem"], "cisco_ios");

    let unknown = run(&["facts", "sw*", "--mock", "--columns", "modell"]);
    unknown.assert_code(1);
    assert_eq!(
        unknown.stderr,
        "error: no device has the fact `modell`\nhint: did you mean `model`?\n"
    );
}

#[test]
fn resources_of_many_devices_are_a_table() {
    let all = run(&["resource", "platform = *", "network_vlan", "--mock"]);
    all.assert_code(0);
    assert!(all.stdout.starts_with("device  name"), "{all:?}");
    assert!(all.stdout.contains("\nsw1     "), "{all:?}");
    assert!(all.stdout.contains("\nsw2     "), "{all:?}");

    let one = run(&[
        "resource",
        "sw*",
        "network_vlan",
        "1",
        "--mock",
        "--output",
        "csv",
    ]);
    one.assert_code(0);
    assert!(one.stdout.starts_with("device,name,"), "{one:?}");
    assert_eq!(one.stdout.lines().count(), 3, "{one:?}");

    let json = run(&[
        "resource",
        "sw*",
        "network_vlan",
        "1",
        "--mock",
        "--output",
        "json",
    ]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert!(json["sw2"]["network_vlan"].is_object(), "{json}");

    let none = run(&["resource", "sw*", "network_vlan", "99", "--mock"]);
    none.assert_code(1);
    assert_eq!(none.stderr, "no network_vlan `99`: sw[1-2]\n");

    let refused = run(&[
        "resource",
        "sw*",
        "network_vlan",
        "--mock",
        "--output",
        "yaml",
    ]);
    refused.assert_code(1);
    refused.assert_contains("several devices can be selected");
}

#[test]
fn devices_that_fail_are_errors_of_a_query() {
    for arguments in [&["facts", "sw*"][..], &["resource", "sw*", "network_vlan"]] {
        let failed = run(arguments);
        failed.assert_code(1);
        assert_eq!(failed.stdout, "", "{failed:?}");
        for device in ["sw1", "sw2"] {
            failed.assert_contains(&format!("error: {device}: "));
        }
    }
}

#[test]
fn expressions_are_refused_at_their_position() {
    let refused = run(&["inventory", "show", "--target", "sw*, role in access"]);
    refused.assert_code(1);
    assert!(
        refused
            .stderr
            .starts_with("error[bad-target]: expected `(` after `in`\n --> --target:1:14\n"),
        "{refused:?}"
    );
    let misspelled = run(&["inventory", "show", "--target", "!swl"]);
    misspelled.assert_code(1);
    misspelled.assert_contains("unknown device `swl`");
    let refused = run(&["inventory", "show", "--label", "sw1"]);
    refused.assert_code(1);
    refused.assert_contains("expected a label, such as `role=access`");
}

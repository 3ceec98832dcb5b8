//! `inventory init`, ranges of devices, and one device without an inventory.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use test_support::lab::Lab;
use test_support::program;

#[test]
fn inventory_init_writes_a_valid_file_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("inventory.toml");
    let file = path.display().to_string();
    program::run(&["inventory", "init", &file]).assert_code(0);
    let mode = fs::metadata(&path).expect("written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let validated = program::run(&["inventory", "validate", "-i", &file]);
    validated.assert_code(0);
    assert_eq!(validated.stdout, format!("{file}: 1 device, no errors\n"));

    // Its comments are examples: without `# ` they are settings.
    let text = fs::read_to_string(&path).expect("written");
    let settings = text.lines().map(|line| match line.strip_prefix("# ") {
        // There is no such key file.
        Some(example) if example.starts_with("private_key") => line,
        Some(example) if example.contains(" = ") || example.starts_with('[') => example,
        _ => line,
    });
    let all = settings.collect::<Vec<_>>().join("\n");
    fs::write(&path, all).expect("written");
    let validated = program::run(&["inventory", "validate", "-i", &file]);
    assert!(
        validated.stdout.ends_with(": 100 devices, no errors\n"),
        "{validated:?}"
    );

    let again = program::run(&["inventory", "init", &file]);
    again.assert_code(1);
    assert_eq!(
        again.stderr,
        format!(
            "error: cannot write {file}: File exists (os error 17)\nhint: choose another file\n"
        )
    );
}

#[test]
fn range_selects_devices() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("inventory.toml");
    let text = "[defaults]\nplatform = \"cisco_ios\"\nuser = \"u\"\nagent = true\n\
        [device.\"sw[001-300]\"]\naddress = \"{name}.example.com\"\n";
    fs::write(&path, text).expect("written");
    let file = path.display().to_string();
    let output = program::run(&["inventory", "show", "-i", &file, "--target", "sw[009-011]"]);
    output.assert_code(0);
    let addresses: Vec<&str> = output
        .stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("address"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        addresses,
        [
            "sw009.example.com",
            "sw010.example.com",
            "sw011.example.com"
        ]
    );
}

#[test]
fn device_without_an_inventory_is_read_and_changed() {
    let device = ["--device", "admin@192.0.2.1", "--platform", "cisco_ios"];
    let run = |arguments: &[&str]| program::run(&[arguments, &device, &["--mock"]].concat());
    let facts = run(&["facts"]);
    facts.assert_code(0);
    assert!(facts.stdout.contains("\"operatingsystem\": "), "{facts:?}");
    let vlans = run(&["resource", "network_vlan"]);
    vlans.assert_code(0);
    assert!(vlans.stdout.contains("network_vlan { '1':"), "{vlans:?}");

    let state = tempfile::tempdir().expect("a directory");
    fs::write(
        state.path().join("common.yaml"),
        "network_vlan:\n  10: {vlan_name: users}\n",
    )
    .expect("written");
    let state = state.path().display().to_string();
    let planned = run(&["plan", "--state", &state]);
    planned.assert_code(0);
    assert!(
        planned.stdout.starts_with("192.0.2.1 (cisco_ios)\n"),
        "{planned:?}"
    );
    assert!(
        planned.stdout.contains("    >  name users\n"),
        "{planned:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn device_without_an_inventory_has_a_verified_host_key() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let port = lab.switches["sw1"].address().port();
    let device = format!("admin@127.0.0.1:{port}");
    let arguments = ["facts", "--device", &device, "--platform", "cisco_ios"];
    let output = tokio::process::Command::new(program::path())
        .args(arguments)
        .env_remove("SSH_AUTH_SOCK")
        .env("HOME", "/nonexistent")
        .output()
        .await
        .expect("it starts");
    let ran = program::ProgramOutput::from(output);
    ran.assert_code(1);
    assert!(ran.stderr.contains("host key"), "{ran:?}");
    assert_eq!(lab.log("sw1").received().len(), 0);
}

#[test]
fn device_argument_errors_name_the_form() {
    for (device, expected) in [
        ("192.0.2.1", "`192.0.2.1` has no user"),
        ("admin@sw1:ssh", "`ssh` is not a port (1 to 65535)"),
        ("admin@a/b", "`a/b` is neither a hostname nor an IP address"),
    ] {
        let ran = program::run(&["facts", "--device", device, "--platform", "cisco_ios"]);
        ran.assert_code(1);
        assert!(ran.stderr.contains(expected), "{expected}: {ran:?}");
    }
    let ran = program::run(&["facts", "--device", "admin@sw1", "--platform", "cisco_iso"]);
    ran.assert_code(1);
    assert!(ran.stderr.contains("did you mean `cisco_ios`?"), "{ran:?}");
}

//! Devices from a command or a service, as users see them.

use std::fs;
use std::path::Path;

use test_support::program;

/// Other commands have the devices, too.
#[test]
fn devices_of_a_command_are_planned() {
    let directory = tempfile::tempdir().unwrap();
    let inventory = directory.path().join("inventory.toml");
    let list = "{\"_meta\": {\"hostvars\": {\"sw1\": {\"ansible_host\": \"192.0.2.1\", \
                \"ansible_network_os\": \"ios\", \"ansible_user\": \"u\"}}}}";
    fs::write(directory.path().join("hosts.json"), list).unwrap();
    fs::write(
        &inventory,
        "[source]\ncommand = [\"cat\", \"hosts.json\"]\n",
    )
    .unwrap();
    let state = directory.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::write(
        state.join("common.yaml"),
        "network_vlan:\n  10: {vlan_name: users}\n",
    )
    .unwrap();
    let path = |path: &Path| path.display().to_string();
    let (inventory, state) = (path(&inventory), path(&state));
    let arguments = ["--mock", "--inventory", &inventory, "--state", &state];
    let planned = program::run(&[&["plan"], &arguments[..]].concat());
    planned.assert_code(0);
    assert!(
        planned.stdout.starts_with("sw1 (cisco_ios)\n"),
        "{planned:?}"
    );
}

/// A device with a problem fails, and the others run.
#[test]
fn unknown_platform_is_an_error_of_its_device() {
    let directory = tempfile::tempdir().unwrap();
    let list = r#"{"_meta": {"hostvars": {
        "sw1": {"ansible_network_os": "cisco.ios.ios"},
        "sw2": {"ansible_network_os": "cisco.iosxr.iosxr"},
        "sw3": {"ansible_network_os": "cisco.ios.ios", "ansible_host": "{{ address }}"}}}}"#;
    fs::write(directory.path().join("hosts.json"), list).unwrap();
    let text =
        "[source]\ncommand = [\"cat\", \"hosts.json\"]\n[defaults]\nuser = \"u\"\nagent = true\n";
    fs::write(directory.path().join("inventory.toml"), text).unwrap();
    fs::create_dir(directory.path().join("state")).unwrap();
    let state = directory.path().join("state/common.yaml");
    fs::write(state, "network_vlan:\n  10: {vlan_name: users}\n").unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (inventory, state) = (path("inventory.toml"), path("state"));
    let planned = program::run(&[
        "plan",
        "--mock",
        "--inventory",
        &inventory,
        "--state",
        &state,
    ]);
    planned.assert_code(1);
    planned.assert_contains("sw1 (cisco_ios)");
    planned.assert_contains("unknown platform `cisco.iosxr.iosxr`");
    planned.assert_contains("`ansible_host` of host sw3 is a template");
    let printed = [
        "inventory",
        "show",
        "--run-commands",
        "--inventory",
        &inventory,
    ];
    let printed = program::run(&printed);
    printed.assert_code(1);
    assert!(printed.stdout.contains("sw1\n  platform"), "{printed:?}");
    printed.assert_contains("error[unknown-platform]: unknown platform `cisco.iosxr.iosxr`");
    let arguments = [
        "--run-commands",
        "--inventory",
        &inventory,
        "--state",
        &state,
    ];
    let validated = program::run(&[&["validate"], &arguments[..]].concat());
    validated.assert_code(1);
    validated.assert_contains("unknown platform `cisco.iosxr.iosxr`");
}

#[test]
fn example_with_a_service_is_valid() {
    let arguments = ["--inventory", "examples/inventory/inventory.toml"];
    let printed = program::run(&[&["inventory", "validate"], &arguments[..]].concat());
    printed.assert_code(0);
    printed.assert_contains("the service was not asked");
}

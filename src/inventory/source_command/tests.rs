//! Tests of the devices that a command prints.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::super::source::DeviceSource;
use super::super::{Inventory, InventoryOptions, Secrets};
use super::*;
use crate::diagnostic::terminal::{RenderOptions, render_all};
use switchtender_devices::driver::Registry;

const SOURCE: &str = "[source]\ncommand = [\"list\"]\n";

/// The inventory with this output of its command, or its findings as text.
fn parse(text: &str, output: &str) -> Result<Inventory, String> {
    let registry = Registry::shipped();
    let options = InventoryOptions {
        registry: Some(&registry),
        ..InventoryOptions::default()
    };
    let file = FileContext {
        base: Path::new("/etc/st"),
        text,
    };
    let run = |_: &DeviceSource, _: &Secrets| Ok(output.as_bytes().to_vec());
    let parsed = Inventory::parse_with("inventory.toml", &file, None, &options, &run);
    parsed.map_err(|found| text_of(&found))
}

fn text_of(found: &[Diagnostic]) -> String {
    render_all(found, RenderOptions::PLAIN).as_str().to_owned()
}

/// `device key = value table` of each setting.
fn rows(inventory: &Inventory) -> Vec<String> {
    let devices: Vec<_> = inventory.devices.values().collect();
    let devices = inventory.show(&devices, &Registry::shipped()).into_iter();
    let rows = devices.flat_map(|device| {
        let name = device.name;
        device.settings.into_iter().filter_map(move |row| {
            // What follows from the platform is in no file.
            let table = row.table.filter(|_| row.key != "guarantee")?;
            Some(format!("{name} {} = {} {table}", row.key, row.value))
        })
    });
    rows.collect()
}

const DEFAULTS: &str = "[defaults]\nuser = \"ops\"\nagent = true\n";

#[test]
fn devices_of_a_command_are_below_the_tables_of_the_file() {
    let toml = "[device.sw1]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.1\"\nsite = \"a\"\n\
                [device.sw2]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.2\"\n";
    let json = r#"{"device": {
        "sw1": {"platform": "cisco_ios", "address": "192.0.2.1", "site": "a", "port": null},
        "sw2": {"platform": "cisco_ios", "address": "192.0.2.2"}}}"#;
    let text = format!(
        "{SOURCE}{DEFAULTS}[group.b]\ndevices = [\"sw[1-2]\"]\nlabels.rack = \"r1\"\n\
         [device.sw1]\nsite = \"b\"\n[device.sw3]\nplatform = \"frr\"\naddress = \"192.0.2.3\"\n"
    );
    for output in [toml, json] {
        let inventory = parse(&text, output).unwrap();
        let expected = [
            "sw1 platform = cisco_ios [device.sw1], output of list",
            "sw1 address = 192.0.2.1 [device.sw1], output of list",
            "sw1 user = ops [defaults]",
            "sw1 agent = true [defaults]",
            "sw1 site = b [device.sw1]",
            "sw1 labels.rack = r1 [group.b]",
            "sw3 platform = frr [device.sw3]",
            "sw3 address = 192.0.2.3 [device.sw3]",
            "sw3 user = ops [defaults]",
            "sw3 agent = true [defaults]",
            "sw2 platform = cisco_ios [device.sw2], output of list",
            "sw2 address = 192.0.2.2 [device.sw2], output of list",
            "sw2 user = ops [defaults]",
            "sw2 agent = true [defaults]",
            "sw2 labels.rack = r1 [group.b]",
        ];
        assert_eq!(rows(&inventory), expected, "{output}");
    }
}

/// The format of `ansible-inventory --list`, with the variables of groups as scripts print them.
const ANSIBLE: &str = r#"{
    "_meta": {"hostvars": {
        "sw1": {"ansible_host": "192.0.2.1", "ansible_port": "2222", "ansible_user": "one", "http_port": 80},
        "sw2": {"switchtender_site": "berlin", "switchtender_labels": {"role": "core"}},
        "web1": {"ansible_host": "192.0.2.80"}
    }},
    "all": {"children": ["network", "web", "ungrouped"], "vars": {"ansible_user": "all"}},
    "network": {"children": ["switches"], "vars": {"ansible_user": "net", "ansible_password": "s3cret"}},
    "switches": {"hosts": ["sw1", "sw2"], "vars": {"ansible_network_os": "cisco.ios.ios"}},
    "web": ["web1"]
}"#;

#[test]
fn hosts_of_ansible_have_the_variables_of_their_groups() {
    let source =
        "[source]\ncommand = [\"ansible-inventory\", \"--list\"]\ngroups = [\"network\"]\n";
    let inventory = parse(source, ANSIBLE).unwrap();
    let rows: Vec<String> = rows(&inventory)
        .iter()
        .map(|row| row.replace(", output of ansible-inventory", ""))
        .collect();
    assert_eq!(
        rows,
        [
            "sw1 platform = cisco_ios [device.sw1]",
            "sw1 address = 192.0.2.1 [device.sw1]",
            "sw1 port = 2222 [device.sw1]",
            "sw1 user = one [device.sw1]",
            "sw1 password = •••• [device.sw1]",
            "sw1 labels.network = true [device.sw1]",
            "sw1 labels.switches = true [device.sw1]",
            "sw2 platform = cisco_ios [device.sw2]",
            "sw2 address = sw2 [defaults]",
            "sw2 user = net [device.sw2]",
            "sw2 password = •••• [device.sw2]",
            "sw2 site = berlin [device.sw2]",
            "sw2 labels.network = true [device.sw2]",
            "sw2 labels.role = core [device.sw2]",
            "sw2 labels.switches = true [device.sw2]",
        ]
    );
    // The name of a host is its address only if the inventory has no other.
    let text = format!("{source}[defaults]\naddress = \"{{name}}.example.com\"\n");
    let inventory = parse(&text, ANSIBLE).unwrap();
    let addresses: Vec<&str> = inventory
        .devices
        .values()
        .map(|device| device.settings.address.as_ref().unwrap().value.as_str())
        .collect();
    assert_eq!(addresses, ["192.0.2.1", "sw2.example.com"]);
}

#[test]
fn unusable_output_is_an_error_without_secrets() {
    let meta = |host: &str| format!("{{\"_meta\": {{\"hostvars\": {{\"sw1\": {{{host}}}}}}}}}");
    let cases = [
        (
            "{\"device\": {\"sw1\": {\"password\": \"s3cret\",}}}".to_owned(),
            "the output of list is not valid JSON: trailing comma at line 1 column 42",
        ),
        (
            meta("\"ansible_host\": \"{{ address }}\""),
            "`ansible_host` of host sw1 is a template",
        ),
        (
            meta("\"ansible_password\": {\"__ansible_vault\": \"s3cret\"}"),
            "`ansible_password` of host sw1 is encrypted",
        ),
        (
            "{\"_meta\": {\"hostvars\": {}}, \"a\": {\"children\": [\"b\"]}, \"b\": {\"children\": [\"a\"]}}"
                .to_owned(),
            "the groups a, b contain each other",
        ),
        (
            "{\"_meta\": {\"hostvars\": {}}, \"a\": {\"hosts\": \"sw1\"}}".to_owned(),
            "`a` is not a list of names",
        ),
        (
            meta("\"ansible_network_os\": \"junipernetworks.junos.junos\""),
            "unknown platform `junipernetworks.junos.junos`",
        ),
        (
            meta("\"switchtender_adress\": \"a\""),
            "unknown key `adress` in [device.sw1]",
        ),
        ("[device.sw1]\npasword = \"s3cret\"\n".to_owned(), "unknown key `pasword`"),
        ("[device.sw1]\npassword = s3cret\n".to_owned(), "output of list:2"),
        ("{\"limits\": {}}".to_owned(), "unknown key `limits`"),
        ("{\"device\": {\"sw1\": {\"port\": 1e400}}}".to_owned(), "is not valid JSON"),
    ];
    for (output, expected) in cases {
        let text = format!("{SOURCE}{DEFAULTS}platform = \"cisco_ios\"\n");
        let found = match parse(&text, &output) {
            Ok(inventory) => text_of(&Inventory::device_problems(inventory.devices.values())),
            Err(found) => found,
        };
        assert!(found.contains(expected), "{output}: {found}");
        assert!(!found.contains("s3cret"), "{output}: {found}");
    }
    // The others run.
    let hosts = meta(
        "\"ansible_network_os\": \"cisco.iosxr.iosxr\"}, \"sw2\": {\"ansible_port\": \"x\"}, \"sw3\": {",
    );
    let text = format!("{SOURCE}{DEFAULTS}platform = \"cisco_ios\"\n");
    let inventory = parse(&text, &hosts).unwrap();
    let problems: Vec<_> = inventory
        .devices
        .values()
        .map(|one| one.problems.len())
        .collect();
    assert_eq!(problems, [1, 1, 0]);
    // What the command would have printed is not reported as missing.
    let found = parse(&format!("{SOURCE}[device.sw1]\nsite = \"a\"\n"), "{").unwrap_err();
    assert_eq!(found.matches("error[").count(), 1, "{found}");
    let unknown = "[source]\ncommand = [\"list\"]\ngroups = [\"netwrk\"]\n";
    let found = parse(unknown, ANSIBLE).unwrap_err();
    assert!(found.contains("did you mean `network`?"), "{found}");
}

#[test]
fn command_runs_in_the_directory_of_the_inventory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("inventory.toml");
    let script = directory.path().join("list.sh");
    let load = |timeout: &str, body: &str| {
        std::fs::write(&script, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
        let text = format!(
            "[source]\ncommand = [\"./list.sh\", \"sw1\"]\n{timeout}\n{DEFAULTS}platform = \"frr\"\n"
        );
        std::fs::write(&path, text).unwrap();
        let loaded = Inventory::load(&path, &InventoryOptions::default());
        loaded.map_err(|found| render_all(&found, RenderOptions::PLAIN).as_str().to_owned())
    };
    let found = load(
        "",
        "echo \"[device.$1]\"; [ -f list.sh ] && echo 'address = \"a\"'",
    )
    .unwrap();
    assert_eq!(
        found.devices["sw1"]
            .settings
            .address
            .as_ref()
            .unwrap()
            .value,
        "a"
    );

    let failed = load(
        "",
        "echo start >&2; echo 'no token: https://u:s3cret@h' >&2; exit 4",
    );
    let failed = failed.unwrap_err();
    assert!(
        failed.contains("list.sh` failed with exit code 4: no token: https://••••@h"),
        "{failed}"
    );
    assert!(failed.contains("inventory.toml:2:"), "{failed}");
    let late = load("timeout = \"1s\"", "sleep 600").unwrap_err();
    assert!(late.contains("did not exit within 1 s"), "{late}");
}

/// The command of an invalid inventory does not run.
#[test]
fn command_of_an_invalid_file_does_not_run() {
    let text = format!("{SOURCE}[defaults]\nusr = \"x\"\n");
    let file = FileContext {
        base: Path::new(""),
        text: &text,
    };
    let run = |_: &DeviceSource, _: &Secrets| panic!("it runs");
    let options = InventoryOptions::default();
    let found = Inventory::parse_with("i.toml", &file, None, &options, &run).unwrap_err();
    assert_eq!(found[0].code, "unknown-key");
}

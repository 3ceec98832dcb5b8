//! Saved configurations instead of devices: nothing connects.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use test_support::catalog::{catalog, resource};
use test_support::{program, stderr_note};

const CONFIGURATION: &str = "\
version 15.2
hostname sw1
!
spanning-tree mode pvst
!
interface GigabitEthernet1/0/1
 description uplink
!
interface Vlan10
 shutdown
!
ntp server 192.0.2.10 prefer
ntp server 192.0.2.11
!
end
";

const VLANS: &str = "\
VLAN Name                             Status    Ports
---- -------------------------------- --------- -------------------------------
1    default                          active
10   users                            active
";

/// What the configuration does not show.
fn note(interfaces: bool) -> String {
    let (status, name) = if interfaces {
        (
            ", `show interfaces status` (negotiated speed and duplex)",
            ", `interfaces_status`",
        )
    } else {
        ("", "")
    };
    format!(
        "unknown is what only these outputs show: `show version` (facts hardwaremodel, model, serialnumber, \
         os.family){status}; save them as `version`{name} in a file *.json\n"
    )
}

fn write(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, text).expect("written");
    path.display().to_string()
}

fn ios(command: &str, file: &str, more: &[&str]) -> program::ProgramOutput {
    let arguments = [command, "--config", file, "--platform", "cisco_ios"];
    program::run(&[&arguments, more].concat())
}

/// Panics if the printed Puppet code does not set this attribute to this value.
#[track_caller]
fn assert_attribute(printed: &program::ProgramOutput, name: &str, value: &str) {
    let mut pairs = printed
        .stdout
        .lines()
        .filter_map(|line| line.split_once(" => "));
    let is_set =
        pairs.any(|(left, right)| left.trim() == name && right.trim_end_matches(',') == value);
    assert!(is_set, "{}", printed.stdout);
}

#[test]
fn resource_reads_a_saved_configuration() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = write(directory.path(), "sw1.cfg", CONFIGURATION);
    let printed = ios("resource", &file, &["ntp_server", "--output", "json"]);
    printed.assert_code(0);
    assert_eq!(printed.stderr, note(false));
    let tree: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    let servers = tree["ntp_server"].as_object().expect("servers");
    let names: Vec<&String> = servers.keys().collect();
    assert_eq!(names, ["192.0.2.10", "192.0.2.11"]);
    assert_eq!(servers["192.0.2.10"]["prefer"], true);

    let one = ios("resource", &file, &["network_interface", "Vlan10"]);
    one.assert_code(0);
    assert!(
        one.stdout.starts_with("network_interface { 'Vlan10':"),
        "{}",
        one.stdout
    );
    assert_attribute(&one, "enable", "false");
    assert_eq!(one.stderr, note(true));
}

/// The blocks of the configuration show what other outputs show. What does not stand in it is not absent.
#[test]
fn resource_reads_tables_from_a_saved_configuration_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = CONFIGURATION.replace(
        "interface Vlan10\n",
        "interface GigabitEthernet1/0/2\n switchport access vlan 10\n switchport mode access\n!\nvlan 10\n name users\n!\n\
         access-list 7 permit 192.0.2.7\n!\ninterface Vlan10\n no ip address\n",
    );
    let file = write(directory.path(), "sw1.cfg", &text);
    let all = ios("resource", &file, &["--output", "json", "--with-defaults"]);
    all.assert_code(0);
    let tree: Value = serde_json::from_str(&all.stdout).expect("JSON");
    let ports: Vec<&String> = tree["ios_network_trunk"]
        .as_object()
        .expect("ports")
        .keys()
        .collect();
    assert_eq!(ports, ["GigabitEthernet1/0/1", "GigabitEthernet1/0/2"]);
    assert_eq!(
        tree["ios_network_trunk"]["GigabitEthernet1/0/2"]["access_vlan"],
        10
    );
    assert_eq!(tree["network_vlan"]["10"]["vlan_name"], "users");
    assert_eq!(
        tree["ios_acl"]["7 standard 10"]["source_address_host"],
        "192.0.2.7"
    );
    let lines: Vec<&str> = all.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{}", all.stderr);
    for part in [
        "unknown is what only these outputs show: ",
        "`show version` (facts hardwaremodel, model, serialnumber, os.family)",
        "`show interfaces status` (negotiated speed and duplex)",
        "`show vlan brief` (VLANs in vlan.dat)",
        "`show snmp user` (snmp_user)",
        "`show vtp status` (ios_vtp)",
    ] {
        assert!(lines[0].contains(part), "{part}: {}", lines[0]);
    }

    let vtp = ios("resource", &file, &["ios_vtp"]);
    vtp.assert_code(1);
    vtp.assert_contains("the output of `show vtp status` is not saved");
    vtp.assert_contains("save the output as `vtp_status` in a file with answers, DEVICE.json");

    let version = json!({"lines": ["Cisco IOS Software, Version 15.2(4)E7", "sw1 uptime is"]});
    let answers = json!({"vlan_brief": VLANS, "version": version}).to_string();
    let answers = write(directory.path(), "sw1.json", &answers);
    // Each file is read with the other.
    for file in [&file, &answers] {
        let vlans = ios("resource", file, &["network_vlan", "10"]);
        vlans.assert_code(0);
        assert_attribute(&vlans, "vlan_name", "'users'");
        let facts = ios("facts", file, &[]);
        facts.assert_code(0);
        facts.assert_contains("\"hostname\": \"sw1\"");
    }
}

/// A person wrote it, or copied a part of it.
#[test]
fn configurations_without_their_first_or_last_line_are_read() {
    let directory = tempfile::tempdir().expect("a directory");
    for (missing, reason) in [
        (
            "end\n",
            "it is incomplete: its last line does not match `^end$`",
        ),
        ("version 15.2\n", "it has no line that matches `^version `"),
    ] {
        let file = write(
            directory.path(),
            "sw1.cfg",
            &CONFIGURATION.replace(missing, ""),
        );
        let printed = ios("resource", &file, &["ntp_server", "192.0.2.11"]);
        printed.assert_code(0);
        assert_attribute(&printed, "ensure", "'present'");
        printed.assert_contains(&format!(
            "the output of `show running-config` is read, but {reason}: it can be incomplete"
        ));
    }
}

#[test]
fn facts_of_a_saved_answer_are_printed() {
    let directory = tempfile::tempdir().expect("a directory");
    let version = "Cisco IOS Software, C3750 Software, Version 15.2(4)E7, RELEASE\n\
                   sw1 uptime is 1 week\n";
    let file = write(
        directory.path(),
        "sw1.json",
        &json!({"version": version}).to_string(),
    );
    let printed = ios("facts", &file, &[]);
    printed.assert_code(0);
    let facts: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    assert_eq!(facts["hostname"], "sw1");
    assert_eq!(facts["operatingsystemrelease"], "15.2(4)E7");
    assert_eq!(
        printed.stderr,
        "unknown facts: hardwaremodel, model, serialnumber\n"
    );
}

/// The devices have neither address nor user; the state directory stays empty.
#[test]
fn plan_runs_against_saved_configurations() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    write(directory.path(), "sw1.cfg", CONFIGURATION);
    write(
        directory.path(),
        "inventory.toml",
        "[defaults]\nplatform = \"cisco_ios\"\npassword = { env = \"UNSET_PASSWORD\" }\n\
         [device.sw1]\n[device.sw2]\n",
    );
    let resources = [
        resource("Ntp_server", "192.0.2.11", json!({"ensure": "absent"})),
        resource("Network_interface", "Vlan10", json!({"enable": true})),
        resource("Network_vlan", "10", json!({"ensure": "present"})),
    ];
    let catalogs = directory.path().join("catalogs");
    fs::create_dir(&catalogs).expect("created");
    for device in ["sw1", "sw2"] {
        let text = catalog(device, &resources).to_string();
        write(&catalogs, &format!("{device}.json"), &text);
    }
    let state = path("state");
    let printed = program::switchtender(&[
        "plan",
        "--inventory",
        &path("inventory.toml"),
        "--catalog",
        &path("catalogs"),
        "--running",
        &path(""),
    ])
    .env("SWITCHTENDER_STATE", &state)
    .output()
    .expect("the program starts");
    let printed = program::ProgramOutput::from(printed);
    printed.assert_code(1);
    let facts = ["facts", "sw1", "--inventory", &path("inventory.toml")];
    program::run(&facts).assert_contains("device `sw1` has no `address`");
    for expected in [
        "> no ntp server 192.0.2.11",
        "> interface Vlan10",
        ">  no shutdown",
        "-ntp server 192.0.2.11",
        "  Warning: unknown facts: hardwaremodel",
        "the output of `show vlan brief` is not saved",
        "sw2.cfg: No such file or directory",
        "save the running configuration as DIR/DEVICE.cfg",
    ] {
        printed.assert_contains(expected);
    }
    assert!(
        !Path::new(&state).exists(),
        "a plan of saved files stores nothing"
    );
}

/// The interfaces of public configurations, compared with their lines.
#[test]
fn interfaces_of_public_configurations_are_read() {
    let folder = Path::new("../shared/fixtures/configurations/ios");
    let Ok(files) = fs::read_dir(folder) else {
        stderr_note::print(&format!("skipped: {} is missing", folder.display()));
        return;
    };
    let mut read = 0;
    for file in files {
        let path = file.expect("a file").path();
        let text = String::from_utf8_lossy(&fs::read(&path).expect("readable")).into_owned();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let is_complete = lines.iter().rfind(|line| !line.is_empty()) == Some(&"end")
            && lines.iter().any(|line| line.starts_with("version "));
        let printed = ios(
            "resource",
            &path.display().to_string(),
            &["network_interface", "--output", "json"],
        );
        printed.assert_code(0);
        if !is_complete {
            printed.assert_contains("it can be incomplete");
            continue;
        }
        let tree: Value = serde_json::from_str(&printed.stdout).expect("JSON");
        let names: BTreeSet<&str> = [&tree["network_interface"], &tree["not_managed"]]
            .into_iter()
            .filter_map(Value::as_object)
            .flat_map(|resources| resources.keys().map(String::as_str))
            .collect();
        let headers = lines
            .iter()
            .filter_map(|line| line.strip_prefix("interface "));
        let expected: BTreeSet<&str> = headers.filter_map(|rest| rest.split(' ').next()).collect();
        assert_eq!(names, expected, "{}", path.display());
        read += 1;
    }
    stderr_note::print(&format!("{read} configurations"));
    assert!(read > 0);
}

/// VLANs are blocks of the configuration, or only rows of the table of a switch that learns them.
#[test]
fn renamed_vlan_is_one_change_of_its_block_and_a_missing_port_is_noted() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let blocks = "vlan 10\n name users\n!\nvlan 20\n name voice\n!\ninterface GigabitEthernet1/0/1";
    let with_blocks = CONFIGURATION.replace("interface GigabitEthernet1/0/1", blocks);
    let vlans = format!("{VLANS}20   voice                            active\n");
    let vlans = json!({"vlan_brief": vlans}).to_string();
    for (name, text) in [("sw1", &with_blocks), ("sw2", &CONFIGURATION.to_owned())] {
        write(directory.path(), &format!("{name}.cfg"), text);
        write(directory.path(), &format!("{name}.json"), &vlans);
    }
    write(
        directory.path(),
        "inventory.toml",
        "[defaults]\nplatform = \"cisco_ios\"\n[device.sw1]\n[device.sw2]\n",
    );
    let state = directory.path().join("state");
    fs::create_dir(&state).expect("created");
    write(
        &state,
        "common.yaml",
        "network_vlan:\n  10: {vlan_name: desks}\n  20: {ensure: absent}\n\
         network_interface:\n  GigabitEthernet1/0/1: {description: uplink}\n  \
         GigabitEthernet1/0/99: {description: none}\n",
    );
    let printed = program::run(&[
        "plan",
        "--inventory",
        &path("inventory.toml"),
        "--state",
        &path("state"),
        "--running",
        &path(""),
    ]);
    let text = &printed.stdout;
    let change = "   vlan 10\n  - name users\n  + name desks\n  -vlan 20\n  - name voice\n";
    // The plans are equal, and printed once.
    printed.assert_contains("sw[1-2] (cisco_ios, 2 devices)\n");
    assert_eq!(text.matches(change).count(), 1, "{text}");
    let warning = "warning: the device does not show `GigabitEthernet1/0/99`";
    assert_eq!(text.matches(warning).count(), 1, "{text}");
    assert_eq!(text.matches("does not show").count(), 1, "{text}");
    let alone = program::run(&[
        "plan",
        "--inventory",
        &path("inventory.toml"),
        "--state",
        &path("state"),
        "--running",
        &path(""),
        "--target",
        "sw2",
    ]);
    assert_eq!(alone.stdout.matches(change).count(), 1, "{}", alone.stdout);
}

/// Each file of a directory is the device of its name.
#[test]
fn resources_of_a_directory_of_saved_configurations_are_exported() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    fs::create_dir(path("running")).expect("created");
    let router = "version 15.7\nhostname core\n!\nntp server 192.0.2.10\n!\nend\n";
    for name in ["r1", "r2"] {
        write(&path("running"), &format!("{name}.cfg"), router);
        let answers = json!({"ip_access_lists": ""}).to_string();
        write(&path("running"), &format!("{name}.json"), &answers);
    }
    let running = path("running").display().to_string();
    let export = |more: &[&str]| {
        let arguments = ["--all", "--output", "catalog"];
        ios("resource", &running, &[&arguments[..], more].concat())
    };
    let refused = export(&[]);
    refused.assert_code(1);
    refused.assert_contains("2 devices are saved");
    let catalogs = path("catalogs").display().to_string();
    let exported = export(&["--output-dir", &catalogs]);
    exported.assert_code(0);
    exported.assert_contains("files written to");
    for name in ["r1", "r2"] {
        let text = fs::read_to_string(path("catalogs").join(format!("{name}.json")));
        let catalog: Value = serde_json::from_str(&text.expect("written")).expect("JSON");
        assert_eq!(catalog["name"], name);
        // VTP and empty interfaces are at their defaults.
        let types: Vec<&str> = catalog["resources"]
            .as_array()
            .expect("resources")
            .iter()
            .map(|one| one["type"].as_str().expect("a type"))
            .collect();
        assert_eq!(types, ["ios_network_dns", "ntp_server"]);
    }
    let inventory = write(
        directory.path(),
        "inventory.toml",
        "[defaults]\nplatform = \"cisco_ios\"\n[device.r1]\n[device.r2]\n",
    );
    let arguments = [
        "--inventory",
        &inventory,
        "--catalog",
        &catalogs,
        "--running",
        &running,
    ];
    let plan = program::run(&[&["plan"], &arguments[..]].concat());
    plan.assert_code(0);
    plan.assert_contains("nothing to change");
}

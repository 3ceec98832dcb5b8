//! Desired state in YAML files instead of catalogs: `--state`.

use std::fs;
use std::path::Path;

use serde_json::json;
use switchtender_mocks::SwitchOptions;
use tempfile::TempDir;
use test_support::lab::{Lab, switch_options};
use test_support::program::{PLANTED, ProgramOutput, switchtender};

const INVENTORY: &str = "\
[defaults]
platform = \"cisco_ios\"
user = \"u\"
agent = true
[device.sw1]
address = \"192.0.2.1\"
labels = { site = \"oslo\", role = \"access\" }
[device.sw2]
address = \"192.0.2.2\"
labels = { site = \"bergen\" }
";

/// An inventory with two switches, and files of desired state.
struct Site(TempDir);

impl Site {
    fn new(files: &[(&str, &str)]) -> Self {
        let site = Self(TempDir::new().unwrap());
        fs::write(site.0.path().join("inventory.toml"), INVENTORY).unwrap();
        write_state(site.0.path(), files);
        site
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> ProgramOutput {
        let output = switchtender(arguments)
            .args(["--state", "state", "--inventory", "inventory.toml"])
            .current_dir(self.0.path())
            .output();
        output.unwrap().into()
    }
}

fn write_state(directory: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = directory.join("state").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

const COMMON: &str = "\
network_vlan:
  10: {vlan_name: users}
  20:
    vlan_name: voice
network_interface:
  GigabitEthernet1/0/1:
    description: \"{{ labels.site }} {{ device.name }}\"
    mtu: \"{{ vars.mtu }}\"
vars: {mtu: 1500}
";

#[test]
fn state_show_prints_each_value_with_its_file_and_line() {
    let site = Site::new(&[
        ("common.yaml", COMMON),
        (
            "label/site/oslo.yaml",
            "network_vlan:\n  20: {vlan_name: phones}\n",
        ),
        (
            "device/sw1.yaml",
            "network_vlan:\n  10: ~\nvars: {mtu: 9000}\n",
        ),
    ]);
    let printed = site.run(&["state", "show", "sw1"]);
    printed.assert_code(0);
    let expected = "\
network_vlan:
  \"20\":  # state/common.yaml:3
    vlan_name: phones  # state/label/site/oslo.yaml:2
network_interface:
  GigabitEthernet1/0/1:  # state/common.yaml:6
    description: \"{{ labels.site }} {{ device.name }}\"  # state/common.yaml:7
    mtu: \"{{ vars.mtu }}\"  # state/common.yaml:8
vars:
  mtu: 9000  # state/device/sw1.yaml:3
";
    assert_eq!(printed.stdout.replace('\'', "\""), expected);
    let error = site.run(&["state", "show", "sw1", "network_vlna"]);
    error.assert_code(1);
    error.assert_contains("did you mean `network_vlan`?");
}

#[test]
fn state_of_a_platform_is_between_common_and_label() {
    let files = [
        (
            "common.yaml",
            "ntp_server:\n  n1: {prefer: true, version: 3}\n",
        ),
        (
            "platform/cisco_ios.yaml",
            "ntp_server:\n  n1: {version: 4, key: 1}\n",
        ),
        ("platform/frr.yaml", "ntp_server:\n  n1: {key: 9}\n"),
        ("label/site/oslo.yaml", "ntp_server:\n  n1: {key: 2}\n"),
    ];
    let site = Site::new(&files);
    let printed = site.run(&["state", "show", "sw1"]);
    printed.assert_code(0);
    printed.assert_contains("prefer: true  # state/common.yaml:2");
    printed.assert_contains("version: 4  # state/platform/cisco_ios.yaml:2");
    printed.assert_contains("key: 2  # state/label/site/oslo.yaml:2");
    let validated = site.run(&["validate"]);
    validated
        .assert_contains("state/platform/frr.yaml is not used: no device has the platform frr");
}

/// Others may manage a device of the inventory; a directory for no device is the wrong one.
#[test]
fn state_may_leave_out_devices_but_not_all() {
    let site = Site::new(&[("device/sw1.yaml", "ntp_server: {192.0.2.9: {}}\n")]);
    let some = site.run(&["validate"]);
    some.assert_code(0);
    some.assert_contains("warning[no-state]: sw2 has no file in state: not managed");
    some.assert_contains("write a file such as state/device/sw2.yaml");
    some.assert_contains("1 catalog checked");
    site.run(&["validate", "--deny", "warnings"]).assert_code(1);
    site.run(&["validate", "--target", "sw1", "--deny", "warnings"])
        .assert_code(0);
    let named = site.run(&["validate", "--target", "sw2"]);
    named.assert_code(1);
    named.assert_contains("error[no-state]: no file in state applies to sw2");
    fs::remove_file(site.0.path().join("state/device/sw1.yaml")).unwrap();
    let none = site.run(&["validate"]);
    none.assert_code(1);
    none.assert_contains("error[no-state]: 2 devices have no file in state: not managed (sw[1-2])");
}

/// A type that the device does not have is an error of the files: nothing is sent.
#[tokio::test(flavor = "multi_thread")]
async fn types_that_a_device_lacks_refuse_it_before_the_first_command() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    for (state, message, help) in [
        (
            "ntp_server: {192.0.2.10: {}}\nntp_servr: {192.0.2.11: {}}\n",
            "Resource type 'Ntp_servr' was not found",
            "did you mean `ntp_server`?",
        ),
        (
            "ntp_server: {192.0.2.10: {}}\nf5_pool: {/Common/web: {}}\n",
            "F5_pool[/Common/web]: ",
            "platform/PLATFORM.yaml, for the devices of a platform that has it",
        ),
    ] {
        write_state(&lab.path(""), &[("common.yaml", state)]);
        let directory = lab.path("state").display().to_string();
        for command in ["plan", "apply"] {
            let refused = lab.run(&[command, "--state", &directory]).await;
            refused.assert_code(1);
            refused.assert_contains(message);
            refused.assert_contains("common.yaml:2:1");
            refused.assert_contains(help);
            assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
        }
    }
}

#[test]
fn removals_without_an_effect_are_warnings() {
    let site = Site::new(&[
        (
            "common.yaml",
            "ntp_server:\n  192.0.2.10: {prefer: true}\nnetwork_vlan:\n  10: {vlan_name: a}\n",
        ),
        // The removal has an effect for one of two devices only.
        ("label/site/oslo.yaml", "ntp_server:\n  192.0.2.12: {}\n"),
        (
            "device/sw1.yaml",
            "ntp_server:\n  192.0.2.12: ~\n  192.0.2.10: {prefr: ~}\n  192.0.2.13: ~\nnetwork_vlan:\n  10: {vlan_name: ~}\n",
        ),
    ]);
    let validated = site.run(&["validate"]);
    validated.assert_code(0);
    for expected in [
        "warning[unused-removal]: no earlier file sets prefr of ntp_server 192.0.2.10: the removal has no effect",
        "no earlier file sets ntp_server 192.0.2.13: the removal has no effect",
        "state/device/sw1.yaml:3:",
    ] {
        validated.assert_contains(expected);
    }
    let text = validated.text();
    assert_eq!(text.matches("unused-removal").count(), 2, "{text}");
}

#[test]
fn state_names_that_are_not_read_have_a_hint() {
    let site = Site::new(&[
        ("devices/sw1.yaml", "ntp_server: {192.0.2.10: {}}\n"),
        ("common.yml", "ntp_server: {192.0.2.10: {}}\n"),
    ]);
    let planned = site.run(&["plan"]);
    planned.assert_code(1);
    planned.assert_contains("hint: state/devices is not used: rename it to `device`");
    let validated = site.run(&["validate"]);
    validated.assert_code(1);
    validated.assert_contains("state/common.yml is not used: rename it to `common.yaml`");
}

#[test]
fn state_errors_show_file_line_and_excerpt() {
    let site = Site::new(&[
        (
            "common.yaml",
            "network_vlan:\n  10:\n    vlan_name: users\n    shutdwn: true\n",
        ),
        (
            "label/site/oslo.yaml",
            "network_vlan:\n  10: {vlan_name: a}\n",
        ),
        (
            "label/role/access.yaml",
            "network_vlan:\n  10: {vlan_name: b}\n",
        ),
        ("device/sw9.yaml", ""),
    ]);
    let checked = site.run(&["validate"]);
    checked.assert_code(1);
    checked.assert_contains("two labels set vlan_name of network_vlan 10 to different values");
    checked.assert_contains("state/label/site/oslo.yaml:2:19");
    checked.assert_contains("order the keys with label_order in the inventory");
    checked.assert_contains("state/device/sw9.yaml is not used: the inventory has no device sw9");
    checked.assert_contains("state/common.yaml:4");
    checked.assert_contains("    shutdwn: true");
}

/// One check lists all errors of a file, each at the words that are wrong.
#[test]
fn state_errors_of_a_file_are_listed_together() {
    let site = Site::new(&[(
        "common.yaml",
        "ntp_server: [192.0.2.10]\n\
         network_vlna:\n  10: {}\n\
         network_vlan:\n  20: {vlan_nmae: voice}\n  30: {}\n  30: {}\n\
         ios_network_trunk:\n  GigabitEthernet1/0/1: {mode: acces}\n\
         vlans: {}\n\
         interfaces:\n  GigabitEthernet1/0/2: {}\n",
    )]);
    let checked = site.run(&["validate"]);
    checked.assert_code(1);
    for (position, text) in [
        ("1:13", "`ntp_server` must map titles to attributes"),
        ("2:1", "Resource type 'Network_vlna' was not found"),
        ("5:8", "unknown attribute of network_vlan"),
        ("7:3", "`30` is declared twice"),
        ("9:32", "\"acces\" is not valid"),
        ("11:1", "Resource type 'Interfaces' was not found"),
    ] {
        checked.assert_contains(text);
        checked.assert_contains(&format!("state/common.yaml:{position}\n"));
    }
    for help in [
        "write `192.0.2.10: {}` below it",
        "did you mean `network_vlan`?",
        "did you mean `vlan_name`?",
        "keep one of them",
        "did you mean `access`?",
    ] {
        checked.assert_contains(help);
    }
    assert!(
        !checked.stdout.contains("DuplicateKeyPolicy"),
        "{checked:?}"
    );

    let site = Site::new(&[("common.yaml", "colors:\n  red: {}\n")]);
    site.run(&["validate"])
        .assert_contains("`switchtender type` lists the types");
}

/// Desired state and manifests are no catalogs; the message has the option for them.
#[test]
fn state_that_is_passed_as_a_catalog_has_a_hint() {
    let site = Site::new(&[("common.yaml", COMMON)]);
    site.write("site.pp", "node default { }\n");
    for (catalog, hint) in [
        ("state", "pass its directory as --state state"),
        ("state/common.yaml", "pass its directory as --state state"),
        ("site.pp", "pass it as --manifest site.pp"),
    ] {
        let output = switchtender(&["plan", "--catalog", catalog])
            .current_dir(site.0.path())
            .output();
        let planned = ProgramOutput::from(output.unwrap());
        planned.assert_code(1);
        planned.assert_contains(hint);
    }
    let drawn = switchtender(&["graph", "state", "sw1"])
        .current_dir(site.0.path())
        .output();
    let drawn = ProgramOutput::from(drawn.unwrap());
    drawn.assert_code(1);
    drawn.assert_contains("switchtender graph --state state DEVICE");
}

/// A mistake in a file of many devices is one finding, except in a report with a test case for each device.
#[test]
fn state_errors_of_a_shared_file_are_listed_once() {
    let site = Site::new(&[("common.yaml", "network_vlan:\n  10: {name: users}\n")]);
    let checked = site.run(&["validate"]);
    checked.assert_code(1);
    let findings = checked.stdout.matches("error[unknown-attribute]").count();
    assert_eq!(findings, 1, "{checked:?}");
    checked.assert_contains("unknown attribute of network_vlan (sw[1-2])\n");
    checked.assert_contains("did you mean `vlan_name`?");
    checked.assert_contains("2 catalogs checked: 1 error\n");
    // The position is shown once.
    assert_eq!(
        checked.stdout.matches("common.yaml").count(),
        1,
        "{checked:?}"
    );
    let report = site.run(&["validate", "--format", "junit"]);
    assert_eq!(report.stdout.matches("<failure").count(), 2, "{report:?}");
}

#[test]
fn state_templates_without_a_value_are_errors() {
    let site = Site::new(&[(
        "common.yaml",
        "network_interface:\n  GigabitEthernet1/0/1:\n    description: \"{{ vars.mto }}\"\nvars: {mtu: 9000}\n",
    )]);
    let checked = site.run(&["validate"]);
    checked.assert_code(1);
    checked.assert_contains("state/common.yaml:3:18");
    checked.assert_contains("cannot render the template: `vars.mto` has no value");
    checked.assert_contains("did you mean `vars.mtu`?");
}

#[test]
fn state_templates_have_facts_offline_from_a_file_or_from_the_last_run() {
    let site = Site::new(&[(
        "common.yaml",
        "network_interface:\n  GigabitEthernet1/0/1:\n    description: \"{{ facts.hostname }}\"\n",
    )]);
    let checked = site.run(&["validate", "--state-dir", "runs"]);
    checked.assert_code(1);
    checked.assert_contains("state/common.yaml:3:18");
    checked.assert_contains("the template needs the facts of the device");
    site.write("facts.json", &json!({"hostname": "core"}).to_string());
    site.run(&["validate", "--facts", "facts.json"])
        .assert_code(0);
    for name in ["sw1", "sw2"] {
        let path = format!("runs/devices/{name}/facts.json");
        let stored = json!({"version": 1, "content": {"hostname": name}});
        site.write(&path, &stored.to_string());
    }
    site.run(&["validate", "--state-dir", "runs"])
        .assert_code(0);
}

#[test]
fn state_errors_and_state_show_mask_secrets_in_clear_text() {
    let secret = format!("{PLANTED}-key");
    let sw1 = format!("tacacs_server:\n  t1:\n    hostname: 192.0.2.20\n    key: {secret}\n");
    let site = Site::new(&[("device/sw1.yaml", &sw1), ("common.yaml", "vrf: {}\n")]);
    let printed = site.run(&["state", "show", "sw1"]);
    printed.assert_code(0);
    printed.assert_contains("key: ••••  # state/device/sw1.yaml:4");
    printed.assert_no_secrets();
    let checked = site.run(&["validate"]);
    checked.assert_contains("clear-secret");
    checked.assert_contains("state/device/sw1.yaml:4:10");
    checked.assert_no_secrets();
    site.write("state/device/sw1.yaml", &format!("{sw1}  - x\n"));
    let checked = site.run(&["validate"]);
    checked.assert_code(1);
    checked.assert_contains("cannot read the file");
    checked.assert_no_secrets();
}

#[test]
fn state_secrets_are_not_read_offline_and_variables_cannot_be_secrets() {
    let community = |name: &str| format!("  {name}: {{name: {{secret: {{env: {name}}}}}}}\n");
    let common = format!(
        "network_snmp:\n  default: {{enable: true}}\nsnmp_community:\n{}{}",
        community("ONE"),
        community("TWO")
    );
    let site = Site::new(&[("common.yaml", &common)]);
    site.run(&["validate"]).assert_code(0);
    site.write(
        "state/common.yaml",
        "vars: {key: {secret: {env: KEY}}}\ntacacs_server:\n  t1: {key: {secret: {envv: KEY}}}\n",
    );
    let checked = site.run(&["validate"]);
    checked.assert_code(1);
    checked.assert_contains("a variable cannot be a secret");
    site.write(
        "state/common.yaml",
        "tacacs_server:\n  t1: {key: {secret: {envv: KEY}}}\n",
    );
    let checked = site.run(&["validate"]);
    checked.assert_code(1);
    checked.assert_contains("`secret` has an invalid source");
    checked.assert_contains("state/common.yaml:2:13");
}

#[test]
fn state_graph_draws_the_resources_of_a_device() {
    let site = Site::new(&[(
        "common.yaml",
        "network_vlan:\n  10: {require: \"Network_vlan[20]\"}\n  20: {}\n",
    )]);
    let graph = site.run(&["graph", "sw1"]);
    graph.assert_code(0);
    graph.assert_contains("Network_vlan[20]");
    site.write(
        "state/common.yaml",
        "network_vlan:\n  10: {require: \"Network_vlan[30]\"}\n",
    );
    let graph = site.run(&["graph", "sw1"]);
    graph.assert_code(1);
    graph.assert_contains("state/common.yaml:2:17");
}

/// Without its table nobody can read the secret: it is known before a connection.
#[test]
fn state_secrets_in_vault_need_its_table() {
    let state = "tacacs_server:\n  t1:\n    key: {secret: {vault: net/sw1, field: key}}\n    key_format: 0\n";
    let site = Site::new(&[("device/sw1.yaml", state)]);
    for command in ["validate", "plan"] {
        let checked = site.run(&[command]);
        assert_ne!(checked.code, Some(0));
        checked.assert_contains("state/device/sw1.yaml:3:");
        checked.assert_contains("the table [vault] is missing");
        checked.assert_contains("add [vault] with the `address` of the server");
    }
    let vault = "[vault]\naddress = \"https://vault.example.com:8200\"\n";
    site.write("inventory.toml", &format!("{INVENTORY}{vault}"));
    site.run(&["validate"]).assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn state_is_applied_with_facts_secrets_and_purge_and_then_plans_nothing() {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some("ntp server 192.0.2.99\n".to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab.environment
        .insert("COMMUNITY".to_owned(), format!("{PLANTED}-community"));
    write_state(
        &lab.path(""),
        &[
            (
                "common.yaml",
                "ntp_server:\n  192.0.2.10: {}\nnetwork_vlan:\n  10: {vlan_name: \"of-{{ facts.hostname }}\"}\npurge: [ntp_server]\n",
            ),
            (
                "device/sw1.yaml",
                "tacacs_server:\n  t1:\n    hostname: 192.0.2.20\n    key: {secret: {env: COMMUNITY}}\n    key_format: 0\n    require: Network_vlan[10]\n",
            ),
        ],
    );
    let arguments = ["apply", "--state", "state", "--output", "json"];
    let ran = lab.run(&arguments).await;
    ran.assert_code(0);
    let configuration = lab.switches["sw1"].running_config();
    assert!(
        configuration.contains("ntp server 192.0.2.10\n"),
        "{configuration}"
    );
    assert!(!configuration.contains("192.0.2.99"), "{configuration}");
    let vlans = lab.switches["sw1"].vlans();
    assert!(
        vlans
            .iter()
            .any(|(id, name, _)| *id == 10 && name == "of-sw1"),
        "{vlans:?}"
    );
    let again = lab
        .run(&["plan", "--state", "state", "--detailed-exitcodes"])
        .await;
    again.assert_code(0);
}

/// Every file of the page is part of one site; its commands print what the page shows.
#[test]
fn state_examples_of_the_page_are_valid() {
    let page = fs::read_to_string("docs/desired-state.md").unwrap();
    let site = Site::new(&[]);
    for part in page.split("<!-- file: ").skip(1) {
        let (name, rest) = part.split_once(" -->\n```").unwrap();
        let (_, rest) = rest.split_once('\n').unwrap();
        let (text, _) = rest.split_once("```").unwrap();
        site.write(name, text);
    }
    let facts = json!({"os": {"version": "16.12"}, "hostname": "sw1"});
    site.write("facts.json", &facts.to_string());
    let checked = site.run(&["validate", "--facts", "facts.json", "--deny", "warnings"]);
    checked.assert_code(0);
    let (_, rest) = page
        .split_once("```console\n$ switchtender state show sw1\n")
        .unwrap();
    let (expected, _) = rest.split_once("```").unwrap();
    let printed = site.run(&["state", "show", "sw1"]);
    printed.assert_code(0);
    assert_eq!(printed.stdout, expected);
}

/// YAML makes numbers of these; the type of the attribute decides what they are.
#[test]
fn state_scalars_are_what_their_attributes_take() {
    let site = Site::new(&[(
        "device/sw1.yaml",
        "network_interface:\n\
         \x20 GigabitEthernet1/0/1: {description: 0x1F, mtu: 0x640}\n\
         \x20 GigabitEthernet1/0/2: {description: 1_000, mtu: 1_700}\n\
         \x20 GigabitEthernet1/0/3: {description: +5, mtu: 1.8e3}\n\
         \x20 GigabitEthernet1/0/4: {description: 0123}\n\
         \x20 GigabitEthernet1/0/5: {description: 1e3}\n\
         \x20 GigabitEthernet1/0/6: {description: true}\n\
         tacacs_server:\n\
         \x20 t1: {hostname: 192.0.2.20, key: 0x1234, key_format: 0}\n\
         \x20 t2: {hostname: 192.0.2.21, key: 13061E010803, key_format: 7}\n",
    )]);
    site.write(
        "running/sw1.cfg",
        "version 16.12\nhostname sw1\naaa new-model\ninterface GigabitEthernet1/0/1\ninterface GigabitEthernet1/0/2\n\
         interface GigabitEthernet1/0/3\ninterface GigabitEthernet1/0/4\ninterface GigabitEthernet1/0/5\n\
         interface GigabitEthernet1/0/6\nend\n",
    );
    let plan = site.run(&["plan", "--target", "sw1", "--running", "running"]);
    plan.assert_code(0);
    for line in [
        "description 0x1F",
        "description 1_000",
        "description +5",
        "description 0123",
        "description 1e3",
        "description true",
        "mtu 1600",
        "mtu 1700",
        "mtu 1800",
    ] {
        plan.assert_contains(line);
    }
    let commands = plan.text();
    for text in ["13061E010803", "0x1234", "4660"] {
        assert!(!commands.contains(text), "{commands}");
    }
}

#[test]
fn state_scalars_with_several_meanings_are_errors_without_the_value() {
    let site = Site::new(&[(
        "device/sw1.yaml",
        "network_interface:\n  GigabitEthernet1/0/1: {mtu: 01500}\n",
    )]);
    let found = site.run(&["validate"]);
    found.assert_code(1);
    found.assert_contains("device/sw1.yaml:2:");
    found.assert_contains("put it in quotation marks");
}

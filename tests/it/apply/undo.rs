//! `undo`: the configuration before a run is restored, or what is not is named.

mod after_failure;
mod exceptions;
mod side_effects;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use switchtender_mutation::sample;
use test_support::catalog::{example, resource, sensitive, vlan};
use test_support::lab::{Lab, switch_options};
use test_support::program;

use super::load_balancer_types;
use exceptions::EXCEPTIONS;

/// The lines of the configuration of a mock with the blocks around them, sorted: some lines return at another
/// place.
pub(super) fn configuration(lab: &Lab, device: &str) -> Vec<String> {
    let text = match lab.switches.get(device) {
        Some(switch) => format!("{}{:#?}", switch.running_config(), switch.vlans()),
        None => lab.load_balancers[device].configuration(),
    };
    let mut blocks: Vec<(usize, &str)> = Vec::new();
    let mut lines = Vec::new();
    // What only divides blocks is no line.
    let divides = |line: &str| ["!", "exit-address-family"].contains(&line.trim());
    for line in text.lines().filter(|line| !divides(line)) {
        let depth = line.len() - line.trim_start().len();
        blocks.retain(|(other, _)| *other < depth);
        blocks.push((depth, line.trim()));
        let path: Vec<&str> = blocks.iter().map(|(_, text)| *text).collect();
        lines.push(path.join(" / "));
    }
    lines.sort();
    lines
}

/// Undoes the last run. The device then has the configuration from before, or the undo is refused and nothing is sent.
/// Returns whether it has.
pub(super) async fn restores(lab: &Lab, device: &str, before: &[String]) -> bool {
    let undone = undone(lab, device, before).await;
    undone.unwrap_or_else(|problem| panic!("{problem}"))
}

/// The same; an error says what is wrong.
async fn undone(lab: &Lab, device: &str, before: &[String]) -> Result<bool, String> {
    let undo = [
        "undo",
        "--last",
        "--yes",
        "--output",
        "json",
        "--detailed-exitcodes",
        "--allow",
        "own-path",
    ];
    let report = lab.report(device);
    let changed = changed_types(&report);
    let left = configuration(lab, device);
    lab.log(device).clear();
    let ran = lab.run(&undo).await;
    let after = configuration(lab, device);
    if ran.code == Some(1) {
        let sent = writes(lab, device);
        let is_explained = ran.text().contains("nothing was changed: ");
        return if after == left && sent.is_empty() && is_explained {
            Ok(false)
        } else {
            Err(format!("refused, and sent {sent:#?}\n{}", ran.text()))
        };
    }
    let only = |sign: &str, one: &[String], other: &[String]| -> Vec<String> {
        let lines = one.iter().filter(|line| !other.contains(line));
        lines.map(|line| format!("{sign} {line}")).collect()
    };
    let differences = [only("-", before, &after), only("+", &after, before)].concat();
    let is_exception = |text: &String| {
        let mut exceptions = EXCEPTIONS.iter();
        exceptions.any(|one| changed.contains(one.changed_type) && one.has(text))
            || text.strip_prefix("+ ").is_some_and(|line| {
                let message = format!("the undo has left `{line}` in the configuration");
                ran.text().contains(&message)
            })
    };
    let unexpected: Vec<&String> = differences
        .iter()
        .filter(|text| !is_exception(text))
        .collect();
    if unexpected.is_empty() && [Some(0), Some(2)].contains(&ran.code) {
        Ok(true)
    } else {
        Err(format!("{unexpected:#?}\n{}", ran.text()))
    }
}

/// What was sent to change a device.
fn writes(lab: &Lab, device: &str) -> Vec<String> {
    let log = lab.log(device);
    if lab.switches.contains_key(device) {
        log.configuration_lines()
    } else {
        log.writes()
    }
}

/// The types whose resources a run has changed.
fn changed_types(report: &Value) -> BTreeSet<&str> {
    let statuses = report["resource_statuses"].as_object().expect("a report");
    let changed = statuses
        .iter()
        .filter(|(_, status)| status["changed"] == true);
    let types = changed.filter_map(|(reference, _)| reference.split('[').next());
    types.collect()
}

/// What a device does not show before a run, it has with default values: they stay.
#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_created_block_keeps_the_defaults() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let console = json!({"exec_timeout": [5, 0]});
    let enabled = json!({"description": "desk"});
    let disabled = json!({"enable": false});
    lab.write_resources(
        "sw1",
        &[
            resource("Ios_line", "con 0", console),
            resource("Network_interface", "Loopback8", disabled),
            resource("Network_interface", "Loopback9", enabled),
        ],
    );
    let runs = lab.run(&["undo"]).await;
    runs.assert_contains("no run is stored that can be undone");
    lab.run(&["apply"]).await.assert_code(0);
    let log = lab.log("sw1");
    log.clear();
    let runs = lab.run(&["undo"]).await;
    let row: Vec<&str> = runs
        .stdout
        .lines()
        .nth(1)
        .unwrap()
        .split_whitespace()
        .collect();
    assert_eq!(row[1..], ["sw1", "5"], "{runs:?}");
    assert!(!runs.text().contains("undo of"), "{}", runs.text());
    let text = runs.text();
    let run = text.split_whitespace().find(|word| word.ends_with('Z'));
    let run = run.unwrap().to_owned();
    lab.run(&["undo", "--last", "--yes"]).await.assert_code(0);
    let runs = lab.run(&["undo"]).await;
    runs.assert_contains(&format!("  {run}\n"));
    assert_eq!(
        log.configuration_lines(),
        [
            "interface Loopback9",
            "no description",
            "interface Loopback8",
            "no shutdown",
            "line con 0",
            "no exec-timeout",
            "no interface Loopback8",
            "no interface Loopback9",
        ]
    );
}

/// The automatic requirement of a list would place `no aaa new-model` before the removal of the list,
/// which the device then refuses.
#[tokio::test(flavor = "multi_thread")]
async fn undo_is_in_the_reverse_order_of_the_changes() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let before = configuration(&lab, "sw1");
    let list = json!({"ensure": "present", "authorization_list": "default", "local": true});
    lab.write_resources(
        "sw1",
        &[
            resource("Ios_aaa_new_model", "default", json!({"enable": true})),
            resource("Ios_aaa_authorization", "exec default", list),
        ],
    );
    lab.run(&["apply", "--allow", "own-path"])
        .await
        .assert_code(0);
    let log = lab.log("sw1");
    log.clear();
    lab.run(&["undo", "--last", "--yes", "--allow", "own-path"])
        .await
        .assert_code(0);
    let sent = log.configuration_lines();
    assert_eq!(
        sent,
        ["no aaa authorization exec default", "no aaa new-model"]
    );
    assert_eq!(configuration(&lab, "sw1"), before);
}

/// The undo sets values of an instance, and then removes the block that a run created.
#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_created_block_and_its_values_is_complete() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let before = configuration(&lab, "sw1");
    let address = json!({"ipv4_address": "192.0.2.1", "ipv4_mask": "255.255.255.0"});
    let described = json!({"enable": true, "description": "users"});
    lab.write_resources(
        "sw1",
        &[
            vlan(20, "users"),
            resource("Ios_ip_interface", "Vlan20", address),
            resource("Network_interface", "Vlan20", described),
        ],
    );
    lab.run(&["apply"]).await.assert_code(0);
    lab.run(&["undo", "--last", "--yes"]).await.assert_code(0);
    assert_eq!(configuration(&lab, "sw1"), before);
}

/// The undo reads more of a virtual server than the run did: what it adds is no change since the run.
#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_change_of_a_virtual_server_restores_it() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let server = |name: &str, description: &str| {
        let attributes = json!({
            "ensure": "present",
            "provider": "standard",
            "protocol": "tcp",
            "destination_address": "203.0.113.80",
            "service_port": if name == "a" { 80 } else { 443 },
            "description": description,
        });
        resource("F5_virtualserver", &format!("/Common/{name}"), attributes)
    };
    let empty = configuration(&lab, "lb1");
    lab.write_resources("lb1", &[server("a", "one"), server("b", "one")]);
    lab.run(&["apply"]).await.assert_code(0);
    lab.run(&["undo", "--last", "--yes"]).await.assert_code(0);
    assert_eq!(configuration(&lab, "lb1"), empty);
    lab.run(&["apply"]).await.assert_code(0);
    let before = configuration(&lab, "lb1");
    lab.write_resources("lb1", &[server("a", "two"), server("b", "one")]);
    lab.run(&["apply"]).await.assert_code(0);
    lab.run(&["undo", "--last", "--yes"]).await.assert_code(0);
    assert_eq!(configuration(&lab, "lb1"), before);
}

/// A server leaves its VRF before the VRF is removed, so that the undo restores the VRF first.
#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_removed_vrf_restores_it_before_its_users() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let resources = |ensure: &str| {
        let in_vrf = json!({"ensure": ensure, "vrf": "RED"});
        vec![
            resource("Vrf", "RED", json!({"ensure": ensure})),
            resource("Syslog_server", "192.0.2.20", in_vrf.clone()),
            resource("Ntp_server", "192.0.2.21", in_vrf),
        ]
    };
    lab.write_resources("sw1", &resources("present"));
    lab.run(&["apply"]).await.assert_code(0);
    let before = configuration(&lab, "sw1");
    lab.write_resources("sw1", &resources("absent"));
    lab.run(&["apply"]).await.assert_code(0);
    lab.run(&["undo", "--last", "--yes"]).await.assert_code(0);
    assert_eq!(configuration(&lab, "sw1"), before);
}

/// A switch with two VLANs and an interface.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(
            "vlan 10\n name one\nvlan 66\n name gone\n\
             interface GigabitEthernet1/0/1\n description old\n no shutdown\n"
                .to_owned(),
        ),
        ..switch_options("sw1")
    })
    .await;
    let absent = json!({"ensure": "absent"});
    let desk = json!({"enable": true, "description": "desk"});
    lab.write_resources(
        "sw1",
        &[
            vlan(10, "users"),
            vlan(20, "voice"),
            resource("Network_vlan", "66", absent),
            resource("Network_interface", "GigabitEthernet1/0/1", desk),
        ],
    );
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_restores_and_can_be_undone() {
    let lab = lab().await;
    let before = configuration(&lab, "sw1");
    lab.apply().await.assert_code(2);
    let after = configuration(&lab, "sw1");
    // The plan and the question: without a terminal, nothing is changed.
    lab.log("sw1").clear();
    let unconfirmed = lab.run(&["undo", "--last"]).await;
    unconfirmed.assert_code(1);
    unconfirmed.assert_contains("\n    > no vlan 20\n");
    unconfirmed.assert_contains("nothing was changed: there is no terminal to ask");
    let planned = lab.run(&["undo", "--last", "--plan"]).await;
    planned.assert_code(0);
    planned.assert_contains("\n    > vlan 66\n    >  name gone\n");
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);

    assert!(restores(&lab, "sw1", &before).await);
    let report = lab.report("sw1");
    assert_eq!(report["status"], "changed");
    // The undo is the last run.
    assert!(restores(&lab, "sw1", &after).await);
    let listed = lab.run(&["undo", "--output", "json"]).await;
    let runs = listed.objects();
    assert_eq!(runs.len(), 3, "{}", listed.text());
    assert_eq!(runs[0]["devices"], json!({"sw1": 4}));
    // The first run is undone by its name: nothing changed since.
    let first = runs[2]["run"].as_str().unwrap();
    let text = lab.run(&["undo"]).await;
    text.assert_contains(&format!("{first}  sw1 "));
    lab.run(&["undo", first, "--yes"]).await.assert_code(0);
    assert_eq!(configuration(&lab, "sw1"), before);
    // A second time there is nothing to do.
    let again = ["undo", first, "--yes", "--detailed-exitcodes"];
    lab.run(&again).await.assert_code(0);
    let unknown = lab.run(&["undo", "20200101T000000.000Z", "--yes"]).await;
    unknown.assert_code(1);
    unknown.assert_contains("no selected device has changes of the run 20200101T000000.000Z");
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_leaves_what_changed_since() {
    let lab = lab().await;
    lab.apply().await.assert_code(2);
    let runs = lab.run(&["undo", "--output", "json"]).await.objects();
    let first = runs[0]["run"].as_str().unwrap().to_owned();
    // Another run changes one resource and creates a removed one.
    lab.write_resources("sw1", &[vlan(10, "staff"), vlan(66, "new")]);
    lab.apply().await.assert_code(2);
    lab.log("sw1").clear();
    for arguments in [["undo", &first, "--plan"], ["undo", &first, "--yes"]] {
        let refused = lab.run(&arguments).await;
        refused.assert_code(1);
        for text in [
            "Network_vlan[10]",
            "cannot undo it: vlan_name changed since the run",
            "Network_vlan[66]",
            "cannot undo it: it was created since the run",
        ] {
            refused.assert_contains(text);
        }
    }
    let vlans = lab.switches["sw1"].vlans();
    let names: Vec<&str> = vlans.iter().map(|(_, name, _)| &**name).collect();
    assert!(
        names.contains(&"staff") && names.contains(&"new"),
        "{names:?}"
    );
    assert!(!names.contains(&"voice"), "{names:?}");
    let config = lab.switches["sw1"].running_config();
    assert!(config.contains("description old"), "{config}");
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_an_applied_plan_restores_all_devices() {
    let mut lab = lab().await;
    lab.add_load_balancer("lb1", &[]).await;
    let zone = json!({"timezone": "UTC"});
    lab.write_resources("lb1", &[resource("F5_ntp", "/Common/ntp", zone)]);
    let before = ["sw1", "lb1"].map(|device| configuration(&lab, device));
    for arguments in [
        &["plan", "--save", "change.plan"][..],
        &["apply", "change.plan"],
    ] {
        lab.run(arguments).await.assert_code(0);
    }
    lab.run(&["undo", "change.plan", "--yes"])
        .await
        .assert_code(0);
    assert_eq!(
        ["sw1", "lb1"].map(|device| configuration(&lab, device)),
        before
    );
    lab.run(&["plan", "--save", "other.plan"])
        .await
        .assert_code(0);
    let other = lab.run(&["undo", "other.plan", "--yes"]).await;
    other.assert_code(1);
    other.assert_contains("no selected device has changes of the plan");
}

/// Old secrets are not stored: what needs one is named, in the plan, too.
#[tokio::test(flavor = "multi_thread")]
async fn undo_names_the_secrets_that_it_does_not_have() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let key = |password: &str| {
        let key =
            json!({"ensure": "present", "algorithm": "md5", "mode": "0", "password": password});
        vec![
            sensitive(resource("Ntp_auth_key", "42", key), &["password"]),
            vlan(10, password.trim_start_matches("s3cret-")),
        ]
    };
    lab.write_resources("sw1", &key("s3cret-one"));
    lab.apply().await.assert_code(2);
    lab.write_resources("sw1", &key("s3cret-two"));
    let reason = "password: its old value is a secret and is not stored";
    let planned = lab.run(&["plan"]).await;
    planned.assert_contains("\n  cannot be undone:\n  Ntp_auth_key[42]\n");
    planned.assert_contains(&format!("    not restored: {reason}\n"));
    lab.run(&["plan", "--save", "change.plan"])
        .await
        .assert_code(0);
    let file = lab.path("change.plan").display().to_string();
    let printed = program::run(&["plan", "show", &file]);
    printed.assert_contains("\n  cannot be undone:\n  Ntp_auth_key[42]\n");
    printed.assert_contains(&format!("    not restored: {reason}\n"));
    let json = lab.run(&["plan", "--output", "json"]).await;
    let expected = json!([{"resource": "Ntp_auth_key[42]", "reasons": [reason]}]);
    assert_eq!(json.device("sw1")["cannot_be_undone"], expected);
    let page = lab.run(&["plan", "--output", "html"]).await;
    assert!(page.stdout.contains(reason), "{}", page.stdout);
    lab.apply().await.assert_code(2);
    lab.log("sw1").clear();
    let named = format!("Ntp_auth_key[42]: not restored: {reason}");
    for option in ["--plan", "--yes"] {
        let refused = lab.run(&["undo", "--last", option]).await;
        refused.assert_code(1);
        refused.assert_contains(&named);
        refused.assert_contains("undo the rest with `--allow incomplete-undo`");
    }
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
    let allowed = ["undo", "--last", "--yes", "--allow", "incomplete-undo"];
    let undone = lab.run(&allowed).await;
    undone.assert_code(0);
    undone.assert_contains(&named);
    let vlans = lab.switches["sw1"].vlans();
    assert!(vlans.iter().any(|(_, name, _)| name == "one"), "{vlans:?}");
    let config = lab.switches["sw1"].running_config();
    assert!(config.contains("ntp authentication-key 42"), "{config}");
    for (path, text) in lab.files("state") {
        assert!(!text.contains("s3cret"), "{}: {text}", path.display());
    }
}

/// A later run cannot name what it would remove: the plan says so.
#[tokio::test(flavor = "multi_thread")]
async fn undo_names_an_instance_whose_name_is_a_secret() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let community = json!({"ensure": "present", "name": "s3cret-one", "group": "RO"});
    let community = sensitive(
        resource("Snmp_community", "monitoring", community),
        &["name"],
    );
    lab.write_resources("sw1", &[community, vlan(10, "one")]);
    let planned = lab.run(&["plan", "--output", "json", "--show-undo"]).await;
    let reason = "name: its value is a secret and is not stored";
    let planned = planned.device("sw1");
    let expected = json!([{"resource": "Snmp_community[monitoring]", "reasons": [reason]}]);
    assert_eq!(planned["cannot_be_undone"], expected);
    let undo = planned["undo"].to_string();
    assert!(undo.contains("no vlan 10"), "{undo}");
    assert!(!undo.contains("snmp-server"), "{undo}");
    lab.apply().await.assert_code(2);
    let undone = lab.run(&["undo", "--last", "--yes"]).await;
    undone.assert_code(1);
    undone.assert_contains(&format!(
        "Snmp_community[monitoring]: not restored: {reason}"
    ));
    let config = lab.switches["sw1"].running_config();
    assert!(
        config.contains("snmp-server community s3cret-one RO"),
        "{config}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_restores_every_type_of_a_load_balancer() {
    let lab = load_balancer_types::lab().await;
    let all = [
        load_balancer_types::secrets(),
        load_balancer_types::others(),
    ];
    let mut problems = Vec::new();
    let (mut restored, mut undone_runs) = (0, 0);
    for (number, resource) in all.concat().into_iter().enumerate() {
        let before = configuration(&lab, "lb1");
        lab.write_resources("lb1", std::slice::from_ref(&resource));
        if lab.apply().await.device("lb1")["status"] == "unchanged" || !sample::has_case(number) {
            continue;
        }
        undone_runs += 1;
        match undone(&lab, "lb1", &before).await {
            Ok(is_restored) => restored += usize::from(is_restored),
            Err(problem) => problems.push(format!("{resource}: {problem}")),
        }
        lab.apply().await;
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let exceptions = undone_runs - restored;
    assert!(
        undone_runs > 10 && exceptions <= 2,
        "{exceptions} of {undone_runs} are not restored"
    );
}

/// The examples of the documentation, on one device of each platform with a mock of its own.
#[tokio::test(flavor = "multi_thread")]
async fn undo_restores_the_example() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_catalog("sw1", &example("sw1"));
    let before = configuration(&lab, "sw1");
    lab.apply().await.assert_code(2);
    assert!(restores(&lab, "sw1", &before).await);
}

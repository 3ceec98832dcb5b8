//! Types of a switch from nothing to nothing: created, changed, left in sync, removed. The types and
//! what a switch then has are in case files.

mod users;

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use switchtender_mutation::sample;

use test_support::lab::{Lab, switch_options};
use test_support::program::ProgramOutput;

use super::case_file::{self, resources};
use super::undo;

const FOLDER: &str = "tests/it/apply/life_cycle";

/// A switch, and its catalogs one after another.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    model: Option<String>,
    config: String,
    /// What the lines about the types begin with.
    about: Vec<String>,
    step: Vec<Step>,
}

/// What a catalog wants, and the lines that a switch then has about it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(default)]
    lines: String,
    resources: toml::Table,
}

macro_rules! cases {
    ($($name:ident)*) => {
        const CASES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                follow(stringify!($name)).await;
            }
        )*
    };
}

cases! {
    aaa_lists
    authentication_and_discovery
    bgp
    bgp_for_ipv6_and_in_vrfs
    campus_switches
    crypto
    eigrp_and_lists_of_bgp
    ethernet_interfaces
    global_lines
    ip_interfaces
    is_is_named_eigrp_and_rip
    lines
    lists_and_their_entries
    mpls_and_multicast
    names
    nhrp_vrfs_and_further_options
    notification_receivers
    notifications
    options_of_bgp_and_further_families
    policies_and_addresses
    ports
    radius_groups_and_attributes
    redistributions
    routes_and_ospf
    services_and_the_web_server
    settings_of_the_device
    texts_of_lists
    the_authentication_of_hsrp
    the_spanning_tree
    the_spanning_tree_with_types_of_ports
    users_of_snmp_v2c
    vtp
}

#[test]
fn life_cycles_are_those_of_the_files() {
    assert_eq!(case_file::names(FOLDER), CASES);
}

/// Applies the catalogs one after another, and each once more without a change. A sample of them is undone and
/// applied again with a stored plan. Then each resource is removed alone, and that is undone.
async fn follow(name: &str) {
    let text = fs::read_to_string(Path::new(FOLDER).join(format!("{name}.toml"))).unwrap();
    let case: Case = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
    let model = case.model.as_deref();
    let lab = switch(&case.config, model).await;
    for (number, step) in case.step.iter().enumerate() {
        let assert_lines = |ran: &ProgramOutput| {
            let running_config = lab.switches["sw1"].running_config();
            let lines = about(&running_config, &case.about);
            assert_eq!(lines, step.lines, "{}", ran.text());
        };
        let resources = resources(&step.resources);
        lab.write_resources("sw1", &resources);
        let before = undo::configuration(&lab, "sw1");
        let ran = apply(&lab).await;
        ran.assert_code(2);
        assert_lines(&ran);
        if sample::has_case(number) {
            let is_restored = undo::restores(&lab, "sw1", &before).await;
            let ran = apply_stored_plan(&lab).await;
            if is_restored {
                ran.assert_code(2);
            }
            assert_lines(&ran);
        }
        let ran = apply(&lab).await;
        ran.assert_code(0);
        let sent = &ran.device("sw1")["counts"]["operations"];
        assert_eq!(sent, 0, "{}", ran.text());
        undo_removals(&lab, model, number, &resources).await;
    }
}

/// Removes each resource of a step alone from a switch with the same configuration, and undoes that. The switch has
/// what depends on the resource, too.
async fn undo_removals(of: &Lab, model: Option<&str>, number: usize, resources: &[Value]) {
    let is_removable = |resource: &&Value| resource["parameters"]["ensure"] != "absent";
    for (index, resource) in (0..).zip(resources.iter().filter(is_removable)) {
        if !sample::has_case(number + index + 1) {
            continue;
        }
        let config = of.switches["sw1"].running_config();
        let lab = switch(&config, model).await;
        let mut absent = resource.clone();
        absent["parameters"] = json!({"ensure": "absent"});
        lab.write_resources("sw1", &[absent]);
        let before = undo::configuration(&lab, "sw1");
        // Not every type has a removal.
        if apply(&lab).await.code == Some(2) {
            undo::restores(&lab, "sw1", &before).await;
        }
    }
}

/// A laboratory with a switch.
async fn switch(config: &str, model: Option<&str>) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        model: model.map(str::to_owned),
        ..switch_options("sw1")
    })
    .await;
    lab
}

/// Saves a plan and applies it.
async fn apply_stored_plan(lab: &Lab) -> ProgramOutput {
    lab.run(&["plan", "--save", "step.plan", "--allow", "own-path"])
        .await
        .assert_code(0);
    let apply = [
        "apply",
        "step.plan",
        "--output",
        "json",
        "--detailed-exitcodes",
        "--allow",
        "own-path",
    ];
    lab.run(&apply).await
}

/// Applies the catalogs, also to what the session uses.
async fn apply(lab: &Lab) -> ProgramOutput {
    let arguments = ["--detailed-exitcodes", "--allow", "own-path"];
    lab.run(&[&["apply", "--output", "json"], &arguments[..]].concat())
        .await
}

/// The lines that begin with one of the words, with the lines below them.
fn about(config: &str, words: &[String]) -> String {
    let mut is_inside = false;
    let lines = config.lines().filter(|line| {
        if !line.starts_with(' ') {
            let line = line.strip_prefix("no ").unwrap_or(line);
            is_inside = words.iter().any(|word| line.starts_with(word));
        }
        is_inside
    });
    lines.map(|line| format!("{line}\n")).collect()
}

//! Types of a switch from nothing to nothing: created, changed, left in sync, removed.

mod aaa;
mod access;
mod access_lists;
mod bgp;
mod global;
mod list_texts;
mod redistribution;
mod routing;
mod snmp;
mod spanning_tree;
mod users;
mod vtp;

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use switchtender_mutation::sample;

use test_support::lab::{Lab, switch_options};
use test_support::program::ProgramOutput;

use super::undo;

/// What a catalog wants, and the lines that a switch then has about it.
struct Step {
    resources: Vec<Value>,
    lines: &'static [&'static str],
}

/// A switch with types of spanning-tree ports.
const PORT_TYPES: &str = "WS-C2960X-48FPS-L";

/// Applies the catalogs one after another, and each once more without a change. A sample of them is undone and
/// applied again with a stored plan. Then each resource is removed alone, and that is undone.
///
/// `words`: what the lines about the types begin with.
async fn follow(config: &str, words: &[&str], steps: Vec<Step>) {
    follow_on(None, config, words, steps).await;
}

/// The same on a model.
async fn follow_on(model: Option<&str>, config: &str, words: &[&str], steps: Vec<Step>) {
    let lab = switch(config, model).await;
    for (number, step) in steps.iter().enumerate() {
        let assert_lines = |ran: &ProgramOutput| {
            let running_config = lab.switches["sw1"].running_config();
            assert_eq!(about(&running_config, words), step.lines, "{}", ran.text());
        };
        lab.write_resources("sw1", &step.resources);
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
        undo_removals(&lab, model, number, step).await;
    }
}

/// Removes each resource of a step alone from a switch with the same configuration, and undoes that. The switch has
/// what depends on the resource, too.
async fn undo_removals(of: &Lab, model: Option<&str>, number: usize, step: &Step) {
    let is_removable = |resource: &&Value| resource["parameters"]["ensure"] != "absent";
    for (index, resource) in (0..).zip(step.resources.iter().filter(is_removable)) {
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
fn about<'c>(config: &'c str, words: &[&str]) -> Vec<&'c str> {
    let mut is_inside = false;
    let lines = config.lines().filter(|line| {
        if !line.starts_with(' ') {
            let line = line.strip_prefix("no ").unwrap_or(line);
            is_inside = words.iter().any(|word| line.starts_with(word));
        }
        is_inside
    });
    lines.collect()
}

//! Types of a switch from nothing to nothing: created, changed, left in sync, removed.

mod aaa;
mod access;
mod global;
mod routing;
mod snmp;
mod spanning_tree;

use serde_json::Value;
use switchtender_mocks::SwitchOptions;

use test_support::lab::{Lab, switch_options};

/// What a catalog wants, and the lines that a switch then has about it.
struct Step {
    resources: Vec<Value>,
    lines: &'static [&'static str],
}

/// Applies the catalogs one after another, each twice.
///
/// `words`: what the lines about the types begin with.
async fn follow(config: &str, words: &[&str], steps: Vec<Step>) {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    for step in steps {
        lab.write_resources("sw1", &step.resources);
        let ran = lab.apply().await;
        ran.assert_code(2);
        let running_config = lab.switches["sw1"].running_config();
        assert_eq!(about(&running_config, words), step.lines, "{}", ran.text());
        let ran = lab.apply().await;
        ran.assert_code(0);
        assert_eq!(
            ran.device("sw1")["counts"]["operations"],
            0,
            "{}",
            ran.text()
        );
    }
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

//! `kill -9` at a random command of a protected run. After its timer the device has the configuration from
//! before or the planned one, and the next run reports which.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use switchtender_mutation::Dice;
use test_support::catalog::resource;
use test_support::lab::{Lab, parsed, switch_options};

use super::kills;

/// The time after which the device reloads, in the platform's definition. A timed revert is earlier.
const TIMER: Duration = Duration::from_secs(600);
const MAX_PORTS: usize = 8;
/// The end of the message about a run that ended early.
const BEFORE: &str = "the device has the configuration from before it";
const CHANGED: &str = "its changes, or later ones, are on the device";

fn port(number: usize) -> Value {
    let desired = json!({"enable": true, "description": format!("desk {number}")});
    resource(
        "Network_interface",
        &format!("GigabitEthernet1/0/{number}"),
        desired,
    )
}

/// A protected switch with ports that the catalog changes. It reloads if it has no archive for a timed revert.
async fn lab(ports: usize, reloads: bool, faults: &[&str]) -> Lab {
    let mut lab = Lab::new();
    let config =
        (1..=ports).map(|number| format!("interface GigabitEthernet1/0/{number}\n no shutdown\n"));
    let archive = if reloads {
        ""
    } else {
        "archive\n path flash:before\n"
    };
    let config = archive.to_owned() + &config.collect::<String>();
    let options = SwitchOptions {
        config: Some(config),
        faults: parsed(faults),
        ..switch_options("sw1")
    };
    lab.add_switch_with(options).await;
    lab.configure("sw1", "protect = \"required\"\nprotect_by_reload = true");
    let resources: Vec<Value> = (1..=ports).map(port).collect();
    lab.write_resources("sw1", &resources);
    lab
}

/// A run that is not killed: the number of its commands, and the configuration that it leaves.
async fn reference(ports: usize, reloads: bool) -> (usize, String) {
    let lab = lab(ports, reloads, &[]).await;
    lab.apply().await.assert_code(2);
    let exchanges = lab.log("sw1").exchanges().into_iter();
    // A password is no command, nor is the answer to a question.
    let commands =
        exchanges.filter(|exchange| !["password", "answer"].contains(&exchange.mode.as_str()));
    (commands.count(), lab.switches["sw1"].running_config())
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_of_a_protected_run_end_with_its_timer() {
    let mut dice = Dice(0x9e37_79b9);
    let mut references = BTreeMap::new();
    let (mut before_count, mut planned_count) = (0, 0);
    for kill in 0..kills() {
        let ports = 1 + dice.below(MAX_PORTS);
        let reloads = dice.below(2) == 0;
        if let Entry::Vacant(entry) = references.entry((ports, reloads)) {
            entry.insert(reference(ports, reloads).await);
        }
        let (commands, planned) = &references[&(ports, reloads)];
        let at = dice.below(*commands);
        let is_executed = dice.below(2) == 0;
        let title = format!(
            "kill {kill}: command {at} of {ports} ports, reload: {reloads}, executed: {is_executed}"
        );

        let lab = lab(ports, reloads, &[&format!("busy={at}")]).await;
        let switch = &lab.switches["sw1"];
        let before = switch.running_config();
        let mut child = lab.command(&["apply"]).spawn().unwrap();
        switch.wait_for_deferred().await;
        child.kill().await.unwrap();
        switch.clear_faults();
        if is_executed {
            switch.resume();
        }
        switch.advance_clock(TIMER);
        let config = switch.running_config();
        let is_before = config == before;
        assert!(is_before || config == *planned, "{title}: {config}");
        assert!(!switch.is_revert_pending(), "{title}");
        *(if is_before {
            &mut before_count
        } else {
            &mut planned_count
        }) += 1;

        let files = lab.files("state");
        let is_recorded = files
            .iter()
            .any(|(path, _)| path.ends_with("protected-run.json"));
        let next = lab.apply().await;
        assert!(matches!(next.code, Some(0 | 2)), "{title}: {}", next.text());
        let is_reported = |text: &str| next.text().contains(&format!("ended early: {text}"));
        assert_eq!(
            is_reported(BEFORE),
            is_recorded && is_before,
            "{title}: {}",
            next.text()
        );
        assert_eq!(
            is_reported(CHANGED),
            is_recorded && !is_before,
            "{title}: {}",
            next.text()
        );
        let received = lab.log("sw1").received();
        let start = if reloads {
            "reload in"
        } else {
            "configure terminal revert"
        };
        let started = received.iter().filter(|line| line.starts_with(start));
        let is_changed = next.device("sw1")["status"] == "changed";
        assert_eq!(is_changed, is_before, "{title}: {}", next.text());
        assert!(started.count() >= usize::from(is_recorded), "{title}");
        assert_eq!(switch.running_config(), *planned, "{title}");
    }
    println!("kills of protected runs: {before_count} as before, {planned_count} as planned");
}

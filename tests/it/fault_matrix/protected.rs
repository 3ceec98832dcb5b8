//! Protected runs: every fault of the switch at every command, from the start of the timer to its end.
//!
//! The verdict of a run must be what the device has, nothing stays armed, and a device without a fault in
//! the same run has its changes. `SWITCHTENDER_FAULTS` selects the cases as in the other matrix.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use switchtender_mocks::fault::{ArgumentFormat, FAULTS, FaultKind, MockKind};
use test_support::catalog::resource;
use test_support::lab::{Lab, parsed, switch_options};
use tokio::task::JoinSet;

/// The time after which the device reverts, in the platform's definition.
const TIMER: Duration = Duration::from_secs(300);
const CONFIG: &str = "archive\n path flash:before\ninterface GigabitEthernet1/0/1\n no shutdown\n";
const CHANGED: &str = " description desk\n";
const BEGIN: &str = "configure terminal revert";
const CONFIRM: &str = "configure confirm";
/// Devices with a fault in one run.
const BATCH: usize = 48;
const SHORT: &str = "command_timeout = \"2s\"\ncommand_limit = \"6s\"";

/// A fault at one command.
struct ProtectedCase {
    policy: &'static str,
    phase: &'static str,
    name: &'static str,
    fault: String,
}

impl ProtectedCase {
    fn title(&self) -> String {
        format!("{} {} {}", self.policy, self.phase, self.fault)
    }
}

async fn add(lab: &mut Lab, device: &str, policy: &str, faults: &[&str]) {
    let options = SwitchOptions {
        faults: parsed(faults),
        config: Some(CONFIG.to_owned()),
        ..switch_options(device)
    };
    lab.add_switch_with(options).await;
    lab.configure(device, &format!("protect = \"{policy}\""));
    let desired = json!({"enable": true, "description": "desk"});
    lab.write_resources(
        device,
        &[resource(
            "Network_interface",
            "GigabitEthernet1/0/1",
            desired,
        )],
    );
}

/// The phase of each command of a run without faults, until the timer has ended.
async fn phases(policy: &str) -> Vec<Option<&'static str>> {
    let mut lab = Lab::new();
    add(&mut lab, "sw1", policy, &[]).await;
    lab.apply().await.assert_code(2);
    let mut exchanges = lab.log("sw1").exchanges();
    // A password is no command.
    exchanges.retain(|exchange| exchange.mode != "password");
    let position = |line: &str| {
        let mut lines = exchanges.iter().map(|exchange| &exchange.received);
        lines
            .position(|received| received.starts_with(line))
            .expect(line)
    };
    let (begin, change, confirm) = (position(BEGIN), position("interface "), position(CONFIRM));
    let last_change = position("description desk");
    let until = exchanges.iter().take(confirm + 2).enumerate();
    until
        .map(|(number, exchange)| match number {
            _ if number < begin => None,
            _ if exchange.connection > 1 => Some("login"),
            _ if number < change => Some("arm"),
            _ if number <= last_change => Some("change"),
            _ if number < confirm => Some("verify"),
            _ => Some("confirm"),
        })
        .collect()
}

async fn cases() -> Vec<ProtectedCase> {
    let rows = FAULTS.iter().filter(|row| {
        let format = matches!(
            row.argument,
            ArgumentFormat::Once | ArgumentFormat::Each | ArgumentFormat::EachWithText
        );
        format && row.is_supported_by(MockKind::Switch)
    });
    let rows: Vec<_> = rows.collect();
    let mut cases = Vec::new();
    for policy in ["auto", "required"] {
        let phases = phases(policy).await;
        for (number, phase) in phases.iter().enumerate() {
            let Some(phase) = *phase else { continue };
            let case = |name, fault| ProtectedCase {
                policy,
                phase,
                name,
                fault,
            };
            for row in &rows {
                // A device that is cut off after its confirmation stays so.
                if row.kind == FaultKind::CutOff && phase == "confirm" {
                    continue;
                }
                cases.push(case(row.name, format!("{}={number}", row.name)));
            }
        }
        cases.push(ProtectedCase {
            policy,
            phase: "login",
            name: "login-refused-at",
            fault: "login-refused-at=2".to_owned(),
        });
    }
    cases
}

/// What contradicts the state of the device.
fn wrong(lab: &Lab, device: &str, before: &str, end: Option<&Value>) -> Option<String> {
    let switch = &lab.switches[device];
    let after = switch.running_config();
    let Some(end) = end else {
        return Some("it did not end".to_owned());
    };
    let is_changed = after.contains(CHANGED);
    let status = end["status"].as_str().unwrap_or_default();
    let verdict = end["protection"].as_str();
    let is_right = match verdict {
        Some("applied") => is_changed,
        Some("reverted") => after == before,
        Some(_) => true,
        None if status == "changed" => is_changed,
        None => after == before,
    };
    if !is_right {
        return Some(format!("{status}, {verdict:?}, and it has:\n{after}"));
    }
    let is_pending = switch.is_revert_pending();
    if is_pending && verdict != Some("unknown") {
        return Some(format!("{status}, {verdict:?}, and the timer runs"));
    }
    None
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_matrix_of_protected_runs_matches_the_devices() {
    let mut cases = cases().await;
    let selected = std::env::var("SWITCHTENDER_FAULTS").ok();
    let step = match selected.as_deref() {
        None => cases.len().div_ceil(BATCH),
        Some("all") => 1,
        Some(number) if number.parse::<usize>().is_ok() => number.parse().expect("a number"),
        Some(name) => {
            cases.retain(|case| case.name == name);
            1
        }
    };
    let cases: Vec<ProtectedCase> = cases.into_iter().step_by(step).collect();
    let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut findings = Vec::new();
    for batch in cases.chunks(BATCH) {
        let mut lab = Lab::new();
        let device = |number: usize| format!("d{number}");
        for (number, case) in batch.iter().enumerate() {
            add(&mut lab, &device(number), case.policy, &[&case.fault]).await;
            lab.configure(&device(number), SHORT);
        }
        add(&mut lab, "sound", "required", &[]).await;
        let before: BTreeMap<String, String> = lab
            .switches
            .iter()
            .map(|(name, switch)| (name.clone(), switch.running_config()))
            .collect();
        let ran = {
            let lab = &lab;
            let run = lab.apply();
            tokio::pin!(run);
            let mut cut_off = JoinSet::new();
            for (name, switch) in &lab.switches {
                let (name, waiting) = (name.clone(), switch.wait_for_cut_off());
                cut_off.spawn(async move {
                    waiting.await;
                    name
                });
            }
            loop {
                tokio::select! {
                    ran = &mut run => break ran,
                    Some(name) = cut_off.join_next() => {
                        lab.switches[&name.expect("it waits")].advance_clock(TIMER);
                    }
                }
            }
        };
        let objects = ran.objects();
        let end = |name: &str| {
            let mut objects = objects.iter();
            objects.find(|object| object["kind"] == "device" && object["device"] == name)
        };
        for (number, case) in batch.iter().enumerate() {
            let name = device(number);
            if let Some(found) = wrong(&lab, &name, &before[&name], end(&name)) {
                findings.push(format!("{}: {found}", case.title()));
            }
            let verdict = end(&name).map_or(&Value::Null, |end| &end["protection"]);
            let verdict = verdict.as_str().unwrap_or("none").to_owned();
            *counts.entry((case.phase, verdict)).or_default() += 1;
        }
        let sound = end("sound").expect("it ended");
        if sound["protection"] != "applied"
            || !lab.switches["sound"].running_config().contains(CHANGED)
        {
            findings.push(format!("the device without a fault: {sound}"));
        }
    }
    for ((phase, verdict), count) in &counts {
        println!("protected runs: {phase} {verdict} {count}");
    }
    assert_eq!(findings, Vec::<String>::new());
}

//! Protected runs: every fault of a switch, with a timed revert or a scheduled reload, and of a NETCONF server at every
//! command, from the start of the timer to its end.
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

/// The time after which the device reloads, in the platform's definition; others revert earlier.
const TIMER: Duration = Duration::from_secs(600);
const ARCHIVE: &str = "archive\n path flash:before\n";
const CONFIG: &str = "interface GigabitEthernet1/0/1\n no shutdown\n";
/// Devices with a fault in one run.
const BATCH: usize = 48;
/// One of so many verdicts may be unknown, as after a revert that is lost.
const MAX_UNKNOWN: usize = 10;
const SHORT: &str = "command_timeout = \"2s\"\ncommand_limit = \"6s\"";

/// A kind of device that reverts changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Switch,
    /// A switch that reloads instead of a timed revert.
    ReloadedSwitch,
    Netconf,
}

/// The beginning of the commands that begin a phase.
struct Markers {
    arm: &'static str,
    change: &'static str,
    last_change: &'static str,
    confirm: &'static str,
}

impl Kind {
    fn markers(self) -> Markers {
        match self {
            Kind::Switch => Markers {
                arm: "configure terminal revert",
                change: "interface ",
                last_change: "description desk",
                confirm: "configure confirm",
            },
            Kind::ReloadedSwitch => Markers {
                arm: "reload in",
                change: "interface ",
                last_change: "description desk",
                confirm: "reload cancel",
            },
            // The commit changes the device and starts its timer at once.
            Kind::Netconf => Markers {
                arm: "<lock>",
                change: "<edit-config>",
                last_change: "<commit><confirmed>",
                confirm: "<commit><persist-id>",
            },
        }
    }

    /// What the configuration has after the change.
    fn changed(self) -> &'static str {
        match self {
            Kind::Switch | Kind::ReloadedSwitch => " description desk\n",
            Kind::Netconf => "<description>desk</description>",
        }
    }

    fn mock(self) -> MockKind {
        match self {
            Kind::Switch | Kind::ReloadedSwitch => MockKind::Switch,
            Kind::Netconf => MockKind::NetconfServer,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Switch => "switch",
            Kind::ReloadedSwitch => "switch (reload)",
            Kind::Netconf => "NETCONF server",
        }
    }

    async fn add(self, lab: &mut Lab, device: &str, policy: &str, faults: &[&str]) {
        let desired = match self {
            Kind::Switch | Kind::ReloadedSwitch => {
                let archive = if self == Kind::Switch { ARCHIVE } else { "" };
                let options = SwitchOptions {
                    faults: parsed(faults),
                    config: Some(format!("{archive}{CONFIG}")),
                    ..switch_options(device)
                };
                lab.add_switch_with(options).await;
                let desired = json!({"enable": true, "description": "desk"});
                resource("Network_interface", "GigabitEthernet1/0/1", desired)
            }
            Kind::Netconf => {
                lab.add_netconf_server(device, faults).await;
                let desired = json!({
                    "ensure": "present", "type": "iana-if-type:ethernetCsmacd", "description": "desk",
                });
                resource("Ietf_interface", "eth1", desired)
            }
        };
        lab.configure(device, &format!("protect = \"{policy}\""));
        if self == Kind::ReloadedSwitch {
            lab.configure(device, "protect_by_reload = true");
        }
        lab.write_resources(device, &[desired]);
    }
}

/// The configuration of a device.
fn configuration(lab: &Lab, device: &str) -> String {
    match lab.switches.get(device) {
        Some(switch) => switch.running_config(),
        None => lab.netconf_servers[device].running_config(),
    }
}

fn is_revert_pending(lab: &Lab, device: &str) -> bool {
    match lab.switches.get(device) {
        Some(switch) => switch.is_revert_pending(),
        None => lab.netconf_servers[device].is_revert_pending(),
    }
}

/// A fault at one command.
struct ProtectedCase {
    kind: Kind,
    policy: &'static str,
    phase: &'static str,
    name: &'static str,
    fault: String,
}

impl ProtectedCase {
    fn title(&self) -> String {
        let kind = self.kind.name();
        format!("{kind} {} {} {}", self.policy, self.phase, self.fault)
    }
}

/// The phase of each command of a run without faults, until the timer has ended.
async fn phases(kind: Kind, policy: &str) -> Vec<Option<&'static str>> {
    let mut lab = Lab::new();
    kind.add(&mut lab, "d1", policy, &[]).await;
    lab.apply().await.assert_code(2);
    let mut exchanges = lab.log("d1").exchanges();
    // A password is no command, nor is the answer to a question.
    exchanges.retain(|exchange| !["password", "answer"].contains(&exchange.mode.as_str()));
    let position = |line: &str| {
        let mut lines = exchanges.iter().map(|exchange| &exchange.received);
        lines
            .position(|received| received.starts_with(line))
            .expect(line)
    };
    let markers = kind.markers();
    let (begin, change) = (position(markers.arm), position(markers.change));
    let (last_change, confirm) = (position(markers.last_change), position(markers.confirm));
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

async fn cases(kind: Kind) -> Vec<ProtectedCase> {
    let rows = FAULTS.iter().filter(|row| {
        let format = matches!(
            row.argument,
            ArgumentFormat::Once | ArgumentFormat::Each | ArgumentFormat::EachWithText
        );
        format && row.is_supported_by(kind.mock())
    });
    let rows: Vec<_> = rows.collect();
    let mut cases = Vec::new();
    for policy in ["auto", "required"] {
        let phases = phases(kind, policy).await;
        for (number, phase) in phases.iter().enumerate() {
            let Some(phase) = *phase else { continue };
            let case = |name, fault| ProtectedCase {
                kind,
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
            kind,
            policy,
            phase: "login",
            name: "login-refused-at",
            fault: "login-refused-at=2".to_owned(),
        });
    }
    cases
}

/// What contradicts the state of the device.
fn wrong(lab: &Lab, device: &str, kind: Kind, before: &str, end: Option<&Value>) -> Option<String> {
    let after = configuration(lab, device);
    let Some(end) = end else {
        return Some("it did not end".to_owned());
    };
    let is_changed = after.contains(kind.changed());
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
    let is_pending = is_revert_pending(lab, device);
    if is_pending && verdict != Some("unknown") {
        return Some(format!("{status}, {verdict:?}, and the timer runs"));
    }
    None
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_matrix_of_protected_runs_matches_the_devices() {
    let mut cases = cases(Kind::Switch).await;
    cases.extend(self::cases(Kind::ReloadedSwitch).await);
    cases.extend(self::cases(Kind::Netconf).await);
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
    let mut counts: BTreeMap<(&str, &str, String), usize> = BTreeMap::new();
    let mut findings = Vec::new();
    for batch in cases.chunks(BATCH) {
        let mut lab = Lab::new();
        let device = |number: usize| format!("d{number}");
        for (number, case) in batch.iter().enumerate() {
            let device = device(number);
            let faults = [case.fault.as_str()];
            case.kind.add(&mut lab, &device, case.policy, &faults).await;
            lab.configure(&device, SHORT);
        }
        let sound = [
            (Kind::Switch, "sound1"),
            (Kind::Netconf, "sound2"),
            (Kind::ReloadedSwitch, "sound3"),
        ];
        for (kind, name) in sound {
            kind.add(&mut lab, name, "required", &[]).await;
        }
        let names = lab.switches.keys().chain(lab.netconf_servers.keys());
        let before: BTreeMap<String, String> = names
            .map(|name| (name.clone(), configuration(&lab, name)))
            .collect();
        let ran = {
            let lab = &lab;
            let run = lab.apply();
            tokio::pin!(run);
            // Changes have cut these off, or the run waits for their reload.
            let mut due = JoinSet::new();
            for (name, switch) in &lab.switches {
                let (device, waiting) = (name.clone(), switch.wait_for_cut_off());
                due.spawn(async move {
                    waiting.await;
                    device
                });
                let (device, waiting) = (name.clone(), switch.wait_for_reload_poll());
                due.spawn(async move {
                    waiting.await;
                    device
                });
            }
            for (name, server) in &lab.netconf_servers {
                let (name, waiting) = (name.clone(), server.wait_for_cut_off());
                due.spawn(async move {
                    waiting.await;
                    name
                });
            }
            loop {
                tokio::select! {
                    ran = &mut run => break ran,
                    Some(name) = due.join_next() => {
                        let name = name.expect("it waits");
                        match lab.switches.get(&name) {
                            Some(switch) => switch.advance_clock(TIMER),
                            None => lab.netconf_servers[&name].advance_clock(TIMER),
                        }
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
            if let Some(found) = wrong(&lab, &name, case.kind, &before[&name], end(&name)) {
                findings.push(format!("{}: {found}", case.title()));
            }
            let verdict = end(&name).map_or(&Value::Null, |end| &end["protection"]);
            let verdict = verdict.as_str().unwrap_or("none").to_owned();
            let kind = case.kind.name();
            *counts.entry((kind, case.phase, verdict)).or_default() += 1;
        }
        for (kind, name) in sound {
            let end = end(name).expect("it ended");
            let is_changed = configuration(&lab, name).contains(kind.changed());
            if end["protection"] != "applied" || !is_changed {
                findings.push(format!("the device without a fault: {end}"));
            }
        }
    }
    for ((kind, phase, verdict), count) in &counts {
        println!("protected runs: {kind} {phase} {verdict} {count}");
    }
    let unknown = counts
        .iter()
        .filter(|((.., verdict), _)| verdict == "unknown");
    let unknown: usize = unknown.map(|(_, count)| count).sum();
    let is_one_fault = cases.iter().all(|case| case.name == cases[0].name);
    assert!(
        is_one_fault || unknown * MAX_UNKNOWN <= cases.len().max(MAX_UNKNOWN),
        "{unknown} of {} verdicts are unknown",
        cases.len()
    );
    assert_eq!(findings, Vec::<String>::new());
}

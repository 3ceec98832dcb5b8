//! One run of the program with many devices: each with a fault, two without.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use test_support::lab::Lab;
use test_support::program::PLANTED;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::case::Case;
use super::counts::{CaseResult, Counts};
use super::phase::{self, Phase, PhasedCommand};
use super::scenario::{self, Platform, Scenario};
use super::verdict::{self, DeviceOutput};

/// A device without an end after this time is endless. The limits of a device are below a quarter of it.
const ENDLESS: Duration = Duration::from_secs(90);
/// Settings of a device with a fault.
const SHORT: &str = "command_timeout = \"2s\"\ncommand_limit = \"6s\"\n\
    connect_timeout = \"15s\"\nlogin_limit = \"15s\"";
/// Settings of a device that answers, however busy the machine is.
const LONG: &str = "command_timeout = \"100s\"\ncommand_limit = \"100s\"\n\
    connect_timeout = \"100s\"\nlogin_limit = \"100s\"";
const APPLY: [&str; 6] = [
    "apply",
    "--output",
    "json",
    "--detailed-exitcodes",
    "--report",
    "reports",
];

/// A run without faults.
pub(super) struct Reference {
    pub(super) commands: Vec<PhasedCommand>,
    /// Bytes of output of the device.
    pub(super) device_bytes: usize,
    /// Bytes that its jump host has sent.
    pub(super) jump_host_bytes: u64,
}

/// Runs a scenario without faults, through a jump host.
pub(super) async fn reference(scenario: &Scenario) -> Reference {
    let mut lab = Lab::new();
    scenario.add(&mut lab, "dev", Vec::new()).await;
    lab.add_jump_host("dev", None).await;
    lab.apply().await.assert_code(2);
    for effect in scenario.effects {
        let (resource, property) = (effect.resource, effect.property);
        assert!((effect.is_applied)(&lab, "dev"), "{resource} {property}");
    }
    let device_bytes = match scenario.platform {
        Platform::CiscoIos => lab.switches["dev"].sent_bytes(),
        Platform::F5Bigip => lab.load_balancers["dev"].sent_bytes(),
    };
    Reference {
        commands: phase::commands(scenario.platform, &lab.log("dev").exchanges()),
        device_bytes: usize::try_from(device_bytes).expect("a short run"),
        jump_host_bytes: lab.jump_hosts["dev"].sent_bytes(),
    }
}

/// Runs cases together, and adds their results to the counts. Returns the cases whose fault did not
/// fire.
pub(super) async fn run(cases: &[Case], counts: &mut Counts) -> Vec<Case> {
    let mut idle = Vec::new();
    let mut lab = Lab::new();
    let mut devices: Vec<(String, &Case)> = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let device = format!("d{number}");
        case.scenario.add(&mut lab, &device, case.parsed()).await;
        if case.jump_fault.is_some() {
            lab.add_jump_host(&device, case.jump_fault).await;
        }
        devices.push((device, case));
    }
    let sound: Vec<(String, &Scenario)> = scenario::ALL
        .iter()
        .enumerate()
        .map(|(number, scenario)| (format!("sound{number}"), scenario))
        .collect();
    for (device, scenario) in &sound {
        scenario.add(&mut lab, device, Vec::new()).await;
    }
    let before: BTreeMap<&str, String> = devices
        .iter()
        .map(|(device, case)| (device.as_str(), verdict::state(&lab, device, case.scenario)))
        .collect();
    let inventory = lab.devices.clone();
    for device in inventory.keys() {
        let is_sound = device.starts_with("sound");
        lab.configure(device, if is_sound { LONG } else { SHORT });
    }

    let first = apply(&lab).await;
    for (device, case) in &devices {
        let fired = resume(&lab, device, case);
        let output = DeviceOutput::of(&first.objects, device);
        let phase = case
            .phase
            .unwrap_or_else(|| last_phase(&lab, device, case.scenario));
        let key = (case.fault, phase);
        let name = case.title();
        let Some(output) = output else {
            counts.add(key, &name, CaseResult::Endless);
            continue;
        };
        let wrong = verdict::wrong(
            &lab,
            device,
            case.scenario,
            &output,
            &before[device.as_str()],
        );
        match (wrong.is_empty(), fired || case.is_permanent) {
            (false, _) => counts.add(key, &name, CaseResult::Wrong(wrong)),
            (true, true) => counts.add(key, &name, CaseResult::Right),
            (true, false) => idle.push((*case).clone()),
        }
    }
    for (device, scenario) in &sound {
        for finding in verdict::unaffected(&lab, device, scenario, &first.objects) {
            counts.add_finding(format!("device without a fault: {finding}"));
        }
    }
    for location in secrets(&lab, &first) {
        counts.add_finding(format!("a secret is in {location}"));
    }

    // Without the faults, and without the limits that a busy machine exceeds.
    lab.devices = inventory;
    for device in lab.devices.keys().cloned().collect::<Vec<_>>() {
        lab.configure(&device, LONG);
        match lab.switches.get(&device) {
            Some(switch) => switch.clear_faults(),
            None => lab.load_balancers[&device].clear_faults(),
        }
        if let Some(host) = lab.jump_hosts.get(&device) {
            host.clear_fault();
        }
    }
    let second = apply(&lab).await;
    for (device, case) in &devices {
        for finding in verdict::unconverged(&lab, device, case.scenario, &second.objects) {
            counts.add_finding(format!("rerun after {}: {finding}", case.title()));
        }
    }
    for location in secrets(&lab, &second) {
        counts.add_finding(format!("a secret is in {location} after the rerun"));
    }
    idle
}

/// The output of a run.
struct RunOutput {
    objects: Vec<Value>,
    stderr: String,
    stdout: String,
}

/// Runs the program, at most for [`ENDLESS`].
async fn apply(lab: &Lab) -> RunOutput {
    let mut command = lab.command(&APPLY);
    command.args(["--transcripts", "transcripts", "-vvv"]);
    let log = std::fs::File::create(lab.path("stderr.txt")).expect("a file");
    let mut child = command.stderr(Stdio::from(log)).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut stdout = String::new();
    let read = async {
        while let Ok(Some(line)) = lines.next_line().await {
            stdout.push_str(&line);
            stdout.push('\n');
        }
    };
    if tokio::time::timeout(ENDLESS, read).await.is_err() {
        child.start_kill().expect("it runs");
    }
    child.wait().await.expect("it ended");
    let objects = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}")));
    RunOutput {
        objects: objects.collect(),
        stderr: String::from_utf8_lossy(&std::fs::read(lab.path("stderr.txt")).expect("a file"))
            .into_owned(),
        stdout,
    }
}

/// Lets a device execute its deferred commands. Returns whether its fault, or that of its jump host,
/// fired.
fn resume(lab: &Lab, device: &str, case: &Case) -> bool {
    let fired = match case.scenario.platform {
        Platform::CiscoIos => {
            lab.switches[device].resume();
            lab.switches[device].fired_faults()
        }
        Platform::F5Bigip => {
            lab.load_balancers[device].resume();
            lab.load_balancers[device].fired_faults()
        }
    };
    fired > 0
        || lab
            .jump_hosts
            .get(device)
            .is_some_and(|host| host.has_fired())
}

/// The phase of the last command on the first connection.
fn last_phase(lab: &Lab, device: &str, scenario: &Scenario) -> Phase {
    let mut exchanges = lab.log(device).exchanges();
    exchanges.retain(|exchange| exchange.connection == 1);
    let commands = phase::commands(scenario.platform, &exchanges);
    commands
        .last()
        .map_or(Phase::Login, |command| command.phase)
}

/// The outputs and files that contain a planted secret.
fn secrets(lab: &Lab, run: &RunOutput) -> Vec<String> {
    let mut places = Vec::new();
    for (location, text) in [
        ("standard output", &run.stdout),
        ("standard error", &run.stderr),
    ] {
        if text.contains(PLANTED) {
            places.push(location.to_owned());
        }
    }
    for folder in ["reports", "transcripts", "state"] {
        let files = lab.files(folder).into_iter();
        let found = files.filter(|(_, text)| text.contains(PLANTED));
        places.extend(found.map(|(path, _)| path.display().to_string()));
    }
    places
}

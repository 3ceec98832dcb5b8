//! `kill -9` at random moments of runs of `apply` and `device`. The next run converges, no file is
//! incomplete, no lock remains, and a report is delivered at most twice.
//!
//! `SWITCHTENDER_KILLS=500 cargo test --locked --test it kills:: -- --nocapture` sets the number of
//! killed runs of each command; without it a few are killed. A run that ends before its kill does not
//! count. [`protected`] kills protected runs at random commands.

mod protected;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use switchtender_mutation::Dice;
use test_support::catalog::{catalog, vlan};
use test_support::device_host::{DeviceHost, name};
use test_support::lab::Lab;
use test_support::program::ProgramOutput;
use tokio::process::Command;

const SAMPLE: usize = 4;
const VLANS: std::ops::Range<u16> = 100..110;

/// Rounds for each kill, at most: some runs end before their kill.
const ATTEMPTS: usize = 4;

fn kills() -> usize {
    let kills = std::env::var("SWITCHTENDER_KILLS").ok();
    kills.map_or(SAMPLE, |text| {
        text.parse().expect("a number of killed runs")
    })
}

/// VLANs whose names change with each round.
fn vlans(round: usize) -> Vec<Value> {
    VLANS
        .map(|number| vlan(number, &format!("r{round}")))
        .collect()
}

fn has_vlans(vlans: &[(u16, String, bool)], round: usize) -> bool {
    let mut numbers = VLANS;
    numbers.all(|number| {
        let mut found = vlans.iter();
        found.any(|(of, name, _)| *of == number && *name == format!("r{round}"))
    })
}

/// Starts a process and kills it within a duration: in the first round at once. Returns whether it
/// still ran. Otherwise it took less than the duration, which is then the shorter time.
async fn kill(mut command: Command, round: usize, within: &mut Duration, dice: &mut Dice) -> bool {
    let started = Instant::now();
    let mut child = command.spawn().expect("the program starts");
    let microseconds = usize::try_from(within.as_micros()).expect("short");
    let moment = match round {
        1 => Duration::ZERO,
        _ => Duration::from_micros(dice.below(microseconds) as u64),
    };
    // The result does not depend on the moment.
    if tokio::time::timeout(moment, child.wait()).await.is_ok() {
        *within = started.elapsed().min(*within);
        return false;
    }
    child.kill().await.is_ok()
}

/// All files below a directory, without those whose names depend on the run.
fn files(directory: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("readable");
            open.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else {
            files.insert(path);
        }
    }
    files
}

/// The files of a state directory without those of single runs.
fn files_of_all_runs(directory: &Path) -> BTreeSet<PathBuf> {
    let mut files = files(directory);
    files.retain(|file| !file.parent().is_some_and(|parent| parent.ends_with("undo")));
    // The session of a killed run, if the next run changed nothing.
    files.retain(|file| !file.ends_with("sessions.json"));
    files
}

/// Files with a final name that are no complete JSON.
fn incomplete(files: &BTreeSet<PathBuf>) -> Vec<&PathBuf> {
    let json = files.iter().filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    json.filter(|path| {
        let text = std::fs::read(path).expect("readable");
        serde_json::from_slice::<Value>(&text).is_err()
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_of_apply_leave_no_half_state() {
    let mut lab = Lab::new();
    for device in ["sw1", "sw2"] {
        lab.add_switch(device, &[]).await;
        lab.configure(device, "save_config = \"always\"");
    }
    let catalogs = |lab: &Lab, round| {
        for device in ["sw1", "sw2"] {
            lab.write_resources(device, &vlans(round));
        }
    };
    let arguments = [
        "apply",
        "--output",
        "json",
        "--detailed-exitcodes",
        "--report",
        "reports",
    ];
    catalogs(&lab, 0);
    let started = Instant::now();
    lab.run(&arguments).await.assert_code(2);
    let mut duration = started.elapsed();
    let state = files_of_all_runs(&lab.path("state"));
    let mut dice = Dice(0x0ddb_a115);
    let (mut hits, mut round) = (0, 0);
    while hits < kills() && round < ATTEMPTS * kills() {
        round += 1;
        catalogs(&lab, round);
        hits += usize::from(kill(lab.command(&arguments), round, &mut duration, &mut dice).await);
        assert_eq!(
            incomplete(&files(&lab.path("state"))),
            Vec::<&PathBuf>::new()
        );
        assert_eq!(
            incomplete(&files(&lab.path("reports"))),
            Vec::<&PathBuf>::new()
        );
        let ran: ProgramOutput = lab.run(&arguments).await;
        assert!(matches!(ran.code, Some(0 | 2)), "{round}: {}", ran.text());
        for (device, switch) in &lab.switches {
            assert!(has_vlans(&switch.vlans(), round), "{round}: {device}");
            assert!(switch.is_saved(), "{round}: {device}");
            assert_eq!(ran.warnings(device), Vec::<String>::new(), "{round}");
        }
        let files = files_of_all_runs(&lab.path("state"));
        assert_eq!(files, state, "round {round}");
        let again = lab.run(&arguments).await;
        again.assert_code(0);
    }
    println!("kills of apply: {round} runs, {hits} killed");
    assert_eq!(hits, kills(), "runs ended before their kill");
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_of_device_deliver_reports_at_most_twice() {
    let host = DeviceHost::new(1).await;
    let device = name(1);
    let serve = |round| {
        let catalog = catalog(&device, &vlans(round));
        let catalogs = &mut host.server.state().catalogs;
        catalogs.insert((device.clone(), "*".to_owned()), catalog);
    };
    serve(0);
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 2, "{text}");
    serve(1);
    let started = Instant::now();
    host.run(&["--detailed-exitcodes"]).await;
    let mut duration = started.elapsed();
    let mut dice = Dice(0x0ddb_a115);
    let (mut hits, mut round) = (0, 0);
    while hits < kills() && round < ATTEMPTS * kills() {
        round += 1;
        serve(round + 1);
        let command = host.command(&["--detailed-exitcodes"]);
        hits += usize::from(kill(command, round, &mut duration, &mut dice).await);
        assert_eq!(
            incomplete(&files(&host.path("var"))),
            Vec::<&PathBuf>::new()
        );
        let (code, text) = host.run(&["--detailed-exitcodes"]).await;
        assert!(matches!(code, 0 | 2), "{round}: {code} {text}");
        assert!(
            has_vlans(&host.switches[0].vlans(), round + 1),
            "{round}: {text}"
        );
        assert_eq!(spooled(&host), Vec::<PathBuf>::new(), "{round}: {text}");
    }
    let deliveries = deliveries(&host);
    let twice = deliveries.values().filter(|count| **count == 2).count();
    println!(
        "kills of device: {round} runs, {hits} killed, {} reports, {twice} delivered twice",
        deliveries.len()
    );
    assert_eq!(hits, kills(), "runs ended before their kill");
    let more = deliveries.values().filter(|count| **count > 2).count();
    assert_eq!(more, 0, "reports were delivered more than twice");
    // The first runs, and each run after a kill.
    assert!(deliveries.len() >= 2 + round);
}

/// The server has a report, and the process ends before it removes the report from its spool.
#[tokio::test(flavor = "multi_thread")]
async fn kill_before_a_report_leaves_the_spool_delivers_it_again() {
    let host = DeviceHost::new(1).await;
    host.server.state().holds_reports = true;
    let mut child = host.command(&["--detailed-exitcodes"]).spawn().unwrap();
    host.server.wait_for_held_report().await;
    child.kill().await.unwrap();
    assert_eq!(spooled(&host).len(), 1);
    assert_eq!(deliveries(&host).into_values().collect::<Vec<_>>(), [1]);

    host.server.state().holds_reports = false;
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 0, "{text}");
    assert_eq!(spooled(&host), Vec::<PathBuf>::new());
    let mut counts: Vec<usize> = deliveries(&host).into_values().collect();
    counts.sort_unstable();
    assert_eq!(
        counts,
        [1, 2],
        "the report of the second run, and the first twice"
    );
}

/// The number of deliveries of each report, by its transaction.
fn deliveries(host: &DeviceHost) -> BTreeMap<String, usize> {
    let mut deliveries = BTreeMap::new();
    for report in &host.server.state().reports {
        let run = report["transaction_uuid"].as_str();
        let run = run.expect("a report has one").to_owned();
        *deliveries.entry(run).or_default() += 1;
    }
    deliveries
}

/// The reports in the spool.
fn spooled(host: &DeviceHost) -> Vec<PathBuf> {
    let files = files(&host.path("var")).into_iter();
    files
        .filter(|path| path.to_string_lossy().contains("/spool/"))
        .collect()
}

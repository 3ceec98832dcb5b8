//! Whether `switchtender serve` keeps the times of many devices, and what it needs for that.
//!
//! `cargo bench --bench serve -- [SWITCHES [INTERVAL [MINUTES]]]` starts mock switches in a process of
//! their own, lets the built program serve them, and prints lateness, memory and growth of the store
//! beside their targets. The interval is in seconds. `docs/benchmarks.md` explains the figures.

#![expect(
    clippy::disallowed_methods,
    reason = "benches measure durations, and their tasks end with their runtime"
)]

#[path = "devices/figure.rs"]
mod figure;
#[path = "devices/mocks.rs"]
#[expect(dead_code, reason = "the bench `devices` uses all of it")]
mod mocks;
#[path = "devices/process.rs"]
#[expect(dead_code, reason = "the bench `devices` uses all of it")]
mod process;
#[path = "devices/site.rs"]
#[expect(dead_code, reason = "the bench `devices` uses all of it")]
mod site;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use figure::figure;
use jiff::Timestamp;
use mocks::{ENABLE_PASSWORD, Mocks, PASSWORD};
use serde_json::Value;
use site::Site;

const MIB: f64 = 1024.0 * 1024.0;
/// Interval between two reads of the memory of the process.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

const MINUTE: u64 = 60;

fn main() {
    let numbers = std::env::args().skip(1);
    let mut numbers = numbers.filter_map(|argument| argument.parse::<u32>().ok());
    let switches = numbers.next().unwrap_or(1000);
    let interval = numbers.next().unwrap_or(180);
    let minutes = numbers.next().unwrap_or(10);

    let site = Site::new();
    let mocks = Mocks::start(switches as usize, &site);
    site.describe(&mocks);
    site.apply();
    println!("{switches} switches, a run each {interval} s, for {minutes} min");

    let store = site.path("history.db");
    let settings = format!(
        "listen = \"127.0.0.1:0\"\ninventory = \"inventory.toml\"\nstate_dir = \"state\"\n\
         store = \"history.db\"\n\n[defaults]\ninterval = \"{interval}s\"\ncatalog = \"catalogs\"\n"
    );
    site::write(&site.path("serve.toml"), &settings);
    let log = std::fs::File::create(site.path("serve.log")).expect("a file can be made");
    let mut child = site::program()
        .args(["serve", "--config"])
        .arg(site.path("serve.toml"))
        .env("BENCH_PASSWORD", PASSWORD)
        .env("BENCH_ENABLE", ENABLE_PASSWORD)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the program can be started");
    let peak = observe(&mut child, Duration::from_secs(u64::from(minutes) * MINUTE));
    let cpu = process::cpu(child.id()).unwrap_or_default();
    terminate(&mut child);

    let runs = runs(&store);
    let late = runs.iter().filter_map(lateness).fold(0.0, f64::max);
    let is_unchanged = |run: &&Value| run["status"] == "unchanged";
    let unchanged = runs.iter().filter(is_unchanged).count();
    let bytes = std::fs::metadata(&store).map_or(0, |file| file.len());
    let count = runs.len().max(1) as f64;
    println!("  {} runs, {unchanged} without changes", runs.len());
    figure("latest start after the due time", late, Some(60.0), " s");
    figure("peak memory", peak as f64 / MIB, Some(1024.0), " MiB");
    figure("store", bytes as f64 / count / 1024.0, None, " KiB/run");
    figure(
        "CPU time of the process",
        cpu.as_secs_f64() / count * 1e3,
        None,
        " ms/run",
    );
}

/// The most memory of a running process in bytes.
fn observe(child: &mut Child, time: Duration) -> u64 {
    let end = Instant::now() + time;
    let mut peak = 0;
    while Instant::now() < end {
        let ended = child.try_wait().expect("a child has a state");
        assert!(ended.is_none(), "the process ended: {ended:?}");
        peak = peak.max(process::resident_peak(child.id()).unwrap_or(0));
        std::thread::sleep(POLL_INTERVAL);
    }
    peak
}

/// Ends the process as systemd does.
fn terminate(child: &mut Child) {
    let id = child.id().to_string();
    let _ = Command::new("kill").arg(&id).status();
    let ended = child.wait().expect("a child can be waited for");
    assert!(ended.success(), "the process failed: {ended}");
}

fn runs(store: &std::path::Path) -> Vec<Value> {
    let output = site::program()
        .args([
            "history", "--limit", "1000000", "--output", "json", "--store",
        ])
        .arg(store)
        .output()
        .expect("the program can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(serde_json::from_str);
    lines
        .collect::<Result<_, _>>()
        .expect("the history is JSON")
}

/// Seconds between the due time of a run and its start.
fn lateness(run: &Value) -> Option<f64> {
    let time = |name: &str| run[name].as_str()?.parse::<Timestamp>().ok();
    let late = time("started")?.duration_since(time("queued")?);
    Some(late.as_secs_f64())
}

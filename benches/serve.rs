//! Whether `switchtender serve` keeps the times of many devices, and what it needs for that.
//!
//! `cargo bench --bench serve -- [SWITCHES [INTERVAL [MINUTES]]] [--against PROGRAM]` starts mock switches in a
//! process of their own, lets the built program serve them, and prints lateness, memory and growth of the store
//! beside their targets. The interval is in seconds. With another build of the program, it prints the ratios of both.
//! `docs/benchmarks.md` explains the figures.

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
#[expect(dead_code, reason = "the other benches use the rest")]
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

/// The most that the program may need beside another build of it.
const RATIO: f64 = 1.15;
/// The name of the thread that drives the connections to a database.
const DATABASE_THREAD: &str = "postgresql";

/// How many switches run, and how often.
struct Load {
    switches: u32,
    /// Seconds.
    interval: u32,
    minutes: u32,
}

/// What a program needed.
struct Measured {
    runs: usize,
    unchanged: usize,
    late: f64,
    peak: f64,
    bytes_per_run: f64,
    milliseconds_per_run: f64,
    uses_database: bool,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut numbers = (arguments.iter()).filter_map(|argument| argument.parse::<u32>().ok());
    let load = Load {
        switches: numbers.next().unwrap_or(1000),
        interval: numbers.next().unwrap_or(180),
        minutes: numbers.next().unwrap_or(10),
    };
    let against = arguments.iter().position(|word| word == "--against");
    let against = against.map(|at| arguments.get(at + 1).expect("--against has a program"));
    let Load {
        switches,
        interval,
        minutes,
    } = load;
    println!("{switches} switches, a run each {interval} s, for {minutes} min");
    let own = load.measure(&site::program);
    println!("  {} runs, {} without changes", own.runs, own.unchanged);
    figure(
        "latest start after the due time",
        own.late,
        Some(60.0),
        " s",
    );
    figure("peak memory", own.peak / MIB, Some(1024.0), " MiB");
    figure("store", own.bytes_per_run / 1024.0, None, " KiB/run");
    let milliseconds = own.milliseconds_per_run;
    figure("CPU time of the process", milliseconds, None, " ms/run");
    let connections = f64::from(u8::from(own.uses_database));
    figure("connections to a database", connections, Some(0.0), "");
    if let Some(program) = against {
        let other = load.measure(&|| Command::new(program));
        let ratio = |own: f64, other: f64| own / other.max(f64::MIN_POSITIVE);
        let cpu = ratio(own.milliseconds_per_run, other.milliseconds_per_run);
        let peak = ratio(own.peak, other.peak);
        figure("CPU time beside the other build", cpu, Some(RATIO), "");
        figure("peak memory beside the other build", peak, Some(RATIO), "");
    }
}

impl Load {
    fn measure(&self, program: &dyn Fn() -> Command) -> Measured {
        let site = Site::new();
        let mocks = Mocks::start(self.switches as usize, &site);
        site.describe(&mocks);
        site.apply();
        let store = site.path("history.db");
        let settings = format!(
            "listen = \"127.0.0.1:0\"\ninventory = \"inventory.toml\"\nstate_dir = \"state\"\n\
             store = \"history.db\"\n\n[defaults]\ninterval = \"{}s\"\ncatalog = \"catalogs\"\n",
            self.interval
        );
        site::write(&site.path("serve.toml"), &settings);
        let log = std::fs::File::create(site.path("serve.log")).expect("a file can be made");
        let mut child = program()
            .args(["serve", "--config"])
            .arg(site.path("serve.toml"))
            .env("BENCH_PASSWORD", PASSWORD)
            .env("BENCH_ENABLE", ENABLE_PASSWORD)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the program can be started");
        let time = Duration::from_secs(u64::from(self.minutes) * MINUTE);
        let peak = observe(&mut child, time);
        let cpu = process::cpu(child.id()).unwrap_or_default();
        let uses_database = threads(child.id())
            .iter()
            .any(|name| name == DATABASE_THREAD);
        process::terminate(&mut child);

        let runs = runs(program(), &store);
        let is_unchanged = |run: &&Value| run["status"] == "unchanged";
        let bytes = std::fs::metadata(&store).map_or(0, |file| file.len());
        let count = runs.len().max(1) as f64;
        Measured {
            unchanged: runs.iter().filter(is_unchanged).count(),
            late: runs.iter().filter_map(lateness).fold(0.0, f64::max),
            peak: peak as f64,
            bytes_per_run: bytes as f64 / count,
            milliseconds_per_run: cpu.as_secs_f64() / count * 1e3,
            uses_database,
            runs: runs.len(),
        }
    }
}

/// The names of the threads of a process.
fn threads(id: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{id}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.map(|name| name.trim().to_owned()).collect()
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

/// The runs of a store, as its program reads it: another one can have other tables.
fn runs(mut program: Command, store: &std::path::Path) -> Vec<Value> {
    let output = program
        .args([
            "history", "--limit", "1000000", "--output", "json", "--store",
        ])
        .arg(store)
        .output()
        .expect("the program can be started");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the store has no history: {error}");
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

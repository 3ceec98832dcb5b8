//! What runs over devices cost, against the least that they could cost.
//!
//! `cargo bench --bench devices` starts mock switches in a process of their own, with 20 ms of
//! latency per exchange, and lets the built program work on them. It prints each figure beside its
//! goal; nothing here fails because a machine is slow. `docs/benchmarks.md` explains them.
//!
//! * one switch, 82 resources: round trips of the first run, and the time of the second against a
//!   bare script that logs in, sends the same lines and logs out;
//! * 200 switches at once, nothing to change: time against one device and the processors' work for
//!   the logins, and memory per device;
//! * the time of `switchtender --version`.

#![expect(
    clippy::disallowed_methods,
    reason = "benches measure durations, and their tasks end with their runtime"
)]

#[path = "devices/figure.rs"]
mod figure;
#[path = "devices/mocks.rs"]
mod mocks;
#[expect(dead_code, reason = "the other benches use the rest")]
#[path = "devices/process.rs"]
mod process;
#[path = "devices/script.rs"]
mod script;
#[path = "devices/site.rs"]
mod site;

use std::process::Stdio;
use std::time::Duration;

use figure::figure;
use mocks::Mocks;
use process::{Finished, run};
use site::Site;

/// Runs of which the fastest counts: what is slower has met other work of the machine.
const REPEATS: usize = 5;
const FLEET: usize = 200;
const MIB: f64 = 1024.0 * 1024.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|word| word == "script") {
        script::main(&arguments[1..]);
        return;
    }
    println!("{:56} {:>9} {:>9}", "", "measured", "goal");
    let alone = one_device();
    protected();
    fleet(alone);
    version();
}

/// One switch: a first run and a second. Returns the time of the second.
fn one_device() -> Duration {
    let site = Site::new();
    let mocks = Mocks::start(1, &site);
    site.describe(&mocks);

    let first = site.apply();
    let device = site.device();
    let changed = number(&device["counts"]["changed"]);
    assert!(changed >= 82.0, "the first run changes all: {device}");
    let round_trips = number(&device["round_trips"]);

    let second = fastest(|| site.apply());
    let device = site.device();
    assert_eq!(device["counts"]["changed"], 0, "nothing is left: {device}");
    // What the second run needs, and one read to prove the result.
    let overhead = number(&device["round_trips"]) + 1.0;
    figure(
        "first run: round trips per changed resource",
        (round_trips - overhead) / changed,
        Some(2.0),
        "",
    );
    note(&format!(
        "{changed} resources, {round_trips} round trips, {overhead} of them for login and reads"
    ));
    seconds("first run", first.elapsed);

    let lines = mocks.last_connection();
    let bare = fastest(|| site.script(&mocks, &lines, 1, "line-by-line"));
    let burst = fastest(|| site.script(&mocks, &lines, 1, "at-once"));
    let ratio = |script: &Finished| second.elapsed.as_secs_f64() / script.elapsed.as_secs_f64();
    seconds("second run", second.elapsed);
    seconds("a script that sends the same lines", bare.elapsed);
    figure(
        "second run against the script",
        ratio(&bare),
        Some(1.05),
        "",
    );
    figure(
        "second run against a script that writes ahead",
        ratio(&burst),
        None,
        "",
    );
    note(&format!(
        "{} round trips, {:.0} ms of processor time",
        device["round_trips"],
        second.cpu.as_secs_f64() * 1e3
    ));
    second.elapsed
}

/// What protection adds to a run that changes one switch.
fn protected() {
    let [off, required] = ["off", "required"].map(|policy| {
        let site = Site::new();
        let config = site.path("switch.cfg");
        site::write(&config, "archive\n path flash:before\n");
        let config = config.display().to_string();
        let mocks = Mocks::start_with(1, &site, &["--config", &config]);
        site.describe(&mocks);
        site.apply_with(&["--protect", policy]);
        let first = number(&site.device()["round_trips"]);
        site.apply();
        (first, number(&site.device()["round_trips"]))
    });
    // A run without changes logs in, and reads once more than a login.
    let login = off.1 - 1.0;
    figure(
        "protected run: round trips beside a second login",
        required.0 - off.0 - login,
        Some(5.0),
        "",
    );
    note(&format!(
        "{} round trips, {} without protection, {login} for the login",
        required.0, off.0
    ));
}

/// Many switches at once, with nothing to change.
fn fleet(alone: Duration) {
    let site = Site::new();
    let mocks = Mocks::start(FLEET, &site);
    site.describe(&mocks);
    site.apply();

    let before = mocks.cpu();
    let logins = site.script(&mocks, &[], FLEET, "line-by-line");
    let login = (logins.cpu + (mocks.cpu() - before)).as_secs_f64() / processors();
    let mut of_mocks = Vec::new();
    let all = fastest(|| {
        let before = mocks.cpu();
        let run = site.apply();
        of_mocks.push(mocks.cpu() - before);
        run
    });
    let of_mocks = of_mocks.into_iter().min().unwrap_or_default();
    let least = alone.as_secs_f64() + login;
    seconds(&format!("{FLEET} switches, nothing to change"), all.elapsed);
    seconds(
        "processors' time for their logins, both sides",
        Duration::from_secs_f64(login),
    );
    figure(
        "against one device and these logins",
        all.elapsed.as_secs_f64() / least,
        Some(1.8),
        "",
    );
    note(&format!(
        "{:.2} s of processor time, and {:.2} s of the mocks beside it; {} processors",
        all.cpu.as_secs_f64(),
        of_mocks.as_secs_f64(),
        processors()
    ));

    let site = Site::new();
    let single = Mocks::start(1, &site);
    site.describe(&single);
    site.apply();
    let one = site.apply();
    let per_device = (all.peak - one.peak) as f64 / (FLEET - 1) as f64;
    figure(
        "resident memory per device",
        per_device / MIB,
        Some(0.6),
        " MiB",
    );
    note(&format!(
        "{:.0} MiB with {FLEET} devices, {:.0} MiB with one",
        all.peak as f64 / MIB,
        one.peak as f64 / MIB
    ));
}

fn version() {
    let fastest = fastest(|| run(site::program().arg("--version").stdout(Stdio::null())));
    let took = fastest.elapsed.as_secs_f64() * 1e3;
    figure("switchtender --version", took, Some(10.0), " ms");
}

fn fastest(mut measure: impl FnMut() -> Finished) -> Finished {
    let runs = (0..REPEATS).map(|_| measure());
    runs.min_by_key(|run| run.elapsed).expect("there are some")
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().expect("a count is a number")
}

fn processors() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |count| count.get() as f64)
}

fn seconds(what: &str, time: Duration) {
    figure(what, time.as_secs_f64(), None, " s");
}

fn note(text: &str) {
    println!("  {text}");
}

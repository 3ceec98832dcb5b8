//! What `switchtender device` costs beyond the Puppet Server's own time.
//!
//! `cargo bench --bench device` starts mock switches in a process of their own, with 20 ms of
//! latency per exchange, and runs the built program over them. It prints each figure beside its
//! goal; nothing here fails because a machine is slow. `docs/benchmarks.md` explains them.
//!
//! * against a real Puppet Server, where one is installed: ten devices with nothing to change,
//!   against a bare client that sends the same requests; the first run of a new device;
//! * against the mock Puppet Server: 10, 50, 100 and 200 devices: time, memory, catalogs at once.

#![expect(clippy::disallowed_methods, reason = "benches measure durations")]

#[path = "device/bare.rs"]
mod bare;
#[path = "devices/figure.rs"]
mod figure;
#[expect(dead_code, reason = "the other bench looks into the mocks")]
#[path = "devices/mocks.rs"]
mod mocks;
#[expect(dead_code, reason = "the other benches use the rest")]
#[path = "devices/process.rs"]
mod process;
#[path = "device/proxy.rs"]
mod proxy;
#[path = "device/real.rs"]
mod real;
#[expect(dead_code, reason = "the other bench applies with it")]
#[path = "devices/site.rs"]
mod site;

use std::time::Duration;

use figure::figure;
use mocks::Mocks;
use process::Finished;
use proxy::Proxy;
use site::Site;
use switchtender_mocks::puppet_server::PuppetServer;

/// Runs of which the fastest counts: what is slower has met other work of the machine.
const REPEATS: usize = 5;
const MIB: f64 = 1024.0 * 1024.0;
/// The default of `--catalog-concurrency`.
const CATALOGS: f64 = 4.0;
/// How long the mock server takes for a catalog; enough that requests meet.
const COMPILING: Duration = Duration::from_millis(20);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|word| word == "bare") {
        bare::main(&arguments[1..]);
        return;
    }
    println!("{:56} {:>9} {:>9}", "", "measured", "goal");
    match real::Server::start() {
        Some(server) => with_real_server(&server),
        None => note("no Puppet Server is installed (tests/real-peers/puppetserver.sh install)"),
    }
    with_mock_server();
}

fn with_real_server(server: &real::Server) {
    let site = Site::new();
    let mocks = Mocks::start(11, &site);
    let proxy = Proxy::new(&site, server.port());
    proxy.describe(&mocks.switches[..10], 1);
    let first = proxy.run();
    seconds("first run of ten new devices", first.elapsed);
    let second = fastest(|| proxy.run());
    let bare = fastest(|| proxy.bare(10));
    seconds("ten devices, nothing to change", second.elapsed);
    seconds("a bare client with the same requests", bare.elapsed);
    let beyond = second.elapsed.saturating_sub(bare.elapsed);
    figure(
        "beyond the server's own time",
        beyond.as_secs_f64(),
        Some(2.0),
        " s",
    );
    figure("against the bare client", ratio(&second, &bare), None, "");
    note(&format!(
        "{:.0} ms of processor time, {:.0} MiB resident",
        second.cpu.as_secs_f64() * 1e3,
        second.peak as f64 / MIB
    ));

    proxy.describe(&mocks.switches[10..], 11);
    let new = proxy.run();
    figure(
        "first run of a new device, signed at once",
        new.elapsed.as_secs_f64(),
        Some(3.0),
        " s",
    );
}

fn with_mock_server() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let server = runtime.block_on(PuppetServer::start());
    server.state().compile_time = COMPILING;
    let mut resident = Vec::new();
    for count in [10, 50, 100, 200] {
        let site = Site::new();
        let mocks = Mocks::start(count, &site);
        let proxy = Proxy::new(&site, server.port());
        proxy.describe(&mocks.switches, 1000 * count);
        for number in 0..count {
            let name = proxy::name(1000 * count + number);
            let catalog = site::catalog(&name);
            let key = (name, "*".to_owned());
            server.state().catalogs.insert(key, catalog);
        }
        seconds(
            &format!("{count} new devices, 82 changes each"),
            proxy.run().elapsed,
        );
        server.state().max_compiling = 0;
        let again = fastest(|| proxy.run());
        seconds(
            &format!("{count} devices, nothing to change"),
            again.elapsed,
        );
        // The server compiles so many at once; no client could be faster.
        let least = COMPILING.as_secs_f64() * (count as f64 / CATALOGS).ceil();
        note(&format!(
            "{:.2} s of it at least for catalogs; {:.1} s of processor time",
            least,
            again.cpu.as_secs_f64()
        ));
        let most = server.state().max_compiling;
        figure(
            "catalogs asked for at once",
            most as f64,
            Some(CATALOGS),
            "",
        );
        resident.push(again.peak as f64 / MIB);
        figure("resident memory", again.peak as f64 / MIB, None, " MiB");
        server.state().received.clear();
        server.state().reports.clear();
    }
    // 100 devices are at work at once; those that wait for their turn cost next to nothing.
    let waiting = resident[3] / resident[2];
    figure("memory of 200 devices against 100", waiting, Some(1.15), "");
}

fn fastest(mut measure: impl FnMut() -> Finished) -> Finished {
    let runs = (0..REPEATS).map(|_| measure());
    runs.min_by_key(|run| run.elapsed).expect("there are some")
}

fn ratio(ours: &Finished, theirs: &Finished) -> f64 {
    ours.elapsed.as_secs_f64() / theirs.elapsed.as_secs_f64()
}

fn seconds(what: &str, time: Duration) {
    figure(what, time.as_secs_f64(), None, " s");
}

fn note(text: &str) {
    println!("  {text}");
}

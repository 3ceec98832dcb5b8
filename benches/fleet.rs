//! The times of a fleet: three nodes of `switchtender serve` with one PostgreSQL.
//!
//! `cargo bench --bench fleet -- [DEVICES [INTERVAL [MINUTES [LEASE]]]]` starts the server, mock switches and the built
//! program, and prints what load, requests, kills and restarts cost beside the targets. The interval and the lease are in
//! seconds. `docs/benchmarks.md` explains the figures.

#![expect(clippy::disallowed_methods, reason = "benches measure durations")]

#[path = "fleet/database.rs"]
mod database;
#[path = "devices/figure.rs"]
mod figure;
#[path = "devices/mocks.rs"]
#[expect(dead_code, reason = "the bench `devices` uses all of it")]
mod mocks;
#[path = "fleet/node.rs"]
mod node;
#[path = "fleet/path.rs"]
mod path;
#[path = "devices/process.rs"]
#[expect(dead_code, reason = "the other benches use the rest")]
mod process;
#[path = "devices/site.rs"]
#[expect(dead_code, reason = "the bench `devices` uses all of it")]
mod site;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Duration, Instant};

use database::Database;
use figure::figure;
use jiff::Timestamp;
use mocks::Mocks;
use node::Node;
use path::Path;
use site::Site;

const NODES: [&str; 3] = ["a", "b", "c"];
/// Each mock has a port and memory: beyond this number, several devices are one mock.
const MOST_MOCKS: usize = 1000;
/// Devices of a shard.
const SHARD: usize = 250;
/// Devices that only run on request.
const REQUESTED: usize = 50;
const REQUESTS: u32 = 1000;
/// Between two requests. A device has ended its run before it is requested again.
const REQUEST_INTERVAL: Duration = Duration::from_millis(100);
/// For how long a process without runs is measured.
const IDLE: Duration = Duration::from_secs(60);
/// A limit that only a defect exceeds.
const LIMIT: Duration = Duration::from_secs(3600);
const POLL_INTERVAL: Duration = Duration::from_millis(200);
const MIB: f64 = 1024.0 * 1024.0;

struct Fleet {
    database: Database,
    nodes: [Node; 3],
    /// Devices with regular runs.
    devices: usize,
    lease: Duration,
    /// The paths of the devices that only run on request.
    paths: Vec<Path>,
    /// They end before the directory is removed.
    _mocks: Mocks,
    _site: Site,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut numbers = (arguments.iter()).filter_map(|argument| argument.parse::<u32>().ok());
    let devices = numbers.next().unwrap_or(3000) as usize;
    let interval = numbers.next().unwrap_or(300);
    let minutes = numbers.next().unwrap_or(3);
    let lease = Duration::from_secs(numbers.next().unwrap_or(30).into());
    println!(
        "{devices} devices on 3 nodes, a run each {interval} s, leases of {} s",
        lease.as_secs()
    );
    let Some(mut fleet) = Fleet::new(devices, interval, lease) else {
        return;
    };
    fleet.idle();
    fleet.join();
    fleet.load(Duration::from_secs(u64::from(minutes) * 60));
    fleet.request();
    fleet.restart();
    fleet.take_over();
    fleet.roll();
}

/// Milliseconds since 1970, as the store has them.
fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

impl Fleet {
    /// `None`: there is no PostgreSQL.
    fn new(devices: usize, interval: u32, lease: Duration) -> Option<Self> {
        let database = Database::start()?;
        let site = Site::new();
        let mocks = Mocks::start(devices.min(MOST_MOCKS), &site);
        // The regular runs find nothing to change.
        site.describe(&mocks);
        site.apply();
        let shared = devices.div_ceil(mocks.switches.len());
        site.describe_shared(&mocks, shared);
        let targets = mocks.switches.iter().cycle().take(REQUESTED);
        let inventory = std::fs::OpenOptions::new()
            .append(true)
            .open(site.path("inventory.toml"));
        let mut inventory = inventory.expect("it was written");
        let mut paths = Vec::new();
        for (number, target) in targets.enumerate() {
            let name = format!("request{number}");
            let path = Path::to(target.port);
            let entry = site::entry(&name, path.port, &target.fingerprint);
            let written = inventory.write_all(entry.as_bytes());
            written.expect("a file can be written");
            site.write_catalog(&name);
            paths.push(path);
        }
        let settings = format!(
            "listen = \"127.0.0.1:0\"\nstate_dir = \"state\"\nstore = \"{}\"\ninventory = \"../inventory.toml\"\n\
             [fleet]\nlease = \"{}s\"\n[defaults]\ninterval = \"{interval}s\"\ncatalog = \"../catalogs\"\n\
             [device.\"request*\"]\ninterval = \"24h\"\n",
            database.address(),
            lease.as_secs(),
        );
        Some(Self {
            nodes: NODES.map(|name| Node::new(&site, name, &settings)),
            devices: mocks.switches.len() * shared,
            database,
            lease,
            paths,
            _mocks: mocks,
            _site: site,
        })
    }

    /// Waits until a statement returns a number.
    fn wait(&self, statement: &str, expected: usize) {
        let end = Instant::now() + LIMIT;
        while self.database.number(statement) != expected as f64 {
            assert!(Instant::now() < end, "{statement} is not {expected}");
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// A process whose devices are all paused.
    fn idle(&mut self) {
        self.nodes[0].start();
        self.wait("SELECT count(*) FROM device", self.devices + REQUESTED);
        self.database.execute(
            "INSERT INTO schedule (device, paused_since) SELECT id, 0 FROM device
             ON CONFLICT (device) DO UPDATE SET paused_since = 0",
        );
        // The processes look for pauses every two seconds.
        std::thread::sleep(Duration::from_secs(10));
        self.wait("SELECT count(*) FROM run WHERE ended IS NULL", 0);
        let before = (self.nodes[0].cpu(), self.database.cpu());
        std::thread::sleep(IDLE);
        let share = |now: Duration, before: Duration| (now - before).div_duration_f64(IDLE) * 1e2;
        let cpu = share(self.nodes[0].cpu(), before.0);
        let database = share(self.database.cpu(), before.1);
        figure("CPU time of an idle hub", cpu, None, " %");
        figure("CPU time of its database", database, None, " %");
        let peak = self.nodes[0].peak() as f64 / MIB;
        figure("peak memory of an idle hub", peak, None, " MiB");
        self.database
            .execute("UPDATE schedule SET paused_since = NULL");
    }

    /// The other nodes start, and all get shards.
    fn join(&mut self) {
        let [first, others @ ..] = &mut self.nodes;
        for node in others {
            node.take_key(first);
            node.start();
        }
        self.spread();
    }

    /// Divides the shards anew: otherwise they move to new nodes slowly.
    fn spread(&self) {
        let number = "SELECT shards FROM site WHERE name = 'default'";
        let shards = self.devices.div_ceil(SHARD).max(NODES.len()) * 2;
        // The same number would change nothing.
        let is_same = self.database.number(number) == shards as f64;
        let shards = shards + usize::from(is_same);
        let status = "SELECT count(*) FROM node WHERE seen > (SELECT max(seen) FROM node) - 5000";
        self.wait(status, NODES.len());
        self.nodes[0].fleet(&["reshard", "default", &shards.to_string()]);
        self.wait(number, shards);
        let owned = "SELECT count(*) FROM lease, site WHERE lease.name LIKE 'shard:default/%'
             AND substr(lease.name, 15)::bigint < shards AND owner IS NOT NULL";
        self.wait(owned, shards);
    }

    /// Regular runs without changes.
    fn load(&self, time: Duration) {
        let first = "SELECT count(*) FROM device WHERE last_run IS NULL AND name LIKE 'switch%'";
        self.wait(first, 0);
        let unchanged =
            || (self.database).number("SELECT runs FROM run_total WHERE status = 'unchanged'");
        let cpu = || self.nodes.iter().map(Node::cpu).sum::<Duration>();
        let (bytes, log) = (self.database.bytes(), self.database.log_bytes());
        let before = (unchanged(), cpu(), self.database.cpu());
        let (since, began) = (now(), Instant::now());
        std::thread::sleep(time);
        let elapsed = began.elapsed();
        let database = (self.database.cpu() - before.2).div_duration_f64(elapsed) * 1e2;
        let runs = unchanged() - before.0;
        let nodes = (cpu() - before.1).as_secs_f64() / runs * 1e3;
        let log = (self.database.log_bytes() - log) / runs;
        let bytes = (self.database.bytes() - bytes) / runs;
        figure(
            "runs without changes",
            runs / elapsed.as_secs_f64(),
            None,
            "/s",
        );
        self.lateness(since);
        figure("CPU time of the database", database, Some(10.0), " %");
        figure("CPU time of the nodes", nodes, None, " ms/run");
        figure("store", bytes, Some(1200.0), " B/run");
        figure("write-ahead log", log, None, " B/run");
        let peak = self.nodes.iter().map(Node::peak).max().unwrap_or_default();
        figure("peak memory of a node", peak as f64 / MIB, None, " MiB");
    }

    fn lateness(&self, since: i64) {
        let late = format!("SELECT max(started - queued) / 1e3 FROM run WHERE queued >= {since}");
        let late = self.database.number(&late);
        figure("latest start after the due time", late, Some(60.0), " s");
    }

    /// Requests at a node that does not run the device.
    fn request(&self) {
        for number in 0..REQUESTED {
            self.nodes[0].request(&format!("request{number}"));
        }
        let first = "SELECT count(*) FROM device WHERE last_run IS NULL AND name LIKE 'request%'";
        self.wait(first, 0);
        let owners = "SELECT device.name, node FROM run, device
             WHERE device.id = device AND device.name LIKE 'request%'";
        let owners = self.database.execute(owners);
        let owners: BTreeMap<&str, &str> = (owners.lines())
            .filter_map(|line| line.split_once('|'))
            .collect();
        let (mut answers, mut arrivals) = (Vec::new(), Vec::new());
        for number in 0..REQUESTS {
            let path = number as usize % REQUESTED;
            let (device, path) = (format!("request{path}"), &self.paths[path]);
            let owner = owners[&*device];
            let mut others = self.nodes.iter().filter(|node| node.name != owner);
            let other = others.nth(number as usize / REQUESTED % 2);
            path.clear();
            let began = Instant::now();
            other.expect("there are two").request(&device);
            answers.push(began.elapsed().as_secs_f64() * 1e3);
            arrivals.push((path.arrival(LIMIT) - began).as_secs_f64() * 1e3);
            std::thread::sleep(REQUEST_INTERVAL.saturating_sub(began.elapsed()));
        }
        for (name, mut times, target) in [
            ("request, to its answer", answers, None),
            (
                "request, to the first byte at the device",
                arrivals,
                Some(100.0),
            ),
        ] {
            times.sort_by(f64::total_cmp);
            let part = |part: usize| times[times.len() * part / 100];
            figure(&format!("{name}, p50"), part(50), None, " ms");
            figure(&format!("{name}, p99"), part(99), target, " ms");
        }
    }

    /// A node is killed, and starts again.
    fn restart(&mut self) {
        self.nodes[0].kill();
        let since = now();
        self.nodes[0].start();
        let served = (now() - since) as f64 / 1e3;
        figure(
            "restart of a killed node, until it serves",
            served,
            None,
            " s",
        );
        let first = format!("SELECT min(started) FROM run WHERE node = 'a' AND started >= {since}");
        let first = self.first(&first);
        let time = (first - since) as f64 / 1e3;
        figure(
            "restart of a killed node, until its first run",
            time,
            Some(5.0),
            " s",
        );
    }

    /// The time that a statement returns at last.
    fn first(&self, statement: &str) -> i64 {
        let end = Instant::now() + LIMIT;
        loop {
            if let Ok(time) = self.database.execute(statement).parse() {
                return time;
            }
            assert!(Instant::now() < end, "{statement} returns nothing");
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// A node is killed, and does not start again.
    fn take_over(&mut self) {
        let shards = "SELECT string_agg(quote_literal(substr(name, 7)), ',') FROM lease
             WHERE owner = 'b' AND name LIKE 'shard:%'";
        let shards = self.database.execute(shards);
        let count = shards.split(',').count();
        self.nodes[1].kill();
        let since = now();
        let left = "SELECT count(*) FROM lease WHERE owner = 'b' AND name LIKE 'shard:%'";
        self.wait(left, 0);
        let owned = (now() - since) as f64 / 1e3 / self.lease.as_secs_f64();
        let runs =
            format!("FROM run WHERE node <> 'b' AND started >= {since} AND shard IN ({shards})");
        self.wait(
            &format!("SELECT count(DISTINCT shard) {runs} AND ended IS NOT NULL"),
            count,
        );
        let first = format!("SELECT min(started) AS first {runs} GROUP BY shard");
        let leases = |of: &str| {
            let time = self.first(&format!("SELECT {of}(first) FROM ({first}) AS firsts"));
            (time - since) as f64 / 1e3 / self.lease.as_secs_f64()
        };
        println!("  {count} shards of a lost node");
        let name = "takeover, until each shard has an owner";
        figure(name, owned, None, " leases");
        let name = "takeover, until the first run";
        figure(name, leases("min"), Some(1.15), " leases");
        let name = "takeover, until each shard has a run";
        figure(name, leases("max"), None, " leases");
        self.lateness(since);
        self.nodes[1].start();
    }

    /// Each node is drained and restarted.
    fn roll(&mut self) {
        self.spread();
        let since = now();
        for number in 0..NODES.len() {
            let name = self.nodes[number].name;
            let began = Instant::now();
            self.nodes[number].fleet(&["drain", name]);
            self.wait(
                &format!("SELECT count(*) FROM lease WHERE owner = '{name}'"),
                0,
            );
            let drained = began.elapsed().as_secs_f64();
            figure(&format!("drain of the node {name}"), drained, None, " s");
            self.nodes[number].stop();
            self.nodes[number].start();
        }
        // Runs that waited meanwhile start.
        std::thread::sleep(self.lease);
        let interrupted =
            format!("SELECT count(*) FROM run WHERE status = 'interrupted' AND queued >= {since}");
        let interrupted = self.database.number(&interrupted);
        figure(
            "rolling restart, interrupted runs",
            interrupted,
            Some(0.0),
            "",
        );
        self.lateness(since);
    }
}

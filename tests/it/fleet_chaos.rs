//! Hubs with one database and a worker change mock devices, while faults happen to processes, paths, clocks and the
//! database. Where it is permitted, each process has a network namespace with a link that goes down.
//!
//! Each process wants other values, and they change all the time, so that every run writes. The devices log what
//! arrives. No write may arrive after one of a newer lease, no run may write between those of another process, and no
//! result may be lost or stored twice. The control has a database for each process, which nothing coordinates: there
//! the judge must find stale writes.
//!
//! Without variables it is a sample. `SWITCHTENDER_CHAOS_SECONDS=1800` is the time for each of five seeds, and
//! `SWITCHTENDER_CHAOS_SEED=7` chooses one seed.

mod database;
mod evidence;
mod fault;
mod judge;
mod lost_host;
mod network;
mod node;
mod path;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use test_support::catalog::{catalog, resource, vlan};
use test_support::lab::Lab;
use test_support::stderr_note;
use tokio::task::JoinSet;
use tokio::time::Instant;

use database::{Database, Standby};
use fault::Seed;
use judge::Verdict;
use network::NodeNetwork;
use node::Node;

/// The time of the sample.
const SAMPLE: Duration = Duration::from_secs(60);
/// A limit that only a defect exceeds.
const LIMIT: Duration = Duration::from_secs(180);
/// The hubs with their sites.
const HUBS: [(&str, &[&str]); 3] = [
    ("a", &["default"]),
    ("b", &["default"]),
    ("c", &["default", BRANCH]),
];
const WORKER: (&str, &[&str]) = ("d", &[BRANCH]);
/// A site of the worker, and of a hub.
const BRANCH: &str = "branch";
/// The lease of a process.
const LEASE: Duration = Duration::from_secs(3);
/// Between two changes of the desired values.
const ROUND: Duration = Duration::from_millis(400);
/// Each answer of a device takes this time: faults meet runs that write.
const SLOW: &[&str] = &["latency=20ms"];

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

/// What a process wants of a device in a round. The value names both.
fn desired(device: &str, value: &str) -> Vec<Value> {
    if device.starts_with("sw") {
        (42..45).map(|number| vlan(number, value)).collect()
    } else if device.starts_with("lb") {
        let node = |number: u8| {
            let address = format!("192.0.2.{number}");
            let node = json!({"ensure": "present", "address": address, "description": value});
            resource("F5_node", &format!("/Common/chaos{number}"), node)
        };
        (1..4).map(node).collect()
    } else {
        let system = json!({"hostname": value});
        vec![resource("Ietf_system", "default", system)]
    }
}

/// The devices: a command line, a REST server and a NETCONF server of each number.
async fn devices(lab: &mut Lab) -> Vec<String> {
    for number in 0..3 {
        lab.add_switch(&format!("sw{number}"), SLOW).await;
        lab.add_load_balancer(&format!("lb{number}"), SLOW).await;
        lab.add_netconf_server(&format!("nc{number}"), SLOW).await;
    }
    for device in ["sw2", "lb2", "nc2"] {
        lab.configure(device, &format!("site = \"{BRANCH}\"\n"));
    }
    lab.devices.keys().cloned().collect()
}

/// Changes the desired values until it is stopped.
async fn change_values(nodes: Arc<Vec<Node>>, devices: Vec<String>, stop: Arc<AtomicBool>) {
    for round in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        for node in nodes.iter() {
            for device in &devices {
                let value = format!("n{}r{round}", node.name);
                let resources = desired(device, &value);
                node.write_catalog(device, &catalog(&format!("{device}.lab.test"), &resources));
            }
        }
        tokio::time::sleep(ROUND).await;
    }
}

/// The number of faults of each kind.
type FaultCounts = BTreeMap<String, usize>;

/// Runs processes under faults for a time, and counts the faults.
async fn suffer(
    seed: u64,
    time: Duration,
    nodes: &Arc<Vec<Node>>,
    server: Option<&Arc<Database>>,
) -> FaultCounts {
    let mut faults = JoinSet::new();
    let end = Instant::now() + time;
    for at in 0..nodes.len() {
        let (nodes, mut seed) = (Arc::clone(nodes), Seed::new(seed, at));
        faults.spawn(async move {
            let mut suffered = Vec::new();
            while Instant::now() < end {
                let fault = seed.fault(nodes[at].network.is_some());
                nodes[at].suffer(fault, seed.time(LEASE)).await;
                suffered.push(format!("{fault:?}"));
                tokio::time::sleep(seed.time(LEASE)).await;
            }
            suffered
        });
    }
    if let Some(server) = server.map(Arc::clone) {
        let mut seed = Seed::new(seed, nodes.len());
        faults.spawn(async move {
            let mut suffered = Vec::new();
            while Instant::now() < end {
                // Longer than after another fault: nobody acquires a lease after it.
                tokio::time::sleep(seed.time(LEASE) * 3).await;
                let (fault, time) = (seed.database_fault(), seed.time(LEASE));
                let server = Arc::clone(&server);
                tokio::task::spawn_blocking(move || server.suffer(fault, time))
                    .await
                    .unwrap();
                suffered.push(format!("database {fault:?}"));
            }
            suffered
        });
    }
    let mut counts = FaultCounts::new();
    while let Some(ended) = faults.join_next().await {
        for fault in ended.unwrap() {
            *counts.entry(fault).or_default() += 1;
        }
    }
    counts
}

/// A network for each process. None has one where this machine forbids it, and the test says so.
fn networks() -> [Option<NodeNetwork>; HUBS.len() + 1] {
    let networks: Result<Vec<_>, _> = (0..=HUBS.len()).map(|_| NodeNetwork::new()).collect();
    let networks = networks
        .inspect_err(|reason| stderr_note::print(&format!("no link goes down: {reason}")))
        .ok();
    let mut networks = networks.into_iter().flatten();
    std::array::from_fn(|_| networks.next())
}

/// A time of faults.
struct Chaos {
    seed: u64,
    time: Duration,
    /// The standby of the database. `None`: each process has a database of its own, without faults.
    standby: Option<Standby>,
}

impl Chaos {
    /// Runs processes under faults, and judges what devices and database have then. `None`: a program is missing.
    async fn run(&self) -> Option<Verdict> {
        let kind = self.standby.unwrap_or(Standby::Asynchronous);
        let server = Arc::new(Database::start(kind)?);
        let mut lab = Lab::new();
        let devices = devices(&mut lab).await;
        let first = server.new_database();
        let [networks @ .., network] = networks();
        let mut nodes = Vec::new();
        for (hub, network) in HUBS.into_iter().zip(networks) {
            let is_shared = nodes.is_empty() || self.standby.is_some();
            let database = if is_shared {
                first.clone()
            } else {
                server.new_database()
            };
            let database = (&*server, &*database);
            nodes.push(Node::hub(&lab, hub, network, database).await);
        }
        // A worker has the database of its hubs.
        if self.standby.is_some() {
            let worker = Node::worker(&lab, WORKER, network, &server, &nodes).await;
            nodes.push(worker);
        }
        let nodes = Arc::new(nodes);
        // Nothing is written before the leases are logged.
        for device in &devices {
            nodes[0].write_catalog(device, &catalog(&format!("{device}.lab.test"), &[]));
        }
        nodes[0].start().await;
        // So many that each process of a site has devices.
        for site in ["default", BRANCH] {
            nodes[0].run(&["fleet", "reshard", site, "6"]).await;
        }
        server.watch(&first);
        let is_over = Arc::new(AtomicBool::new(false));
        let values = change_values(Arc::clone(&nodes), devices.clone(), Arc::clone(&is_over));
        let values = tokio::spawn(values);
        // The worker has the shards of the branch first.
        for node in nodes[1..].iter().rev() {
            node.take_key(&nodes[0]);
            node.start().await;
        }
        let shared = self.standby.is_some().then_some(&server);
        let faults = suffer(self.seed, self.time, &nodes, shared).await;
        all_are_changed(&lab, &devices, &nodes).await;
        is_over.store(true, Ordering::Relaxed);
        values.await.unwrap();
        // The worker delivers its last results.
        for node in nodes.iter().rev() {
            node.stop().await;
        }
        let mut evidence = evidence::read(&server, &first);
        for device in devices {
            let writes = evidence::writes(lab.log(&device));
            evidence.ended_sessions += evidence::ended_sessions(lab.log(&device));
            evidence.writes.insert(device, writes);
        }
        let verdict = evidence.judge();
        self.print(&verdict, &faults);
        Some(verdict)
    }

    fn print(&self, verdict: &Verdict, faults: &FaultCounts) {
        let Verdict {
            writes,
            writers,
            takeovers,
            ended_sessions,
            stale,
            overlapping,
            lost,
            doubled,
        } = verdict;
        let faults: Vec<String> = faults
            .iter()
            .map(|(fault, count)| format!("{fault} {count}"))
            .collect();
        let writers: Vec<String> = writers
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let of = match self.standby {
            Some(standby) => format!("{standby:?} standby").to_lowercase(),
            None => "control".to_owned(),
        };
        println!(
            "seed {}, {of}, {} s: {writes} writes ({}), {} stale, {} overlapping, {} results lost, {} doubled, \
             {takeovers} takeovers, {ended_sessions} sessions ended; faults: {}",
            self.seed,
            self.time.as_secs(),
            writers.join(", "),
            stale.len(),
            overlapping.len(),
            lost.len(),
            doubled.len(),
            faults.join(", ")
        );
    }
}

/// Waits until every device is changed once more: all runs well again.
async fn all_are_changed(lab: &Lab, devices: &[String], nodes: &[Node]) {
    let writes = || {
        let logs = devices.iter().map(|name| lab.log(name));
        logs.map(|log| evidence::writes(log).len())
            .collect::<Vec<_>>()
    };
    let before = writes();
    let changed = async {
        while writes().iter().zip(&before).any(|(now, then)| now <= then) {
            tokio::time::sleep(ROUND).await;
        }
    };
    let ended = tokio::time::timeout(LIMIT, changed).await;
    assert!(
        ended.is_ok(),
        "a device is not changed any more: {before:?} {:?}\n{}",
        writes(),
        Node::logs(nodes)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_write_is_stale_and_no_result_is_lost_under_faults() {
    let seconds = number("SWITCHTENDER_CHAOS_SECONDS").map(Duration::from_secs);
    let seeds = match number("SWITCHTENDER_CHAOS_SEED") {
        Some(seed) => seed..=seed,
        None if seconds.is_some() => 1..=5,
        None => 1..=1,
    };
    let time = seconds.unwrap_or(SAMPLE);
    let mut problems = Vec::new();
    for seed in seeds {
        for (standby, time) in [
            (Standby::Synchronous, time),
            (Standby::Asynchronous, time / 3),
        ] {
            let chaos = Chaos {
                seed,
                time,
                standby: Some(standby),
            };
            let Some(verdict) = chaos.run().await else {
                return;
            };
            assert!(verdict.writes > 10, "{verdict:?}");
            problems.extend(verdict.stale);
            problems.extend(verdict.overlapping);
            // What an asynchronous standby had not received is lost.
            if standby == Standby::Synchronous {
                problems.extend(verdict.lost);
                problems.extend(verdict.doubled);
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_judge_finds_writes_of_processes_that_nothing_coordinates() {
    let chaos = Chaos {
        seed: 1,
        time: Duration::from_secs(15),
        standby: None,
    };
    let Some(verdict) = chaos.run().await else {
        return;
    };
    assert!(!verdict.stale.is_empty());
}

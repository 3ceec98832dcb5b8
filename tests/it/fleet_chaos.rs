//! Several processes with one database change mock devices, while faults happen to processes, paths and the database.
//!
//! Each process wants another value, and the values change all the time, so that every run writes. The devices log
//! what arrives. No write may arrive after one of a newer lease, and no result may be lost or stored twice. The control
//! has a database for each process, which nothing coordinates: there the judge must find stale writes.
//!
//! `SWITCHTENDER_CHAOS_SECONDS=1800` and `SWITCHTENDER_CHAOS_SEED=7` set time and seed; without them it is a sample.

mod database;
mod judge;
mod node;
mod path;
mod seed;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use test_support::catalog::{catalog, resource, vlan};
use test_support::lab::Lab;
use tokio::task::JoinSet;

use database::{Database, DatabaseFault};
use judge::{DeviceLog, Leases, Verdict};
use node::{Fault, Node};
use seed::Seed;

/// The time of the sample.
const SAMPLE: Duration = Duration::from_secs(45);
/// A limit that only a defect exceeds.
const LIMIT: Duration = Duration::from_secs(180);
const NODES: [&str; 3] = ["a", "b", "c"];
/// The lease of a process.
const LEASE: Duration = Duration::from_secs(3);
/// Between two changes of the desired values.
const ROUND: Duration = Duration::from_millis(400);

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

/// What a process wants of a device in a round. The value names both.
fn desired(device: &str, value: &str) -> serde_json::Value {
    match device {
        name if name.starts_with("sw") => vlan(42, value),
        name if name.starts_with("lb") => {
            let node = json!({"ensure": "present", "address": "192.0.2.1", "description": value});
            resource("F5_node", "/Common/chaos", node)
        }
        _ => resource("Ietf_system", "default", json!({"hostname": value})),
    }
}

/// The devices: a command line, a REST server and a NETCONF server of each number.
async fn devices(lab: &mut Lab) -> Vec<String> {
    for number in 0..3 {
        lab.add_switch(&format!("sw{number}"), &[]).await;
        lab.add_load_balancer(&format!("lb{number}"), &[]).await;
        lab.add_netconf_server(&format!("nc{number}"), &[]).await;
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
                let resources = [desired(device, &value)];
                node.write_catalog(device, &catalog(&format!("{device}.lab.test"), &resources));
            }
        }
        tokio::time::sleep(ROUND).await;
    }
}

/// What happened in a time of faults.
struct Chaos {
    verdict: Verdict,
    faults: Vec<(Fault, usize)>,
}

/// Runs processes under faults for a time. `database`: what happens to their database; without it, each has its own.
async fn chaos(seed: u64, time: Duration, database: Option<DatabaseFault>) -> Option<Chaos> {
    let is_coordinated = database.is_some();
    let server = Arc::new(Database::start(database.unwrap_or_default())?);
    let mut lab = Lab::new();
    let devices = devices(&mut lab).await;
    let databases: Vec<String> = NODES.iter().map(|_| server.new_database()).collect();
    let database = |at: usize| &*databases[if is_coordinated { 0 } else { at }];
    let mut nodes = Vec::new();
    for (at, name) in NODES.into_iter().enumerate() {
        nodes.push(Node::new(&lab, name, &server, database(at)).await);
    }
    let nodes = Arc::new(nodes);
    let is_over = Arc::new(AtomicBool::new(false));
    let values = change_values(Arc::clone(&nodes), devices.clone(), Arc::clone(&is_over));
    let values = tokio::spawn(values);
    nodes[0].start().await;
    nodes[0].run(&["fleet", "reshard", "default", "3"]).await;
    let mut leases = Leases::watch(&server, database(0));
    for node in &nodes[1..] {
        node.take_key(&nodes[0]);
        node.start().await;
    }
    let mut faults = JoinSet::new();
    for at in 0..nodes.len() {
        let (nodes, server) = (Arc::clone(&nodes), Arc::clone(&server));
        let mut seed = Seed::new(seed.wrapping_mul(31).wrapping_add(at as u64));
        faults.spawn(async move {
            let mut counts = Vec::new();
            let end = tokio::time::Instant::now() + time;
            while tokio::time::Instant::now() < end {
                let fault = seed.fault(is_coordinated && at == 0);
                nodes[at].suffer(fault, seed.time(LEASE), &server).await;
                counts.push(fault);
                tokio::time::sleep(seed.time(LEASE)).await;
            }
            counts
        });
    }
    let mut counted: Vec<(Fault, usize)> = Fault::ALL.map(|fault| (fault, 0)).into();
    while let Some(ended) = faults.join_next().await {
        for fault in ended.unwrap() {
            counted.iter_mut().find(|(one, _)| *one == fault).unwrap().1 += 1;
        }
    }
    // All runs well again: every device is changed once more.
    let logs: Vec<DeviceLog> = devices
        .iter()
        .map(|name| DeviceLog::new(name, lab.log(name)))
        .collect();
    let writes = || logs.iter().map(DeviceLog::count).collect::<Vec<_>>();
    let before = writes();
    let all_written = async {
        while writes().iter().zip(&before).any(|(now, then)| now <= then) {
            tokio::time::sleep(ROUND).await;
        }
    };
    let ended = tokio::time::timeout(LIMIT, all_written).await;
    assert!(
        ended.is_ok(),
        "a device is not changed any more: {before:?} {:?}\n{}",
        writes(),
        Node::logs(&nodes)
    );
    is_over.store(true, Ordering::Relaxed);
    values.await.unwrap();
    for node in nodes.iter() {
        node.stop().await;
    }
    leases.read();
    let verdict = judge::judge(&logs, &leases);
    Some(Chaos {
        verdict,
        faults: counted,
    })
}

impl Chaos {
    fn print(&self, seed: u64) {
        let faults: Vec<String> = self
            .faults
            .iter()
            .map(|(fault, count)| format!("{fault:?} {count}"))
            .collect();
        let Verdict {
            writes,
            stale,
            lost,
            leases,
            ..
        } = &self.verdict;
        println!(
            "seed {seed}: {writes} writes, {} stale, {} results lost, {leases} leases; faults: {}",
            stale.len(),
            lost.len(),
            faults.join(", ")
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_write_is_stale_and_no_result_is_lost_under_faults() {
    let seed = number("SWITCHTENDER_CHAOS_SEED").unwrap_or(1);
    let time = number("SWITCHTENDER_CHAOS_SECONDS").map_or(SAMPLE, Duration::from_secs);
    let Some(chaos) = chaos(seed, time, Some(DatabaseFault::Restart)).await else {
        return;
    };
    chaos.print(seed);
    let Verdict {
        writes,
        stale,
        lost,
        twice,
        ..
    } = &chaos.verdict;
    assert!(*writes > 10, "{writes}");
    assert!(stale.is_empty(), "{}", stale.join("\n"));
    assert!(lost.is_empty(), "{}", lost.join("\n"));
    assert!(twice.is_empty(), "{}", twice.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_judge_finds_stale_writes_of_processes_that_nothing_coordinates() {
    let Some(chaos) = chaos(1, Duration::from_secs(5), None).await else {
        return;
    };
    chaos.print(1);
    assert!(!chaos.verdict.stale.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_write_is_stale_when_the_database_fails_over() {
    for (fault, loses) in [
        (DatabaseFault::FailOver, false),
        (DatabaseFault::LossyFailOver, true),
    ] {
        let seed = number("SWITCHTENDER_CHAOS_SEED").unwrap_or(1);
        let time = number("SWITCHTENDER_CHAOS_SECONDS").map_or(SAMPLE / 2, Duration::from_secs);
        let Some(chaos) = chaos(seed, time, Some(fault)).await else {
            return;
        };
        chaos.print(seed);
        let Verdict {
            stale, lost, twice, ..
        } = &chaos.verdict;
        assert!(chaos.verdict.writes > 10, "{}", chaos.verdict.writes);
        assert!(stale.is_empty(), "{}", stale.join("\n"));
        // What an asynchronous standby had not received is lost.
        if !loses {
            assert!(lost.is_empty(), "{}", lost.join("\n"));
            assert!(twice.is_empty(), "{}", twice.join("\n"));
        }
    }
}

//! Several processes with one PostgreSQL database: each shows all, and requests reach the node of the device.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use switchtender_devices::session::fence::Fence as _;
use switchtender_devices::task;
use test_support::postgresql::PostgreSql;

use super::harness::{TestOptions, TestServer, text};
use crate::clock;
use crate::history::leases::NodeRecord;
use crate::history::{RunId, StoreLocation};
use crate::run_kind::RunKind;
use crate::serve::access::Role;
use crate::serve::dispatcher::{RunCause, RunToStart};
use crate::serve::lease::protocol::PROTOCOL;

const DASHBOARD: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/examples/grafana/switchtender.json"
));

/// A node of some sites. Without one: of those that no other node names.
pub(super) fn node(name: &str, sites: &[&str]) -> NodeRecord {
    NodeRecord {
        name: name.to_owned(),
        boot: name.to_owned(),
        program: "1.0.0".to_owned(),
        protocol: PROTOCOL,
        sites: sites.iter().map(|site| (*site).to_owned()).collect(),
        runs: true,
        is_hub: true,
        ..NodeRecord::default()
    }
}

/// A process as a node, with its leases.
async fn start(store: &StoreLocation, name: &str, sites: &[&str]) -> TestServer {
    TestServer::start(TestOptions {
        store: Some(store.clone()),
        node: Some(node(name, sites)),
        ..TestOptions::default()
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_arrive_at_the_node_of_the_device() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let address = server.address(&server.new_database());
    let store = StoreLocation::parse(address.as_ref(), "".as_ref()).unwrap();
    // The devices of the test have no site of the second node.
    let owner = start(&store, "owner", &[]).await;
    let other = start(&store, "other", &["elsewhere"]).await;
    let _leases = [&owner, &other].map(|server| {
        let service = server.service.clone();
        task::spawn(async move { service.hold_leases().await })
    });
    let nodes = loop {
        let nodes = other.json("/api/v1/nodes").await;
        let is_owned = |site: &serde_json::Value| site["owners"][0]["owner"] == "owner";
        let sites = nodes["sites"].as_array().unwrap();
        if !sites.is_empty() && sites.iter().all(is_owned) && nodes["nodes"][1].is_object() {
            break nodes;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(nodes["nodes"].as_array().unwrap().len(), 2, "{nodes}");
    assert_eq!(nodes["problems"], json!([]));
    let guarantees = nodes["sites"].as_array().unwrap().iter();
    let guarantees: Vec<_> = guarantees.map(|site| &site["guarantees"]).collect();
    assert_eq!(guarantees[0], &json!({"session": 1}), "{nodes}");
    owner.service.use_shards().await.unwrap();
    other.service.use_shards().await.unwrap();
    for server in [&owner, &other] {
        let devices = server.json("/api/v1/devices").await;
        assert_eq!(devices["devices"].as_array().unwrap().len(), 3, "{devices}");
    }
    let mut runs = Vec::new();
    for device in ["sw0", "sw1"] {
        let path = format!("/api/v1/devices/{device}/runs");
        let request = other.post(Role::Apply, &path, &json!({"kind": "plan"}));
        let (status, answer) = text(request.send().await.unwrap()).await;
        assert!((200..300).contains(&status), "{status}: {answer}");
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        runs.push(format!("/api/v1/runs/{}", answer["run"]));
    }
    // The asked process learns who has the device with its next exchange.
    let reason = async |expected: &str| {
        while other.json(&runs[0]).await["waits_because"] != expected {
            for server in [&owner, &other] {
                server.service.leases().unwrap().wake.notify_one();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    reason("the node owner has it in its queue").await;
    assert_eq!(other.service.report().await.waiting, 0);
    owner.service.find_requests().await;
    assert_eq!(owner.service.report().await.waiting, 2);
    let waiting = owner.json(&runs[0]).await;
    assert_eq!(waiting["waits_because"], "starts soon");
    // They are not found twice.
    owner.service.find_requests().await;
    assert_eq!(owner.service.report().await.waiting, 2);
    // The asked process has reasons of its own, and those of the owner count.
    other.service.refuse_runs("the spool is full".to_owned());
    let refused = "no run changes a device on the node owner: the store is full";
    owner.service.refuse_applies("the store is full".to_owned());
    reason(refused).await;
    owner.service.permit_applies();
    reason("the node owner has it in its queue").await;
    let page = other.get(Role::View, "/nodes").send().await.unwrap();
    let (_, page) = text(page).await;
    assert!(
        page.contains("owner") && page.contains("elsewhere"),
        "{page}"
    );
    let (_, page) = text(other.get(Role::View, "/releases").send().await.unwrap()).await;
    assert!(page.contains("No release is published"), "{page}");
    let releases = other.json("/api/v1/releases").await;
    assert_eq!(releases, json!({"releases": []}));
    // The dashboard has metrics that nodes have.
    let right = owner.service.device_right("sw0").unwrap();
    right.lease.unwrap().check().unwrap();
    let with_file = TestServer::start(TestOptions::default()).await;
    let mut exported = String::new();
    for server in [&owner, &with_file] {
        let metrics = server.get(Role::View, "/metrics").send().await.unwrap();
        exported += &text(metrics).await.1;
    }
    let is_exported = |metric: &str| {
        let line = |start: &str| exported.lines().any(|line| line.starts_with(start));
        line(&format!("# TYPE {metric} ")) || line(&format!("{metric}{{"))
    };
    let metrics = DASHBOARD.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let metrics = metrics.filter(|word| word.starts_with("switchtender_"));
    let metrics: BTreeSet<&str> = metrics.collect();
    assert!(metrics.contains("switchtender_fleet_site_lateness_seconds"));
    for metric in metrics {
        assert!(is_exported(metric), "{metric}: {exported}");
    }
    // A site whose node is missing is shown.
    let leases = owner.service.leases().unwrap();
    assert_eq!(leases.no_node(), None);
    forgets_what_is_gone(&owner, &other, &runs).await;
}

/// Requests that another process withdrew, and those of a shard that moves, leave nothing behind.
async fn forgets_what_is_gone(owner: &TestServer, other: &TestServer, runs: &[String]) {
    let ids = runs.iter().map(|run| {
        let number = run.rsplit('/').next().unwrap();
        RunId(number.parse().unwrap())
    });
    let ids: Vec<RunId> = ids.collect();
    let known = || ids.iter().map(|run| owner.service.live().of_run(*run));
    let events = known().map(|run| run.unwrap().0.len());
    assert_eq!(events.collect::<Vec<_>>(), [1, 1], "announced once");
    assert!(other.service.cancel(ids[0]).await.unwrap());
    owner.service.find_requests().await;
    assert_eq!(owner.service.report().await.waiting, 1);
    let is_known = known().map(|run| run.is_some());
    assert_eq!(is_known.collect::<Vec<_>>(), [false, true]);
    let drained = owner
        .service
        .history()
        .write(|writer| writer.drain_node("owner"));
    assert!(drained.await.unwrap());
    let leases = owner.service.leases().unwrap();
    while owner.service.device_right("sw1").is_some() {
        leases.wake.notify_one();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    owner.service.use_shards().await.unwrap();
    assert_eq!(known().flatten().count(), 0);
}

/// A run whose lease ends is stopped, and says why.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_its_lease_stopped_has_the_reason() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let address = server.address(&server.new_database());
    let store = StoreLocation::parse(address.as_ref(), "".as_ref()).unwrap();
    let node = start(&store, "one", &[]).await;
    let service = node.service.clone();
    let _leases = task::spawn(async move { service.hold_leases().await });
    let right = loop {
        match node.service.device_right("sw0") {
            Some(right) => break right,
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    right.lease.as_ref().unwrap().stop().cancel();
    let run = RunToStart {
        device: "sw0".into(),
        kind: RunKind::Apply,
        plans_because: None,
        cause: RunCause::Schedule,
        priority: 0,
        due: clock::timestamp(),
    };
    node.service.run_with_right(run, &right).await;
    let runs = node.json("/api/v1/runs?limit=1").await;
    let run = &runs["runs"][0];
    let reason = "the run was stopped: the lease of its shard was not renewed in time, or the node was evicted";
    assert_eq!(run["hint"], reason, "{runs}");
    assert_eq!(run["device"], "sw0", "{runs}");
}

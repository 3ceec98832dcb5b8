//! A host is lost while its process changes a device, and its link comes back after another process has the device.

use std::time::Duration;

use test_support::catalog::catalog;
use test_support::lab::Lab;
use test_support::{peer, stderr_note};

use super::database::{Database, Standby};
use super::network::{NodeNetwork, PROGRAMS};
use super::node::Node;
use super::{LIMIT, desired, evidence};

/// Time to cut the link between a write and its answer.
const SLOW: &[&str] = &["latency=250ms"];
const SITES: &[&str] = &["default"];

async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let holds = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let ended = tokio::time::timeout(LIMIT, holds).await;
    ended.unwrap_or_else(|_| panic!("not {what}"));
}

/// Two processes in these networks change a device. The host of the first one is lost.
async fn disconnect_host(server: &Database, lab: &Lab, device: &str, networks: [NodeNetwork; 2]) {
    let database = server.new_database();
    let [lost, next] = networks.map(Some);
    let lost = Node::hub(lab, ("a", SITES), lost, (server, &database)).await;
    let next = Node::hub(lab, ("b", SITES), next, (server, &database)).await;
    for node in [&lost, &next] {
        let resources = desired(device, &format!("n{}r0", node.name));
        node.write_catalog(device, &catalog(&format!("{device}.lab.test"), &resources));
    }
    let has_written = |node: &Node| {
        let writes = evidence::writes(lab.log(device));
        writes.iter().any(|write| write.node == node.name)
    };
    lost.start().await;
    server.watch(&database);
    next.take_key(&lost);

    until("written by the first process", || has_written(&lost)).await;
    let network = lost.network.as_ref().expect("it has one");
    network.drop_packets();
    let repeats = || lost.device_ports().any(|port| network.repeats(port));
    until("a write that does not arrive", repeats).await;
    network.take_down();
    next.start().await;
    until("written by the second process", || has_written(&next)).await;
    network.bring_up();
    until("delivered or given up", || !repeats()).await;
    next.stop().await;
    lost.stop().await;

    let mut evidence = evidence::read(server, &database);
    let writes = evidence::writes(lab.log(device));
    evidence.writes.insert(device.to_owned(), writes);
    let verdict = evidence.judge();
    let problems = [
        &verdict.stale,
        &verdict.overlapping,
        &verdict.lost,
        &verdict.doubled,
    ];
    assert!(problems.iter().all(|found| found.is_empty()), "{verdict:?}");
    assert!(verdict.takeovers > 0, "{verdict:?}");
    let has_sessions = device.starts_with("sw");
    let ended = evidence::ended_sessions(lab.log(device));
    assert_eq!(ended > 0, has_sessions, "{device}: {ended} sessions");
    let first = "SELECT status = 'interrupted' OR is_late FROM switchtender.run
        WHERE node = 'a' AND kind = 'apply' ORDER BY id LIMIT 1";
    assert_eq!(server.execute(&database, first), "t", "{device}");
}

#[tokio::test(flavor = "multi_thread")]
async fn write_of_a_lost_host_does_not_arrive_after_one_of_its_successor() {
    if peer::skips(peer::missing_programs("test-tools.sh", &PROGRAMS)) {
        return;
    }
    let Some(server) = Database::start(Standby::Synchronous) else {
        return;
    };
    // The earlier sessions of a switch are ended. A REST server has none.
    for device in ["sw0", "lb0"] {
        let networks = match (NodeNetwork::new(), NodeNetwork::new()) {
            (Ok(first), Ok(second)) => [first, second],
            (Err(reason), _) | (_, Err(reason)) => {
                stderr_note::print(&format!("skipped: {reason}"));
                return;
            }
        };
        let mut lab = Lab::new();
        if device == "sw0" {
            lab.add_switch(device, SLOW).await;
        } else {
            lab.add_load_balancer(device, SLOW).await;
        }
        disconnect_host(&server, &lab, device, networks).await;
    }
}

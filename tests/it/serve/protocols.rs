//! Programs of several protocols: neighbors share a fleet, and an older one is refused with its reason.
//!
//! `.ci/run protocols` builds the older programs and runs the tests: `SWITCHTENDER_OLDER_PROGRAMS` names the directory
//! with `1` and `2`, whose protocols are older by these numbers. Without it the tests print that they were skipped.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use test_support::free_port::free_port;
use test_support::lab::Lab;
use test_support::postgresql::PostgreSql;
use test_support::{program, stderr_note};

use super::fleet::{OTHER, OWNER, TestFleet};
use super::process::{self, ServeProcess, within_limit};
use super::worker::{berlin, share_key, write_hub, write_worker};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// The programs whose protocols are older by one and by two.
fn older_programs() -> Option<[PathBuf; 2]> {
    let Some(directory) = std::env::var_os("SWITCHTENDER_OLDER_PROGRAMS") else {
        stderr_note::print("skipped: SWITCHTENDER_OLDER_PROGRAMS names no programs");
        return None;
    };
    Some(["1", "2"].map(|age| Path::new(&directory).join(age)))
}

/// A page of a process as an administrator sees it.
async fn page(process: &ServeProcess, lab: &Lab, state: &str, path: &str) -> String {
    drop(rustls::crypto::ring::default_provider().install_default());
    let token = std::fs::read_to_string(lab.path(&format!("{state}/serve/local.token"))).unwrap();
    let request = reqwest::Client::new()
        .get(format!("{}{path}", process.url()))
        .bearer_auth(token.trim());
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    answer.text().await.unwrap()
}

/// The number of shards of a node.
fn shards(status: &Value, node: &str) -> i64 {
    let nodes = status["nodes"].as_array().unwrap().iter();
    let mut found = nodes.filter(|one| one["name"] == node);
    found
        .next()
        .and_then(|one| one["shards"].as_i64())
        .unwrap_or(0)
}

impl TestFleet {
    /// Waits until the nodes have all shards, each of them at least one.
    async fn divided(&self, nodes: &[&str]) {
        within_limit("the shards of all nodes", async {
            loop {
                let status = self.status().await;
                let counts: Vec<i64> = nodes.iter().map(|node| shards(&status, node)).collect();
                let all = status["sites"][0]["shards"].as_i64();
                if counts.iter().all(|count| *count > 0) && Some(counts.iter().sum()) == all {
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_two_protocols_share_a_fleet() {
    let Some([before, older]) = older_programs() else {
        return;
    };
    let devices = ["sw1", "sw2", "sw3", "sw4", "sw5", "sw6"];
    let Some(fleet) = TestFleet::of(&devices, "3s").await else {
        return;
    };
    let mut one = fleet.start_program(&before, OWNER).await;
    let mut two = fleet.start_program(&program::path(), OTHER).await;
    one.next_stored().await;
    fleet.command(&["reshard", "default", "8"]).await;
    fleet.divided(&[OWNER, OTHER]).await;
    // Both run devices, and each page has both.
    one.next_stored().await;
    two.next_stored().await;
    for (node, process) in [(OWNER, &one), (OTHER, &two)] {
        let page = page(process, &fleet.lab, &format!("state-{node}"), "/nodes").await;
        for text in [OWNER, OTHER, "(protocol 1)", "(protocol 2)"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert!(!page.contains("role=\"alert\""), "{page}");
    }

    // A third one runs nothing, and says why.
    let mut third = fleet.start_program(&older, "three").await;
    third.line("no run starts: this program").await;
    for path in ["/nodes", "/"] {
        let page = page(&third, &fleet.lab, "state-three", path).await;
        assert!(page.contains("too old for the fleet"), "{path}: {page}");
    }
    let status = fleet.status().await;
    assert_eq!(shards(&status, "three"), 0);
    let problems = status["problems"].to_string();
    let reason = "the node three is too old for the fleet and runs no device: its protocol is 0, that of other nodes \
                  is 2; upgrade it";
    assert!(problems.contains(reason), "{problems}");
    let log = third.stop().await;
    assert!(
        log.contains("its protocol is 0, that of other nodes is 2"),
        "{log}"
    );
    assert!(!log.contains("the run is stored"), "{log}");

    // A takeover goes from each one to the other.
    one.kill().await;
    fleet.divided(&[OTHER]).await;
    let mut one = fleet.start_program(&before, OWNER).await;
    fleet.divided(&[OWNER, OTHER]).await;
    two.kill().await;
    fleet.divided(&[OWNER]).await;
    for device in devices {
        one.stored(device, "unchanged").await;
    }
    one.stop().await;
}

/// A hub and the site of a worker.
struct TestSite {
    hub: Lab,
    site: Lab,
    token: String,
}

impl TestSite {
    /// `None`: there is no PostgreSQL.
    async fn new() -> Option<Self> {
        let server = PostgreSql::shared()?;
        let (mut hub, site, port) = (Lab::new(), berlin(&[]).await, free_port());
        let address = server.address(&server.new_database());
        write_hub(&mut hub, &site, &address, port);
        write_worker(&site, port);
        let token = String::new();
        Some(Self { hub, site, token })
    }

    async fn hub(&mut self, program: &Path) -> ServeProcess {
        let mut hub = ServeProcess::of_program((program, &[]), &self.hub, &[]);
        hub.line("serving ").await;
        if self.token.is_empty() {
            let arguments = ["access", "add-worker", "ber-1", "--sites", "berlin"];
            let added = process::run(&self.hub, &arguments).await;
            added.assert_code(0);
            added.stdout.trim().clone_into(&mut self.token);
        }
        share_key(&self.hub, &self.site);
        hub
    }

    fn worker(&self, program: &Path) -> ServeProcess {
        let environment = [("WORKER_TOKEN", self.token.as_str())];
        ServeProcess::of_program((program, &[]), &self.site, &environment)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_and_hubs_of_two_protocols_share_a_fleet() {
    let Some([before, older]) = older_programs() else {
        return;
    };
    let Some(mut test) = TestSite::new().await else {
        return;
    };
    let current = program::path();
    for (hub, worker, status) in [
        (&current, &before, "changed"),
        (&before, &current, "unchanged"),
    ] {
        let hub = test.hub(hub).await;
        let mut worker = test.worker(worker);
        worker.stored("sw1", status).await;
        worker.stop().await;
        hub.stop().await;
    }

    let reason =
        "the worker ber-1 has the protocol 0, and this hub has 2: update the program of the worker";
    let mut hub = test.hub(&current).await;
    let mut worker = test.worker(&older);
    let line = worker.line("waits for a hub").await;
    assert!(line.contains(reason), "{line}");
    hub.line(reason).await;
    let log = worker.stop().await;
    assert!(!log.contains("the run is stored"), "{log}");
    hub.stop().await;
}

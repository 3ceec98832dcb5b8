//! Several processes with one PostgreSQL database: takeovers, drains, evictions and paused owners.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use test_support::catalog::vlan;
use test_support::interrupt;
use test_support::lab::Lab;
use test_support::postgresql::PostgreSql;
use test_support::program::{self, ProgramOutput};

use super::process::{self, ServeProcess, within_limit};
use super::query;

/// The names of the nodes. The hash of the only shard prefers the first one by far, also with a high load: it does not
/// move while both answer.
pub(super) const OWNER: &str = "one";
pub(super) const OTHER: &str = "two";

/// Nodes with the devices of a laboratory.
pub(super) struct TestFleet {
    pub(super) lab: Lab,
    server: &'static PostgreSql,
    database: String,
    pub(super) store: String,
    lease: &'static str,
}

impl TestFleet {
    /// `None`: there is no PostgreSQL, and the test is skipped.
    async fn new(lease: &'static str) -> Option<Self> {
        Self::of(&["sw1", "sw2"], lease).await
    }

    /// As [`Self::new`], with these devices.
    pub(super) async fn of(devices: &[&str], lease: &'static str) -> Option<Self> {
        Self::with_faults(devices, lease, &[]).await
    }

    /// With faults of the first device.
    async fn with_faults(devices: &[&str], lease: &'static str, faults: &[&str]) -> Option<Self> {
        let server = PostgreSql::shared()?;
        let mut lab = Lab::new();
        for (at, device) in devices.iter().enumerate() {
            let faults = if at == 0 { faults } else { &[] };
            lab.add_switch(device, faults).await;
            lab.write_resources(device, &[vlan(42, "round0")]);
        }
        lab.write_inventory();
        let database = server.new_database();
        Some(Self {
            lab,
            server,
            store: server.address(&database),
            database,
            lease,
        })
    }

    async fn start(&self, node: &str) -> ServeProcess {
        self.start_program(&program::path(), node).await
    }

    /// Starts a node of another program.
    pub(super) async fn start_program(&self, program: &Path, node: &str) -> ServeProcess {
        let file = self.write_settings(node);
        let command: (&Path, &[&str]) = (program, &["--config", &file]);
        let mut process = ServeProcess::of_program(command, &self.lab, &[]);
        process.line("serving ").await;
        process
    }

    /// Writes the settings of a node. Returns their file.
    fn write_settings(&self, node: &str) -> String {
        let settings = format!(
            "listen = \"127.0.0.1:0\"\nstate_dir = \"state-{node}\"\nstore = \"{}\"\n\
             [fleet]\nnode = \"{node}\"\nlease = \"{}\"\n\
             [defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n",
            self.store, self.lease
        );
        let file = format!("serve-{node}.toml");
        std::fs::write(self.lab.path(&file), settings).unwrap();
        // The state of the devices in the database has one key.
        let key = |node: &str| self.lab.path(&format!("state-{node}/state.key"));
        if key(OWNER).exists() && !key(node).exists() {
            std::fs::create_dir_all(self.lab.path(&format!("state-{node}"))).unwrap();
            std::fs::copy(key(OWNER), key(node)).unwrap();
        }
        file
    }

    pub(super) async fn status(&self) -> Value {
        let arguments = [
            "fleet",
            "status",
            "--output",
            "json",
            "--store",
            &self.store,
        ];
        let output = process::run(&self.lab, &arguments).await;
        serde_json::from_str(&output.stdout).unwrap()
    }

    /// Waits until a node has the only shard.
    async fn owned_by(&self, node: &str) {
        within_limit("an owner", async {
            loop {
                let status = self.status().await;
                if status["sites"][0]["owners"][0]["owner"] == node {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await;
    }

    /// The owner of the shard, and the other node.
    async fn pair(&self) -> (ServeProcess, ServeProcess) {
        let owner = self.start(OWNER).await;
        self.owned_by(OWNER).await;
        let other = self.start(OTHER).await;
        within_limit("two nodes", async {
            while self.status().await["nodes"].as_array().unwrap().len() < 2 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await;
        (owner, other)
    }

    /// The number of runs with a condition, as the database has them.
    fn count(&self, condition: &str) -> usize {
        let count = format!(
            "SELECT count(*) FROM switchtender.run
             JOIN switchtender.device ON device.id = run.device WHERE {condition}"
        );
        let count = self.server.execute(&self.database, &count);
        count.parse().unwrap()
    }

    async fn runs(&self, status: &str) -> usize {
        let store = ["--store", &self.store, "--limit", "100000"];
        let mut all = vec!["history", "--output", "json"];
        all.extend(store);
        let runs = query(&self.lab, &all).await;
        runs.iter().filter(|run| run["status"] == status).count()
    }

    pub(super) async fn command(&self, arguments: &[&str]) {
        self.run(arguments).await.assert_code(0);
    }

    async fn run(&self, arguments: &[&str]) -> ProgramOutput {
        let mut all = vec!["fleet"];
        all.extend(arguments);
        all.extend(["--store", &self.store]);
        process::run(&self.lab, &all).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_node_is_replaced_after_its_lease() {
    let faults = ["stall-after=^name round0"];
    let Some(fleet) = TestFleet::with_faults(&["sw1", "sw2"], "3s", &faults).await else {
        return;
    };
    let owner = fleet.start(OWNER).await;
    // Its run has changed the device, and waits for an answer.
    within_limit("a run that changes the device", async {
        while fleet.lab.switches["sw1"].fired_faults() == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_eq!(
        fleet.count("node = 'one' AND device.name = 'sw1' AND ended IS NULL"),
        1
    );
    owner.kill().await;
    let mut left = fleet.start(OTHER).await;
    left.stored("sw1", "changed").await;
    assert_eq!(fleet.count("node = 'one' AND ended IS NULL"), 0);
    let interrupted = "node = 'one' AND device.name = 'sw1' AND status = 'interrupted'";
    assert_eq!(fleet.count(interrupted), 1);
    let vlans = fleet.lab.switches["sw1"].vlans();
    assert!(
        vlans.contains(&(42, "round0".to_owned(), false)),
        "{vlans:?}"
    );
    left.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn owner_without_connections_to_devices_stays() {
    let Some(mut fleet) = TestFleet::new("3s").await else {
        return;
    };
    let (mut owner, left) = fleet.pair().await;
    owner.stored("sw1", "changed").await;
    fleet.lab.switches.remove("sw1").unwrap().stop().await;
    let unreachable = "device.name = 'sw1' AND is_unreachable AND node = 'one'";
    within_limit("an unreachable device", async {
        while fleet.count(unreachable) == 0 {
            owner.stored("sw2", "unchanged").await;
        }
    })
    .await;
    let ended = fleet.count("device.name = 'sw2' AND ended IS NOT NULL");
    // Longer than a lease: a run starts every second.
    within_limit("runs of the other device", async {
        while fleet.count("device.name = 'sw2' AND ended IS NOT NULL") < ended + 5 {
            owner.stored("sw2", "unchanged").await;
        }
    })
    .await;
    assert_eq!(fleet.count("node = 'two'"), 0);
    owner.stop().await;
    left.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn second_process_with_the_name_of_a_node_runs_nothing() {
    let Some(fleet) = TestFleet::new("3s").await else {
        return;
    };
    let mut owner = fleet.start(OWNER).await;
    owner.stored("sw1", "changed").await;
    fleet.write_settings(OTHER);
    let settings = std::fs::read_to_string(fleet.lab.path("serve-two.toml")).unwrap();
    let same = settings.replace("node = \"two\"", "node = \"one\"");
    std::fs::write(fleet.lab.path("serve-same.toml"), same).unwrap();
    let command: (&Path, &[&str]) = (&program::path(), &["--config", "serve-same.toml"]);
    let mut second = ServeProcess::of_program(command, &fleet.lab, &[]);
    second.line("another process is the node `one`").await;
    // Longer than a lease: a run starts every second.
    for _ in 0..5 {
        owner.stored("sw1", "unchanged").await;
    }
    owner.stop().await;
    // The first one has released the name.
    second.stored("sw1", "unchanged").await;
    second.stop().await;
    assert_eq!(fleet.runs("interrupted").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn restarted_node_takes_its_leases_back_at_once() {
    let Some(fleet) = TestFleet::new("1h").await else {
        return;
    };
    let mut first = fleet.start(OWNER).await;
    first.stored("sw1", "changed").await;
    first.kill().await;
    let mut again = fleet.start(OWNER).await;
    again.stored("sw1", "unchanged").await;
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drain_and_stop_interrupt_no_run() {
    let Some(fleet) = TestFleet::new("1h").await else {
        return;
    };
    let (mut owner, mut next) = fleet.pair().await;
    owner.stored("sw1", "changed").await;
    let status = fleet.run(&["status"]).await;
    assert!(
        status.stdout.contains("site default: 1 shard, "),
        "{}",
        status.stdout
    );
    fleet.command(&["drain", OWNER]).await;
    next.stored("sw1", "unchanged").await;
    owner.stop().await;
    next.stop().await;
    // An orderly stop leaves free leases.
    let mut again = fleet.start(OWNER).await;
    again.stored("sw1", "unchanged").await;
    again.stop().await;
    assert_eq!(fleet.runs("interrupted").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn evicted_node_is_replaced_at_once() {
    let Some(fleet) = TestFleet::new("1h").await else {
        return;
    };
    let (mut owner, mut left) = fleet.pair().await;
    owner.stored("sw1", "changed").await;
    let refused = fleet.run(&["evict", OWNER]).await;
    refused.assert_code(1);
    assert!(refused.stderr.contains("it is alive"), "{}", refused.stderr);
    owner.kill().await;
    let evicted = fleet.run(&["evict", OWNER, "--force"]).await;
    evicted.assert_code(0);
    assert!(
        evicted.stdout.ends_with(" of the node one\n"),
        "{}",
        evicted.stdout
    );
    left.stored("sw1", "unchanged").await;
    left.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_owner_loses_its_lease_and_gets_it_back() {
    let Some(fleet) = TestFleet::new("3s").await else {
        return;
    };
    let (mut owner, mut left) = fleet.pair().await;
    owner.stored("sw1", "changed").await;
    interrupt::send(owner.id(), "-STOP");
    fleet.owned_by(OTHER).await;
    let mut last = 0;
    for round in ["round1", "round2"] {
        for device in ["sw1", "sw2"] {
            fleet.lab.write_resources(device, &[vlan(42, round)]);
        }
        for device in ["sw1", "sw2"] {
            last = last.max(left.stored(device, "changed").await);
        }
    }
    interrupt::send(owner.id(), "-CONT");
    owner.line("is lost").await;
    // It gets the shard back in order.
    for device in ["sw1", "sw2"] {
        while owner.stored(device, "unchanged").await <= last {}
    }
    for device in ["sw1", "sw2"] {
        let vlans = fleet.lab.switches[device].vlans();
        assert!(
            vlans.contains(&(42, "round2".to_owned(), false)),
            "{vlans:?}"
        );
    }
    owner.stop().await;
    left.stop().await;
}

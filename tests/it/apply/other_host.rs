//! Two hosts with one database: each continues the state of devices where the other one has left it.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::{resource, sensitive};
use test_support::lab::{Lab, parsed, switch_options};
use test_support::postgresql::PostgreSql;
use test_support::program::ProgramOutput;

/// The time after which the device reverts, in the platform's definition.
const TIMER: Duration = Duration::from_secs(300);
const SECRETS: usize = 25;
/// The secret of a user, of which the device shows a hash only.
const USER_SECRET: &str = "pl4ntedUserZq";
/// A limit that only a defect exceeds.
const LIMIT: Duration = Duration::from_secs(60);

/// A device, and a database for two hosts.
struct Hosts {
    lab: Lab,
    server: &'static PostgreSql,
    database: String,
    address: String,
}

impl Hosts {
    /// `None`: PostgreSQL is missing.
    async fn new(faults: &[&str]) -> Option<Self> {
        let server = PostgreSql::shared()?;
        let mut lab = Lab::new();
        let config = "archive\n path flash:before\ninterface GigabitEthernet1/0/1\n no shutdown\n";
        lab.add_switch_with(SwitchOptions {
            faults: parsed(faults),
            config: Some(config.to_owned()),
            ..switch_options("sw1")
        })
        .await;
        let database = server.new_database();
        let address = server.address(&database);
        Some(Self {
            lab,
            server,
            database,
            address,
        })
    }

    fn arguments<'a>(&'a self, host: &'a str, command: &[&'a str]) -> Vec<&'a str> {
        let options = ["--state-dir", host, "--store", &self.address];
        command.iter().copied().chain(options).collect()
    }

    async fn run(&self, host: &str, command: &[&str]) -> ProgramOutput {
        self.lab.run(&self.arguments(host, command)).await
    }

    /// The second host gets the key of the first one.
    fn copy_key(&self) {
        fs::create_dir_all(self.lab.path("b")).unwrap();
        fs::copy(self.lab.path("a/state.key"), self.lab.path("b/state.key")).unwrap();
    }

    fn desire(&self, description: &str) {
        self.desire_also(description, None);
    }

    /// Also a user, for whom only a digest shows that the secret is set.
    fn desire_with_user(&self, description: &str) {
        let user = json!({"privilege": 15, "secret": USER_SECRET});
        let user = sensitive(resource("Ios_user", "net", user), &["secret"]);
        self.desire_also(description, Some(user));
    }

    fn desire_also(&self, description: &str, other: Option<Value>) {
        let mut resources: Vec<Value> = (1..=SECRETS).map(key).collect();
        resources.extend(other);
        let desired = json!({"enable": true, "description": description});
        resources.push(resource(
            "Network_interface",
            "GigabitEthernet1/0/1",
            desired,
        ));
        self.lab.write_resources("sw1", &resources);
    }

    fn sent(&self) -> Vec<String> {
        let lines = self.lab.log("sw1").configuration_lines();
        self.lab.log("sw1").clear();
        lines
    }
}

/// All that is in a database, as statements.
fn dump(server: &PostgreSql, database: &str) -> String {
    let versions = fs::read_dir("/usr/lib/postgresql").unwrap();
    let programs = versions.map(|version| version.unwrap().path().join("bin/pg_dump"));
    let program = programs.filter(|program| program.exists()).max().unwrap();
    let port = server.port().to_string();
    let mut command = Command::new(program);
    command.args([
        "-h",
        "127.0.0.1",
        "-U",
        "owner",
        "--inserts",
        "-p",
        &port,
        database,
    ]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn secret(number: usize) -> String {
    format!("pl4nted{number:02}Zq")
}

fn key(number: usize) -> Value {
    let key = json!({
        "ensure": "present", "algorithm": "md5", "mode": "0", "password": secret(number), "audit": "password"
    });
    sensitive(
        resource("Ntp_auth_key", &number.to_string(), key),
        &["password"],
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn another_host_continues_the_state_and_the_database_has_no_secret() {
    let Some(hosts) = Hosts::new(&[]).await else {
        return;
    };
    hosts.desire_with_user("desk");
    hosts.run("a", &["apply", "--yes"]).await.assert_code(0);
    let before = hosts.lab.switches["sw1"].running_config();
    assert!(before.contains(&secret(SECRETS)), "{before}");
    let user = "username net privilege 15 secret 9 ";
    assert!(before.contains(user), "{before}");
    assert!(!before.contains(USER_SECRET), "{before}");

    // Without the key nothing is done, and nothing is created.
    let refused = hosts.run("b", &["plan"]).await;
    refused.assert_code(1);
    refused.assert_contains("the state of devices in the store is sealed with the key ");
    refused.assert_contains("copy state.key from another host of the store");
    assert!(!hosts.lab.path("b/devices").exists());

    hosts.copy_key();
    hosts.sent();
    hosts.run("b", &["apply", "--yes"]).await.assert_code(0);
    assert_eq!(hosts.sent(), [""; 0], "the secrets are not set again");

    // Somebody else changes the description: that is drift, for the other host, too.
    hosts.desire_with_user("by hand");
    let by_hand = ["apply", "--yes", "--state-dir", "elsewhere"];
    hosts.lab.run(&by_hand).await.assert_code(0);
    hosts.desire_with_user("printer");
    let ran = hosts.run("b", &["apply", "--yes"]).await;
    ran.assert_contains("'by hand' to 'printer' (corrective)");

    // A run of one host is undone from the other.
    let listed = hosts.run("a", &["undo"]).await;
    assert_eq!(listed.stdout.lines().count(), 3, "{}", listed.text());
    let undone = hosts.run("a", &["undo", "--last", "--yes"]).await;
    undone.assert_contains("'printer' to 'by hand'");

    let dump = dump(hosts.server, &hosts.database);
    assert!(
        dump.contains("device_state") && dump.contains("sw1"),
        "{dump}"
    );
    for secret in (1..=SECRETS).map(secret).chain([USER_SECRET.to_owned()]) {
        assert!(!dump.contains(&secret), "{secret} is in the database");
        assert!(
            !dump.contains(&hex::encode(&secret)),
            "{secret} is in the database as hexadecimal digits"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_key_loses_undo_and_digests_only() {
    let Some(hosts) = Hosts::new(&[]).await else {
        return;
    };
    hosts.desire_with_user("desk");
    hosts.run("a", &["apply", "--yes"]).await.assert_code(0);
    // Only these need the key. Times and results, facts and the rest are readable without it.
    let sealed = "SELECT DISTINCT split_part(file, '/', 1) FROM switchtender.device_state
        WHERE get_byte(body, 0) <> ascii('{') ORDER BY 1";
    let sealed = hosts.server.execute(&hosts.database, sealed);
    let expected = ["audited.json", "secret-digests.json", "undo"];
    assert_eq!(sealed.lines().collect::<Vec<_>>(), expected);
    let plain = "SELECT file FROM switchtender.device_state
        WHERE get_byte(body, 0) = ascii('{') ORDER BY 1";
    let plain = hosts.server.execute(&hosts.database, plain);
    for file in ["facts.json", "identity.json", "memory.json"] {
        assert!(plain.lines().any(|found| found == file), "{plain}");
    }
    // Without the key, the message and `doctor` say what to do.
    for command in [["apply", "--yes"].as_slice(), &["doctor"]] {
        let refused = hosts.run("b", command).await;
        refused.assert_code(1);
        refused.assert_contains("is sealed with the key ");
        refused.assert_contains("copy state.key from another host of the store to b/state.key");
        refused.assert_contains("`switchtender store new-key`");
    }
    let new_key = ["store", "new-key"];
    let ran = hosts.run("b", &new_key).await;
    ran.assert_code(0);
    ran.assert_contains("undo of earlier runs and the digests of secrets are lost");
    hosts.sent();
    let ran = hosts.run("b", &["apply", "--yes"]).await;
    ran.assert_contains("secret-digests.json of sw1 is sealed with the key ");
    ran.assert_contains(", which is lost");
    // The device shows the NTP keys. It shows a hash of the secret of the user, which is set once more.
    let set = format!("username net privilege 15 secret {USER_SECRET}");
    assert_eq!(hosts.sent(), ["no username net", &*set]);
    let again = hosts.run("b", &["apply", "--yes"]).await;
    again.assert_code(0);
    assert!(!again.text().contains("which is lost"), "{}", again.text());
    assert_eq!(hosts.sent(), [""; 0]);
    // The undo of the earlier run is lost, and the command names it.
    let undone = hosts.run("b", &["undo"]).await;
    undone.assert_contains(" cannot be undone: undo/");
    undone.assert_contains(", which is lost");
    // Another host with the new key knows that it is set.
    fs::create_dir_all(hosts.lab.path("c")).unwrap();
    fs::copy(hosts.lab.path("b/state.key"), hosts.lab.path("c/state.key")).unwrap();
    hosts.run("c", &["apply", "--yes"]).await.assert_code(0);
    assert_eq!(hosts.sent(), [""; 0]);
    // The times and results of resources are still there.
    hosts.desire_with_user("by hand");
    let by_hand = ["apply", "--yes", "--state-dir", "elsewhere"];
    hosts.lab.run(&by_hand).await.assert_code(0);
    hosts.desire_with_user("printer");
    let ran = hosts.run("b", &["apply", "--yes"]).await;
    ran.assert_contains("'by hand' to 'printer' (corrective)");
    hosts.run("a", &["plan"]).await.assert_code(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_revert_of_a_killed_host_is_known_to_another_one() {
    pending_revert_is_known(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_revert_is_known_without_the_lost_key() {
    pending_revert_is_known(true).await;
}

async fn pending_revert_is_known(key_is_lost: bool) {
    let Some(mut hosts) = Hosts::new(&["busy=^description"]).await else {
        return;
    };
    hosts.lab.configure("sw1", "protect = \"required\"");
    hosts.desire("desk");
    let switch = &hosts.lab.switches["sw1"];
    let apply = ["apply", "--yes"];
    let mut child = hosts
        .lab
        .command(&hosts.arguments("a", &apply))
        .spawn()
        .unwrap();
    let answers_late = tokio::time::timeout(LIMIT, switch.wait_for_deferred()).await;
    assert!(
        answers_late.is_ok(),
        "{:?}",
        hosts.lab.log("sw1").received()
    );
    child.kill().await.unwrap();
    switch.clear_faults();
    switch.resume();
    if key_is_lost {
        hosts.run("b", &["store", "new-key"]).await.assert_code(0);
    } else {
        hosts.copy_key();
    }
    let pending = hosts.run("b", &apply).await;
    pending.assert_contains("still reverts the changes");
    switch.advance_clock(TIMER);
    let next = hosts.run("b", &apply).await;
    if key_is_lost {
        // The digest of the configuration before the run is lost.
        next.assert_contains("ended early: the digest of the configuration before it is lost");
        return;
    }
    next.assert_contains("ended early: the device has the configuration from before it");
    let last = hosts.run("a", &apply).await;
    assert!(!last.text().contains("ended early"), "{}", last.text());
}

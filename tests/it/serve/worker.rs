//! A worker of a fleet: a process without a database that reaches a hub by a link.

use std::time::Duration;

use serde_json::Value;
use test_support::catalog::vlan;
use test_support::certificates::{TestAuthority, parameters};
use test_support::free_port::free_port;
use test_support::lab::Lab;
use test_support::postgresql::PostgreSql;

use super::process::{self, ServeProcess, within_limit};

fn write_settings(lab: &Lab, text: &str) {
    lab.write_inventory();
    let defaults = "[defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n";
    std::fs::write(lab.path("serve.toml"), format!("{text}{defaults}")).unwrap();
}

/// A hub at a port, whose inventory has the device of the worker without its secrets.
pub(super) fn write_hub(hub: &mut Lab, worker: &Lab, address: &str, port: u16) {
    hub.devices.clone_from(&worker.devices);
    hub.environment.clear();
    hub.write_resources("sw1", &[vlan(42, "users")]);
    write_settings(
        hub,
        &format!(
            "listen = \"127.0.0.1:{port}\"\nstate_dir = \"state\"\nstore = \"{address}\"\n\
             [fleet]\nnode = \"hub\"\nsites = [\"default\"]\nlease = \"4s\"\n"
        ),
    );
}

/// The site of the worker, with one switch.
pub(super) async fn berlin(switch_options: &[&str]) -> Lab {
    let mut site = Lab::new();
    site.add_switch("sw1", switch_options).await;
    site.configure("sw1", "site = \"berlin\"\n");
    site.write_resources("sw1", &[vlan(42, "users")]);
    site
}

/// A worker with a token for the hub at a port.
pub(super) fn write_worker(site: &Lab, port: u16) {
    write_settings(
        site,
        &format!(
            "state_dir = \"state\"\n[fleet]\nnode = \"ber-1\"\nsites = [\"berlin\"]\nlease = \"4s\"\n\
             join = [\"http://127.0.0.1:{port}\"]\ntoken = {{ env = \"WORKER_TOKEN\" }}\n"
        ),
    );
}

/// Gives a worker the key of the state of devices.
pub(super) fn share_key(hub: &Lab, worker: &Lab) {
    let key = "state/state.key";
    std::fs::create_dir_all(worker.path("state")).unwrap();
    std::fs::copy(hub.path(key), worker.path(key)).unwrap();
}

/// The events of a run that runs now, as a viewer at the hub gets them.
async fn watched(hub: &Lab, url: &str) -> String {
    let token = std::fs::read_to_string(hub.path("state/serve/local.token")).unwrap();
    let client = reqwest::Client::new();
    let get = |path: String| {
        client
            .get(format!("{url}{path}"))
            .bearer_auth(&token)
            .send()
    };
    within_limit("a run with live events", async {
        loop {
            let runs = get("/api/v1/runs?limit=1".to_owned()).await.unwrap();
            let runs: Value = serde_json::from_str(&runs.text().await.unwrap()).unwrap();
            let run = &runs["runs"][0];
            let id = run["id"].as_i64().expect("a run");
            if !run["ended"].is_null() {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
            let events = get(format!("/api/v1/runs/{id}/events")).await.unwrap();
            let text = events.text().await.unwrap();
            if text.contains("\"event\":\"resource\"") || text.contains("\"event\":\"log\"") {
                return text;
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_runs_the_devices_of_its_site_without_a_database() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    drop(rustls::crypto::ring::default_provider().install_default());
    let database = server.new_database();
    let address = server.address(&database);
    // A run takes long enough to be followed.
    let site = berlin(&["latency=20ms"]).await;
    let mut hub_lab = Lab::new();
    let port = free_port();
    write_hub(&mut hub_lab, &site, &address, port);
    let mut hub = ServeProcess::start(&hub_lab, &[]).await;

    let added = process::run(
        &hub_lab,
        &["access", "add-worker", "ber-1", "--sites", "berlin"],
    )
    .await;
    added.assert_code(0);
    let token = added.stdout.trim().to_owned();
    write_worker(&site, port);
    share_key(&hub_lab, &site);
    let environment = [("WORKER_TOKEN", token.as_str())];
    let mut worker = ServeProcess::start(&site, &environment).await;

    // Scheduled and requested runs.
    worker.stored("sw1", "changed").await;
    worker.stored("sw1", "unchanged").await;
    assert!(
        site.switches["sw1"]
            .vlans()
            .contains(&(42, "users".to_owned(), false))
    );
    let requested = process::run(&hub_lab, &["run", "sw1", "--kind", "plan", "--wait"]).await;
    requested.assert_code(0);
    let runs = process::run(
        &hub_lab,
        &["history", "sw1", "--output", "json", "--store", &address],
    )
    .await;
    let runs: Vec<Value> = (runs.stdout.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        runs.iter()
            .any(|run| run["requester"]["kind"] == "command line"),
        "{runs:?}"
    );
    assert!(runs.len() >= 3, "{runs:?}");

    // A page of the hub follows a run of the worker.
    let mut known: u16 = 100;
    let live = async {
        loop {
            known += 1;
            site.write_resources("sw1", &[vlan(known, "more")]);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let url = hub.url();
    let events = tokio::select! {
        events = watched(&hub_lab, &url) => events,
        () = live => unreachable!("it does not end"),
    };
    assert!(events.contains("\"device\":\"sw1\""), "{events}");

    // The hub is away: results wait, and are stored when it is back.
    hub.stop().await;
    worker.line("no hub answers").await;
    hub = ServeProcess::start(&hub_lab, &[]).await;
    site.write_resources("sw1", &[vlan(900, "after")]);
    let after = (900, "after".to_owned(), false);
    within_limit("a change after the pause of the hub", async {
        // Runs of before are among the first ones.
        while !site.switches["sw1"].vlans().contains(&after) {
            worker.next_stored().await;
        }
    })
    .await;
    worker.stop().await;
    hub.stop().await;
}

/// The body of an answer, if there is one.
async fn get(url: &str) -> Option<(u16, String)> {
    let answer = reqwest::get(url).await.ok()?;
    Some((answer.status().as_u16(), answer.text().await.ok()?))
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_has_a_certificate_and_metrics_until_it_is_removed() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    drop(rustls::crypto::ring::default_provider().install_default());
    let database = server.new_database();
    let address = server.address(&database);
    let site = berlin(&[]).await;
    let (servers, workers) = (TestAuthority::new("servers"), TestAuthority::new("workers"));
    let mut hub_lab = Lab::new();
    let (port, metrics_port) = (free_port(), free_port());
    write_hub(&mut hub_lab, &site, &address, port);
    servers.issue(&hub_lab.path(""), "hub", &parameters("hub", &["127.0.0.1"]));
    std::fs::write(hub_lab.path("workers-ca.pem"), workers.pem()).unwrap();
    let settings = std::fs::read_to_string(hub_lab.path("serve.toml")).unwrap();
    let web = "[web]\ncertificate = \"hub.pem\"\nkey = \"hub.key\"\nclient_ca_file = \"workers-ca.pem\"\n";
    std::fs::write(hub_lab.path("serve.toml"), format!("{settings}{web}")).unwrap();
    let mut hub = ServeProcess::start(&hub_lab, &[]).await;
    let arguments = ["access", "add-worker", "ber-1", "--sites", "berlin"];
    let certificate = ["--certificate", "ber-1.example.net"];
    let added = process::run(&hub_lab, &[arguments.as_slice(), &certificate].concat()).await;
    added.assert_code(0);
    assert_eq!(added.stdout, "");

    // As a certificate of the CA of Puppet, without DNS names.
    let params = parameters("ber-1.example.net", &[]);
    workers.issue(&site.path(""), "worker", &params);
    std::fs::write(site.path("ca.pem"), servers.pem()).unwrap();
    write_settings(
        &site,
        &format!(
            "state_dir = \"state\"\nlisten = \"127.0.0.1:{metrics_port}\"\n\
             [fleet]\nnode = \"ber-1\"\nsites = [\"berlin\"]\nlease = \"4s\"\n\
             join = [\"https://127.0.0.1:{port}\"]\nca_file = \"ca.pem\"\n\
             certificate = \"worker.pem\"\nkey = \"worker.key\"\n"
        ),
    );
    share_key(&hub_lab, &site);
    let doctor = process::run(&site, &["doctor"]).await;
    let text = doctor.text();
    assert!(
        text.contains("worker certificate: ber-1.example.net, valid until"),
        "{text}"
    );
    assert!(text.contains("accepts this worker"), "{text}");
    let mut worker = ServeProcess::start(&site, &[]).await;
    worker.stored("sw1", "changed").await;
    let url = format!("http://127.0.0.1:{metrics_port}");
    let (_, text) = get(&format!("{url}/metrics")).await.unwrap();
    for metric in [
        "switchtender_hub_reachable 1",
        "switchtender_spooled_bytes 0",
        "switchtender_lease_shards 1",
        "switchtender_lease_margin_seconds ",
    ] {
        assert!(text.contains(metric), "{metric}: {text}");
    }
    let ready = get(&format!("{url}/readyz")).await.unwrap();
    assert_eq!(ready, (200, "ready\n".to_owned()));
    // What the worker records is in the audit log of all nodes.
    let entry = process::run(
        &site,
        &[
            "access",
            "add-user",
            "bob",
            "--role",
            "view",
            "--no-password",
        ],
    );
    entry.await.assert_code(0);
    within_limit("a copy of the audit log of the worker", async {
        let select = "SELECT entry FROM switchtender.audit_entry WHERE node = 'ber-1'";
        while !server.execute(&database, select).contains("add-user") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;

    // Runs go on as plans without access, and both logs have the reason.
    process::run(&hub_lab, &["access", "remove-worker", "ber-1"])
        .await
        .assert_code(0);
    let reason = "no worker has a certificate for ber-1.example.net";
    let line = hub.line("a worker is refused").await;
    assert!(line.contains(reason), "{line}");
    let line = worker.line("no hub accepts this worker").await;
    assert!(line.contains(reason), "{line}");
    within_limit("metrics of a worker without a hub", async {
        loop {
            let (_, text) = get(&format!("{url}/metrics")).await.unwrap();
            let (status, _) = get(&format!("{url}/readyz")).await.unwrap();
            if text.contains("switchtender_hub_reachable 0") && status == 503 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    worker.stop().await;
    hub.stop().await;
}

/// Commands have no lease: another node can run the device.
#[tokio::test(flavor = "multi_thread")]
async fn commands_beside_a_worker_only_plan() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    write_settings(
        &lab,
        "state_dir = \"state\"\n[fleet]\nnode = \"ber-1\"\nsites = [\"berlin\"]\n\
         join = [\"http://127.0.0.1:1\"]\ntoken = { env = \"WORKER_TOKEN\" }\n",
    );
    let before = lab.switches["sw1"].vlans();
    let command = |command: &str, options: &[&str]| {
        let all = [&[command, "--catalog", "catalogs"], options].concat();
        let all: Vec<String> = all.into_iter().map(str::to_owned).collect();
        let lab = &lab;
        async move {
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            process::run(lab, &all).await
        }
    };
    for refused in [
        command("apply", &["--yes"]).await,
        process::run(&lab, &["undo", "--last", "--yes"]).await,
    ] {
        refused.assert_code(1);
        let text = refused.text();
        assert!(
            text.contains("this directory is that of a worker"),
            "{text}"
        );
        assert!(text.contains("`switchtender run DEVICE`"), "{text}");
    }
    for planned in [
        command("plan", &[]).await,
        command("apply", &["--noop"]).await,
    ] {
        planned.assert_code(0);
        let text = planned.text();
        assert!(text.contains("Network_vlan[42]"), "{text}");
    }
    assert_eq!(lab.switches["sw1"].vlans(), before);
    command("apply", &["--mock"]).await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_about_the_fleet_name_a_hub_in_the_directory_of_a_worker() {
    let lab = Lab::new();
    write_settings(
        &lab,
        "state_dir = \"state\"\n[fleet]\nsites = [\"berlin\"]\n\
         join = [\"https://hub.test\"]\ntoken = { env = \"WORKER_TOKEN\" }\n",
    );
    for (arguments, error) in [
        (
            ["fleet", "status"],
            "serve.toml is that of a worker, which has no store",
        ),
        (
            ["history", "sw1"],
            "serve.toml is that of a worker, which has no store",
        ),
        (
            ["run", "sw1"],
            "serve.toml is that of a worker, which takes no requests",
        ),
    ] {
        let refused = process::run(&lab, &arguments).await;
        refused.assert_code(1);
        let text = refused.text();
        assert!(text.contains(error), "{text}");
        assert!(text.contains("run the command at a hub, or name"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_a_store_and_a_hub_is_refused() {
    let lab = Lab::new();
    write_settings(
        &lab,
        "state_dir = \"state\"\nstore = \"postgresql:///switchtender\"\n[fleet]\nsites = [\"berlin\"]\n\
         join = [\"https://hub.test\"]\ntoken = { env = \"WORKER_TOKEN\" }\n",
    );
    let refused = process::run(&lab, &["serve"]).await;
    assert_ne!(refused.code, Some(0));
    let text = refused.text();
    assert!(
        text.contains("a node has either `store` or `join`"),
        "{text}"
    );
}

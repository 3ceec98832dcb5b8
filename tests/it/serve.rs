//! `switchtender serve`: schedules, store and its commands, with the built program and mock devices.

mod access_command;
mod fleet;
mod fleet_example;
mod git;
mod kills;
mod process;
mod protocols;
mod puppetdb;
mod receiver;
mod releases;
mod web;
mod webhook;
mod worker;
mod worker_secrets;

use serde_json::Value;
use test_support::catalog::vlan;
use test_support::free_port::free_port;
use test_support::interrupt;
use test_support::lab::Lab;
use test_support::program::PLANTED;
use tokio::net::UnixDatagram;

use process::{ServeProcess, configure};

/// Stored runs as JSON, newest first.
async fn history(lab: &Lab, arguments: &[&str]) -> Vec<Value> {
    let mut all = vec!["history", "--output", "json"];
    all.extend(arguments);
    query(lab, &all).await
}

/// The JSON lines of a query.
async fn query(lab: &Lab, arguments: &[&str]) -> Vec<Value> {
    let output = process::run(lab, arguments).await;
    output.assert_code(0);
    let lines = output.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn scheduled_runs_are_stored_and_queried() {
    let mut lab = Lab::new();
    for device in ["sw1", "sw2"] {
        lab.add_switch(device, &[]).await;
        lab.write_resources(device, &[vlan(42, "users")]);
    }
    configure(
        &lab,
        "[defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n",
    );
    let mut serve = ServeProcess::start(&lab, &[]).await;
    let first = serve.stored("sw1", "changed").await;
    serve.stored("sw2", "changed").await;
    let second = serve.stored("sw1", "unchanged").await;
    serve.stop().await;
    assert!(
        lab.switches["sw1"]
            .vlans()
            .contains(&(42, "users".to_owned(), false))
    );

    let runs = history(&lab, &["sw1"]).await;
    let oldest = runs.last().unwrap();
    assert_eq!(oldest["id"], first);
    assert_eq!(oldest["kind"], "apply");
    assert_eq!(oldest["requester"]["kind"], "schedule");
    // Later runs may have been stopped.
    let second = runs.iter().find(|run| run["id"] == second).unwrap();
    assert_eq!(second["status"], "unchanged");
    let number = first.to_string();
    let report = &query(&lab, &["report", &number, "--output", "json"]).await[0];
    let resource = &report["resources"][0];
    assert_eq!(resource["resource"], "Network_vlan[42]");
    let lines: Vec<&str> = resource["operations"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|operation| operation["text"].as_str())
        .collect();
    assert!(lines.contains(&"name users"), "{lines:?}");
    let text = process::run(&lab, &["report", &number]).await.stdout;
    assert!(text.starts_with("sw1: changed (apply), run "), "{text}");
    assert!(text.contains("    > vlan 42\n"), "{text}");
    let resource = history(&lab, &["Network_vlan[42]", "--on", "sw2"]).await;
    let oldest = resource.last().unwrap();
    assert_eq!(
        (&oldest["device"], &oldest["status"]),
        (&"sw2".into(), &"changed".into())
    );
    let now = "2200-01-01T00:00:00Z";
    let text = process::run(&lab, &["history", "sw1", "--configuration", now])
        .await
        .stdout;
    assert!(text.contains("\nhostname sw1\n"), "{text}");
    let check = process::run(&lab, &["store", "check"]).await;
    assert!(check.stdout.ends_with(": no defects\n"), "{}", check.stdout);
    for (path, text) in lab.files("") {
        let is_store = path.to_string_lossy().contains("history.db");
        assert!(!is_store || !text.contains(PLANTED), "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_find_drift_and_change_nothing() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    let settings = "[defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n\
                    [device.\"sw*\"]\nmode = \"plan\"\n";
    configure(&lab, settings);
    let mut serve = ServeProcess::start(&lab, &[]).await;
    let first = serve.stored("sw1", "pending").await;
    serve.stored("sw1", "pending").await;
    serve.stop().await;
    assert!(lab.log("sw1").configuration_lines().is_empty());
    let drift = query(&lab, &["drift", "--output", "json"]).await;
    assert_eq!(drift.len(), 1, "{drift:?}");
    assert_eq!(drift[0]["resource"], "Network_vlan[42]");
    assert_eq!(drift[0]["since_run"], first);
    let apply = lab.run(&["apply", "--store", "history.db"]).await;
    apply.assert_code(0);
    assert!(query(&lab, &["drift", "--output", "json"]).await.is_empty());
    let all = query(&lab, &["drift", "--all", "--output", "json"]).await;
    assert_eq!(all[0]["end_reason"], "corrected");
    let runs = history(&lab, &["--limit", "1"]).await;
    assert_eq!(runs[0]["requester"]["kind"], "command line");
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_device_is_reported_once() {
    let mut lab = Lab::new();
    // Nothing listens there.
    let port = free_port();
    lab.add_device(
        "sw1",
        "cisco_ios",
        port,
        Some("SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
    );
    lab.write_resources("sw1", &[vlan(42, "users")]);
    configure(
        &lab,
        "[defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n",
    );
    let mut serve = ServeProcess::start(&lab, &[]).await;
    for _ in 0..3 {
        serve.stored("sw1", "not run").await;
    }
    let printed = serve.stop().await;
    assert_eq!(printed.matches(": unreachable: ").count(), 1, "{printed}");
    let runs = history(&lab, &["sw1"]).await;
    let changes: Vec<&Value> = runs.iter().map(|run| &run["connection_change"]).collect();
    assert_eq!(changes.last().unwrap(), &"unreachable");
    assert_eq!(changes.iter().filter(|change| !change.is_null()).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_settings_are_rejected_and_valid_ones_loaded() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    let valid = "[defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n";
    configure(&lab, valid);
    let mut serve = ServeProcess::start(&lab, &[]).await;
    serve.stored("sw1", "changed").await;
    configure(
        &lab,
        "[defaults]\ninterval = \"soon\"\ncatalog = \"catalogs\"\n",
    );
    let line = serve
        .line("settings rejected, the earlier ones stay: ")
        .await;
    assert!(line.contains("`soon` is not a duration"), "{line}");
    serve.line("serve.toml:").await;
    // The earlier interval stays.
    serve.stored("sw1", "unchanged").await;
    configure(
        &lab,
        &valid.replace("[defaults]", "[defaults]\nmode = \"plan\""),
    );
    interrupt::send(serve.id(), "-HUP");
    serve.line("the settings are loaded again").await;
    lab.write_resources("sw1", &[vlan(43, "phones")]);
    serve.stored("sw1", "pending").await;
    serve.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn second_process_with_the_same_store_does_not_start() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    let defaults = "[defaults]\ninterval = \"1h\"\ncatalog = \"catalogs\"\n";
    configure(&lab, defaults);
    let serve = ServeProcess::start(&lab, &[]).await;
    let token = || std::fs::read_to_string(lab.path("state/serve/local.token")).unwrap();
    let before = token();
    let id = serve.id();
    let second = process::run(&lab, &["serve"]).await;
    assert_ne!(second.code, Some(0));
    let expected = format!("process {id} serves the state directory");
    assert!(second.stderr.contains(&expected), "{}", second.stderr);
    // Another state directory with the same store.
    let text = std::fs::read_to_string(lab.path("serve.toml")).unwrap();
    let other = text.replace("state_dir = \"state\"", "state_dir = \"other\"");
    std::fs::write(lab.path("other.toml"), other).unwrap();
    let second = process::run(&lab, &["serve", "--config", "other.toml"]).await;
    assert_ne!(second.code, Some(0));
    let expected = format!("process {id} serves the store");
    assert!(second.stderr.contains(&expected), "{}", second.stderr);
    // An address that is in use interrupts no run, either.
    let run = process::run(&lab, &["run", "sw1", "--wait"]).await;
    run.assert_code(0);
    assert_eq!(token(), before);
    serve.stop().await;
    let runs = history(&lab, &["sw1"]).await;
    assert!(
        runs.iter().all(|run| run["status"] != "interrupted"),
        "{runs:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn device_with_mode_plan_is_not_changed_on_request() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    let settings = "[defaults]\ninterval = \"1h\"\ncatalog = \"catalogs\"\nmode = \"plan\"\n\
                    [device.swich1]\npriority = 1\n";
    configure(&lab, settings);
    let mut serve = ServeProcess::start(&lab, &[]).await;
    let refused = process::run(&lab, &["run", "sw1", "--kind", "apply", "--wait"]).await;
    refused.assert_code(1);
    let expected = "device `sw1` has mode = \"plan\" and is never changed";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    let plan = process::run(&lab, &["run", "sw1", "--wait"]).await;
    plan.assert_code(0);
    serve.stored("sw1", "pending").await;
    let printed = serve.stop().await;
    assert!(lab.log("sw1").configuration_lines().is_empty());
    assert!(
        printed.contains("[device.\"swich1\"] matches no device"),
        "{printed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn full_store_stops_runs_until_there_is_space() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    let defaults = "[defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n";
    configure(&lab, defaults);
    let mut serve = ServeProcess::start(&lab, &[]).await;
    serve.stored("sw1", "changed").await;
    serve.stop().await;
    let newest = async || history(&lab, &["sw1"]).await[0]["id"].clone();
    let last = newest().await;
    let check = &query(&lab, &["store", "check", "--output", "json"]).await[0];
    let used = check["bytes"].as_u64().unwrap();
    // More than 90 % are used.
    let size = used / 1024 * 21 / 20;
    configure(&lab, &format!("max_size = \"{size}KiB\"\n{defaults}"));
    let mut serve = ServeProcess::start(&lab, &[]).await;
    let line = serve.line("no run starts: ").await;
    assert!(line.contains("the store is full: "), "{line}");
    serve.stop().await;
    // A full store removes old runs of a device, never the last one.
    assert_eq!(newest().await, last, "no run has started");
    configure(&lab, &format!("max_size = \"10MiB\"\n{defaults}"));
    let mut serve = ServeProcess::start(&lab, &[]).await;
    serve.stored("sw1", "unchanged").await;
    serve.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn systemd_is_notified() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    configure(
        &lab,
        "[defaults]\ninterval = \"1h\"\ncatalog = \"catalogs\"\n",
    );
    let socket = lab.path("notify");
    let notifications = UnixDatagram::bind(&socket).unwrap();
    let path = socket.to_string_lossy().into_owned();
    let environment = [
        ("NOTIFY_SOCKET", path.as_str()),
        ("WATCHDOG_USEC", "200000"),
    ];
    let serve = ServeProcess::start(&lab, &environment).await;
    let next = async |expected: &str| {
        let mut buffer = [0; 512];
        let received = async {
            loop {
                let size = notifications.recv(&mut buffer).await.unwrap();
                let text = String::from_utf8_lossy(&buffer[..size]).into_owned();
                if text.contains(expected) {
                    return text;
                }
            }
        };
        process::within_limit(expected, received).await
    };
    let ready = next("READY=1").await;
    assert!(ready.contains("STATUS=1 device,"), "{ready}");
    next("WATCHDOG=1").await;
    next("WATCHDOG=1").await;
    serve.stop().await;
    next("STOPPING=1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn demo_runs_mock_devices() {
    // The default port is in use, by this test or by another program.
    let _port = std::net::TcpListener::bind("127.0.0.1:8440");
    let lab = Lab::new();
    let mut serve = ServeProcess::demo(&lab).await;
    for device in ["sw1", "sw2", "lb1"] {
        serve.stored(device, "changed").await;
    }
    serve.stored("sw3", "pending").await;
    serve.stop().await;
}

/// A template that does not end holds neither other devices nor the end of the process.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_templates_hold_no_other_device() {
    let mut lab = Lab::new();
    for device in ["sw1", "sw2", "sw3", "sw4"] {
        lab.add_switch(device, &[]).await;
    }
    let loops =
        "{% for i in range(10000) %}{% for j in range(10000) %}{% for k in range(10000) %}x";
    let doubled = "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(99) %}\
                   {% set n.x = n.x ~ n.x %}{% endfor %}";
    let state = lab.path("desired/device");
    std::fs::create_dir_all(&state).unwrap();
    for (device, template) in [
        ("sw1", format!("{loops}{}", "{% endfor %}".repeat(3))),
        ("sw2", format!("{{{{ {}1 }}}}", "not ".repeat(20_000))),
        ("sw3", doubled.to_owned()),
        ("sw4", "users".to_owned()),
    ] {
        let text = format!("network_vlan:\n  42: {{vlan_name: \"{template}\"}}\n");
        std::fs::write(state.join(format!("{device}.yaml")), text).unwrap();
    }
    configure(&lab, "[defaults]\ninterval = \"1s\"\nstate = \"desired\"\n");
    let mut serve = ServeProcess::start(&lab, &[]).await;
    serve.stored("sw4", "changed").await;
    for device in ["sw1", "sw2", "sw3"] {
        serve.stored(device, "not run").await;
    }
    serve.stored("sw4", "unchanged").await;
    serve.stop().await;
}

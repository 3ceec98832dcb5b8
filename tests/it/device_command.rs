//! `switchtender device` as a user runs it: a Puppet Server and switches on loopback.

mod catalog;
mod server;

use serde_json::{Value, json};
use switchtender_mocks::puppet_server::{PuppetServer, ServerResponse};
use switchtender_mocks::{LoadBalancer, LoadBalancerOptions, serial_number};
use test_support::catalog::{catalog as resources_catalog, resource, sensitive, vlan};
use test_support::device_host::{DeviceHost, catalog, logs, name};
use test_support::interrupt::send;
use test_support::lab::PASSWORD;
use test_support::proxy_host::write;
use tokio::io::{AsyncBufReadExt as _, BufReader};

#[tokio::test(flavor = "multi_thread")]
async fn device_command_configures_ten_devices_and_second_run_changes_nothing() {
    let host = DeviceHost::new(10).await;
    let (code, text) = host.run(&["--detailed-exitcodes", "--verbose"]).await;
    assert_eq!(code, 2, "{text}");
    assert!(
        text.contains("Notice: sw3.lab.test: Applied catalog in "),
        "{text}"
    );
    assert!(
        text.contains(
            "Info: sw3.lab.test: starting applying configuration to sw3.lab.test at file:///"
        ),
        "{text}"
    );
    for (index, switch) in host.switches.iter().enumerate() {
        let vlans = switch.vlans();
        assert!(
            vlans
                .iter()
                .any(|(id, vlan, _)| (*id, vlan.as_str()) == (10, "users-staging")),
            "{vlans:?}"
        );
        let report = host.report(&name(index + 1));
        assert_eq!(report["status"], "changed");
        assert_eq!(report["report_format"], 12);
        assert_eq!(report["cached_catalog_status"], "not_used");
        let vlan = &report["resource_statuses"]["Network_vlan[10]"];
        assert_eq!(vlan["line"], 3, "positions come from the catalog");
        assert!(
            vlan["tags"]
                .as_array()
                .unwrap()
                .contains(&json!("network_vlan"))
        );
    }
    let facts = host.server.state().facts[&name(1)].clone();
    assert_eq!(facts["values"]["clientcert"], "sw1.lab.test");
    assert!(facts["values"]["os"]["name"].is_string(), "{facts}");

    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 0, "{text}");
    assert_eq!(host.report(&name(7))["status"], "unchanged");
    let summary = host.file("var/devices/sw7.lab.test/state/last_run_summary.yaml");
    assert!(summary.contains("converged_environment"), "{summary}");
    let stored: Value =
        serde_json::from_str(&host.file("var/devices/sw7.lab.test/state/last_run_report.json"))
            .unwrap();
    assert_eq!(
        stored["transaction_uuid"],
        host.report(&name(7))["transaction_uuid"]
    );
    assert!(
        host.file("var/devices/sw7.lab.test/client_data/catalog/sw7.lab.test.json")
            .contains("users-staging")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_noop_reports_changes_without_making_them() {
    let host = DeviceHost::new(1).await;
    let (code, text) = host.run(&["--noop", "--detailed-exitcodes"]).await;
    assert_eq!(code, 0, "{text}");
    let report = host.report(&name(1));
    assert_eq!(
        (&report["status"], &report["noop"], &report["noop_pending"]),
        (&json!("unchanged"), &json!(true), &json!(true))
    );
    assert!(host.switches[0].vlans().iter().all(|(id, ..)| *id != 10));
    assert!(!host.path("var/devices/sw1.lab.test/client_data").exists());
    assert_eq!(
        host.server.state().facts[&name(1)]["values"]["clientnoop"],
        true
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_without_effect_are_a_warning() {
    let host = DeviceHost::new(1).await;
    let (code, text) = host.run(&["--node_name_fact", "hostname"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("warning: the setting node_name_fact has no effect"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_disables_devices_with_a_reason() {
    let host = DeviceHost::new(2).await;
    let (code, text) = host
        .run(&["--disable", "moving racks", "--target", "sw1.lab.test"])
        .await;
    assert_eq!((code, text.as_str()), (0, "sw1.lab.test: disabled\n"));
    let (code, text) = host.run(&[]).await;
    assert_eq!(code, 1);
    assert!(
        text.contains("administratively disabled (Reason: 'moving racks')"),
        "{text}"
    );
    assert_eq!(
        host.server.state().reports.len(),
        1,
        "only the other device"
    );
    let (_, text) = host.run(&["--enable"]).await;
    assert_eq!(
        text,
        "sw1.lab.test: enabled\nsw2.lab.test: was not disabled\n"
    );
    assert_eq!(host.run(&[]).await.0, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_facts_resources_and_apply_need_no_server() {
    let host = DeviceHost::new(1).await;
    host.server.stop();
    let (code, text) = host.run(&["--facts", "--target", "sw1.lab.test"]).await;
    assert_eq!(code, 0, "{text}");
    let facts: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(facts["name"], "sw1.lab.test");
    assert_eq!(facts["values"]["clientcert"], "sw1.lab.test");

    let file = host.path("catalog.json");
    std::fs::write(&file, catalog(&name(1)).to_string()).unwrap();
    let (code, text) = host
        .run(&[
            "--apply",
            &file.display().to_string(),
            "--target",
            "sw1.lab.test",
            "--detailed-exitcodes",
        ])
        .await;
    assert_eq!(code, 2, "{text}");
    let (code, text) = host
        .run(&[
            "--resource",
            "network_vlan",
            "10",
            "--target",
            "sw1.lab.test",
        ])
        .await;
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("network_vlan { '10':\n"), "{text}");
    assert!(
        text.contains("vlan_name") && text.contains("'users-staging'"),
        "{text}"
    );
    let (_, text) = host
        .run(&[
            "--resource",
            "network_vlan",
            "--to_yaml",
            "--target",
            "sw1.lab.test",
        ])
        .await;
    assert!(
        text.starts_with("---\nnetwork_vlan:\n") && text.contains("  \"10\":\n"),
        "{text}"
    );

    std::fs::write(&file, "network_vlan { '10': }").unwrap();
    let (code, text) = host
        .run(&[
            "--apply",
            &file.display().to_string(),
            "--target",
            "sw1.lab.test",
        ])
        .await;
    assert!(
        code == 1 && text.contains("a manifest needs a file name that ends with `.pp`"),
        "{text}"
    );
    assert!(host.server.state().reports.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_compiles_and_applies_a_manifest() {
    if test_support::peer::skips(test_support::peer::missing_puppet()) {
        return;
    }
    let host = DeviceHost::new(1).await;
    host.server.stop();
    let manifest = host.path("site.pp");
    let text = "node 'sw1.lab.test' {\n  network_vlan { '30': vlan_name => $facts['clientcert'][0,3] }\n}\n";
    std::fs::write(&manifest, text).unwrap();
    let apply = [
        "--apply",
        &manifest.display().to_string(),
        "--target",
        "sw1.lab.test",
    ];
    let (code, text) = host.run(&apply).await;
    assert_eq!(code, 0, "{text}");
    let lines = host.switches[0].log().configuration_lines();
    assert_eq!(lines, ["vlan 30", "name sw1"], "{text}");

    std::fs::write(&manifest, "node default {\n  network_vlann { '30': }\n}\n").unwrap();
    let (code, text) = host.run(&apply).await;
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("Unknown resource type: 'network_vlann'"),
        "{text}"
    );
    assert!(
        text.contains(&format!("(file: {}, line: 2)", manifest.display())),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_messages_equal_puppet_device() {
    let host = DeviceHost::new(1).await;
    let conf = host.path("device.conf");
    for (arguments, expected) in [
        (
            &["--target", "nope"][..],
            format!(
                "Target device / certificate 'nope' not found in {}",
                conf.display()
            ),
        ),
        (&["--facts"], "facts command requires target".to_owned()),
        (
            &["--resource", "network_vlan"],
            "resource command requires target".to_owned(),
        ),
        (
            &["--apply", "x.json"],
            "missing argument: --target is required when using --apply".to_owned(),
        ),
        (
            &["--apply", "/nope.json", "--target", "sw1.lab.test"],
            "/nope.json does not exist, cannot apply".to_owned(),
        ),
        (
            &["--deviceconfig", "/nonexistent"],
            "No device found in /nonexistent".to_owned(),
        ),
    ] {
        let (code, text) = host.run(arguments).await;
        assert!(
            code == 1 && text.contains(&expected),
            "{arguments:?}: {text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_logs_to_selected_destinations() {
    let host = DeviceHost::new(1).await;
    let list = host.path("log.json").display().to_string();
    let lines = host.path("log.jsonl").display().to_string();
    let plain = host.path("device.log").display().to_string();
    let (code, text) = host
        .run(&["--verbose", "--logdest", &format!("{list},{lines},{plain}")])
        .await;
    assert_eq!((code, text.as_str()), (0, ""));
    let entries: Vec<Value> = serde_json::from_str(&host.file("log.json")).unwrap();
    assert!(
        entries
            .iter()
            .any(|entry| entry["message"] == "Using environment 'production'"
                && entry["device"] == "sw1.lab.test")
    );
    assert_eq!(host.file("log.jsonl").lines().count(), entries.len());
    assert!(
        host.file("device.log")
            .contains(" Puppet (info): sw1.lab.test: Using environment 'production'")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_locks_device_and_stops_in_order() {
    let host = DeviceHost::new(1).await;
    let slow = ServerResponse::text(500, "late").delay(std::time::Duration::from_secs(300));
    host.server.state().inject("/puppet/v3/catalog", [slow]);
    let first = host.command(&[]).spawn().unwrap();
    // It waits for its catalog.
    while host
        .server
        .state()
        .injected_responses
        .iter()
        .any(|(_, answers)| !answers.is_empty())
    {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let process = first.id().unwrap();
    let (code, text) = host.run(&[]).await;
    assert_eq!(code, 1);
    assert!(
        text.contains(&format!(
            "another run has locked sw1.lab.test (process {process}, "
        )),
        "{text}"
    );

    send(process, "-TERM");
    let output = first.wait_with_output().await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report = host.report(&name(1));
    assert_eq!(
        (&report["status"], &report["transaction_completed"]),
        (&json!("failed"), &json!(false))
    );
    assert!(
        logs(&report)
            .iter()
            .any(|line| line.starts_with("Cancelling startup")),
        "{:?}",
        logs(&report)
    );
    assert_eq!(host.run(&[]).await.0, 0, "the device is free again");
}

/// Puppet keeps the graphs of all devices in one place, where the last one wins.
#[tokio::test(flavor = "multi_thread")]
async fn device_command_writes_graphs_per_device() {
    let host = DeviceHost::new(2).await;
    let (code, text) = host.run(&["--graph", "--evaltrace", "--verbose"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("Starting to evaluate the resource (1 of "),
        "{text}"
    );
    let graphdir = host.path("elsewhere");
    let argument = format!("--graphdir={}", graphdir.display());
    assert_eq!(host.run(&["--graph", &argument]).await.0, 0);
    for number in [1, 2] {
        let name = name(number);
        for file in ["resources", "relationships", "expanded_relationships"] {
            let own = host.file(&format!("var/devices/{name}/state/graphs/{file}.dot"));
            assert!(own.starts_with("digraph "), "{own}");
            let other = graphdir.join(&name).join(format!("{file}.dot"));
            assert_eq!(std::fs::read_to_string(other).unwrap(), own);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_trusts_legacy_load_balancer_on_first_contact() {
    let host = DeviceHost::new(0).await;
    let options = || LoadBalancerOptions {
        name: "lb1".to_owned(),
        user: "admin".to_owned(),
        password: PASSWORD.to_owned(),
        ..LoadBalancerOptions::default()
    };
    let balancer = LoadBalancer::start(options(), 0).await.unwrap();
    let conf = format!(
        "[lb1.lab.test]\ntype f5\nurl https://admin:{PASSWORD}@127.0.0.1:{}/\n",
        balancer.address().port()
    );
    write(&host.path("device.conf"), &conf, 0o600);
    let recorded = include_str!("../fixtures/puppetserver/catalogs/lb1.json");
    host.server.state().catalogs.insert(
        ("lb1.lab.test".to_owned(), "*".to_owned()),
        serde_json::from_str(recorded).unwrap(),
    );
    let (code, text) = host.run(&["--detailed-exitcodes", "--verbose"]).await;
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("at https://••••@127.0.0.1:"), "{text}");
    assert!(text.contains("trusted on first contact"), "{text}");
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 0, "{text}");
    assert_eq!(host.report("lb1.lab.test")["status"], "unchanged");
}

/// `save_config` in the credentials decides about saving; the default is `never`.
#[tokio::test(flavor = "multi_thread")]
async fn device_command_saves_according_to_save_config() {
    let host = DeviceHost::new(3).await;
    for (index, policy) in ["on_change", "always"].into_iter().enumerate() {
        let file = format!("{}.conf", name(index + 1));
        let mut credentials: Value = serde_json::from_str(&host.file(&file)).unwrap();
        credentials["save_config"] = json!(policy);
        write(&host.path(&file), &credentials.to_string(), 0o640);
    }
    let saved = || -> Vec<usize> {
        let is_save = |line: &&String| *line == "copy running-config startup-config";
        let logs = host.switches.iter().map(|switch| switch.log().received());
        logs.map(|lines| lines.iter().filter(is_save).count())
            .collect()
    };
    // A run that may not write, one that changes, one that finds nothing to do.
    for (arguments, expected) in [
        (&["--noop"][..], [0, 0, 0]),
        (&[], [1, 1, 0]),
        (&[], [1, 2, 0]),
    ] {
        let (code, text) = host.run(arguments).await;
        assert_eq!(code, 0, "{arguments:?}: {text}");
        assert_eq!(saved(), expected, "{arguments:?}: {text}");
    }
}

/// As for `apply`: transcripts, `-vvv`, reports and state of two runs; the cached catalog has its
/// secrets, as Puppet's.
#[tokio::test(flavor = "multi_thread")]
async fn device_command_masks_the_secrets_of_the_catalog() {
    let host = DeviceHost::new(1).await;
    let name = name(1);
    let port = resource(
        "Network_interface",
        "GigabitEthernet1/0/1",
        json!({"enable": true, "description": "s3cret-port"}),
    );
    let port = sensitive(port, &["description"]);
    // A text that the device prints before the catalog is received.
    let serial = &serial_number(&name);
    let labeled = resource(
        "Network_interface",
        "GigabitEthernet1/0/2",
        json!({"enable": true, "description": serial}),
    );
    let labeled = sensitive(labeled, &["description"]);
    host.server.state().catalogs.insert(
        (name.clone(), "*".to_owned()),
        resources_catalog(&name, &[port, labeled]),
    );
    let device_conf = host
        .file("device.conf")
        .replace("type cisco_ios", "type cisco_ios\ndebug");
    write(&host.path("device.conf"), &device_conf, 0o600);
    for code in [2, 0] {
        // The output is checked by `run`, the report by `report`.
        let (found, text) = host
            .run(&["--detailed-exitcodes", "-vvvv", "--debug"])
            .await;
        assert_eq!(found, code, "{text}");
        assert!(!text.contains(serial), "{text}");
        assert!(text.contains("< Processor board ID ••••"), "{text}");
        host.report(&name);
        let dir = format!("var/devices/{name}");
        for file in ["SSH_I_DUMPED", "state/last_run_report.json"] {
            let text = host.file(&format!("{dir}/{file}"));
            assert!(!text.contains("s3cret"), "{file}: {text}");
            assert!(!text.contains(serial), "{file}: {text}");
        }
        let transcript = host.file(&format!("{dir}/SSH_I_DUMPED"));
        assert!(transcript.contains("description ••••"), "{transcript}");
        assert!(
            transcript.contains("Processor board ID ••••"),
            "{transcript}"
        );
    }
}

/// The certificate belongs to the name, the state to the device.
#[tokio::test(flavor = "multi_thread")]
async fn device_command_begins_a_new_state_for_another_device() {
    let host = DeviceHost::new(1).await;
    let name = name(1);
    let dir = format!("var/devices/{name}");
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 2, "{text}");
    let serial = serial_number(&name);
    // The last run was on a device that was replaced since.
    let identity = host.file(&format!("{dir}/identity.json"));
    let identity = identity.replace(&serial, "REPLACED");
    write(
        &host.path(&format!("{dir}/identity.json")),
        &identity,
        0o600,
    );
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 0, "{text}");
    for expected in [
        format!("another device answers as {name}: serial number {serial} at 127.0.0.1:"),
        "the last one was serial number REPLACED at 127.0.0.1:".to_owned(),
        format!(
            "`switchtender state-dir accept {name} {serial} --state-dir {}`",
            host.path("var").display()
        ),
    ] {
        assert!(text.contains(&expected), "{expected}: {text}");
    }
    assert!(
        host.path(&format!("{dir}/others/{serial}/memory.json"))
            .exists()
    );
    host.report(&name);
    let (_, text) = host.run(&["--detailed-exitcodes"]).await;
    assert!(!text.contains("another device"), "{text}");
}

//! `switchtender device` as a user runs it: a Puppet Server and switches on loopback.

use serde_json::{Value, json};
use switchtender_mocks::puppet_server::{PuppetServer, ServerResponse};
use switchtender_mocks::{LoadBalancer, LoadBalancerOptions};
use test_support::catalog::{resource, vlan};
use test_support::device_host::{DeviceHost, catalog, logs, name, terminate};
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
    let kept: Value =
        serde_json::from_str(&host.file("var/devices/sw7.lab.test/state/last_run_report.json"))
            .unwrap();
    assert_eq!(
        kept["transaction_uuid"],
        host.report(&name(7))["transaction_uuid"]
    );
    assert!(
        host.file("var/devices/sw7.lab.test/client_data/catalog/sw7.lab.test.json")
            .contains("users-staging")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn catalog_concurrency_limits_requests_to_the_server() {
    let host = DeviceHost::new(10).await;
    for (arguments, expected) in [
        (&[][..], 4),
        (&["--catalog-concurrency", "2"], 2),
        (&["--catalog-concurrency", "10"], 10),
        (&["--concurrency", "3"], 3),
    ] {
        {
            let mut state = host.server.state();
            state.max_compiling = 0;
            state.compile_together = expected;
        }
        let (code, text) = host.run(arguments).await;
        assert_eq!(code, 0, "{text}");
        let most = host.server.state().max_compiling;
        assert_eq!(most, expected, "{arguments:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_failure_of_one_device_does_not_affect_others() {
    let host = DeviceHost::new(4).await;
    // One cannot log in, one has no catalog, one has a credentials file with mistakes.
    let port = host.switches[0].address().port();
    let wrong = json!({"host": "127.0.0.1", "port": port, "user": "ops", "password": "s3cret-no"});
    write(&host.path("sw1.lab.test.conf"), &wrong.to_string(), 0o640);
    write(
        &host.path("sw3.lab.test.conf"),
        "hots: h\npassword: s3cret\n",
        0o640,
    );
    let compile_error = include_str!("../fixtures/puppetserver/errors/broken1.json");
    host.server.state().inject(
        "/puppet/v3/catalog/sw2",
        [ServerResponse::new(500, "application/json", compile_error)],
    );
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 3, "2 of one device, 1 of the others: {text}");
    for (number, said) in [
        (1, "the device refused the login of ops"),
        (
            2,
            "no parameter named 'colour' (file: /etc/puppetlabs/code/environments/production/manifests/site.pp, line: 235)",
        ),
        (
            3,
            "Can't load cisco_ios for sw3.lab.test: The connection info provided does not match the Transport Schema for cisco_ios",
        ),
    ] {
        let report = host.report(&name(number));
        assert_eq!(report["status"], "failed", "{number}");
        assert!(
            logs(&report).iter().any(|line| line.contains(said)),
            "{number}: {:?}",
            logs(&report)
        );
    }
    assert!(
        logs(&host.report(&name(2)))
            .contains(&"Could not retrieve catalog; skipping run".to_owned())
    );
    assert_eq!(host.report(&name(4))["status"], "changed");
    assert!(
        host.switches[1].vlans().iter().all(|(id, ..)| *id != 10),
        "nothing was applied"
    );
    let (code, _) = host.run(&["--target", "sw2.lab.test"]).await;
    assert_eq!(code, 0, "the next run of it is sound");
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_without_server_uses_cached_catalog_and_spools_report() {
    let host = DeviceHost::new(1).await;
    host.run(&[]).await;
    let settled = host.server.state().reports.len();
    let port = host.server.port();
    let authority = {
        let mut state = host.server.state();
        std::mem::take(&mut state.ca)
    };
    host.server.stop();
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("Using cached catalog from environment 'production'"),
        "{text}"
    );
    assert!(
        text.contains("Could not send report, it is stored and sent later"),
        "{text}"
    );

    let again = PuppetServer::start_with(authority, port).await;
    again
        .state()
        .catalogs
        .insert((name(1), "*".to_owned()), catalog(&name(1)));
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Sent 1 reports of earlier runs"), "{text}");
    let state = again.state();
    let told: Vec<_> = state
        .reports
        .iter()
        .map(|report| report["cached_catalog_status"].clone())
        .collect();
    assert_eq!(
        (settled, told),
        (1, vec![json!("on_failure"), json!("not_used")])
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
async fn device_command_environments_and_hooks_are_per_device() {
    let host = DeviceHost::new(2).await;
    host.server
        .state()
        .classifier
        .insert(name(1), vec!["staging".to_owned()]);
    let hooks = host.path("hooks");
    let command = format!("echo $SWITCHTENDER_DEVICE >> {}", hooks.display());
    let (code, text) = host.run(&["--prerun_command", &command]).await;
    assert_eq!(code, 0, "{text}");
    assert_eq!(host.report(&name(1))["environment"], "staging");
    assert_eq!(host.report(&name(2))["environment"], "production");
    let mut ran: Vec<_> = host.file("hooks").lines().map(str::to_owned).collect();
    ran.sort();
    assert_eq!(ran, [name(1), name(2)]);

    let (code, text) = host
        .run(&[
            "--target",
            "sw2.lab.test",
            "--postrun_command",
            "exit 3",
            "--detailed-exitcodes",
        ])
        .await;
    assert_eq!(code, 1, "{text}");
    assert_eq!(host.report(&name(2))["status"], "failed");
    let (code, text) = host
        .run(&["--target", "sw1.lab.test", "--strict_environment_mode"])
        .await;
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("Not using catalog because its environment 'staging' does not match agent specified environment 'production'"), "{text}");
    assert_eq!(host.report(&name(1))["status"], "failed");
}

/// Definitions of the other environment can make other facts.
#[tokio::test(flavor = "multi_thread")]
async fn facts_are_read_again_after_a_restart_in_another_environment() {
    let host = DeviceHost::new(1).await;
    host.server
        .state()
        .classifier
        .insert(name(1), vec!["staging".to_owned()]);
    host.server.state().inject(
        "/puppet/v3/node/",
        [ServerResponse::json(
            500,
            &json!({"message": "Server Error"}),
        )],
    );
    let (code, text) = host.run(&["--verbose"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("reading the facts again"), "{text}");
    assert_eq!(host.report(&name(1))["environment"], "staging");
    let log = host.switches[0].log();
    let received = log.received();
    let reads = received.iter().filter(|line| *line == "show version");
    assert_eq!(reads.count(), 2);
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

fn give(host: &DeviceHost, resources: &[Value]) {
    let catalog = test_support::catalog::catalog(&name(1), resources);
    let key = (name(1), "*".to_owned());
    host.server.state().catalogs.insert(key, catalog);
}

#[tokio::test(flavor = "multi_thread")]
async fn conflicting_resources_fail_and_others_are_applied() {
    let host = DeviceHost::new(1).await;
    let port = |type_name: &str, mode: &str| {
        let attributes = json!({ "ensure": "present", "mode": mode });
        resource(type_name, "GigabitEthernet1/0/1", attributes)
    };
    let resources = [
        port("Network_trunk", "access"),
        port("Ios_network_trunk", "trunk"),
        vlan(30, "three"),
    ];
    give(&host, &resources);
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 6, "{text}");
    let report = host.report(&name(1));
    for reference in [
        "Network_trunk[GigabitEthernet1/0/1]",
        "Ios_network_trunk[GigabitEthernet1/0/1]",
    ] {
        let status = &report["resource_statuses"][reference];
        assert_eq!(status["failed"], true, "{reference}: {text}");
    }
    let lines = host.switches[0].log().configuration_lines();
    assert_eq!(lines, ["vlan 30", "name three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn compat_restores_deviations() {
    for (arguments, shut_down) in [(&[][..], false), (&["--compat", "puppet7"], true)] {
        let host = DeviceHost::new(1).await;
        let attributes = json!({ "description": "desk" });
        let port = resource("Network_interface", "GigabitEthernet1/0/1", attributes);
        give(&host, &[port]);
        let (code, text) = host.run(arguments).await;
        assert_eq!(code, 0, "{text}");
        let lines = host.switches[0].log().configuration_lines();
        assert_eq!(lines.iter().any(|line| line == "shutdown"), shut_down);
    }
}

/// The type files of modules are read as text.
#[tokio::test(flavor = "multi_thread")]
async fn host_types_of_modules_are_skipped() {
    let host = DeviceHost::new(1).await;
    let file = "Puppet::Type.newtype(:site_cron) do\n  newparam(:name)\n  raise 'executed'\nend\n";
    host.server.state().plugins.insert(
        (
            "production".to_owned(),
            "puppet/type/site_cron.rb".to_owned(),
        ),
        file.to_owned(),
    );
    let cron = resource("Site_cron", "nightly", json!({ "hour": 2 }));
    let mut dependant = vlan(30, "three");
    dependant["parameters"]["require"] = json!("Site_cron[nightly]");
    give(&host, &[cron, dependant]);
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 2, "{text}");
    let report = host.report(&name(1));
    let status = &report["resource_statuses"]["Site_cron[nightly]"];
    assert_eq!(
        (&status["skipped"], &status["failed"]),
        (&json!(true), &json!(false))
    );
    let synced = "var/devices/sw1.lab.test/lib/puppet/type/site_cron.rb";
    assert_eq!(host.file(synced), file);
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
        code == 1 && text.contains("puppet catalog compile"),
        "{text}"
    );
    assert!(host.server.state().reports.is_empty());
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
async fn device_command_skips_host_resources_and_logs_them_once() {
    let host = DeviceHost::new(1).await;
    let text = include_str!("../fixtures/puppetserver/catalogs/mixed1.json")
        .replace("mixed1.lab.test", &name(1));
    host.server.state().catalogs.insert(
        (name(1), "*".to_owned()),
        serde_json::from_str(&text).unwrap(),
    );
    let (_, text) = host.run(&["--detailed-exitcodes"]).await;
    let report = host.report(&name(1));
    let skipped: Vec<&String> = report["resource_statuses"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, status)| status["skipped"] == true)
        .map(|(name, _)| name)
        .collect();
    assert!(
        skipped.iter().any(|name| name.starts_with("File[")),
        "{skipped:?}\n{text}"
    );
    let warnings = report["logs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| {
            entry["level"] == "warning" && entry["message"].as_str().unwrap().contains("Package[")
        })
        .count();
    assert_eq!(warnings, 1, "{:?}", logs(&report));
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
            "another run has locked sw1.lab.test (process {process})"
        )),
        "{text}"
    );

    terminate(process);
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

/// The credentials say when a device's configuration is saved; by default it never is.
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

#[tokio::test(flavor = "multi_thread")]
async fn certificate_request_is_logged_while_the_run_waits_for_the_signature() {
    let host = DeviceHost::new(1).await;
    host.server.state().autosign = false;
    let mut command = host.command(&["--waitforcert=1"]);
    let mut child = command.kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    loop {
        let line = lines.next_line().await.unwrap();
        let line = line.unwrap_or_else(|| panic!("ended without a request: {seen:?}"));
        let waits = line.contains("you might still need to sign this agent's certificate");
        seen.push(line);
        if waits {
            break;
        }
    }
    assert!(
        seen.iter()
            .any(|line| line.contains("Certificate request for sw1.lab.test sent to localhost:")),
        "{seen:?}"
    );
    // Only now can the run go on.
    host.server.state().sign("sw1.lab.test");
    while let Some(line) = lines.next_line().await.unwrap() {
        seen.push(line);
    }
    assert!(child.wait().await.unwrap().success(), "{seen:?}");
    assert_eq!(host.report("sw1.lab.test")["status"], "changed");
}

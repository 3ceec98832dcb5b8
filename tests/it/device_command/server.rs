//! Runs against a Puppet Server: catalogs, environments, certificates, the cache.

use super::*;

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
    // One cannot log in, one has no catalog, one has a credentials file with errors.
    let port = host.switches[0].address().port();
    let wrong = json!({"host": "127.0.0.1", "port": port, "user": "ops", "password": "s3cret-no"});
    write(&host.path("sw1.lab.test.conf"), &wrong.to_string(), 0o640);
    write(
        &host.path("sw3.lab.test.conf"),
        "hots: h\npassword: s3cret\n",
        0o640,
    );
    let compile_error = include_str!("../../fixtures/puppetserver/errors/broken1.json");
    host.server.state().inject(
        "/puppet/v3/catalog/sw2",
        [ServerResponse::new(500, "application/json", compile_error)],
    );
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 3, "2 of one device, 1 of the others: {text}");
    for (number, message) in [
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
            logs(&report).iter().any(|line| line.contains(message)),
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

    let again = PuppetServer::start_with(authority, port)
        .await
        .expect("a free port");
    again
        .state()
        .catalogs
        .insert((name(1), "*".to_owned()), catalog(&name(1)));
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Sent reports of earlier runs: 1"), "{text}");
    let state = again.state();
    let log_lines: Vec<_> = state
        .reports
        .iter()
        .map(|report| report["cached_catalog_status"].clone())
        .collect();
    assert_eq!(
        (settled, log_lines),
        (1, vec![json!("on_failure"), json!("not_used")])
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

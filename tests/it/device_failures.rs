//! `switchtender device` when something is wrong: with a catalog, with a device in the middle of
//! it, or because somebody wants it to end.

mod report;
mod set_up;
mod stop;

use std::os::unix::fs::DirBuilderExt as _;

use serde_json::{Value, json};
use switchtender_mocks::puppet_server::ca::{CertificateAuthority, CertificateProfile};
use switchtender_mocks::puppet_server::{PuppetServer, ServerResponse};
use test_support::device_host::{DeviceHost, catalog, logs, name};
use test_support::proxy_host::{outcome, write};

/// A catalog with these resources, declared one per line of the site's manifest.
fn with_resources(device: &str, resources: &[(&str, &str, Value)]) -> Value {
    let mut made = catalog(device);
    let node = format!("Node[{device}]");
    let containers = made["resources"].as_array().unwrap()[..4].to_vec();
    made["resources"] = containers.into();
    made["edges"].as_array_mut().unwrap().truncate(3);
    for (line, (kind, title, parameters)) in resources.iter().enumerate() {
        let resource = json!({
            "type": kind, "title": title, "tags": [kind.to_lowercase()], "exported": false,
            "file": "/etc/puppet/manifests/site.pp", "line": line + 1, "kind": "compilable_type",
            "parameters": parameters,
        });
        made["resources"].as_array_mut().unwrap().push(resource);
        let edge = json!({"source": node, "target": format!("{kind}[{title}]")});
        made["edges"].as_array_mut().unwrap().push(edge);
    }
    made
}

fn give(host: &DeviceHost, number: usize, resources: &[(&str, &str, Value)]) {
    let key = (name(number), "*".to_owned());
    let made = with_resources(&name(number), resources);
    host.server.state().catalogs.insert(key, made);
}

#[tokio::test(flavor = "multi_thread")]
async fn device_failure_of_a_catalog_lists_all_errors_and_sends_nothing() {
    let host = DeviceHost::new(2).await;
    give(
        &host,
        1,
        &[
            ("Network_vlan", "10", json!({"vlan_name": "sound"})),
            ("Network_vlan", "11", json!({"shutdown": "perhaps"})),
            ("Network_vlan", "12", json!({"colour": "red"})),
        ],
    );
    let before = host.switches[0].running_config();
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 3, "2 of the other device, 1 of this one: {text}");
    let report = host.report(&name(1));
    assert_eq!(report["status"], "failed");
    let entries: Vec<&Value> = report["logs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["line"].is_u64())
        .collect();
    let lines: Vec<_> = entries.iter().map(|entry| entry["line"].as_u64()).collect();
    assert_eq!(lines, [Some(2), Some(3)], "{entries:#?}");
    for entry in entries {
        assert_eq!(entry["level"], "err");
        assert_eq!(entry["file"], "/etc/puppet/manifests/site.pp");
    }
    for expected in [
        "(file: /etc/puppet/manifests/site.pp, line: 2)",
        "colour",
        "Error: sw1.lab.test: the catalog was refused: it has 2 errors",
        "Error: sw1.lab.test: The catalog was refused; skipping run",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert_eq!(host.switches[0].running_config(), before);
    let received = host.switches[0].log().received();
    assert!(
        !received.iter().any(|line| line.starts_with("conf")),
        "{received:?}"
    );
    let cache = host.path("var/devices/sw1.lab.test/client_data");
    assert!(!cache.exists(), "it is not kept");
    assert_eq!(host.report(&name(2))["status"], "changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn device_failure_of_an_unknown_type_affects_dependents_only() {
    let host = DeviceHost::new(1).await;
    give(
        &host,
        1,
        &[
            ("Network_teleport", "x", json!({})),
            (
                "Network_vlan",
                "11",
                json!({"vlan_name": "after", "require": "Network_teleport[x]"}),
            ),
            ("Network_vlan", "12", json!({"vlan_name": "apart"})),
        ],
    );
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 6, "{text}");
    let statuses = &host.report(&name(1))["resource_statuses"];
    assert_eq!(statuses["Network_teleport[x]"]["failed"], true, "{text}");
    assert_eq!(statuses["Network_vlan[11]"]["skipped"], true, "{text}");
    assert_eq!(statuses["Network_vlan[12]"]["changed"], true, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn device_host_resources_follow_the_policy() {
    let host = DeviceHost::new(1).await;
    let both = [
        ("File", "/etc/motd", json!({"content": "hello"})),
        ("Network_vlan", "12", json!({"vlan_name": "apart"})),
    ];
    give(&host, 1, &both);
    let (code, text) = host
        .run(&["--detailed-exitcodes", "--host-resources", "refuse"])
        .await;
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("File[/etc/motd] is a host resource: devices skip it"),
        "{text}"
    );
    assert!(!host.switches[0].vlans().iter().any(|(id, ..)| *id == 12));
    let (code, text) = host
        .run(&["--detailed-exitcodes", "--host-resources", "silent"])
        .await;
    assert_eq!(code, 2, "{text}");
    assert!(!text.contains("/etc/motd"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn device_failure_of_verification_fails_the_run() {
    let host = DeviceHost::with_faults(1, &["lost-write=^name apart"]).await;
    give(
        &host,
        1,
        &[("Network_vlan", "12", json!({"vlan_name": "apart"}))],
    );
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 6, "{text}");
    let report = host.report(&name(1));
    assert_eq!(report["status"], "failed");
    let status = &report["resource_statuses"]["Network_vlan[12]"];
    assert_eq!(status["failed"], true, "{status}");
    assert!(
        logs(&report)
            .iter()
            .any(|line| line.starts_with("verification failed: vlan_name was set to")),
        "{:?}",
        logs(&report)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn device_failure_of_a_request_names_device_url_and_hint() {
    let host = DeviceHost::new(1).await;
    let json = |status, message: &str| {
        ServerResponse::json(
            status,
            &json!({"message": message, "issue_kind": "RUNTIME_ERROR"}),
        )
    };
    let url = format!(
        "https://localhost:{}/puppet/v3/catalog/sw1.lab.test",
        host.server.port()
    );
    let node = format!("\"name\":\"{}\"", name(2));
    // (answer to the catalog request, message, hint)
    let cases = [
        (
            json(400, "Bad Request: x"),
            "400: Bad Request: x",
            "environment",
        ),
        (
            ServerResponse::text(403, "Forbidden"),
            "403: Forbidden",
            "auth.conf",
        ),
        (json(404, "Not Found: y"), "404: Not Found: y", "serverport"),
        (
            json(406, "Not Acceptable"),
            "406: Not Acceptable",
            "Puppet Server 5",
        ),
        (
            ServerResponse::text(429, "slow down"),
            "429: slow down",
            "--catalog-concurrency",
        ),
        (
            json(500, "Server Error: z (file: /a.pp, line: 1)"),
            "500: Server Error: z (file: /a.pp, line: 1)",
            "puppetserver.log",
        ),
        (
            ServerResponse::text(500, "Internal Server Error: java.lang.X"),
            "500: Internal Server Error: java.lang.X",
            "puppetserver.log",
        ),
        (
            ServerResponse::text(503, "busy"),
            "503: busy",
            "--catalog-concurrency",
        ),
        (
            ServerResponse::text(200, "{\"resources\": [").cut(5),
            "the response is incomplete",
            "retry",
        ),
        (
            ServerResponse::text(200, "<html>"),
            "unusable response: invalid catalog",
            "proxy",
        ),
        (
            ServerResponse::new(200, "application/json", format!("{{{node}}}")),
            "sw2.lab.test",
            "certname",
        ),
    ];
    for (answer, message, remedy) in cases {
        host.server.state().inject("/puppet/v3/catalog", [answer]);
        let (code, text) = host.run(&["--detailed-exitcodes"]).await;
        assert_eq!(code, 1, "{message}: {text}");
        let line = text.lines().find(|line| line.contains(message));
        let line = line.unwrap_or_else(|| panic!("{message} is not in:\n{text}"));
        assert!(line.starts_with("Error: sw1.lab.test: "), "{line}");
        assert!(line.contains(&url), "{message}: no URL in: {line}");
        assert!(line.contains(remedy), "{message}: no remedy in: {line}");
        assert_eq!(host.report(&name(1))["status"], "failed", "{message}");
    }
}

/// The line about the first device with this text, from a run without a transaction.
async fn error_line(host: &DeviceHost, message: &str) -> String {
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 1, "{message}: {text}");
    assert!(!text.contains("PRIVATE KEY"), "{message}: {text}");
    let mut errors = text
        .lines()
        .filter(|line| line.starts_with("Error: sw1.lab.test: "));
    let line = errors.find(|line| line.contains(message));
    line.unwrap_or_else(|| panic!("{message} is not in:\n{text}"))
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn device_failure_of_a_certificate_names_device_url_and_hint() {
    // From the first contact: (kind of CA, message, hint)
    let cases = [
        (
            CertificateProfile::ExpiredServer,
            "it has expired",
            "a valid certificate",
        ),
        (
            CertificateProfile::CommonNameOnly,
            "the certificate is for puppetserver.test, not for localhost",
            "alternative names",
        ),
        (
            CertificateProfile::ExpiredDevices,
            "the certificate of sw1.lab.test expired",
            "switchtender cert clean sw1.lab.test",
        ),
    ];
    for (kind, message, remedy) in cases {
        let server = PuppetServer::start_with(CertificateAuthority::with_profile(kind), 0)
            .await
            .expect("a free port");
        let host = DeviceHost::with_server(server, 1, &[]).await;
        let line = error_line(&host, message).await;
        assert!(line.contains(remedy), "{kind:?}: no remedy in: {line}");
        // What is known without asking has no URL.
        let url = format!("https://localhost:{}/", host.server.port());
        let names_url = kind != CertificateProfile::ExpiredDevices;
        assert_eq!(line.contains(&url), names_url, "{kind:?}: {line}");
    }

    // After a sound run: revoked on either side, and a CA that is another.
    let host = DeviceHost::new(1).await;
    assert_eq!(host.run(&["--detailed-exitcodes"]).await.0, 2);
    let url = format!("https://localhost:{}/", host.server.port());
    let bundle = host.path("devices/sw1.lab.test/ssl/certs/ca.pem");
    let sound = std::fs::read_to_string(&bundle).unwrap();
    std::fs::write(&bundle, CertificateAuthority::new().bundle()).unwrap();
    let line = error_line(&host, "its CA has the name of a CA in the bundle").await;
    assert!(
        line.contains(&url) && line.contains("remove certs/ca.pem"),
        "{line}"
    );
    std::fs::write(&bundle, sound).unwrap();

    host.server.state().ca.revoke(0);
    let line = error_line(&host, "the server rejected the device's certificate").await;
    assert!(
        line.contains(&url) && line.contains("switchtender cert clean"),
        "{line}"
    );
    assert!(
        host.path("var/devices/sw1.lab.test/spool/000000000000.json")
            .exists(),
        "the report waits for a certificate that the server takes"
    );

    host.server.state().ca.revoke_server();
    std::fs::remove_file(host.path("devices/sw1.lab.test/ssl/crl.pem")).unwrap();
    std::fs::write(
        host.path("devices/sw1.lab.test/ssl/crl.pem"),
        host.server.state().ca.crls(),
    )
    .unwrap();
    let line = error_line(&host, "it is revoked").await;
    assert!(
        line.contains(&url) && line.contains("a valid certificate"),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn device_failure_of_a_file_names_it_with_a_hint() {
    let host = DeviceHost::new(1).await;
    assert_eq!(host.run(&["--detailed-exitcodes"]).await.0, 2);
    let path = |below: &str| host.path(below);

    let credentials = path("sw1.lab.test.conf");
    let sound = host.file("sw1.lab.test.conf");
    write(&credentials, &sound, 0o644);
    let line = error_line(&host, "sw1.lab.test.conf (mode 0644)").await;
    assert!(line.contains("chmod 0640"), "{line}");
    assert!(line.contains("device.conf:3"), "{line}");
    write(&credentials, &sound, 0o640);
    assert_eq!(host.run(&["--detailed-exitcodes"]).await.0, 0);

    // A directory in the place of a file cannot be read by anyone.
    let unreadable = [
        "sw1.lab.test.conf",
        "devices/sw1.lab.test/ssl/certs/ca.pem",
        "devices/sw1.lab.test/ssl/crl.pem",
        "devices/sw1.lab.test/ssl/certs/sw1.lab.test.pem",
        "devices/sw1.lab.test/ssl/private_keys/sw1.lab.test.pem",
        "var/devices/sw1.lab.test/memory.json",
    ];
    for below in unreadable {
        let (file, aside) = (path(below), path("aside"));
        std::fs::rename(&file, &aside).unwrap();
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&file)
            .unwrap();
        let line = error_line(&host, &file.display().to_string()).await;
        assert!(
            line.to_lowercase().contains("is a directory"),
            "{below}: {line}"
        );
        std::fs::remove_dir(&file).unwrap();
        std::fs::rename(&aside, &file).unwrap();
    }
    for below in ["puppet.conf", "device.conf"] {
        let (file, sound) = (path(below), host.file(below));
        write(&file, "no such line", 0o600);
        let (code, text) = host.run(&[]).await;
        let position = format!("{}:1", file.display());
        assert!(code == 1 && text.contains(&position), "{below}: {text}");
        write(&file, &sound, 0o600);
    }
    assert_eq!(
        host.run(&["--detailed-exitcodes"]).await.0,
        0,
        "all is well again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn device_postrun_command_runs_after_failed_runs() {
    let host = DeviceHost::new(1).await;
    let after = host.path("after");
    let command = format!("echo $SWITCHTENDER_DEVICE >> {}", after.display());
    let refused = || ServerResponse::text(500, "Internal Server Error: x");
    for (answer, more, expected) in [
        (None, &[][..], 2),
        (Some(refused()), &["--no-usecacheonfailure"], 1),
        (None, &["--prerun_command", "exit 3"], 1),
    ] {
        let _ = std::fs::remove_file(&after);
        host.server.state().inject("/puppet/v3/catalog", answer);
        let arguments = [
            &["--detailed-exitcodes", "--postrun_command", &command][..],
            more,
        ];
        let (code, text) = host.run(&arguments.concat()).await;
        assert_eq!(code, expected, "{text}");
        assert_eq!(host.file("after"), "sw1.lab.test\n", "{more:?}: {text}");
    }
}

/// The change may have been what broke the connection, and what is not saved is gone after a
/// restart.
#[tokio::test(flavor = "multi_thread")]
async fn save_config_withheld_after_disconnect_in_a_change() {
    let host = DeviceHost::with_faults(1, &["drop-unanswered=^name apart"]).await;
    let desired = json!({"vlan_name": "apart"});
    give(&host, 1, &[("Network_vlan", "12", desired)]);
    let mut credentials: Value = serde_json::from_str(&host.file("sw1.lab.test.conf")).unwrap();
    credentials["save_config"] = json!("always");
    let file = host.path("sw1.lab.test.conf");
    write(&file, &credentials.to_string(), 0o640);
    let saves = || {
        let lines = host.switches[0].log().received();
        let is_save = |line: &&String| line.starts_with("copy ") || line.starts_with("write");
        lines.iter().filter(is_save).count()
    };
    let ours = "configuration not saved: the connection broke after a change was sent";

    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 4, "nothing came of it: {text}");
    assert_eq!(saves(), 0, "{text}");
    let expected = format!("Warning: sw1.lab.test: {ours}");
    assert!(text.contains(&expected), "{text}");
    let report = host.report(&name(1));
    let logs = logs(&report);
    assert!(logs.iter().any(|line| line.starts_with(ours)), "{logs:?}");

    // The next one gets through. The VLAN was not there: a switch makes it when its mode is left.
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 2, "{text}");
    assert_eq!(saves(), 1, "{text}");
    assert!(!text.contains(ours), "{text}");
}

//! `switchtender cert` and `switchtender doctor`, as a user runs them.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use switchtender_mocks::puppet_server::PuppetServer;
use test_support::proxy_host::ProxyHost;

const CONF: &str = "[sw1.lab.test]\ntype cisco_ios\nurl file:///nonexistent/sw1.conf\n\n[sw2.lab.test]\ntype f5\nurl https://admin:s3cret@127.0.0.1:1/\n";

#[tokio::test(flavor = "multi_thread")]
async fn cert_command_lists_requests_shows_and_cleans() {
    let server = PuppetServer::start().await;
    server.state().autosign = false;
    let host = ProxyHost::with_files(&server, CONF);
    let (code, text) = host.run(&["cert", "list"]).await;
    assert_eq!(
        (code, text.as_str()),
        (
            0,
            "sw1.lab.test  no certificate\nsw2.lab.test  no certificate\n"
        )
    );

    let (code, text) = host.run(&["cert", "request", "sw1.lab.test"]).await;
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("sw1.lab.test: hint: compare the SHA-256 of the request ("),
        "{text}"
    );
    let (_, text) = host.run(&["cert", "list"]).await;
    assert!(
        text.starts_with("sw1.lab.test  requested, SHA-256 "),
        "{text}"
    );
    let (code, text) = host.run(&["cert", "show", "sw1.lab.test"]).await;
    assert!(
        code == 1 && text.contains("puppetserver ca sign --certname sw1.lab.test"),
        "{text}"
    );

    server.state().sign("sw1.lab.test");
    let (code, text) = host.run(&["cert", "request", "sw1.lab.test"]).await;
    assert!(
        code == 0 && text.contains("sw1.lab.test: certificate until 2089-01-01T00:00:00Z"),
        "{text}"
    );
    let (code, text) = host.run(&["cert", "show", "sw1.lab.test"]).await;
    assert!(code == 0 && text.contains("key         fits"), "{text}");
    assert!(
        text.contains("issuer      CN=Puppet CA: puppetserver.test"),
        "{text}"
    );

    let (code, text) = host.run(&["cert", "clean", "sw1.lab.test"]).await;
    assert!(
        code == 0 && text.contains("private_keys/sw1.lab.test.pem"),
        "{text}"
    );
    let (_, text) = host.run(&["cert", "list"]).await;
    assert!(text.starts_with("sw1.lab.test  no certificate"), "{text}");
    let (code, text) = host.run(&["cert", "clean", "sw9.lab.test"]).await;
    assert!(
        code == 1 && text.contains("sw9.lab.test has no certificates on this host"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_reports_problems_with_remedies() {
    let server = PuppetServer::start().await;
    let host = ProxyHost::with_files(&server, CONF);
    host.run(&["cert", "request", "sw1.lab.test"]).await;
    let key = host.path("devices/sw1.lab.test/ssl/private_keys/sw1.lab.test.pem");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (code, text) = host.run(&["doctor"]).await;
    assert_eq!(code, 1);
    for line in [
        &format!("ok       server localhost:{}: running", server.port()),
        "error    sw1.lab.test: all users can read its private key",
        "         → chmod 0640 ",
        "ok       sw1.lab.test: certificate until 2089-01-01T00:00:00Z",
        "Trying to load config from '/nonexistent/sw1.conf', but file does not exist.",
        "warning  sw2.lab.test: has no certificate yet",
        "error    sw2.lab.test: cannot connect to ",
    ] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
    assert!(!text.contains("s3cret"), "{text}");

    server.stop();
    drop(server);
    let (code, text) = host
        .run(&["doctor", "--offline", "--output", "json", "--target", "sw9"])
        .await;
    assert_eq!(code, 1);
    let checks: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |subject: &str| {
        checks
            .iter()
            .find(|check| check["subject"].as_str().unwrap().starts_with(subject))
            .unwrap()
    };
    assert!(
        of("server ")["hint"]
            .as_str()
            .unwrap()
            .starts_with("check that the server is running")
    );
    assert!(
        of("sw9")["text"]
            .as_str()
            .unwrap()
            .starts_with("not found in ")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_problems_before_a_run() {
    let server = PuppetServer::start().await;
    let host = ProxyHost::with_files(&server, CONF);
    for name in ["sw1.lab.test", "sw2.lab.test"] {
        assert_eq!(host.run(&["cert", "request", name]).await.0, 0);
    }
    let ssl = |name: &str, file: &str| host.path(&format!("devices/{name}/ssl/{file}"));
    let key = ssl("sw1.lab.test", "private_keys/sw1.lab.test.pem");
    let (own, foreign) = (
        std::fs::read(&key).unwrap(),
        std::fs::read(ssl("sw2.lab.test", "private_keys/sw2.lab.test.pem")).unwrap(),
    );
    let doctor = async || {
        let (_, text) = host
            .run(&["doctor", "--offline", "--target", "sw1.lab.test"])
            .await;
        text
    };
    let assert_contains =
        |text: &str, line: &str| assert!(text.contains(line), "{line} is not in:\n{text}");

    assert_contains(
        &doctor().await,
        "ok       sw1.lab.test: accepted by the server, environment production\n",
    );

    // A key of another certificate, or of none.
    std::fs::write(&key, foreign).unwrap();
    let text = doctor().await;
    assert_contains(
        &text,
        "error    sw1.lab.test: The certificate for 'CN=sw1.lab.test' does not match its private key",
    );
    assert_contains(
        &text,
        "→ on the server: `puppetserver ca clean --certname sw1.lab.test`",
    );
    std::fs::remove_file(&key).unwrap();
    assert_contains(
        &doctor().await,
        "error    sw1.lab.test: sw1.lab.test has a certificate but no private key",
    );
    std::fs::write(&key, own).unwrap();

    // Damaged bundles.
    for (file, reason) in [
        ("certs/ca.pem", "cannot use the certificate "),
        ("crl.pem", "CRL"),
    ] {
        let path = ssl("sw1.lab.test", file);
        let sound = std::fs::read(&path).unwrap();
        std::fs::write(
            &path,
            "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n",
        )
        .unwrap();
        let text = doctor().await;
        let found = text
            .lines()
            .find(|line| line.starts_with("error    sw1.lab.test: ") && line.contains(reason));
        assert!(found.is_some(), "{file}: {text}");
        assert!(text.contains("→ "), "{file}: {text}");
        std::fs::write(&path, sound).unwrap();
    }

    // What others have left for the next run.
    host.run(&[
        "device",
        "--disable",
        "moving racks",
        "--target",
        "sw1.lab.test",
    ])
    .await;
    let text = doctor().await;
    assert_contains(&text, "warning  sw1.lab.test: disabled: moving racks");
    assert_contains(
        &text,
        "→ enable it with `switchtender device --enable --target sw1.lab.test`",
    );
    host.run(&["device", "--enable"]).await;

    // The server no longer accepts the device.
    server.state().ca.revoke(0);
    let rejected = async {
        loop {
            let text = doctor().await;
            if text.contains("the server rejected the device's certificate") {
                return text;
            }
            // If the server closes the connection before the request is sent, the HTTP client loses its alert.
            assert_contains(
                &text,
                "a server can close the connection when it rejects the device's certificate",
            );
        }
    };
    let text = tokio::time::timeout(Duration::from_secs(60), rejected).await;
    assert_contains(
        &text.expect("the alert of the server is seen"),
        "→ the certificate is revoked, expired or from another CA",
    );

    // A report that waits.
    host.run(&["device", "--target", "sw1.lab.test"]).await;
    assert_contains(&doctor().await, "warning  sw1.lab.test: unsent reports: 1");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_prints_configuration_errors_without_secrets() {
    let server = PuppetServer::start().await;
    let host = ProxyHost::with_files(&server, "[sw1]\ntype f5\nulr https://admin:s3cret@h/\n");
    let (code, text) = host.run(&["cert", "list"]).await;
    assert_eq!(code, 1);
    assert!(text.contains("Invalid entry: ulr https://"), "{text}");
    assert!(text.contains("did you mean `url`?"), "{text}");
    assert!(text.contains("device sw1 has no `url`"), "{text}");
    assert!(!text.contains("s3cret"), "{text}");

    host.write("puppet.conf", "[main]\nserverport = many\n", 0o644);
    let (code, text) = host.run(&["cert", "list"]).await;
    assert!(
        code == 1 && text.contains("serverport must be a port, 1 to 65535, not `many`"),
        "{text}"
    );
    assert!(text.contains("puppet.conf:2"), "{text}");

    host.write("puppet.conf", "", 0o644);
    host.write("device.conf", "", 0o644);
    let (code, text) = host.run(&["cert", "list"]).await;
    assert!(
        code == 0 && text.ends_with("device.conf has no devices\n"),
        "{text}"
    );

    let (code, text) = host.run(&["cert", "list", "--nonsense"]).await;
    assert_eq!(code, 1, "2 would say changes: {text}");
}

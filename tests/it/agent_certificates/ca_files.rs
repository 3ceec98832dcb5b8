//! The CA bundle and the CRLs.

use super::*;

const CRL_PATH: &str = "/puppet-ca/v1/certificate_revocation_list";

#[tokio::test]
async fn ca_bundle_and_crls_are_refreshed_by_age() {
    let server = PuppetServer::start().await;
    let proxy = Proxy::new(&server, &[]);
    proxy.set_up("sw1.lab.test").await.0.unwrap();
    let layout = proxy.layout("sw1.lab.test");
    for path in [layout.ca(), layout.crl()] {
        let file = std::fs::File::options().append(true).open(path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
            .unwrap();
    }
    server.state().received.clear();
    server.state().inject(
        "/puppet-ca/v1/certificate_revocation_list",
        [ServerResponse::new(304, "text/plain", "")],
    );
    proxy.set_up("sw1.lab.test").await.0.unwrap();
    let requests: Vec<_> = server
        .state()
        .received
        .iter()
        .map(|exchange| {
            (
                exchange.path.clone(),
                exchange.headers.get("if-modified-since").cloned(),
            )
        })
        .collect();
    let since = Some("Sun, 09 Sep 2001 01:46:40 GMT".to_owned());
    assert_eq!(
        requests,
        [
            ("/puppet-ca/v1/certificate/ca".to_owned(), since.clone()),
            (
                "/puppet-ca/v1/certificate_revocation_list/ca".to_owned(),
                since
            ),
        ]
    );
    // Both are new now: no request is sent.
    server.state().received.clear();
    proxy.set_up("sw1.lab.test").await.0.unwrap();
    assert_eq!(server.state().request_lines(), [""; 0]);
}

/// Sets the age of a file to more than the refresh interval.
fn make_old(path: &Path) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
        .unwrap();
}

#[tokio::test]
async fn response_without_crls_never_replaces_the_crls() {
    let server = PuppetServer::start().await;
    let mut proxy = Proxy::new(&server, &[]);
    proxy.set_up("sw1.lab.test").await.0.unwrap();
    let layout = proxy.layout("sw1.lab.test");
    let own = std::fs::read_to_string(layout.crl()).unwrap();
    let end = "-----END X509 CRL-----\n";
    let first = own.split_inclusive(end).next().unwrap();
    let foreign = ca::CertificateAuthority::new().crls();
    let damaged = own.replacen("\nM", "\nA", 1);
    for (answer, reason) in [
        ("[]", "Failed to parse CRLs as PEM"),
        ("", "Failed to parse CRLs as PEM"),
        ("<html>maintenance</html>", "Failed to parse CRLs as PEM"),
        (
            first,
            "the CRL issued by 'CN=Puppet Root CA: test' is missing",
        ),
        (&foreign, "has an invalid signature"),
        (&damaged, "Failed to parse CRLs"),
    ] {
        proxy = proxy.restarted();
        make_old(&layout.crl());
        server
            .state()
            .inject(CRL_PATH, [ServerResponse::text(200, answer)]);
        let (outcome, log) = proxy.set_up("sw1.lab.test").await;
        let revocation = match outcome.unwrap().trust {
            Trust::Bundle { revocation, .. } => revocation,
            Trust::FirstContact => None,
        };
        assert_eq!(revocation.unwrap().lists.pem(), own, "{answer}");
        assert_eq!(std::fs::read_to_string(layout.crl()).unwrap(), own);
        assert!(
            log.iter().any(|(level, text)| *level == Level::Warning
                && text.starts_with("Failed to refresh ")
                && text.contains(reason)),
            "{log:?}"
        );
    }

    // A new device stores nothing and stops.
    proxy = proxy.restarted();
    server
        .state()
        .inject(CRL_PATH, [ServerResponse::text(200, "[]")]);
    let (message, hint) = message_and_hint(proxy.set_up("sw2.lab.test").await.0);
    assert!(
        message.starts_with("cannot use the CRLs from localhost:"),
        "{message}"
    );
    assert!(hint.contains("certificate_revocation = false"), "{hint}");
    assert!(!proxy.layout("sw2.lab.test").crl().exists());
}

#[tokio::test]
async fn unusable_crl_file_is_downloaded_again() {
    let server = PuppetServer::start().await;
    let proxy = Proxy::new(&server, &[]);
    proxy.set_up("sw1.lab.test").await.0.unwrap();
    let path = proxy.layout("sw1.lab.test").crl();
    std::fs::write(&path, "[]").unwrap();
    let proxy = proxy.restarted();
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    outcome.unwrap();
    let stored = std::fs::read_to_string(&path).unwrap();
    assert_eq!(stored.matches("BEGIN X509 CRL").count(), 2, "{stored}");
    let expected = format!("cannot use the CRLs in {}: ", path.display());
    assert!(has_message(&log, Level::Warning, &expected), "{log:?}");

    // Without a server the run stops, and `certificate_revocation = false` does not.
    std::fs::write(&path, "[]").unwrap();
    server.stop();
    let proxy = proxy.restarted();
    assert!(proxy.set_up("sw1.lab.test").await.0.is_err());
    let settings = proxy.host.settings(&[("certificate_revocation", "false")]);
    let off = Proxy {
        settings: Arc::new(settings),
        ..proxy
    };
    off.set_up("sw1.lab.test").await.0.unwrap();
}

#[tokio::test]
async fn expired_crls_are_replaced_before_the_refresh_interval() {
    let server = PuppetServer::start().await;
    server.state().ca.expire_crls(true, true);
    let proxy = Proxy::new(&server, &[]);
    let (message, hint) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
    let path = proxy.layout("sw1.lab.test").crl();
    assert!(
        message.contains("The CRL issued by 'CN=Puppet CA: puppetserver.test' has expired")
            && message.contains(&path.display().to_string()),
        "{message}"
    );
    assert!(hint.contains("renew the CRL on the server"), "{hint}");

    let expired = std::fs::read_to_string(&path).unwrap();
    server.state().ca.expire_crls(false, false);
    let renewed = proxy.restarted();
    renewed.set_up("sw1.lab.test").await.0.unwrap();
    assert_ne!(std::fs::read_to_string(&path).unwrap(), expired);
}

//! Certificates of devices against a server on loopback: made, fetched, waited for, refused.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchtender::agent::ca::authority::CertificateAuthority;
use switchtender::agent::ca::bootstrap::{Bootstrap, BootstrapError, TlsCredentials};
use switchtender::agent::http::tls::Trust;
use switchtender::agent::layout::Layout;
use switchtender::agent::puppet_conf::{self, Settings};
use switchtender::agent::run_log::Level;
use switchtender::error_chain::chain;
use switchtender_mocks::puppet_server::{PuppetServer, ServerResponse, ca};
use test_support::proxy_host::{ProxyHost, certname, has_message};
use tokio_util::sync::CancellationToken;

/// A proxy with its directories.
struct Proxy {
    host: ProxyHost,
    settings: Arc<Settings>,
    authority: CertificateAuthority,
}

impl Proxy {
    fn new(server: &PuppetServer, flags: &[(&str, &str)]) -> Self {
        let host = ProxyHost::new(server, flags);
        let settings = Arc::new(host.settings(&[]));
        Self {
            host,
            authority: CertificateAuthority::new(&settings),
            settings,
        }
    }

    /// The same host in a new process, which downloads again.
    fn restarted(self) -> Self {
        Self {
            authority: CertificateAuthority::new(&self.settings),
            ..self
        }
    }

    fn layout(&self, name: &str) -> Layout {
        Layout::new(&self.settings, &certname(name))
    }

    async fn set_up(
        &self,
        name: &str,
    ) -> (Result<TlsCredentials, BootstrapError>, Vec<(Level, String)>) {
        self.set_up_until(name, &CancellationToken::new()).await
    }

    async fn set_up_until(
        &self,
        name: &str,
        stop: &CancellationToken,
    ) -> (Result<TlsCredentials, BootstrapError>, Vec<(Level, String)>) {
        let mut log = Vec::new();
        let layout = self.layout(name);
        let setup = Bootstrap {
            settings: &self.settings,
            layout: &layout,
            authority: &self.authority,
            stop,
        };
        let outcome = setup.run(&mut log).await;
        (outcome, log)
    }
}

fn told(outcome: Result<TlsCredentials, BootstrapError>) -> (String, String) {
    let error = outcome.map(|_| ()).unwrap_err();
    (chain(&error), error.hint().unwrap_or_default())
}

#[tokio::test]
async fn certificate_is_downloaded_at_once_with_autosign() {
    let server = PuppetServer::start().await;
    let proxy = Proxy::new(&server, &[]);
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    let ready = outcome.unwrap();
    assert!(ready.certificate.is_for(&certname("sw1.lab.test")));
    assert!(has_message(
        &log,
        Level::Warning,
        "Downloaded the CA bundle and trusted it on first contact, SHA-256 "
    ));
    assert!(has_message(
        &log,
        Level::Notice,
        "Certificate request for sw1.lab.test sent to localhost:"
    ));
    assert_eq!(
        server.state().request_lines(),
        [
            "GET /puppet-ca/v1/certificate/ca",
            "GET /puppet-ca/v1/certificate_revocation_list/ca",
            "PUT /puppet-ca/v1/certificate_request/sw1.lab.test",
            "GET /puppet-ca/v1/certificate/sw1.lab.test",
        ]
    );
    let layout = proxy.layout("sw1.lab.test");
    assert!(layout.key().exists() && layout.certificate().exists());
    assert!(!layout.request().exists(), "no request is pending");
    assert!(!layout.lock().exists(), "the lock is given back");

    // The second device requests neither bundle nor CRLs, the first sends no request.
    server.state().received.clear();
    proxy.set_up("sw1.lab.test").await.0.unwrap();
    proxy.set_up("sw2.lab.test").await.0.unwrap();
    assert_eq!(
        server.state().request_lines(),
        [
            "PUT /puppet-ca/v1/certificate_request/sw2.lab.test",
            "GET /puppet-ca/v1/certificate/sw2.lab.test",
        ]
    );
}

#[tokio::test]
async fn ca_fingerprint_verifies_the_first_contact() {
    let server = PuppetServer::start().await;
    let wrong = "AA:".repeat(31) + "AA";
    let proxy = Proxy::new(&server, &[("ca_fingerprint", &wrong)]);
    let (message, hint) = told(proxy.set_up("sw1.lab.test").await.0);
    assert!(message.contains("has the SHA-256 fingerprint"), "{message}");
    assert!(hint.starts_with("verify the server"), "{hint}");
    assert!(!proxy.layout("sw1.lab.test").ca().exists());

    let right =
        switchtender::agent::certificate::fingerprint(server.state().ca.bundle().as_bytes());
    let proxy = Proxy::new(&server, &[("ca_fingerprint", &right)]);
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    outcome.unwrap();
    assert!(has_message(
        &log,
        Level::Notice,
        "Downloaded the CA bundle, SHA-256 "
    ));
}

#[tokio::test]
async fn certificate_request_without_waiting_fails_with_the_fingerprint() {
    let server = PuppetServer::start().await;
    server.state().autosign = false;
    let proxy = Proxy::new(&server, &[]);
    let (message, hint) = told(proxy.set_up("sw1.lab.test").await.0);
    assert_eq!(
        message,
        "Couldn't fetch certificate from CA server; you might still need to sign this agent's certificate (sw1.lab.test). Exiting; no certificate found and waitforcert is disabled"
    );
    assert!(
        hint.contains("puppetserver ca sign --certname sw1.lab.test"),
        "{hint}"
    );

    // The pending request is the same when it is sent again, and found when it is signed.
    let (_, again) = told(proxy.set_up("sw1.lab.test").await.0);
    assert_eq!(again, hint);
    server.state().sign("sw1.lab.test");
    proxy.set_up("sw1.lab.test").await.0.unwrap();
}

#[tokio::test]
async fn certificate_wait_ends_with_signature_limit_or_stop() {
    let server = PuppetServer::start().await;
    server.state().autosign = false;
    let proxy = Proxy::new(&server, &[("waitforcert", "1"), ("maxwaitforcert", "2")]);
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    let (message, _) = told(outcome);
    assert!(
        message.ends_with("Exiting; no certificate after 2 s (maxwaitforcert)"),
        "{message}"
    );
    let progress = "the certificate of sw1.lab.test is not signed after 1 s; SHA-256";
    assert!(
        log.iter().any(|(_, message)| message.starts_with(progress)),
        "{log:?}"
    );

    let proxy = Proxy::new(&server, &[("waitforcert", "1h")]);
    let stop = CancellationToken::new();
    let waiting = proxy.set_up_until("sw2.lab.test", &stop);
    let stopping = async {
        // The request is there before the wait begins.
        while !server
            .state()
            .certificate_requests
            .contains_key("sw2.lab.test")
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
    };
    let ((outcome, _), ()) = tokio::join!(waiting, stopping);
    assert_eq!(
        told(outcome).0,
        "stopped while waiting for the certificate of sw2.lab.test"
    );
}

#[tokio::test]
async fn certificate_without_key_is_an_error_and_files_are_unchanged() {
    let server = PuppetServer::start().await;
    let proxy = Proxy::new(&server, &[]);
    proxy.set_up("sw1.lab.test").await.0.unwrap();
    let layout = proxy.layout("sw1.lab.test");
    std::fs::remove_file(layout.key()).unwrap();
    let (message, hint) = told(proxy.set_up("sw1.lab.test").await.0);
    assert!(
        message.starts_with("sw1.lab.test has a certificate but no private key ("),
        "{message}"
    );
    assert!(
        hint.contains("puppetserver ca clean --certname sw1.lab.test"),
        "{hint}"
    );

    // The complete directory is lost: the server still has a certificate for the lost key.
    std::fs::remove_dir_all(&layout.ssl).unwrap();
    let (message, hint) = told(proxy.set_up("sw1.lab.test").await.0);
    assert_eq!(
        message,
        "The certificate for 'CN=sw1.lab.test' does not match its private key"
    );
    assert!(
        hint.contains("switchtender cert clean sw1.lab.test"),
        "{hint}"
    );
    assert!(!layout.certificate().exists());
}

#[tokio::test]
async fn certificates_of_puppet_are_used_unchanged() {
    let server = PuppetServer::start().await;
    let proxy = Proxy::new(&server, &[]);
    for key in [
        "rsa_pkcs1.pem",
        "rsa_pkcs8.pem",
        "ec_sec1.pem",
        "ec_pkcs8.pem",
    ] {
        let name = key.replace(['_', '.'], "-") + ".lab.test";
        let layout = proxy.layout(&name);
        std::fs::create_dir_all(layout.key().parent().unwrap()).unwrap();
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/keys")
            .join(key);
        std::fs::copy(&file, layout.key()).unwrap();
        proxy
            .set_up(&name)
            .await
            .0
            .unwrap_or_else(|error| panic!("{key}: {}", chain(&error)));
        assert_eq!(
            std::fs::read(&file).unwrap(),
            std::fs::read(layout.key()).unwrap()
        );
    }
}

#[tokio::test]
async fn server_certificate_errors_have_the_reason() {
    // (kind of CA, requested host, message, hint)
    let cases = [
        (
            ca::CertificateProfile::ExpiredServer,
            "localhost",
            "it has expired",
            "",
        ),
        (
            ca::CertificateProfile::CommonNameOnly,
            "localhost",
            "the certificate is for puppetserver.test, not for localhost",
            "issue a server certificate with alternative names",
        ),
        (
            ca::CertificateProfile::Valid,
            "127.0.0.2",
            "the certificate is for puppetserver.test, localhost, 127.0.0.1, not for 127.0.0.2",
            "set `server` to one of these names",
        ),
    ];
    for (kind, host, expected, remedy) in cases {
        let server =
            PuppetServer::start_with(ca::CertificateAuthority::with_profile(kind), 0).await;
        let proxy = Proxy::new(&server, &[("server", host)]);
        // The bundle is there already: a first contact checks nothing.
        let layout = proxy.layout("sw1.lab.test");
        std::fs::create_dir_all(layout.ca().parent().unwrap()).unwrap();
        std::fs::write(layout.ca(), server.state().ca.bundle()).unwrap();
        let (message, hint) = told(proxy.set_up("sw1.lab.test").await.0);
        if host == "127.0.0.2" && message.contains("cannot connect") {
            continue; // Not every machine answers on all of loopback.
        }
        assert!(message.contains(expected), "{kind:?}: {message}");
        assert!(hint.starts_with(remedy), "{kind:?}: {hint}");
    }
}

#[tokio::test]
async fn server_certificate_from_another_ca_is_refused() {
    let server = PuppetServer::start().await;
    let proxy = Proxy::new(&server, &[]);
    let layout = proxy.layout("sw1.lab.test");
    std::fs::create_dir_all(layout.ca().parent().unwrap()).unwrap();
    std::fs::write(layout.ca(), ca::CertificateAuthority::new().bundle()).unwrap();
    let (message, hint) = told(proxy.set_up("sw1.lab.test").await.0);
    assert!(
        message.contains("its CA has the name of a CA in the bundle"),
        "{message}"
    );
    assert!(hint.contains("remove certs/ca.pem"), "{hint}");
}

#[tokio::test]
async fn certificate_expired_has_a_hint() {
    let authority = ca::CertificateAuthority::with_profile(ca::CertificateProfile::ExpiredDevices);
    let server = PuppetServer::start_with(authority, 0).await;
    let proxy = Proxy::new(&server, &[]);
    let (message, hint) = told(proxy.set_up("sw1.lab.test").await.0);
    assert_eq!(
        message,
        "the certificate of sw1.lab.test expired on 2002-01-01T00:00:00Z"
    );
    assert!(hint.contains("puppetserver ca clean"), "{hint}");
}

#[tokio::test]
async fn ca_refusals_are_reported() {
    let server = PuppetServer::start().await;
    let refused = "Certificate names must be lower case.";
    server.state().inject(
        "/puppet-ca/v1/certificate_request",
        [ServerResponse::text(400, refused)],
    );
    let proxy = Proxy::new(&server, &[]);
    let (message, _) = told(proxy.set_up("sw1.lab.test").await.0);
    assert!(
        message.ends_with(&format!("rejected the certificate request: {refused}")),
        "{message}"
    );

    server.state().inject(
        "/puppet-ca/v1/certificate/ca",
        [ServerResponse::text(404, "")],
    );
    let proxy = Proxy::new(&server, &[]);
    let (message, _) = told(proxy.set_up("sw1.lab.test").await.0);
    assert_eq!(message, "CA certificate is missing from the server");

    server.state().inject(
        "/puppet-ca/v1/certificate/ca",
        [ServerResponse::text(200, "hello")],
    );
    let proxy = Proxy::new(&server, &[]);
    let (message, _) = told(proxy.set_up("sw1.lab.test").await.0);
    assert!(
        message.starts_with("cannot use the CA bundle from "),
        "{message}"
    );
    drop(proxy.host);
}

#[tokio::test]
async fn certificate_expiry_is_a_warning_without_renewal() {
    let server = PuppetServer::start().await;
    // Everything ends soon when soon is a century.
    let proxy = Proxy::new(&server, &[("hostcert_renewal_interval", "100y")]);
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    outcome.unwrap();
    assert!(has_message(
        &log,
        Level::Warning,
        "The certificate of sw1.lab.test expires in "
    ));
    let renewals = server
        .state()
        .received
        .iter()
        .filter(|exchange| exchange.path == "/puppet-ca/v1/certificate_renewal")
        .map(|exchange| (exchange.client.clone(), exchange.status))
        .collect::<Vec<_>>();
    assert_eq!(renewals, [(Some("sw1.lab.test".to_owned()), 403)]);
}

#[tokio::test]
async fn certificate_is_renewed_before_expiry() {
    let server = PuppetServer::start().await;
    server.state().renewal = true;
    // Everything ends soon when soon is a century.
    let proxy = Proxy::new(&server, &[("hostcert_renewal_interval", "100y")]);
    let layout = proxy.layout("sw1.lab.test");
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    let ready = outcome.unwrap();
    assert_eq!(
        ready.certificate.not_after.to_string(),
        "2090-01-01T00:00:00Z"
    );
    assert!(has_message(
        &log,
        Level::Notice,
        "Renewed the certificate of sw1.lab.test; it expires on 2090-01-01"
    ));
    assert!(
        !log.iter()
            .any(|(_, message)| message.contains("expires in"))
    );
    let kept = std::fs::read_to_string(layout.certificate()).unwrap();
    assert_eq!(kept, ready.identity.certificate);
    assert_eq!(kept, server.state().certificates["sw1.lab.test"]);
    let key = std::fs::read_to_string(layout.key()).unwrap();

    // The new one is the one that the server sees from now on, and the key has stayed.
    let proxy = Proxy {
        settings: Arc::clone(&proxy.settings),
        authority: CertificateAuthority::new(&proxy.settings),
        host: proxy.host,
    };
    server.state().renewal = false;
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    assert_eq!(outcome.unwrap().identity.certificate, kept);
    assert!(has_message(
        &log,
        Level::Warning,
        "The certificate of sw1.lab.test expires in "
    ));
    assert_eq!(std::fs::read_to_string(layout.key()).unwrap(), key);
}

#[tokio::test]
async fn certificate_renewal_with_an_invalid_response_is_discarded() {
    let server = PuppetServer::start().await;
    let proxy = Proxy::new(&server, &[]);
    proxy.set_up("sw1.lab.test").await.0.unwrap();
    proxy.set_up("sw2.lab.test").await.0.unwrap();
    let layout = proxy.layout("sw1.lab.test");
    let own = std::fs::read_to_string(layout.certificate()).unwrap();
    let foreign = server.state().certificates["sw2.lab.test"].clone();
    let proxy = Proxy {
        settings: Arc::new(Settings {
            certificates: puppet_conf::CertificateSettings {
                renewal_interval: Duration::from_secs(100 * 366 * 86_400),
                ..proxy.settings.certificates.clone()
            },
            ..(*proxy.settings).clone()
        }),
        ..proxy
    };
    for answer in [
        ServerResponse::text(200, &foreign),
        ServerResponse::text(200, &own),
        ServerResponse::text(200, "<html>"),
        ServerResponse::text(404, "Not Found"),
        ServerResponse::text(500, "no"),
    ] {
        server
            .state()
            .inject("/puppet-ca/v1/certificate_renewal", [answer.clone()]);
        let (outcome, log) = proxy.set_up("sw1.lab.test").await;
        assert_eq!(outcome.unwrap().identity.certificate, own, "{answer:?}");
        assert!(
            has_message(
                &log,
                Level::Warning,
                "The certificate of sw1.lab.test expires in "
            ),
            "{answer:?}"
        );
        assert_eq!(std::fs::read_to_string(layout.certificate()).unwrap(), own);
    }
}

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
    let asked: Vec<_> = server
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
        asked,
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

const CRL_PATH: &str = "/puppet-ca/v1/certificate_revocation_list";

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
    let (message, hint) = told(proxy.set_up("sw2.lab.test").await.0);
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
    let (message, hint) = told(proxy.set_up("sw1.lab.test").await.0);
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

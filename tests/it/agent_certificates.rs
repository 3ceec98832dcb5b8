//! Certificates of devices against a server on loopback: made, fetched, waited for, refused.

mod ca_files;
mod renewal;

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
        let mut log = Vec::new();
        let layout = self.layout(name);
        let setup = Bootstrap {
            settings: &self.settings,
            layout: &layout,
            authority: &self.authority,
        };
        let outcome = setup.run(&mut log).await;
        (outcome, log)
    }
}

fn message_and_hint(outcome: Result<TlsCredentials, BootstrapError>) -> (String, String) {
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
    let (message, hint) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
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
    let (message, hint) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
    assert_eq!(
        message,
        "Couldn't fetch certificate from CA server; you might still need to sign this agent's certificate (sw1.lab.test). Exiting; no certificate found and waitforcert is disabled"
    );
    assert!(
        hint.contains("puppetserver ca sign --certname sw1.lab.test"),
        "{hint}"
    );

    // The pending request is the same when it is sent again, and found when it is signed.
    let (_, again) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
    assert_eq!(again, hint);
    server.state().sign("sw1.lab.test");
    proxy.set_up("sw1.lab.test").await.0.unwrap();
}

#[tokio::test]
async fn certificate_wait_ends_with_its_limit() {
    let server = PuppetServer::start().await;
    server.state().autosign = false;
    let proxy = Proxy::new(&server, &[("waitforcert", "1"), ("maxwaitforcert", "2")]);
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    let (message, _) = message_and_hint(outcome);
    assert!(
        message.ends_with("Exiting; no certificate after 2 s (maxwaitforcert)"),
        "{message}"
    );
    let progress = "the certificate of sw1.lab.test is not signed after 1 s; SHA-256";
    assert!(
        log.iter().any(|(_, message)| message.starts_with(progress)),
        "{log:?}"
    );
}

#[tokio::test]
async fn certificate_without_key_is_an_error_and_files_are_unchanged() {
    let server = PuppetServer::start().await;
    let proxy = Proxy::new(&server, &[]);
    proxy.set_up("sw1.lab.test").await.0.unwrap();
    let layout = proxy.layout("sw1.lab.test");
    std::fs::remove_file(layout.key()).unwrap();
    let (message, hint) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
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
    let (message, hint) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
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
        let server = PuppetServer::start_with(ca::CertificateAuthority::with_profile(kind), 0)
            .await
            .expect("a free port");
        let proxy = Proxy::new(&server, &[("server", host)]);
        // The bundle is there already: a first contact checks nothing.
        let layout = proxy.layout("sw1.lab.test");
        std::fs::create_dir_all(layout.ca().parent().unwrap()).unwrap();
        std::fs::write(layout.ca(), server.state().ca.bundle()).unwrap();
        let (message, hint) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
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
    let (message, hint) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
    assert!(
        message.contains("its CA has the name of a CA in the bundle"),
        "{message}"
    );
    assert!(hint.contains("remove certs/ca.pem"), "{hint}");
}

#[tokio::test]
async fn certificate_expired_has_a_hint() {
    let authority = ca::CertificateAuthority::with_profile(ca::CertificateProfile::ExpiredDevices);
    let server = PuppetServer::start_with(authority, 0)
        .await
        .expect("a free port");
    let proxy = Proxy::new(&server, &[]);
    let (message, hint) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
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
    let (message, _) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
    assert!(
        message.ends_with(&format!("rejected the certificate request: {refused}")),
        "{message}"
    );

    server.state().inject(
        "/puppet-ca/v1/certificate/ca",
        [ServerResponse::text(404, "")],
    );
    let proxy = Proxy::new(&server, &[]);
    let (message, _) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
    assert_eq!(message, "CA certificate is missing from the server");

    server.state().inject(
        "/puppet-ca/v1/certificate/ca",
        [ServerResponse::text(200, "hello")],
    );
    let proxy = Proxy::new(&server, &[]);
    let (message, _) = message_and_hint(proxy.set_up("sw1.lab.test").await.0);
    assert!(
        message.starts_with("cannot use the CA bundle from "),
        "{message}"
    );
    drop(proxy.host);
}

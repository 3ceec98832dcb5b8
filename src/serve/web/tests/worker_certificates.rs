//! Workers that prove their names with certificates, and all others that have some.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::date_time_ymd;
use test_support::certificates::{TestAuthority, parameters};

use super::harness::{TestOptions, TestServer, text};
use super::workers::{exchange, new_store};
use super::{Certificate, Client, redirect};
use crate::serve::access::{AccessFile, WorkerEntry};
use crate::serve::link::client::{HubLink, LinkError};
use crate::serve::link::settings::{JoinSettings, WorkerCredential};
use crate::serve::run_store::RunStore as _;
use crate::serve::tls_files::TlsFiles;
use crate::serve::web::WebSettings;
use crate::serve::web::tls::ServerTls;

fn files(directory: &Path, name: &str) -> TlsFiles {
    TlsFiles {
        certificate: directory.join(format!("{name}.pem")),
        key: directory.join(format!("{name}.key")),
    }
}

/// A hub with the worker `w1`, whose certificate has the name `w1.test`, and the CA of its clients.
async fn hub(directory: &Path) -> Option<(TestServer, TestAuthority)> {
    let store = new_store()?;
    let (servers, clients) = (TestAuthority::new("servers"), TestAuthority::new("workers"));
    fs::write(directory.join("ca.pem"), servers.pem()).unwrap();
    fs::write(directory.join("workers-ca.pem"), clients.pem()).unwrap();
    servers.issue(directory, "hub", &parameters("hub", &["127.0.0.1"]));
    let tls = ServerTls {
        files: files(directory, "hub"),
        client_ca_file: Some(directory.join("workers-ca.pem")),
    };
    let hub = TestServer::start(TestOptions {
        store: Some(store),
        settings: WebSettings {
            tls: Some(tls),
            ..WebSettings::default()
        },
        ..TestOptions::default()
    });
    let hub = hub.await;
    set_worker(&hub, Some("w1.test"));
    Some((hub, clients))
}

fn set_worker(hub: &TestServer, certificate: Option<&str>) {
    AccessFile::update(&hub.paths.access_file(), |rules| {
        rules.workers.clear();
        if let Some(name) = certificate {
            let worker = WorkerEntry {
                sites: ["site-0".to_owned()].into(),
                certificate: Some(name.to_owned()),
                ..WorkerEntry::default()
            };
            rules.workers.insert("w1".to_owned(), worker);
        }
    })
    .unwrap();
}

async fn link(hub: &TestServer, directory: &Path, name: &str) -> HubLink {
    let settings = JoinSettings {
        hubs: vec![hub.url.clone()],
        credential: WorkerCredential::Certificate(files(directory, name)),
        ca_file: Some(directory.join("ca.pem")),
    };
    let sites = ["site-0".to_owned()];
    HubLink::new(&settings, &sites).await.unwrap()
}

/// A browser or a program, with the certificate of a file.
fn client(directory: &Path, certificate: Option<PathBuf>) -> Client {
    let root = fs::read(directory.join("ca.pem")).unwrap();
    let mut builder = Client::builder()
        .tls_certs_only([Certificate::from_pem(&root).unwrap()])
        .redirect(redirect::Policy::none());
    if let Some(path) = certificate {
        let mut pem = fs::read(path.with_extension("key")).unwrap();
        pem.extend(fs::read(path).unwrap());
        builder = builder.identity(reqwest::Identity::from_pem(&pem).unwrap());
    }
    builder.build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_known_by_a_name_of_its_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let Some((hub, clients)) = hub(dir.path()).await else {
        return;
    };
    for (name, params) in [
        ("san", parameters("other.test", &["x.test", "W1.test"])),
        // As those of the CA of Puppet.
        ("common-name", parameters("w1.test", &[])),
        ("address", parameters("w1.test", &["127.0.0.1"])),
    ] {
        clients.issue(dir.path(), name, &params);
        let link = link(&hub, dir.path(), name).await;
        link.space().await.expect(name);
        let other = exchange(|request| request.node.name = "w2".to_owned());
        let refused: Result<serde_json::Value, LinkError> = link.call(other).await;
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("no right to the node w2"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_certificates_of_workers_are_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let Some((hub, clients)) = hub(dir.path()).await else {
        return;
    };
    let foreign = TestAuthority::new("foreign");
    foreign.issue(dir.path(), "foreign", &parameters("w1.test", &[]));
    let mut expired = parameters("w1.test", &[]);
    expired.not_before = date_time_ymd(2001, 1, 1);
    expired.not_after = date_time_ymd(2002, 1, 1);
    clients.issue(dir.path(), "expired", &expired);
    let mut early = parameters("w1.test", &[]);
    early.not_before = date_time_ymd(2080, 1, 1);
    early.not_after = date_time_ymd(2081, 1, 1);
    clients.issue(dir.path(), "early", &early);
    clients.issue(dir.path(), "other", &parameters("w1.test", &["w2.test"]));
    clients.issue(dir.path(), "valid", &parameters("w1.test", &[]));
    for (name, expected) in [
        (
            "foreign",
            "its issuer `CN=foreign` is not in `client_ca_file`",
        ),
        ("expired", "w1.test: it has expired at 2002-01-01T00:00:00Z"),
        ("early", "it is valid from 2080-01-01T00:00:00Z on"),
        ("other", "no worker has a certificate for w2.test"),
    ] {
        let error = link(&hub, dir.path(), name)
            .await
            .space()
            .await
            .unwrap_err();
        let error = error.to_string();
        assert!(error.contains("no hub accepts this worker"), "{error}");
        assert!(error.contains(expected), "{name}: {error}");
    }
    // A certificate that is renewed in its files is used at once.
    let link = link(&hub, dir.path(), "expired").await;
    link.space().await.unwrap_err();
    clients.issue(dir.path(), "expired", &parameters("w1.test", &[]));
    link.space().await.unwrap();
    // A removed worker has no access, also on an open connection.
    set_worker(&hub, None);
    let error = link.space().await.unwrap_err().to_string();
    assert!(
        error.contains("no worker has a certificate for w1.test"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_open_no_page_and_hinder_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let Some((hub, clients)) = hub(dir.path()).await else {
        return;
    };
    clients.issue(dir.path(), "valid", &parameters("w1.test", &[]));
    let foreign = TestAuthority::new("foreign");
    foreign.issue(dir.path(), "foreign", &parameters("w1.test", &[]));
    for name in [None, Some("valid"), Some("foreign")] {
        let path = name.map(|name| dir.path().join(format!("{name}.pem")));
        let client = client(dir.path(), path);
        let get = |path: &str| client.get(hub.url(path)).send();
        assert_eq!(get("/login").await.unwrap().status(), 200, "{name:?}");
        assert_eq!(get("/").await.unwrap().status(), 303, "{name:?}");
        for path in ["/api/v1/devices", "/metrics"] {
            assert_eq!(get(path).await.unwrap().status(), 401, "{name:?} {path}");
        }
    }
    let without = client(dir.path(), None);
    let request = without.get(hub.url("/fleet/v1/work")).send().await.unwrap();
    let (status, answer) = text(request).await;
    assert_eq!(status, 401);
    assert!(
        answer.contains("neither a token nor a certificate"),
        "{answer}"
    );
}

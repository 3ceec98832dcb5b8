//! The least that a run costs the server: each device's requests, one after another, with nothing
//! done in between. It judges nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use switchtender::agent::ca::key::PrivateKey;
use switchtender::agent::client::endpoint::Endpoint;
use switchtender::agent::client::facts::Facts;
use switchtender::agent::http::Client;
use switchtender::agent::http::tls::{RevocationCheck, Trust};
use switchtender::agent::layout::Layout;
use switchtender::agent::puppet_conf::{self, PuppetDirectories, Settings};
use switchtender::agent::revocation_lists::RevocationLists;
use switchtender_devices::http::Identity;
use switchtender_devices::names::Certname;
use tokio::sync::Semaphore;

use super::proxy::{last_report, name};

/// `bare PROXY COUNT`
pub(crate) fn main(arguments: &[String]) {
    let [dir, count] = arguments else {
        panic!("bare PROXY COUNT");
    };
    let dir = Path::new(dir);
    let home = PuppetDirectories {
        confdir: dir.to_owned(),
        vardir: dir.join("var"),
    };
    let settings = puppet_conf::read(&BTreeMap::new(), &home).expect("the program reads it, too");
    let count: usize = count.parse().expect("a number");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(async {
        let catalogs = Semaphore::new(super::CATALOGS as usize);
        let all = (1..=count).map(|number| ask(&settings, dir, number, &catalogs));
        futures_util::future::join_all(all).await;
    });
}

async fn ask(settings: &Settings, dir: &Path, number: usize, catalogs: &Semaphore) {
    let certname = Certname::parse(&name(number)).expect("a valid name");
    let layout = Layout::new(settings, &certname);
    let read = |path: &Path| std::fs::read_to_string(path).expect("a run has left it");
    let key = PrivateKey::from_pem(&read(&layout.key())).expect("a run has made it");
    let identity = Identity {
        certificate: read(&layout.certificate()),
        key: key.to_der(),
    };
    let ca = read(&layout.ca());
    let file = layout.crl();
    let lists = RevocationLists::parse(&read(&file), &ca, switchtender::clock::timestamp())
        .expect("a run has checked them");
    let trust = Trust::Bundle {
        ca,
        revocation: Some(RevocationCheck {
            lists,
            file,
            leaf_only: false,
        }),
    };
    let report = read(&last_report(dir, &certname));
    let report = RawValue::from_string(report).expect("a run has written it");
    let client = Client::new(&settings.http, Duration::ZERO, &trust, Some(&identity))
        .expect("the program uses it, too");
    let client = Arc::new(client);
    let endpoint = Endpoint {
        client: &client,
        server: &settings.server,
        certname: &certname,
        transaction_uuid: "f60e5a29-ee26-4276-a0c3-39eeb8a34fb1",
    };
    let environment = &settings.environment.name;
    let node = endpoint.node(environment, environment).await;
    node.expect("the server answers");
    let plugins = endpoint.plugins(environment).await;
    plugins.expect("the server answers");
    let facts = Facts::new(
        &certname,
        &serde_json::Map::new(),
        false,
        switchtender::clock::timestamp(),
        settings.runinterval,
    );
    let permit = catalogs.acquire().await.expect("never closed");
    let limit = settings.http.catalog_timeout;
    let catalog = endpoint.catalog(&facts, environment, environment, limit);
    catalog.await.expect("the server answers");
    drop(permit);
    let sent = endpoint.report(&report, environment).await;
    sent.expect("the server answers");
}

//! Secrets stay on a worker: neither its link nor the database of the hubs has one, in any form.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::{resource, sensitive, vlan};
use test_support::free_port::free_port;
use test_support::lab::{ENABLE, Lab, PASSWORD, switch_options};
use test_support::postgresql::PostgreSql;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use super::process::{self, ServeProcess};
use super::worker::{share_key, write_hub, write_worker};
use crate::apply::load_balancer_types;
use crate::planted_secrets::planted;

/// Secrets of catalogs, by the device that gets them.
const SENT: [(&str, &str); 16] = [
    ("sw1", "s3cret-ntp"),
    ("sw1", "s3cret-community"),
    ("sw1", "s3cret-port"),
    ("sw1", "s3cret-radius"),
    ("sw1", "s3cret-rad1"),
    ("sw1", "s3cret-tacacs"),
    ("sw1", "s3cret-tac1"),
    ("sw1", "s3cret-user"),
    ("sw1", "s3cret-auth"),
    ("sw1", "s3cret-privacy"),
    ("lb1", "s3cret-key"),
    ("lb1", "s3cret-certificate"),
    ("lb1", "s3cret-joe"),
    ("lb1", "s3cret-root"),
    ("lb1", "s3cret-probe"),
    ("lb1", "s3cret-peer"),
];

/// What a switch shows, so that its configuration and its messages have the secrets, too.
fn resources_of_switch() -> Vec<Value> {
    let present = |of: &str, title: &str, mut parameters: Value| {
        parameters["ensure"] = json!("present");
        resource(of, title, parameters)
    };
    let key = json!({"algorithm": "md5", "mode": 0, "password": "s3cret-ntp"});
    let community = json!({"name": "s3cret-community", "group": "RO"});
    let port = resource(
        "Network_interface",
        "GigabitEthernet1/0/1",
        json!({"enable": true, "description": "s3cret-port"}),
    );
    let server = |address: &str, key: &str| json!({"hostname": address, "key": key, "key_format": 0, "timeout": 7});
    let user = json!({"version": "v3", "roles": ["RO"], "auth": "sha", "password": "s3cret-auth",
        "privacy": "aes128", "private_key": "s3cret-privacy"});
    vec![
        vlan(42, "users"),
        sensitive(present("Ntp_auth_key", "42", key), &["password"]),
        present("Snmp_community", "monitoring", community),
        sensitive(port, &["description"]),
        resource(
            "Radius_global",
            "default",
            json!({"key": "s3cret-radius", "key_format": 0}),
        ),
        present("Radius_server", "rad1", server("192.0.2.1", "s3cret-rad1")),
        resource(
            "Tacacs_global",
            "default",
            json!({"key": "s3cret-tacacs", "key_format": 0}),
        ),
        present("Tacacs_server", "tac1", server("192.0.2.11", "s3cret-tac1")),
        present(
            "Ios_user",
            "net",
            json!({"privilege": 15, "secret": "s3cret-user"}),
        ),
        present("Snmp_user", "bob v3", user),
    ]
}

/// Bytes on the link: each direction of each connection.
type Traffic = Arc<Mutex<Vec<Vec<u8>>>>;

/// The way from the worker to its hub. Returns its port.
async fn path_to(port: u16, traffic: &Traffic) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    let traffic = Arc::clone(traffic);
    tokio::spawn(async move {
        while let Ok((worker, _)) = listener.accept().await {
            let Ok(hub) = TcpStream::connect(("127.0.0.1", port)).await else {
                continue;
            };
            let (from_worker, to_worker) = worker.into_split();
            let (from_hub, to_hub) = hub.into_split();
            tokio::spawn(copy(from_worker, to_hub, Arc::clone(&traffic)));
            tokio::spawn(copy(from_hub, to_worker, Arc::clone(&traffic)));
        }
    });
    own
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, traffic: Traffic) {
    let mut buffer = vec![0; 64 << 10];
    let own = {
        let mut traffic = traffic.lock().unwrap();
        traffic.push(Vec::new());
        traffic.len() - 1
    };
    while let Ok(size @ 1..) = from.read(&mut buffer).await {
        traffic.lock().unwrap()[own].extend_from_slice(&buffer[..size]);
        if to.write_all(&buffer[..size]).await.is_err() {
            return;
        }
    }
}

/// The bytes of all arrays of numbers in a text, such as those of states in calls.
fn number_arrays(text: &str) -> String {
    let mut found = Vec::new();
    for part in text.split('[').skip(1) {
        let Some((numbers, _)) = part.split_once(']') else {
            continue;
        };
        let bytes: Result<Vec<u8>, _> = numbers.split(',').map(|one| one.trim().parse()).collect();
        found.extend(bytes.unwrap_or_default());
        found.push(b'\n');
    }
    String::from_utf8_lossy(&found).into_owned()
}

/// A text as it is in JSON, in hexadecimal numbers, and in Base64 at each position.
fn forms(secret: &str) -> Vec<String> {
    let json = json!(secret).to_string();
    let mut forms = vec![
        secret.to_owned(),
        json[1..json.len() - 1].to_owned(),
        hex::encode(secret),
    ];
    for before in 0..3 {
        let text = [&vec![0; before], secret.as_bytes()].concat();
        let encoded = STANDARD_NO_PAD.encode(&text);
        // The first and the last characters have bits of other bytes.
        let (start, end) = ((before * 8).div_ceil(6), text.len() * 8 / 6);
        forms.push(encoded[start..end].to_owned());
    }
    forms
}

#[track_caller]
fn assert_no_secret(text: &str, secrets: &[String], what: &str) {
    for secret in secrets {
        for form in forms(secret) {
            let found = text.find(&form).map(|at| {
                let before = text[..at].char_indices().rev().nth(200);
                &text[before.map_or(0, |(start, _)| start)..at + form.len()]
            });
            assert_eq!(found, None, "{what} has {secret}");
        }
    }
}

#[test]
fn each_form_of_a_secret_is_found() {
    let secret = "s3cret-login".to_owned();
    let bytes: Vec<u8> = format!("{{\"key\":\"{secret}\"}}").into_bytes();
    let array = json!({ "body": bytes }).to_string();
    assert!(number_arrays(&array).contains(&secret));
    for before in ["", "a", "ab", "abc"] {
        let encoded = STANDARD_NO_PAD.encode(format!("{before}{secret} and more"));
        assert!(
            forms(&secret).iter().any(|form| encoded.contains(form)),
            "{encoded}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_a_worker_are_neither_on_its_link_nor_in_the_database() {
    let Some(postgresql) = PostgreSql::shared() else {
        return;
    };
    drop(rustls::crypto::ring::default_provider().install_default());
    let database = postgresql.new_database();
    let address = postgresql.address(&database);
    let (configuration, on_device) = planted();
    let mut site = Lab::new();
    site.add_switch_with(switch_options("sw1")).await;
    // It has secrets that nobody manages, and its configuration is stored.
    site.add_switch_with(SwitchOptions {
        config: Some(configuration.clone()),
        ..switch_options("sw2")
    })
    .await;
    site.add_load_balancer("lb1", &[]).await;
    for device in ["sw1", "sw2", "lb1"] {
        site.configure(device, "site = \"berlin\"\n");
    }
    site.write_resources("sw1", &resources_of_switch());
    let server = resource("Ntp_server", "192.0.2.10", json!({"ensure": "present"}));
    site.write_resources("sw2", &[server]);
    site.write_resources("lb1", &load_balancer_types::secrets());
    let mut hub_lab = Lab::new();
    let port = free_port();
    write_hub(&mut hub_lab, &site, &address, port);
    let hub = ServeProcess::start(&hub_lab, &[]).await;
    let arguments = ["access", "add-worker", "ber-1", "--sites", "berlin"];
    let added = process::run(&hub_lab, &arguments).await;
    added.assert_code(0);
    let token = added.stdout.trim().to_owned();
    let traffic = Traffic::default();
    let path = path_to(port, &traffic).await;
    write_worker(&site, path);
    share_key(&hub_lab, &site);
    let environment = [("WORKER_TOKEN", token.as_str())];
    let mut worker = ServeProcess::start(&site, &environment).await;
    worker.stored("sw1", "changed").await;
    worker.stored("sw2", "changed").await;
    worker.stored("lb1", "changed").await;
    worker.stored("sw1", "unchanged").await;
    worker.stop().await;
    hub.stop().await;

    let lines = site.log("sw1").configuration_lines().join("\n");
    let requests = site.log("lb1").received().join("\n");
    for (device, secret) in SENT {
        let sent = if device == "sw1" { &lines } else { &requests };
        assert!(sent.contains(secret), "{device} needs {secret}: {sent}");
    }
    let own = SENT.iter().map(|(_, secret)| *secret);
    let own = own.chain([PASSWORD, ENABLE]).map(str::to_owned);
    // Of those on the device, the switch completes some words to other commands. Short ones can be anywhere.
    let rendered = site.switches["sw2"].running_config();
    let rendered: HashSet<&str> = rendered.lines().map(str::trim).collect();
    let lines: Vec<&str> = configuration.lines().map(str::trim).collect();
    let on_device = on_device.into_iter().filter(|secret| {
        let mut lines = lines.iter().filter(|line| line.contains(secret.as_str()));
        secret.len() >= 7 && lines.all(|line| rendered.contains(line))
    });
    let mut secrets: Vec<String> = own.chain(on_device).collect();
    assert!(secrets.len() >= 100, "{secrets:?}");

    // The token is on the link, of course: an HTTP header has it.
    let traffic = traffic.lock().unwrap();
    let text: String = traffic
        .iter()
        .map(|bytes| String::from_utf8_lossy(bytes))
        .collect();
    for known in [
        "POST /fleet/v1/calls",
        "Ntp_auth_key[42]",
        "snmp-server community ••••",
    ] {
        assert!(text.contains(known), "no {known}");
    }
    assert_no_secret(&text, &secrets, "the link");
    let states = number_arrays(&text);
    assert!(states.contains("\"version\":"), "no states");
    assert_no_secret(&states, &secrets, "a state on the link");

    secrets.push(token);
    let tables = postgresql.execute(
        &database,
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'switchtender'",
    );
    let tables: Vec<&str> = tables.lines().map(str::trim).collect();
    assert!(tables.contains(&"run"), "{tables:?}");
    for table in tables.into_iter().filter(|name| !name.is_empty()) {
        let select = format!("SELECT row_to_json(t)::text FROM switchtender.{table} AS t");
        let rows = postgresql.execute(&database, &select);
        assert_no_secret(&rows, &secrets, table);
    }
}

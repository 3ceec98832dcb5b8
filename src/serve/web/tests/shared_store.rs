//! Several processes with one PostgreSQL database: one runs devices, the others read and pass requests on.

use serde_json::json;
use test_support::postgresql::PostgreSql;

use super::harness::{TestOptions, TestServer, text};
use crate::history::StoreLocation;
use crate::serve::access::Role;

async fn start(store: &StoreLocation) -> TestServer {
    TestServer::start(TestOptions {
        store: Some(store.clone()),
        ..TestOptions::default()
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_reads_and_passes_requests_on() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let address = server.address(&server.new_database());
    let store = StoreLocation::parse(address.as_ref(), "".as_ref()).unwrap();
    let runner = start(&store).await;
    let reader = start(&store).await;
    assert!(!runner.service.is_reader());
    assert!(reader.service.is_reader());
    let condition = reader.service.condition();
    let process = format!("process {}", std::process::id());
    assert!(
        condition
            .runner
            .is_some_and(|name| name.ends_with(&process))
    );
    // Both show the devices of the one that runs them.
    for server in [&runner, &reader] {
        let devices = server.json("/api/v1/devices").await;
        assert_eq!(devices["devices"].as_array().unwrap().len(), 3, "{devices}");
    }
    let request = |device: &str| {
        let path = format!("/api/v1/devices/{device}/runs");
        let request = reader.post(Role::Apply, &path, &json!({"kind": "plan"}));
        async { text(request.send().await.unwrap()).await }
    };
    for device in ["sw0", "sw1"] {
        let (status, answer) = request(device).await;
        assert!((200..300).contains(&status), "{status}: {answer}");
    }
    assert_eq!(runner.service.report().await.waiting, 0);
    runner.service.find_requests().await;
    assert_eq!(runner.service.report().await.waiting, 2);
    // They are not found twice.
    runner.service.find_requests().await;
    assert_eq!(runner.service.report().await.waiting, 2);
    assert_eq!(reader.service.report().await.waiting, 0);
}

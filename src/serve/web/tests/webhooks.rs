//! Webhooks: signed, repeated until they are delivered, also after a restart.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use switchtender_devices::task;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use super::harness::{TestOptions, TestServer};
use crate::serve::web::{RunEventKind, WebhookSettings, listener};
use crate::serve::webhook::Webhook;

/// A receiver that fails some times, and what it received.
struct Receiver {
    failures: Mutex<u32>,
    received: mpsc::UnboundedSender<(HeaderMap, String)>,
}

async fn receive(
    State(receiver): State<Arc<Receiver>>,
    headers: HeaderMap,
    body: String,
) -> StatusCode {
    receiver.received.send((headers, body)).unwrap();
    let mut failures = receiver.failures.lock().await;
    match *failures {
        0 => StatusCode::NO_CONTENT,
        _ => {
            *failures -= 1;
            StatusCode::BAD_GATEWAY
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_is_signed_and_repeated_until_it_is_delivered() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let receiver = Arc::new(Receiver {
        failures: Mutex::new(1),
        received: sender,
    });
    let router = Router::new()
        .route("/hook", post(receive))
        .with_state(receiver);
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", socket.local_addr().unwrap());
    let stop = CancellationToken::new();
    let _receiver = task::spawn(listener::serve(socket, None, router, stop.clone()));

    let server = TestServer::start(TestOptions::default()).await;
    let secret_file = server.path("hook.secret");
    fs::write(&secret_file, "s3cret-hook\n").unwrap();
    fs::set_permissions(&secret_file, fs::Permissions::from_mode(0o600)).unwrap();
    let settings = WebhookSettings {
        name: "chat".to_owned(),
        url,
        secret_file,
        events: vec![RunEventKind::Failed, RunEventKind::Drifted],
    };
    // The webhook exists; runs end while no process sends messages.
    let history = server.service.history();
    history
        .write(|writer| writer.set_webhooks(&["chat".to_owned()]))
        .await
        .unwrap();
    let before = server.json("/api/v1/runs?limit=1").await["runs"][0]["id"]
        .as_i64()
        .unwrap();
    let now = crate::clock::timestamp();
    history
        .write(move |writer| {
            super::harness::add_runs(writer, now);
            Ok(())
        })
        .await
        .unwrap();
    let webhook = Webhook::open(&settings, Some("https://proxy.test/")).unwrap();
    let service = server.service.clone();
    let delivery_stop = stop.clone();
    let _delivery = task::spawn(async move { webhook.run(&service, &delivery_stop).await });

    let (headers, body) = received.recv().await.unwrap();
    let text = |name: &str| headers[name].to_str().unwrap();
    let signed = format!(
        "{}.{}.{body}",
        text("webhook-id"),
        text("webhook-timestamp")
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(b"s3cret-hook").unwrap();
    mac.update(signed.as_bytes());
    use base64::Engine as _;
    let expected = base64::engine::general_purpose::STANDARD.encode(mac.finalize().into_bytes());
    assert_eq!(text("webhook-signature"), format!("v1,{expected}"));
    assert!(!body.contains("s3cret"), "{body}");
    let message: serde_json::Value = serde_json::from_str(&body).unwrap();
    // A changed run is no event of this webhook.
    assert_eq!(message["events"], serde_json::json!(["failed"]));
    assert_eq!(message["run"]["status"], "failed");
    let id = message["run"]["id"].as_i64().unwrap();
    assert!(id > before, "{id} is not after {before}");
    assert_eq!(message["url"], format!("https://proxy.test/runs/{id}"));

    // The first attempt failed: the same message again.
    let (again, repeated) = received.recv().await.unwrap();
    assert_eq!(again["webhook-id"], headers["webhook-id"]);
    assert_eq!(repeated, body);
    // The next one is another run, and no message is sent twice after a restart.
    let (next, _) = received.recv().await.unwrap();
    assert_ne!(next["webhook-id"], headers["webhook-id"]);
    let left = async {
        loop {
            let query = server
                .service
                .history()
                .query(|reader| reader.ended_runs("chat", 9))
                .await;
            if query.unwrap().unwrap().is_empty() {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), left)
        .await
        .unwrap();
    assert!(received.try_recv().is_err());
}

#[test]
fn webhook_secrets_that_others_read_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let secret_file = dir.path().join("hook.secret");
    fs::write(&secret_file, "s3cret-hook\n").unwrap();
    fs::set_permissions(&secret_file, fs::Permissions::from_mode(0o644)).unwrap();
    let settings = WebhookSettings {
        name: "chat".to_owned(),
        url: "https://one.test".to_owned(),
        secret_file,
        events: Vec::new(),
    };
    let failed = Webhook::open(&settings, None).err().unwrap();
    assert!(
        failed.to_string().contains("is readable by others"),
        "{failed}"
    );
}

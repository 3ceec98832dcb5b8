//! Limits: slow bodies, event streams, health checks.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::routing::post;
use futures_util::StreamExt as _;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};

use super::harness::{TestOptions, TestServer, text};
use crate::serve::access::Role;
use crate::serve::web::WebSettings;
use crate::serve::web::limits::{REQUEST_LIMIT, limited};

#[tokio::test(start_paused = true)]
async fn limit_of_the_time_for_a_body_refuses_a_slow_one() {
    let router = Router::new().route("/", post(|body: String| async move { body }));
    let service = TowerToHyperService::new(limited(router, REQUEST_LIMIT));
    let first = || futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from("{"))]);
    let request = |body| Request::post("/").body(body).unwrap();
    let endless = Body::from_stream(first().chain(futures_util::stream::pending()));
    let answer = service.call(request(endless)).await.unwrap();
    assert_eq!(answer.status(), 408);
    let large = Body::from(vec![b'x'; (64 << 10) + 1]);
    let answer = service.call(request(large)).await.unwrap();
    assert_eq!(answer.status(), 413);
    let complete = Body::from_stream(first());
    let answer = service.call(request(complete)).await.unwrap();
    assert_eq!(answer.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_of_event_streams_of_a_user_leaves_others_theirs() {
    let server = TestServer::start(TestOptions::default()).await;
    let body = json!({"kind": "plan"});
    let requested = server.post(Role::Plan, "/api/v1/devices/sw1/runs", &body);
    let (_, body) = text(requested.send().await.unwrap()).await;
    let run: Value = serde_json::from_str(&body).unwrap();
    let path = format!("/api/v1/runs/{}/events", run["run"]);
    let mut streams = Vec::new();
    let refused = loop {
        let answer = server.get(Role::View, &path).send().await.unwrap();
        match answer.status().as_u16() {
            200 => streams.push(answer),
            _ => break answer,
        }
        assert!(streams.len() <= 100, "no limit");
    };
    assert_eq!(streams.len(), 32);
    let (status, body) = text(refused).await;
    assert_eq!(status, 429);
    assert!(body.contains("too many event streams are open"), "{body}");
    let other = server.get(Role::Plan, &path).send().await.unwrap();
    assert_eq!(other.status(), 200);
    // The end of the run ends the streams.
    let cancel = server.url(&format!("/api/v1/runs/{}", run["run"]));
    let cancel = server.client.delete(cancel).bearer_auth("swt_test_apply");
    assert_eq!(cancel.send().await.unwrap().status(), 200);
    for stream in streams {
        let body = stream.text().await.unwrap();
        assert!(body.contains("event: finished"), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_of_requests_does_not_concern_health_checks() {
    let settings = WebSettings {
        requests_per_minute: Some(2),
        ..WebSettings::default()
    };
    let server = TestServer::start(TestOptions {
        settings,
        ..TestOptions::default()
    })
    .await;
    let get = async |path: &str| {
        let answer = server.client.get(server.url(path)).send().await.unwrap();
        answer.status().as_u16()
    };
    for _ in 0..5 {
        assert_eq!((get("/healthz").await, get("/readyz").await), (200, 200));
    }
    assert_eq!((get("/login").await, get("/login").await), (200, 200));
    assert_eq!(get("/login").await, 429);
    assert_eq!(get("/healthz").await, 200);
}

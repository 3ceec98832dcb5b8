//! Every fault that a load balancer can show, as a client sees it.

#![expect(clippy::disallowed_methods, reason = "the tests measure durations")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchtender_mocks::{Fault, LoadBalancerOptions};

use super::client::{Box, answer, client, start};

async fn with(faults: &[&str]) -> Box {
    let faults: Vec<Fault> = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    start(LoadBalancerOptions {
        faults,
        ..LoadBalancerOptions::default()
    })
    .await
}

/// Whether the request got a complete answer.
async fn arrives(lb: &Box, method: &str, path: &str, body: Value) -> bool {
    let request = lb
        .request(method, &format!("tm/{path}"))
        .basic_auth("admin", Some("admin"))
        .json(&body);
    match request.send().await {
        Ok(response) => response.text().await.is_ok(),
        Err(_) => false,
    }
}

#[tokio::test]
async fn fault_latency_delays_each_round_trip() {
    let lb = with(&["latency=30ms"]).await;
    lb.get("ltm/pool").await;
    lb.running.log().clear();
    let started = Instant::now();
    for _ in 0..4 {
        lb.get("ltm/pool").await;
    }
    assert!(started.elapsed() >= Duration::from_millis(120));
    assert_eq!(lb.running.log().round_trips(), 4);
}

#[tokio::test]
async fn fault_drop_cuts_before_or_after_the_request() {
    // By pattern, because a client library repeats some requests by itself on a fresh connection.
    let lb = with(&["drop-after=^POST .*pool", "drop-unanswered=^POST .*node"]).await;
    assert!(!arrives(&lb, "POST", "ltm/pool", json!({"name": "p"})).await);
    assert!(lb.running.get("ltm/pool/~Common~p").is_none());
    assert!(
        !arrives(
            &lb,
            "POST",
            "ltm/node",
            json!({"name": "n", "address": "10.0.0.1"})
        )
        .await
    );
    assert!(lb.running.get("ltm/node/~Common~n").is_some());
    lb.done("POST", "ltm/pool", json!({"name": "p"})).await;
}

#[tokio::test]
async fn fault_half_body_ends_early() {
    for fault in ["half-body=0", "drop-at-byte=20"] {
        let lb = with(&[fault]).await;
        let request = lb
            .request("GET", "tm/ltm/pool")
            .basic_auth("admin", Some("admin"));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert!(response.content_length().unwrap() > 20);
        assert!(response.text().await.is_err(), "{fault}");
        lb.get("ltm/pool").await;
    }
}

#[tokio::test]
async fn fault_stall_after_never_answers() {
    let lb = with(&["stall-after=^GET .*pool"]).await;
    let request = lb
        .request("GET", "tm/ltm/pool")
        .basic_auth("admin", Some("admin"))
        .timeout(Duration::from_millis(300));
    assert!(request.send().await.unwrap_err().is_timeout());
    lb.get("ltm/pool").await;
}

#[tokio::test]
async fn fault_garbage_after_is_not_json() {
    let lb = with(&["garbage-after=0"]).await;
    let response = lb
        .request("GET", "tm/ltm/pool")
        .basic_auth("admin", Some("admin"))
        .send()
        .await
        .unwrap();
    assert!(serde_json::from_slice::<Value>(&response.bytes().await.unwrap()).is_err());
}

#[tokio::test]
async fn fault_refuse_matches_requests_and_unavailable_ends() {
    let lb = with(&[
        "refuse=^POST .*/ltm/pool => 01070734:3: Configuration error: no",
        "unavailable=2 ^GET /mgmt/tm",
    ])
    .await;
    assert_eq!(
        lb.refused("POST", "ltm/pool", json!({"name": "p"})).await,
        (400, "01070734:3: Configuration error: no".to_owned())
    );
    for _ in 0..2 {
        let (status, message) = lb.refused("GET", "ltm/pool", Value::Null).await;
        assert_eq!(
            (status, message.as_str()),
            (503, "There is an active asynchronous task executing.")
        );
    }
    lb.get("ltm/pool").await;
}

#[tokio::test]
async fn fault_login_refused_counts_logins() {
    let lb = with(&["login-refused=1"]).await;
    let body = json!({"username": "admin", "password": "admin", "loginProviderName": "tmos"});
    for expected in [401, 200] {
        assert_eq!(
            answer(lb.request("POST", "shared/authn/login").json(&body))
                .await
                .0,
            expected
        );
    }
}

#[tokio::test]
async fn fault_lost_write_is_answered_and_discarded() {
    let lb = with(&["lost-write=^POST .*/ltm/pool"]).await;
    assert_eq!(
        lb.done("POST", "ltm/pool", json!({"name": "p"})).await["name"],
        "p"
    );
    assert!(lb.running.get("ltm/pool/~Common~p").is_none());
}

#[tokio::test]
async fn fault_slow_delivers_the_complete_body() {
    let lb = with(&["slow=1ms"]).await;
    assert_eq!(lb.get("sys/ntp").await["timezone"], "America/Los_Angeles");
}

#[tokio::test]
async fn fault_bodies_do_not_end() {
    for fault in ["drip-bytes=^GET .*pool", "flood=^GET .*pool"] {
        let lb = with(&[fault]).await;
        let request = lb
            .request("GET", "tm/ltm/pool")
            .basic_auth("admin", Some("admin"));
        let mut response = request.send().await.unwrap();
        assert_eq!(response.content_length(), None, "{fault}");
        for _ in 0..5 {
            assert!(response.chunk().await.unwrap().is_some(), "{fault}");
        }
    }
}

#[tokio::test]
async fn fault_error_status_follows_the_effect() {
    for status in [408, 500, 502, 503, 504] {
        let lb = with(&[&format!("error-status={status} ^POST .*pool")]).await;
        let request = lb
            .request("POST", "tm/ltm/pool")
            .basic_auth("admin", Some("admin"))
            .json(&json!({"name": "p"}));
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), status);
        assert_eq!(
            response.text().await.unwrap(),
            format!("<html>{status}</html>")
        );
        assert!(lb.running.get("ltm/pool/~Common~p").is_some());
    }
}

#[tokio::test]
async fn fault_busy_answers_when_the_device_resumes() {
    let lb = with(&["busy=^POST .*pool"]).await;
    let created = lb.done("POST", "ltm/pool", json!({"name": "p"}));
    let resumed = async {
        lb.running.wait_for_deferred().await;
        assert!(lb.running.get("ltm/pool/~Common~p").is_none());
        assert_eq!(lb.running.resume(), 1);
    };
    let (created, ()) = tokio::join!(created, resumed);
    assert_eq!(created["name"], "p");
}

#[tokio::test]
async fn fault_late_effect_follows_the_failure() {
    for (faults, status) in [
        (&["late-effect=^POST .*pool"][..], None),
        (
            &["late-effect=^POST .*pool", "error-status=504 ^POST .*pool"],
            Some(504),
        ),
    ] {
        let lb = with(faults).await;
        let request = lb
            .request("POST", "tm/ltm/pool")
            .basic_auth("admin", Some("admin"))
            .json(&json!({"name": "p"}));
        let response = request.send().await.ok();
        assert_eq!(response.map(|response| response.status().as_u16()), status);
        assert!(lb.running.get("ltm/pool/~Common~p").is_none());
        assert_eq!(lb.running.resume(), 1);
        assert!(lb.running.get("ltm/pool/~Common~p").is_some());
    }
}

#[tokio::test]
async fn fault_unlisted_answer_replaces_the_body() {
    let lb = with(&["unlisted-answer=^GET .*pool => {\"kind\":\"x\"}"]).await;
    assert_eq!(lb.get("ltm/pool").await, json!({"kind": "x"}));
}

#[tokio::test]
async fn fault_at_connect_precedes_tls() {
    let lb = with(&["drop-after=<connect>"]).await;
    assert!(!arrives(&lb, "GET", "sys/ntp", Value::Null).await);
    lb.get("sys/ntp").await;
}

#[tokio::test]
async fn stop_ends_connections() {
    let lb = Box::new().await;
    lb.get("ltm/pool").await;
    let (http, url) = (client(&lb.running), lb.url("tm/ltm/pool"));
    lb.running.stop().await;
    assert!(http.get(url).send().await.is_err());
}

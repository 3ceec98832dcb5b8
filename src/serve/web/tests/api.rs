//! The API: document, requests with keys, events of runs.

use serde_json::{Value, json};

use super::harness::{self, TestOptions, TestServer, text};
use crate::clock;
use crate::history::RunEffect;
use crate::report::RunStatus;
use crate::serve::access::Role;
use crate::serve::live::{LiveEvent, LiveEventKind};

#[tokio::test(flavor = "multi_thread")]
async fn api_document_has_the_routes() {
    let server = TestServer::start(TestOptions::default()).await;
    let document = server.json("/api/v1/openapi.json").await;
    assert!(
        document["openapi"].as_str().unwrap().starts_with("3."),
        "{document}"
    );
    let paths = document["paths"].as_object().unwrap();
    for path in ["/devices/{name}/runs", "/devices/{name}/pause"] {
        assert!(paths[path]["post"].is_object(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn api_has_the_words_of_the_command_line() {
    let server = TestServer::start(TestOptions::default()).await;
    let runs = server.json("/api/v1/runs?device=sw0").await;
    let statuses: Vec<&str> = (runs["runs"].as_array().unwrap().iter())
        .map(|run| run["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["pending", "failed", "changed"]);
    let id = &runs["runs"][1]["id"];
    let run = server.json(&format!("/api/v1/runs/{id}")).await;
    let resource = &run["resources"][0];
    assert_eq!(resource["resource"], "Network_vlan[10]");
    assert_eq!(resource["operations"][0]["outcome"], "refused");
    assert_eq!(resource["events"][0]["property"], "vlan_name");
    let device = server.json("/api/v1/devices/sw0").await;
    assert_eq!(device["drift"], 1, "{device}");
    assert_eq!(device["differences"][0]["resource"], "Network_vlan[10]");
    assert_eq!(device["facts"]["facts"]["operatingsystem"], "ios");
}

#[tokio::test(flavor = "multi_thread")]
async fn api_request_with_the_same_key_starts_one_run() {
    let server = TestServer::start(TestOptions::default()).await;
    let request = |role: Role, key: &str, kind: &str| {
        let path = "/api/v1/devices/sw1/runs";
        let request = server.post(role, path, &json!({"kind": kind}));
        let request = request.header("idempotency-key", key);
        async move { text(request.send().await.unwrap()).await }
    };
    let first = request(Role::Apply, "key-1", "plan").await;
    assert_eq!(first.0, 202, "{first:?}");
    assert_eq!(request(Role::Apply, "key-1", "plan").await, first);
    // Another key, and the same key of another sender.
    assert_ne!(request(Role::Apply, "key-2", "noop").await, first);
    assert_ne!(request(Role::Admin, "key-1", "apply").await, first);
    let (status, body) = request(Role::Apply, "key-1", "apply").await;
    assert_eq!(status, 422, "{body}");
    assert_eq!(request(Role::Apply, "", "plan").await.0, 400);
    let runs = server.json("/api/v1/runs?device=sw1&status=queued").await;
    assert_eq!(runs["runs"].as_array().unwrap().len(), 3, "{runs}");
    assert_eq!(
        runs["runs"][2]["requester"],
        json!({"kind": "api", "name": "test-apply"})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn api_requests_for_the_same_join_the_run_that_waits() {
    let server = TestServer::start(TestOptions::default()).await;
    let request = |role: Role, device: &str, kind: &str| {
        let path = format!("/api/v1/devices/{device}/runs");
        let request = server.post(role, &path, &json!({"kind": kind}));
        async move {
            let (status, body) = text(request.send().await.unwrap()).await;
            assert_eq!(status, 202, "{body}");
            let body: serde_json::Value = serde_json::from_str(&body).unwrap();
            body["run"].as_i64().unwrap()
        }
    };
    let first = request(Role::Apply, "sw1", "plan").await;
    for _ in 0..20 {
        assert_eq!(request(Role::Plan, "sw1", "plan").await, first);
    }
    assert_eq!(request(Role::Apply, "sw1", "plan").await, first);
    // Another kind, and another device.
    let apply = request(Role::Apply, "sw1", "apply").await;
    let other = request(Role::Apply, "sw2", "plan").await;
    assert!(apply != first && other != first && other != apply);
    let run = server.json(&format!("/api/v1/runs/{first}")).await;
    let requester = |name: &str| json!({"kind": "api", "name": name});
    assert_eq!(run["requester"], requester("test-apply"));
    assert_eq!(run["further_requesters"], json!([requester("test-plan")]));
    let waiting = server.json("/api/v1/runs?status=queued").await;
    assert_eq!(waiting["runs"].as_array().unwrap().len(), 3, "{waiting}");
    let joined = server.post(
        Role::Apply,
        "/api/v1/devices/sw1/runs",
        &json!({"kind": "scheduled"}),
    );
    assert_eq!(joined.send().await.unwrap().status(), 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn api_withdraws_and_refuses_runs() {
    let server = TestServer::start(TestOptions::default()).await;
    let path = "/api/v1/devices/none/runs";
    let unknown = server.post(Role::Apply, path, &json!({"kind": "plan"}));
    let (status, body) = text(unknown.send().await.unwrap()).await;
    assert_eq!(status, 404);
    assert!(body.contains("unknown device: none"), "{body}");
    let misspelled = server.post(
        Role::Apply,
        "/api/v1/devices/sw1/runs",
        &json!({"kin": "plan"}),
    );
    let (status, body) = text(misspelled.send().await.unwrap()).await;
    assert_eq!(status, 422);
    assert!(
        body.contains("unknown key `kin`, expected `kind`"),
        "{body}"
    );
    for (body, expected) in [
        (json!([]), "the body is not a JSON object"),
        (json!({"kind": "all"}), "unknown value `all`"),
    ] {
        let invalid = server.post(Role::Apply, "/api/v1/devices/sw1/runs", &body);
        let (_, body) = text(invalid.send().await.unwrap()).await;
        assert!(body.contains(expected), "{body}");
    }
    let (status, body) = text(
        server
            .get(Role::View, "/api/v1/runs?limit=many")
            .send()
            .await
            .unwrap(),
    )
    .await;
    assert_eq!(status, 400);
    assert!(
        body.contains("the query is invalid: limit: not a number"),
        "{body}"
    );
    let requested = server.post(
        Role::Plan,
        "/api/v1/devices/sw1/runs",
        &json!({"kind": "plan"}),
    );
    let (_, body) = text(requested.send().await.unwrap()).await;
    let run: Value = serde_json::from_str(&body).unwrap();
    let cancel = server
        .client
        .delete(server.url(&format!("/api/v1/runs/{}", run["run"])));
    let cancel = cancel.bearer_auth("swt_test_apply").send().await.unwrap();
    assert_eq!(text(cancel).await, (200, "{\"canceled\":true}".to_owned()));
    let run = server.json(&format!("/api/v1/runs/{}", run["run"])).await;
    assert_eq!(run["status"], "canceled");
}

#[tokio::test(flavor = "multi_thread")]
async fn api_applies_nothing_to_a_device_with_mode_plan() {
    let server = TestServer::start(TestOptions::default()).await;
    let request = async |kind: &str| {
        let body = json!({"kind": kind});
        let request = server.post(Role::Apply, "/api/v1/devices/sw2/runs", &body);
        text(request.send().await.unwrap()).await
    };
    let (status, body) = request("apply").await;
    assert_eq!(status, 409, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        body["error"],
        "device `sw2` has mode = \"plan\" and is never changed"
    );
    for kind in ["plan", "noop", "scheduled"] {
        assert_eq!(request(kind).await.0, 202, "{kind}");
    }
    let runs = server.json("/api/v1/runs?device=sw2&status=queued").await;
    let kinds: Vec<&Value> = (runs["runs"].as_array().unwrap().iter())
        .map(|run| &run["kind"])
        .collect();
    assert_eq!(kinds, ["plan", "noop", "plan"]);
    let page = server
        .get(Role::Apply, "/devices/sw2")
        .send()
        .await
        .unwrap();
    let (_, page) = text(page).await;
    assert!(page.contains("<button disabled"), "{page}");
    assert!(page.contains("Runs never change this device"), "{page}");
    let audit = server
        .get(Role::Admin, "/api/v1/audit")
        .send()
        .await
        .unwrap();
    let audit: Value = serde_json::from_str(&text(audit).await.1).unwrap();
    let entry = &audit["entries"][3];
    assert_eq!(
        (&entry["action"], &entry["result"]),
        (&json!("apply"), &json!("refused"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn api_refuses_unknown_devices_and_runs() {
    let server = TestServer::start(TestOptions::default()).await;
    for path in [
        "/devices/none",
        "/devices/none/resources",
        "/devices/none/resource?reference=x",
        "/devices/none/configurations",
        "/devices/none/configuration",
        "/devices/none/difference?from=2026-01-01T00:00:00Z",
        "/runs?device=none",
        "/drift?device=none",
        "/runs/4711",
        "/runs/4711/events",
    ] {
        let request = server.get(Role::View, &format!("/api/v1{path}"));
        let (status, body) = text(request.send().await.unwrap()).await;
        assert_eq!(status, 404, "{path}: {body}");
        assert!(body.contains("unknown "), "{path}: {body}");
    }
    let cancel = server.client.delete(server.url("/api/v1/runs/4711"));
    let cancel = cancel.bearer_auth("swt_test_apply").send().await.unwrap();
    assert_eq!(cancel.status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn api_has_the_reason_of_a_pause_and_no_next_run() {
    let server = TestServer::start(TestOptions::default()).await;
    let pause = async |reason: &str| {
        let body = json!({"reason": reason});
        let request = server.post(Role::Apply, "/api/v1/devices/sw1/pause", &body);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(pause(&"x".repeat(501)).await, 422);
    assert_ne!(
        server.json("/api/v1/devices/sw1").await["next_due"],
        Value::Null
    );
    assert_eq!(pause("fiber work").await, 204);
    let device = server.json("/api/v1/devices/sw1").await;
    assert_eq!(device["next_due"], Value::Null);
    assert_eq!(device["pause_reason"], "fiber work");
    assert_eq!(
        device["paused_by"],
        json!({"kind": "api", "name": "test-apply"})
    );
    let page = server.get(Role::View, "/devices/sw1").send().await.unwrap();
    let (_, page) = text(page).await;
    assert!(
        page.contains("fiber work") && page.contains("test-apply (api)"),
        "{page}"
    );
    let resume = server.post(Role::Apply, "/api/v1/devices/sw1/resume", &json!({}));
    assert_eq!(resume.send().await.unwrap().status(), 204);
    let device = server.json("/api/v1/devices/sw1").await;
    assert_ne!(device["next_due"], Value::Null);
    assert_eq!(device["pause_reason"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn api_pauses_and_resumes() {
    let server = TestServer::start(TestOptions::default()).await;
    let body = json!({"reason": "maintenance"});
    let pause = server.post(Role::Apply, "/api/v1/devices/sw2/pause", &body);
    assert_eq!(pause.send().await.unwrap().status(), 204);
    let paused = server.json("/api/v1/devices?paused=true").await;
    assert_eq!(paused["total"], 1, "{paused}");
    assert_eq!(paused["devices"][0]["name"], "sw2");
    let resume = server.post(Role::Apply, "/api/v1/devices/sw2/resume", &json!({}));
    assert_eq!(resume.send().await.unwrap().status(), 204);
    assert_eq!(server.json("/api/v1/devices?paused=true").await["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn api_streams_events_until_the_run_ends() {
    let server = TestServer::start(TestOptions::default()).await;
    let requested = server.post(
        Role::Plan,
        "/api/v1/devices/sw1/runs",
        &json!({"kind": "plan"}),
    );
    let (_, body) = text(requested.send().await.unwrap()).await;
    let run: Value = serde_json::from_str(&body).unwrap();
    let id = run["run"].as_i64().unwrap();
    let path = format!("/api/v1/runs/{id}/events");
    let stream = server.get(Role::View, &path).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let emit = |event| {
        let (run, device) = (crate::history::RunId(id), "sw1".to_owned());
        server.service.live().emit(LiveEvent { run, device, event });
    };
    let entry = serde_json::from_value(json!({
        "level": "notice", "source": "Puppet", "message": "first line\nsecond line",
        "time": "2026-01-01T00:00:00Z",
    }));
    emit(LiveEventKind::Log(entry.unwrap()));
    emit(LiveEventKind::Ended {
        status: RunStatus::Unchanged,
        effect: RunEffect::default(),
    });
    let body = stream.text().await.unwrap();
    let events: Vec<&str> = body
        .lines()
        .filter(|line| line.starts_with("data: {"))
        .collect();
    assert!(events[0].contains("\"event\":\"queued\""), "{body}");
    assert!(events[1].contains("first line\\nsecond line"), "{body}");
    assert!(body.contains("event: finished"), "{body}");
    // A run that has ended has the last event only.
    let again = text(server.get(Role::View, &path).send().await.unwrap())
        .await
        .1;
    assert!(again.starts_with("event: finished"), "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn folded_run_answers_with_its_day() {
    let server = TestServer::start(TestOptions::default()).await;
    let (status, first) = unchanged_runs(&server).await;
    assert_eq!(status, "unchanged");
    let id = first["id"].as_i64().unwrap();
    let uuid = first["uuid"].as_str().unwrap();
    // Number and UUID name the same run.
    let by_uuid = server.json(&format!("/api/v1/runs/{uuid}")).await;
    assert_eq!(by_uuid["id"], id);
    let page = |path: String| {
        let request = server.get(Role::View, &path);
        async move { text(request.send().await.unwrap()).await }
    };
    let (_, html) = page(format!("/runs/{id}")).await;
    assert!(html.contains(uuid), "{html}");
    let history = server.service.history();
    let folded = history.fold_unchanged(std::time::Duration::ZERO, clock::timestamp());
    assert_eq!(folded.await.unwrap(), 1);
    for run in [id.to_string(), uuid.to_owned()] {
        let (status, body) = page(format!("/api/v1/runs/{run}")).await;
        assert_eq!(status, 410, "{body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["folded"]["device"], "sw1");
        assert_eq!(body["folded"]["runs"], 1);
        let (status, html) = page(format!("/runs/{run}")).await;
        assert_eq!(status, 410);
        assert!(
            html.contains("is folded: it was an unchanged run of"),
            "{html}"
        );
    }
    let days = server.json("/api/v1/devices/sw1/folded-runs").await;
    assert_eq!(days["days"][0]["first_run"], id, "{days}");
    let (_, html) = page("/devices/sw1".to_owned()).await;
    assert!(html.contains("Folded unchanged runs by day"), "{html}");
    let (status, _) = page("/api/v1/runs/999999".to_owned()).await;
    assert_eq!(status, 404);
}

/// Two unchanged runs of `sw1`. Returns the status of the first one and the run.
async fn unchanged_runs(server: &TestServer) -> (String, Value) {
    let now = clock::timestamp();
    let add = server.service.history().write(move |writer| {
        harness::add_unchanged(writer, "sw1", now);
        Ok(())
    });
    add.await.unwrap();
    let runs = server.json("/api/v1/runs?device=sw1").await;
    let first = runs["runs"][1].clone();
    (first["status"].as_str().unwrap().to_owned(), first)
}

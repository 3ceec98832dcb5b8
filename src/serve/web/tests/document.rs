//! The OpenAPI document describes the real answers: Python's `jsonschema` compares them. Without that
//! package the test prints that it was skipped, except with `SWITCHTENDER_REQUIRE_PEERS=1`.

use std::process::Command;

use serde_json::{Value, json};
use test_support::stderr_note;

use super::RequestBuilder;
use super::harness::{TestOptions, TestServer, text};
use crate::serve::access::Role;

const CHECK: &str = "\
import json, sys, jsonschema
checker = jsonschema.Draft202012Validator
for name, schema, value in json.load(open(sys.argv[1])):
    checker.check_schema(schema)
    for error in checker(schema).iter_errors(value):
        print(name, list(error.absolute_path), error.message[:300])
";

fn has_jsonschema() -> bool {
    let found = Command::new("python3")
        .args(["-c", "import jsonschema"])
        .output();
    found.is_ok_and(|output| output.status.success())
        || std::env::var_os("SWITCHTENDER_REQUIRE_PEERS").is_some()
}

/// Requests with the route of the document that they use.
fn requests(server: &TestServer, run: i64) -> Vec<(&'static str, &'static str, RequestBuilder)> {
    let get = |path: &str| server.get(Role::Admin, &format!("/api/v1{path}"));
    let post = |path: &str, body: &Value| {
        let request = server.post(Role::Admin, &format!("/api/v1{path}"), body);
        request.header("idempotency-key", path)
    };
    let time = "2999-01-01T00:00:00Z";
    let resource = "/devices/sw0/resource?reference=Network_vlan%5B10%5D";
    let without_token = |path: &str| server.client.get(server.url(&format!("/api/v1{path}")));
    let runs = "/devices/{name}/runs";
    let delete = |run: i64| {
        let url = server.url(&format!("/api/v1/runs/{run}"));
        server.client.delete(url).bearer_auth("swt_test_apply")
    };
    vec![
        ("get", "/approvals", get("/approvals")),
        ("get", "/approvals/{id}", get("/approvals/4711")),
        (
            "post",
            "/approvals/{id}/approve",
            post("/approvals/4711/approve", &json!({})),
        ),
        (
            "post",
            "/approvals/{id}/reject",
            post("/approvals/4711/reject", &json!({"reason": "late"})),
        ),
        (
            "post",
            "/devices/{name}/approvals",
            post("/devices/sw1/approvals", &json!({})),
        ),
        ("get", "/nodes", get("/nodes")),
        ("get", "/releases", get("/releases")),
        ("get", "/devices", get("/devices")),
        ("get", "/devices", get("/devices?limit=x")),
        ("get", "/devices/{name}", get("/devices/sw0")),
        ("get", "/devices/{name}", get("/devices/none")),
        ("get", "/devices/{name}", without_token("/devices/sw0")),
        (
            "get",
            "/devices/{name}/resources",
            get("/devices/sw0/resources"),
        ),
        ("get", "/devices/{name}/resource", get(resource)),
        (
            "get",
            "/devices/{name}/configurations",
            get("/devices/sw0/configurations"),
        ),
        (
            "get",
            "/devices/{name}/configuration",
            get("/devices/sw0/configuration"),
        ),
        (
            "get",
            "/devices/{name}/difference",
            get(&format!(
                "/devices/sw0/difference?from=2020-01-01T00:00:00Z&to={time}"
            )),
        ),
        ("get", "/search", get("/search?text=hostname&target=sw*")),
        ("get", "/search", get("/search?text=(&regex=true")),
        ("get", "/comparison", get("/comparison?from=sw0&to=sw1")),
        ("get", "/comparison", get("/comparison?from=sw0&to=none")),
        ("get", "/runs", get("/runs")),
        ("get", "/runs/{id}", get(&format!("/runs/{run}"))),
        ("get", "/runs/{id}", get("/runs/x")),
        (
            "get",
            "/devices/{name}/folded-runs",
            get("/devices/sw0/folded-runs"),
        ),
        ("get", "/status", get("/status")),
        ("get", "/counts", get("/counts")),
        ("get", "/drift", get("/drift?all=true")),
        ("get", "/findings", get("/findings")),
        (
            "post",
            runs,
            post("/devices/sw1/runs", &json!({"kind": "plan"})),
        ),
        (
            "post",
            runs,
            post("/devices/sw1/runs", &json!({"kind": "noop"})),
        ),
        ("post", runs, post("/devices/sw1/runs", &json!([]))),
        ("post", runs, post("/devices/none/runs", &json!({}))),
        (
            "post",
            runs,
            post("/devices/sw2/runs", &json!({"kind": "apply"})),
        ),
        (
            "post",
            runs,
            server.post(Role::View, "/api/v1/devices/sw1/runs", &json!({})),
        ),
        (
            "post",
            "/devices/{name}/pause",
            post("/devices/sw2/pause", &json!({"reason": "x"})),
        ),
        ("get", "/devices", get("/devices?paused=true")),
        (
            "post",
            "/devices/{name}/resume",
            post("/devices/sw2/resume", &json!({})),
        ),
        (
            "post",
            "/devices/{name}/accept-drift",
            post("/devices/sw1/accept-drift", &json!({})),
        ),
        ("delete", "/runs/{id}", delete(run)),
        ("delete", "/runs/{id}", delete(999_999)),
        ("get", "/audit", get("/audit")),
        ("get", "/audit", server.get(Role::View, "/api/v1/audit")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn document_describes_the_answers_of_all_routes() {
    let server = TestServer::start(TestOptions::default()).await;
    let document = server.json("/api/v1/openapi.json").await;
    assert_eq!(document["security"], json!([{"token": []}]));
    let scheme = &document["components"]["securitySchemes"]["token"];
    assert_eq!(
        (&scheme["type"], &scheme["scheme"]),
        (&json!("http"), &json!("bearer"))
    );
    let mut missing: Vec<(String, String)> = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let text = response["description"].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{method} {path} {status}: {response}");
            }
            // A stream is no JSON.
            if path != "/runs/{id}/events" {
                missing.push((method.clone(), path.clone()));
            }
        }
    }
    let runs = server.json("/api/v1/runs?status=failed").await;
    let run = runs["runs"][0]["id"].as_i64().unwrap();
    let mut cases = Vec::new();
    for (method, path, request) in requests(&server, run) {
        missing.retain(|(of, route)| (of.as_str(), route.as_str()) != (method, path));
        let (status, body) = text(request.send().await.unwrap()).await;
        let name = format!("{method} {path} {status}");
        let response = &document["paths"][path][method]["responses"][status.to_string()];
        assert!(response.is_object(), "the document has no {name}: {body}");
        let mut schema = response["content"]["application/json"]["schema"].clone();
        if body.is_empty() {
            assert_eq!(schema, Value::Null, "{name}");
            continue;
        }
        schema["components"] = document["components"].clone();
        let body: Value = serde_json::from_str(&body).unwrap();
        cases.push(json!([name, schema, body]));
    }
    assert!(missing.is_empty(), "{missing:?}");
    if !has_jsonschema() {
        stderr_note::print("skipped: python3 has no package `jsonschema`");
        return;
    }
    let path = server.path("cases.json");
    std::fs::write(&path, json!(cases).to_string()).unwrap();
    let output = Command::new("python3")
        .args(["-c", CHECK])
        .arg(&path)
        .output();
    let output = output.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && printed.is_empty(),
        "{printed}{errors}"
    );
}

//! What a sender with a role for some devices sees: no route has a name of another device.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::harness::{LIMITED_TOKEN, TestOptions, TestServer, text};
use crate::clock;
use crate::history::approvals::NewApproval;
use crate::history::{NewRun, Requester, RunEffect, RunId, RunUuid};
use crate::report::RunStatus;
use crate::run_kind::RunKind;
use crate::serve::access::Role;
use crate::serve::live::{LiveEvent, LiveEventKind};
use crate::serve::web::WebSettings;
use axum::http::Method;

/// The texts of devices that the sender does not see. `sw0` is of another site.
const FOREIGN: [&str; 4] = ["sw1", "sw2", "site-1", "site-2"];

/// Queries of pages and of the API that could find something of a foreign device.
const QUERIES: [&str; 12] = [
    "",
    "?q=w1",
    "?name=w1",
    "?reference=Network_vlan%5B10%5D",
    "?all=true&limit=1000&hours=9000&step=24",
    "?status=not%20run&sort=status&chart=month",
    "?q=hostname&text=hostname&limit=1000",
    "?q=hostname&text=hostname&target=sw*&absent=true",
    "?q=host.*&text=host.*&target=!sw0&regex=true",
    "?device=sw0&device=none&from=sw0&to=none",
    "?from=sw0&to=sw0",
    "?target=sw*,%20site%20!%3D%20site-0",
];

/// The paths of all routes: those in the source of the pages, and those of the document of the API.
async fn routes(server: &TestServer) -> BTreeSet<String> {
    fn add(directory: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                add(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = std::fs::read_to_string(&path).unwrap();
                let parts = source.split(".route(").skip(1);
                let quoted = parts.filter_map(|part| part.trim_start().strip_prefix('"'));
                found.extend(quoted.map(|part| part.split('"').next().unwrap().to_owned()));
            }
        }
    }
    let mut found = BTreeSet::new();
    add(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serve/web"),
        &mut found,
    );
    let document = server.json("/api/v1/openapi.json").await;
    let paths = document["paths"].as_object().unwrap().keys();
    found.extend(paths.map(|path| format!("/api/v1{path}")));
    assert!(found.len() > 40, "{found:?}");
    found
}

async fn send(server: &TestServer, method: &Method, path: &str) -> (u16, String) {
    let request = server.client.request(method.clone(), server.url(path));
    let request = request.bearer_auth(LIMITED_TOKEN);
    let request = match *method {
        Method::GET => request,
        _ => request
            .header("content-type", "application/json")
            .body("{}"),
    };
    let answer = text(request.send().await.unwrap()).await;
    assert_ne!(answer.0, 429, "{method} {path}");
    answer
}

/// The runs of `sw0`, and those of the other devices.
async fn runs(server: &TestServer) -> (Vec<String>, Vec<String>) {
    let runs = server.json("/api/v1/runs?limit=1000").await;
    let runs = runs["runs"].as_array().unwrap().iter();
    let (own, foreign): (Vec<&Value>, Vec<&Value>) = runs.partition(|run| run["device"] == "sw0");
    let ids = |runs: Vec<&Value>| runs.into_iter().map(|run| run["id"].to_string()).collect();
    (ids(own), ids(foreign))
}

/// A plan of a foreign device that waits for an approval.
pub(super) async fn add_approval(server: &TestServer) -> i64 {
    let now = clock::timestamp();
    let new = NewApproval {
        run: NewRun {
            uuid: RunUuid::new(now),
            device: "sw1".to_owned(),
            kind: RunKind::Plan,
            follows_windows: false,
            requester: Requester::schedule(),
            priority: 0,
            queued: now,
            started: Some(now),
        },
        person: None,
        expires: now + jiff::SignedDuration::from_hours(1),
    };
    let added = server.service.history().write(move |writer| {
        let (id, _) = writer.add_approval(&new)?;
        writer.set_plan(id, "{}")?;
        Ok(id)
    });
    added.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_has_a_name_of_a_device_that_the_sender_does_not_see() {
    let settings = WebSettings {
        requests_per_minute: Some(1_000_000),
        ..WebSettings::default()
    };
    let server = TestServer::start(TestOptions {
        settings,
        ..TestOptions::default()
    })
    .await;
    let plan = json!({"kind": "plan"});
    // A foreign run that is in progress has live events.
    let plan = server.post(Role::Plan, "/api/v1/devices/sw1/runs", &plan);
    assert_eq!(plan.send().await.unwrap().status(), 202);
    let approval = add_approval(&server).await;
    let (own, foreign) = runs(&server).await;
    let routes = routes(&server).await;
    for method in [Method::GET, Method::POST, Method::DELETE] {
        for route in &routes {
            let mut paths = vec![route.replace("{name}", "sw0")];
            if route.contains("{id}") {
                paths = own.iter().map(|id| route.replace("{id}", id)).collect();
            }
            for path in &paths {
                let queries = if method == Method::GET {
                    &QUERIES[..]
                } else {
                    &[""]
                };
                for query in queries {
                    let (status, body) = send(&server, &method, &format!("{path}{query}")).await;
                    assert!(status < 500, "{method} {path}{query}: {status} {body}");
                    let named = FOREIGN.iter().find(|name| body.contains(**name));
                    assert_eq!(named, None, "{method} {path}{query}: {body}");
                }
            }
        }
    }
    // What is of a foreign device is unknown, as what does not exist.
    let mut refused = 0;
    for route in routes.iter().filter(|route| route.contains('{')) {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let mut pairs = vec![("sw1".to_owned(), "none".to_owned())];
            if route.contains("{id}") {
                pairs = foreign
                    .iter()
                    .map(|id| (id.clone(), "999999".to_owned()))
                    .collect();
            }
            for (foreign, unknown) in pairs {
                let fill = |with: &str| {
                    let path = route.replace("{name}", with).replace("{id}", with);
                    format!("{path}?reference=x&from=2026-01-01T00:00:00Z")
                };
                let found = send(&server, &method, &fill(&foreign)).await;
                if found.0 == 405 {
                    continue;
                }
                assert_eq!(found.0, 404, "{method} {}: {}", fill(&foreign), found.1);
                let other = send(&server, &method, &fill(&unknown)).await;
                let named = (other.0, other.1.replace(&unknown, &foreign));
                assert_eq!(found, named, "{method} {route}");
                refused += 1;
            }
        }
    }
    assert!(refused > 20, "{refused}");
    for path in [
        "/api/v1/runs?device=sw1",
        "/api/v1/drift?device=sw1",
        "/api/v1/approvals?device=sw1",
        &format!("/api/v1/approvals/{approval}"),
        &format!("/approvals/{approval}"),
    ] {
        assert_eq!(send(&server, &Method::GET, path).await.0, 404, "{path}");
    }
    for action in ["approve", "reject"] {
        let path = format!("/api/v1/approvals/{approval}/{action}");
        assert_eq!(send(&server, &Method::POST, &path).await.0, 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_are_of_visible_devices() {
    let server = TestServer::start(TestOptions::default()).await;
    let get = async |path: &str| {
        let (status, body) = send(&server, &Method::GET, path).await;
        assert_eq!(status, 200, "{body}");
        serde_json::from_str::<Value>(&body).unwrap()
    };
    assert_eq!(get("/api/v1/status").await["fleet"]["devices"], 1);
    assert_eq!(get("/api/v1/devices").await["total"], 1);
    let counts = get("/api/v1/counts?hours=24&step=24").await;
    let runs = counts["periods"].as_array().unwrap().iter();
    let runs = runs.flat_map(|period| period["runs"].as_object().unwrap().values());
    assert_eq!(runs.map(|count| count.as_u64().unwrap()).sum::<u64>(), 3);
    let (_, metrics) = send(&server, &Method::GET, "/metrics").await;
    assert!(
        metrics.contains("switchtender_devices{status=\"pending\"} 1\n"),
        "{metrics}"
    );
    assert!(
        !metrics.contains("switchtender_devices{status=\"unchanged\"}"),
        "{metrics}"
    );
    // The audit log names all devices: a role for some does not permit it.
    assert_eq!(send(&server, &Method::GET, "/api/v1/audit").await.0, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn live_events_are_of_the_run_only() {
    let server = TestServer::start(TestOptions::default()).await;
    let request = async |device: &str| {
        let path = format!("/api/v1/devices/{device}/runs");
        let request = server.post(Role::Plan, &path, &json!({"kind": "plan"}));
        let (_, body) = text(request.send().await.unwrap()).await;
        let run: Value = serde_json::from_str(&body).unwrap();
        run["run"].as_i64().unwrap()
    };
    let (own, foreign) = (request("sw0").await, request("sw1").await);
    let path = server.url(&format!("/api/v1/runs/{own}/events"));
    let stream = server.client.get(path).bearer_auth(LIMITED_TOKEN).send();
    let stream = stream.await.unwrap();
    assert_eq!(stream.status(), 200);
    for (run, device) in [(foreign, "sw1"), (own, "sw0")] {
        server.service.live().emit(LiveEvent {
            run: RunId(run),
            device: device.to_owned(),
            event: LiveEventKind::Ended {
                status: RunStatus::Unchanged,
                effect: RunEffect::default(),
            },
        });
    }
    let body = stream.text().await.unwrap();
    assert!(body.contains("event: finished"), "{body}");
    assert!(!body.contains("sw1"), "{body}");
}

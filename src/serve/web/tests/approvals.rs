//! Plans that wait for an approval: who approves them, when they run, and that they run exactly as approved.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use switchtender_devices::diagnostic::Source;
use switchtender_devices::task;
use test_support::postgresql::PostgreSql;
use tokio::sync::broadcast::Receiver;

use super::harness::{BOB_TOKEN, TestOptions, TestServer, text};
use super::shared_store::node;
use crate::clock;
use crate::history::approvals::NewApproval;
use crate::history::leases::NodeRecord;
use crate::history::{NewRun, Requester, RequesterKind, RunId, RunUuid, StoreLocation};
use crate::run_kind::RunKind;
use crate::serve::access::{AuditLog, Role};
use crate::serve::fleet::{LoadContext, ServeFleet};
use crate::serve::live::{LiveEvent, LiveEventKind};
use crate::serve::settings::ServeSettings;
use crate::serve::watched_files::WatchedFiles;
use crate::store::Store;

const INVENTORY: &str = "[device.sw1]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.1\"\n\
                         labels = { role = \"core\" }\n\
                         [device.sw2]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.2\"\n";

fn write_state(dir: &Path, vlan: u32) {
    let text = format!("network_vlan: {{{vlan}: {{vlan_name: users}}}}\n");
    for name in ["sw1", "sw2"] {
        fs::write(dir.join(format!("state/device/{name}.yaml")), &text).unwrap();
    }
}

/// A process with mock devices; `sw1` needs approvals.
async fn start(windows: &str) -> TestServer {
    start_as(windows, None).await
}

/// As [`start`], alone or as a node with a database.
async fn start_as(windows: &str, node: Option<(StoreLocation, NodeRecord)>) -> TestServer {
    let dir = std::sync::Arc::new(tempfile::tempdir().unwrap());
    fs::create_dir_all(dir.path().join("state/device")).unwrap();
    fs::write(dir.path().join("inventory.toml"), INVENTORY).unwrap();
    write_state(dir.path(), 10);
    let settings = format!(
        "[defaults]\nstate = \"state\"\ninterval = \"12h\"\ntime_zone = \"UTC\"\nwindows = [{windows}]\n\
         [approval]\ndevices = \"role = core\"\nexpires = \"2h\"\n"
    );
    let source = Source::new("serve.toml", settings);
    let settings = ServeSettings::parse(&source, dir.path()).unwrap();
    let context = LoadContext {
        uses_mocks: true,
        ..LoadContext::of_own_files(Store::at(dir.path()))
    };
    let mut files = WatchedFiles::default();
    let fleet = ServeFleet::load(settings, &context, &mut files)
        .await
        .unwrap();
    let (store, node) = node.unzip();
    TestServer::start(TestOptions {
        fleet: Some(fleet),
        store,
        node,
        dir: Some(dir),
        ..TestOptions::default()
    })
    .await
}

async fn ended(events: &mut Receiver<LiveEvent>, run: i64) {
    loop {
        let event = events.recv().await.unwrap();
        if event.run == RunId(run) && matches!(event.event, LiveEventKind::Ended { .. }) {
            return;
        }
    }
}

async fn approval(server: &TestServer, id: i64) -> Value {
    server.json(&format!("/api/v1/approvals/{id}")).await
}

/// Requests an approval as alice, and returns it when its plan is made.
async fn request(server: &TestServer) -> i64 {
    let mut events = server.service.live().subscribe();
    let request = server.post(Role::Apply, "/api/v1/devices/sw1/approvals", &json!({}));
    let (status, body) = text(request.send().await.unwrap()).await;
    assert_eq!(status, 202, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let id = body["approval"].as_i64().unwrap();
    let run = approval(server, id).await["plan_run"].as_i64().unwrap();
    ended(&mut events, run).await;
    id
}

async fn decide(server: &TestServer, token: &str, id: i64, action: &str) -> (u16, String) {
    let request = server
        .client
        .post(server.url(&format!("/api/v1/approvals/{id}/{action}")));
    let request = request.bearer_auth(token).body("{\"reason\": \"not now\"}");
    let request = request.header("content-type", "application/json");
    text(request.send().await.unwrap()).await
}

/// Approves as bob, and returns the approval when its run has ended.
async fn approve_and_run(server: &TestServer, id: i64) -> Value {
    let mut events = server.service.live().subscribe();
    assert_eq!(decide(server, BOB_TOKEN, id, "approve").await.0, 204);
    loop {
        let event = events.recv().await.unwrap();
        if matches!(event.event, LiveEventKind::Ended { .. }) {
            let found = approval(server, id).await;
            if found["run"] == event.run.0 {
                return found;
            }
        }
    }
}

fn audited(server: &TestServer) -> Vec<(String, String, String)> {
    let log = AuditLog::at(server.paths.audit_log());
    let entries = log.newest(&crate::serve::access::AuditFilter::default(), 1000);
    let entries = entries.unwrap().into_iter().rev();
    entries
        .map(|entry| (entry.actor, entry.action, entry.result.word().to_owned()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_runs_exactly_as_another_person_approved_it() {
    let server = start("").await;
    // Nobody changes the device without an approval.
    let path = "/api/v1/devices/sw1/runs";
    let apply = server.post(Role::Apply, path, &json!({"kind": "apply"}));
    let (status, body) = text(apply.send().await.unwrap()).await;
    assert_eq!(status, 409, "{body}");
    assert!(body.contains("only as a person approved"), "{body}");
    let other = server.post(Role::Apply, "/api/v1/devices/sw2/approvals", &json!({}));
    assert_eq!(other.send().await.unwrap().status(), 409);
    let plan = server.post(Role::Plan, "/api/v1/devices/sw1/approvals", &json!({}));
    assert_eq!(plan.send().await.unwrap().status(), 403);

    let id = request(&server).await;
    let found = approval(&server, id).await;
    assert_eq!(found["state"], "waiting", "{found}");
    assert_eq!(found["author"]["name"], "test-apply");
    let resource = &found["plan"]["devices"]["sw1"]["resources"][0];
    assert_eq!(resource["resource"], "Network_vlan[10]", "{found}");
    let page = server.get(Role::Apply, &format!("/approvals/{id}"));
    let (_, page) = text(page.send().await.unwrap()).await;
    assert!(page.contains("name users"), "{page}");
    assert!(page.contains("Configuration difference"), "{page}");
    assert!(page.contains("another person approves it"), "{page}");
    assert!(!page.contains("/approve\""), "{page}");

    let own = decide(&server, "swt_test_apply", id, "approve").await;
    assert_eq!(own.0, 403);
    assert!(
        own.1.contains("the author of a plan cannot approve it"),
        "{}",
        own.1
    );
    let program = decide(&server, "swt_test_admin", id, "approve").await;
    assert_eq!(program.0, 403);
    assert!(program.1.contains("only a person"), "{}", program.1);
    assert_eq!(decide(&server, "swt_test_plan", id, "approve").await.0, 403);

    let found = approve_and_run(&server, id).await;
    assert_eq!(found["state"], "applied", "{found}");
    assert_eq!(found["decided_by"], "test-bob");
    let run = server.json(&format!("/api/v1/runs/{}", found["run"])).await;
    assert_eq!(
        (&run["status"], &run["kind"]),
        (&json!("changed"), &json!("apply"))
    );
    assert_eq!(run["resources"][0]["resource"], "Network_vlan[10]");
    // A plan runs once.
    assert_eq!(decide(&server, BOB_TOKEN, id, "approve").await.0, 409);

    // What is left to do is nothing.
    let id = request(&server).await;
    assert_eq!(approval(&server, id).await["state"], "unneeded");
    // The end is recorded after the events of the run.
    let ended = ("serve", "approved-run-ended", "accepted");
    let ended = (ended.0.to_owned(), ended.1.to_owned(), ended.2.to_owned());
    while !audited(&server).contains(&ended) {
        tokio::task::yield_now().await;
    }
    let log = audited(&server);
    for (actor, action, result) in [
        ("test-apply", "apply", "refused"),
        ("test-apply", "request-approval", "accepted"),
        ("test-apply", "approve", "refused"),
        ("test-admin", "approve", "refused"),
        ("test-bob", "approve", "accepted"),
        ("serve", "run-approved", "accepted"),
    ] {
        let entry = (actor.to_owned(), action.to_owned(), result.to_owned());
        assert!(log.contains(&entry), "{entry:?}: {log:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_differs_from_the_approved_plan_is_refused() {
    let server = start("").await;
    let (first, second) = (request(&server).await, request(&server).await);
    assert_eq!(approve_and_run(&server, first).await["state"], "applied");
    // The first plan has changed the device: the second one would do something else.
    let found = approve_and_run(&server, second).await;
    assert_eq!(found["state"], "refused", "{found}");
    let run = server.json(&format!("/api/v1/runs/{}", found["run"])).await;
    assert_eq!(run["status"], "not run", "{run}");
    assert!(run["error"].to_string().contains("plan"), "{run}");
    assert_eq!(decide(&server, BOB_TOKEN, second, "approve").await.0, 409);
    // The same if the desired state is another one.
    write_state(server.dir.path(), 20);
    let third = request(&server).await;
    write_state(server.dir.path(), 30);
    assert_eq!(approve_and_run(&server, third).await["state"], "refused");
    // A new approval runs.
    let fourth = request(&server).await;
    assert_eq!(approve_and_run(&server, fourth).await["state"], "applied");
    let refused = (
        "serve".to_owned(),
        "approved-run-ended".to_owned(),
        "refused".to_owned(),
    );
    // The end is recorded after the events of the run.
    while !audited(&server).contains(&refused) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_plan_waits_for_the_change_window() {
    let weekday = clock::timestamp()
        .to_zoned(jiff::tz::TimeZone::UTC)
        .weekday();
    let closed = format!("{:?}", weekday.next().next());
    let server = start(&format!("\"{} 10:00-11:00\"", &closed[..3])).await;
    let id = request(&server).await;
    assert_eq!(decide(&server, BOB_TOKEN, id, "approve").await.0, 204);
    // The process has looked at the approval when it ends another run.
    let mut events = server.service.live().subscribe();
    // Without a kind, it is a plan outside of the window, and says why.
    let plan = server.post(Role::Apply, "/api/v1/devices/sw2/runs", &json!({}));
    let (_, body) = text(plan.send().await.unwrap()).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    let run = body["run"].as_i64().unwrap();
    ended(&mut events, run).await;
    let note = "the run only plans: no change window of the device is open";
    let stored = server.json(&format!("/api/v1/runs/{run}")).await;
    assert_eq!(
        (&stored["kind"], &stored["hint"]),
        (&json!("plan"), &json!(note))
    );
    let page = server.get(Role::View, &format!("/runs/{run}"));
    let (_, page) = text(page.send().await.unwrap()).await;
    assert!(page.contains(note), "{page}");
    let found = approval(&server, id).await;
    assert_eq!(
        (&found["state"], &found["run"]),
        (&json!("approved"), &Value::Null)
    );
    let rejected = request(&server).await;
    assert_eq!(decide(&server, BOB_TOKEN, rejected, "reject").await.0, 204);
    let found = approval(&server, rejected).await;
    assert_eq!(
        (&found["state"], &found["reason"]),
        (&json!("rejected"), &json!("not now"))
    );
    assert_eq!(decide(&server, BOB_TOKEN, rejected, "approve").await.0, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_nobody_approves_in_time_expires() {
    let server = start("").await;
    let now = clock::timestamp();
    let past = now - jiff::SignedDuration::from_hours(3);
    let new = NewApproval {
        run: NewRun {
            uuid: RunUuid::new(now),
            device: "sw1".to_owned(),
            kind: RunKind::Plan,
            follows_windows: false,
            requester: Requester {
                kind: RequesterKind::Page,
                name: "alice".to_owned(),
            },
            priority: 0,
            queued: past,
            started: None,
        },
        person: Some("alice".to_owned()),
        expires: now - jiff::SignedDuration::from_hours(1),
    };
    let added = server.service.history().write(move |writer| {
        let (id, run) = writer.add_approval(&new)?;
        writer.cancel_run(run, past, None)?;
        writer.set_plan(id, "{}")?;
        Ok(id)
    });
    let id = added.await.unwrap();
    assert_eq!(approval(&server, id).await["state"], "expired");
    let (status, body) = decide(&server, BOB_TOKEN, id, "approve").await;
    assert_eq!(status, 409, "{body}");
    assert!(body.contains("`expired`"), "{body}");
    // Any run wakes the process, which records the end.
    request(&server).await;
    let expired = (
        "serve".to_owned(),
        "approval-expired".to_owned(),
        "refused".to_owned(),
    );
    while !audited(&server).contains(&expired) {
        tokio::task::yield_now().await;
    }
    assert_eq!(approval(&server, id).await["run"], Value::Null);
}

async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), wait).await;
    assert!(waited.is_ok(), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_does_not_run_the_device_pauses_it_and_approves_its_plans() {
    let Some(database) = PostgreSql::shared() else {
        return;
    };
    let address = database.address(&database.new_database());
    let store = StoreLocation::parse(address.as_ref(), "".as_ref()).unwrap();
    let owner = start_as("", Some((store.clone(), node("owner", &[])))).await;
    let other = start_as("", Some((store, node("other", &["elsewhere"])))).await;
    let _leases = [&owner, &other].map(|server| {
        let service = server.service.clone();
        task::spawn(async move { service.hold_leases().await })
    });
    let is_paused = || owner.service.inner.dispatcher().is_paused("sw2");
    wait_until("the devices have an owner", async || is_paused().is_some()).await;
    for (action, expected) in [("pause", true), ("resume", false)] {
        let path = format!("/api/v1/devices/sw2/{action}");
        let request = other.post(Role::Apply, &path, &json!({"reason": "maintenance"}));
        assert_eq!(request.send().await.unwrap().status(), 204);
        wait_until(action, async || is_paused() == Some(expected)).await;
    }
    let request = other.post(Role::Apply, "/api/v1/devices/sw1/approvals", &json!({}));
    let (status, body) = text(request.send().await.unwrap()).await;
    assert_eq!(status, 202, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let id = body["approval"].as_i64().unwrap();
    let has_state = async |state: &str| approval(&other, id).await["state"] == state;
    wait_until("the plan is made", async || has_state("waiting").await).await;
    assert_eq!(decide(&other, BOB_TOKEN, id, "approve").await.0, 204);
    wait_until("the plan runs", async || has_state("applied").await).await;
    // It ran where the device belongs.
    assert!(
        audited(&owner)
            .iter()
            .any(|(_, action, _)| action == "approved-run-ended")
    );
    assert!(
        !audited(&other)
            .iter()
            .any(|(_, action, _)| action == "approved-run-ended")
    );
}

//! The database is away: no device is changed, scheduled runs are plans, and no result is lost or doubled.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchtender_devices::diagnostic::Source;
use switchtender_devices::task;
use test_support::postgresql::PostgreSql;
use test_support::write_fault::WRITE_FAULTS;

use super::harness::{TestOptions, TestServer, text};
use super::shared_store::node;
use crate::history::StoreLocation;
use crate::history::leases::NodeRecord;
use crate::history::runs::{RunEntry, RunFilter};
use crate::report::RunStatus;
use crate::run_kind::RunKind;
use crate::serve::access::{AuditFilter, AuditLog, Role};
use crate::serve::fleet::{LoadContext, ServeFleet};
use crate::serve::settings::ServeSettings;
use crate::serve::watched_files::WatchedFiles;
use crate::store::Store;

const DEVICES: [&str; 3] = ["sw1", "sw2", "sw3"];
const LIMIT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(20);

fn write_state(dir: &Path, vlan: u32) {
    for name in DEVICES {
        let text = format!("network_vlan: {{{vlan}: {{vlan_name: users}}}}\n");
        fs::write(dir.join(format!("state/device/{name}.yaml")), text).unwrap();
    }
}

/// A process that runs mock devices every second. With a node, when it has leases.
async fn start(database: &str, node: Option<NodeRecord>) -> TestServer {
    let dir = Arc::new(tempfile::tempdir().unwrap());
    fs::create_dir_all(dir.path().join("state/device")).unwrap();
    let inventory = DEVICES.map(|name| {
        format!("[device.{name}]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.1\"\n")
    });
    fs::write(dir.path().join("inventory.toml"), inventory.concat()).unwrap();
    write_state(dir.path(), 10);
    let source = Source::new(
        "serve.toml",
        "[defaults]\nstate = \"state\"\ninterval = \"1s\"\n",
    );
    let settings = ServeSettings::parse(&source, dir.path()).unwrap();
    let context = LoadContext {
        uses_mocks: true,
        ..LoadContext::of_own_files(Store::at(dir.path()))
    };
    let mut files = WatchedFiles::default();
    let fleet = ServeFleet::load(settings, &context, &mut files);
    TestServer::start(TestOptions {
        fleet: Some(fleet.await.unwrap()),
        store: Some(StoreLocation::parse(database.as_ref(), "".as_ref()).unwrap()),
        dir: Some(dir),
        node,
        ..TestOptions::default()
    })
    .await
}

async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(POLL).await;
        }
    };
    let waited = tokio::time::timeout(LIMIT, wait).await;
    assert!(waited.is_ok(), "{what}");
}

async fn runs(server: &TestServer) -> Vec<RunEntry> {
    let all = RunFilter {
        limit: 10_000,
        ..RunFilter::default()
    };
    let found = server
        .service
        .history()
        .query(move |reader| reader.runs(&all));
    found.await.unwrap_or_default()
}

/// How often runs have changed each device.
async fn changed(server: &TestServer) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for run in runs(server).await {
        if run.status == RunStatus::Changed {
            *found.entry(run.device).or_default() += 1;
        }
    }
    found
}

/// Whether each device was changed this often.
async fn is_changed(server: &TestServer, times: usize) -> bool {
    let changes = changed(server).await;
    changes.len() == DEVICES.len() && changes.values().all(|count| *count == times)
}

/// Waits until the database is used again, and has all results.
async fn wait_for_results(server: &TestServer) {
    wait_until("all results are stored", async || {
        let report = server.service.report().await;
        report.spool.results == 0 && report.condition.no_applies.is_none()
    })
    .await;
}

/// The request of an apply is refused.
async fn assert_no_apply(server: &TestServer) {
    let body = json!({"kind": "apply"});
    let request = server.post(Role::Apply, "/api/v1/devices/sw1/runs", &body);
    let (status, body) = text(request.send().await.unwrap()).await;
    assert_eq!(status, 503, "{body}");
}

fn assert_none_twice(found: &[RunEntry]) {
    let ids: BTreeSet<_> = found.iter().map(|run| run.id).collect();
    assert_eq!(ids.len(), found.len());
}

fn assert_none_failed(found: &[RunEntry]) {
    let is_failed = |run: &&RunEntry| matches!(run.status, RunStatus::Failed | RunStatus::NotRun);
    let failed: Vec<&RunEntry> = found.iter().filter(is_failed).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_database_scheduled_runs_plan_and_all_results_arrive_later() {
    if PostgreSql::shared().is_none() {
        return;
    }
    let database = PostgreSql::start(None).unwrap();
    let name = database.new_database();
    let server = start(&database.address(&name), None).await;
    wait_until("all devices are changed", async || {
        is_changed(&server, 1).await
    })
    .await;
    database.leave();
    write_state(server.dir.path(), 20);
    let before = server.service.report().await.spool.results;
    wait_until("plans go on", async || {
        server.service.report().await.spool.results >= before + 3 * DEVICES.len()
    })
    .await;
    // The reason is on each page, in the API, and in the health of the process.
    let reason = server.service.condition().no_applies.unwrap();
    assert!(reason.contains("database"), "{reason}");
    let get = async |path: &str| text(server.get(Role::View, path).send().await.unwrap()).await;
    for path in ["/", "/api/v1/devices", "/readyz"] {
        let (status, body) = get(path).await;
        assert_eq!(status, 503, "{path}: {body}");
        assert!(body.contains("the database"), "{path}: {body}");
    }
    let (status, body) = get("/api/v1/status").await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (status, body["no_applies"].is_string()),
        (503, true),
        "{body}"
    );
    assert_no_apply(&server).await;
    let audit = AuditLog::at(server.paths.audit_log());
    let entries = audit.newest(&AuditFilter::default(), 2).unwrap();
    let entries = entries.iter().map(|one| (&*one.target, one.result.word()));
    let entries: Vec<_> = entries.collect();
    assert_eq!(entries, [("sw1", "failed"), ("sw1", "accepted")]);
    database.come_back();
    wait_for_results(&server).await;
    let found = runs(&server).await;
    let note = "the run only plans: the store cannot be used";
    let planned = |run: &RunEntry| {
        let is_plan = run.kind == RunKind::Plan && run.status == RunStatus::Pending;
        is_plan && run.hint.as_deref() == Some(note)
    };
    assert!(found.iter().any(planned), "{found:?}");
    wait_until("the change is applied", async || {
        is_changed(&server, 2).await
    })
    .await;
    let found = runs(&server).await;
    assert_none_twice(&found);
    // The begin of a run can have been lost with the answer of the database: it did not change a device.
    assert_none_failed(&found);
}

/// A database that can be read, but not written: its administrator permits no writes, or its disk is full.
#[tokio::test(flavor = "multi_thread")]
async fn without_writes_or_space_no_device_is_changed_and_nothing_is_lost() {
    if PostgreSql::shared().is_none() {
        return;
    }
    for fault in WRITE_FAULTS {
        let database = PostgreSql::start(None).unwrap();
        let name = database.new_database();
        let server = start(&database.address(&name), None).await;
        wait_until("all devices are changed", async || {
            is_changed(&server, 1).await
        })
        .await;
        database.execute(&name, &fault.begin(&name));
        // The setting is that of new connections.
        database.kill_and_wait();
        write_state(server.dir.path(), 20);
        wait_until("plans go on, and the reason is known", async || {
            let report = server.service.report().await;
            let because = report.condition.no_applies.unwrap_or_default();
            because.contains(fault.reason) && report.spool.results >= 3 * DEVICES.len()
        })
        .await;
        for path in ["/", "/api/v1/status", "/readyz"] {
            let page = server.get(Role::View, path).send().await.unwrap();
            let (status, body) = text(page).await;
            assert!(body.contains(fault.reason), "{path}: {status} {body}");
        }
        assert_no_apply(&server).await;
        assert!(is_changed(&server, 1).await, "no apply began");
        database.execute(&name, &fault.end(&name));
        database.kill_and_wait();
        wait_for_results(&server).await;
        wait_until("the change is applied once", async || {
            is_changed(&server, 2).await
        })
        .await;
        let found = runs(&server).await;
        assert_none_twice(&found);
        assert_none_failed(&found);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_outlive_a_killed_database() {
    const KILLS: usize = 3;
    if PostgreSql::shared().is_none() {
        return;
    }
    let database = PostgreSql::start(None).unwrap();
    let name = database.new_database();
    let server = start(&database.address(&name), None).await;
    for kill in 0..KILLS {
        wait_until("each change is applied once", async || {
            is_changed(&server, kill + 1).await
        })
        .await;
        write_state(server.dir.path(), 30 + u32::try_from(kill).unwrap());
        wait_until("a run is under way", async || {
            server.service.report().await.running > 0
        })
        .await;
        database.kill_and_wait();
    }
    wait_until("the last change is applied once", async || {
        let report = server.service.report().await;
        report.spool.results == 0 && is_changed(&server, KILLS + 1).await
    })
    .await;
    let found = runs(&server).await;
    assert_none_failed(&found);
    // Each begun run has ended, except those that run now.
    let open: Vec<Value> = (found.iter())
        .filter(|run| run.status == RunStatus::Running)
        .map(|run| json!(run.device))
        .collect();
    assert!(open.len() <= DEVICES.len(), "{open:?}");
}

/// The lease of a shard stays while the schedules of its devices cannot be read: they run when they can be.
#[tokio::test(flavor = "multi_thread")]
async fn devices_of_a_shard_run_though_their_schedules_could_not_be_read_at_first() {
    if PostgreSql::shared().is_none() {
        return;
    }
    let database = PostgreSql::start(None).unwrap();
    let name = database.new_database();
    let server = start(&database.address(&name), Some(node("one", &[]))).await;
    database.execute(
        &name,
        "ALTER TABLE switchtender.schedule RENAME TO missing_schedule",
    );
    let service = server.service.clone();
    let leases = task::spawn(async move { service.hold_leases().await });
    wait_until("the shard is acquired and cannot be used", async || {
        let is_acquired = server.service.device_right("sw1").is_some();
        is_acquired && database.log().contains("\"schedule\" does not exist")
    })
    .await;
    assert!(!leases.is_finished());
    assert!(changed(&server).await.is_empty());
    database.execute(
        &name,
        "ALTER TABLE switchtender.missing_schedule RENAME TO schedule",
    );
    wait_until("all devices are changed", async || {
        is_changed(&server, 1).await
    })
    .await;
}

//! Workers at a hub: tokens, sites, live events.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;
use switchtender_devices::task;
use test_support::postgresql::PostgreSql;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::harness::{TestOptions, TestServer, text};
use crate::clock;
use crate::history::audit_copies::AuditCopyFilter;
use crate::history::leases::{
    FleetTask, LeaseClaim, LeaseRequest, LeaseSubject, NodeRecord, Shard,
};
use crate::history::notifications::StoreNotification;
use crate::history::puppetdb_commands::PuppetDbCommand;
use crate::history::run::RunRight;
use crate::history::{
    CompletedRun, NewRun, Requester, RequesterKind, RunId, RunUuid, StoreLocation,
};
use crate::inventory::secret_source::SecretSource;
use crate::run_kind::RunKind;
use crate::serve::access::{AccessFile, AuditEntry, AuditResult, Role, TokenText, WorkerEntry};
use crate::serve::audit_copies::AuditPart;
use crate::serve::link::client::{HubLink, LinkError};
use crate::serve::link::protocol::{LinkCall, StateCall};
use crate::serve::link::settings::{JoinSettings, WorkerCredential};
use crate::serve::live_watch::LivePart;
use crate::serve::run_store::tests;
use crate::serve::run_store::{
    DueTime, EndedRun, RunStart, RunStore as _, StartCause, StoreProblem,
};
use crate::store::state_table::StateChange;

pub(super) const TOKEN: &str = "swt_test_worker";

/// A limit that only a defect exceeds.
const LIMIT: Duration = Duration::from_secs(30);

pub(super) fn new_store() -> Option<StoreLocation> {
    let server = PostgreSql::shared()?;
    let address = server.address(&server.new_database());
    Some(StoreLocation::parse(address.as_ref(), "".as_ref()).unwrap())
}

pub(super) async fn hub(store: Option<StoreLocation>) -> TestServer {
    let hub = TestServer::start(TestOptions {
        store,
        ..TestOptions::default()
    });
    let hub = hub.await;
    permit(&hub, &["site-0"]);
    hub
}

/// Gives the worker these sites.
pub(super) fn permit(hub: &TestServer, sites: &[&str]) {
    AccessFile::update(&hub.paths.access_file(), |rules| {
        let worker = WorkerEntry {
            sites: sites.iter().map(|&site| site.to_owned()).collect(),
            sha256: Some(TokenText::received(TOKEN).digest()),
            ..WorkerEntry::default()
        };
        rules.workers.insert("w1".to_owned(), worker);
    })
    .unwrap();
}

/// The link of a worker with the devices of one site.
pub(super) async fn link(hub: &TestServer, token: &str) -> HubLink {
    // The first one does not answer.
    link_to(
        hub,
        token,
        vec!["http://127.0.0.1:1".to_owned(), hub.url.clone()],
    )
    .await
}

/// The link of a worker to these addresses.
pub(super) async fn link_to(hub: &TestServer, token: &str, hubs: Vec<String>) -> HubLink {
    let path = hub.path(&format!("{token}.token"));
    std::fs::write(&path, token).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let settings = JoinSettings {
        hubs,
        credential: WorkerCredential::Token(SecretSource::File(path)),
        ca_file: None,
    };
    HubLink::new(&settings, &["site-0".to_owned()])
        .await
        .unwrap()
}

pub(super) fn new_run(device: &str) -> NewRun {
    let now = clock::timestamp();
    NewRun {
        uuid: RunUuid::new(now),
        device: device.to_owned(),
        kind: RunKind::Plan,
        follows_windows: false,
        requester: Requester {
            kind: RequesterKind::Schedule,
            name: String::new(),
        },
        priority: 0,
        queued: now,
        started: Some(now),
    }
}

pub(super) fn exchange(change: impl FnOnce(&mut LeaseRequest)) -> LinkCall {
    let mut request = LeaseRequest {
        node: NodeRecord {
            name: "w1".to_owned(),
            sites: vec!["site-0".to_owned()],
            ..NodeRecord::default()
        },
        is_start: true,
        ..LeaseRequest::default()
    };
    change(&mut request);
    LinkCall::Exchange(request)
}

fn claim(subject: LeaseSubject) -> LeaseClaim {
    LeaseClaim {
        subject,
        epoch: 0,
        beat: 0,
        is_continued: false,
    }
}

/// Calls about what another site has.
fn foreign_calls() -> Vec<LinkCall> {
    let other = || "sw1".to_owned();
    let shard = LeaseSubject::Shard(Shard {
        site: "site-1".to_owned(),
        number: 0,
    });
    let now = clock::timestamp();
    vec![
        exchange(|request| request.node.name = "w2".to_owned()),
        exchange(|request| request.node.is_hub = true),
        exchange(|request| request.node.sites.clear()),
        exchange(|request| request.node.sites.push("site-1".to_owned())),
        exchange(|request| request.sites = BTreeMap::from([("site-1".to_owned(), 1)])),
        exchange(|request| request.acquire.push(claim(shard.clone()))),
        exchange(|request| request.renew.push(shard.clone())),
        exchange(|request| request.release.push(shard.clone())),
        exchange(|request| {
            let task = LeaseSubject::Task(FleetTask::Retention);
            request.acquire.push(claim(task));
        }),
        // Numbers that all nodes follow, and what only a hub may say.
        exchange(|request| request.node.protocol = u32::MAX),
        exchange(|request| request.node.lease_ms = u64::MAX),
        exchange(|request| request.sites = BTreeMap::from([("site-0".to_owned(), u32::MAX)])),
        exchange(|request| request.confirms_server = true),
        LinkCall::SetDue {
            due: vec![DueTime {
                device: other(),
                due: None,
                failures: 0,
            }],
            time: now,
        },
        LinkCall::Begin(RunStart {
            device: other(),
            kind: RunKind::Plan,
            time: now,
            cause: StartCause::New(new_run("sw1")),
            release: None,
            right: None,
        }),
        // Its own device, without a lease.
        LinkCall::Begin(RunStart {
            device: "sw0".to_owned(),
            kind: RunKind::Plan,
            time: now,
            cause: StartCause::New(new_run("sw0")),
            release: None,
            right: None,
        }),
        LinkCall::HasConfiguration { device: other() },
        LinkCall::EndApproval { approval: 1 },
        LinkCall::State(StateCall::Get {
            device: other(),
            file: "memory.json".to_owned(),
        }),
        LinkCall::State(StateCall::Files { device: other() }),
        LinkCall::State(StateCall::Change(StateChange {
            device: other(),
            file: "memory.json".to_owned(),
            body: None,
            epoch: Some(1),
        })),
        LinkCall::Publish(LivePart {
            run: RunId(1_000_000),
            viewer: "v".to_owned(),
            events: Vec::new(),
        }),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_refuses_what_is_not_of_the_sites_of_a_worker() {
    let Some(store) = new_store() else {
        return;
    };
    let hub = hub(Some(store)).await;
    let link = link(&hub, TOKEN).await;
    // Exchanges of leases are not repeated at the next hub: this one is known after the first call.
    link.space().await.unwrap();
    for call in foreign_calls() {
        let what = format!("{call:?}");
        let answer: Result<serde_json::Value, LinkError> = link.call(call).await;
        let Err(LinkError::Foreign(text)) = answer else {
            panic!("{what}: {answer:?}");
        };
        assert!(
            text.contains("the worker w1 has no right to"),
            "{what}: {text}"
        );
    }
    // What other sites have is not in the answers.
    for device in ["sw0", "sw1"] {
        let path = format!("/api/v1/devices/{device}/runs");
        let request = hub.post(Role::Apply, &path, &json!({"kind": "plan"}));
        let (status, answer) = text(request.send().await.unwrap()).await;
        assert_eq!(status, 202, "{answer}");
    }
    let requests = link.requests().await.unwrap();
    let devices: Vec<&str> = requests.iter().map(|one| &*one.run.device).collect();
    assert_eq!(devices, ["sw0"]);
    let schedules = link.schedules().await.unwrap();
    assert!(!schedules.contains_key("sw1"), "{schedules:?}");
}

/// The result of a run with a lease of the worker.
pub(super) fn ended(run: NewRun, device: &str) -> Arc<EndedRun> {
    let now = clock::timestamp();
    Arc::new(EndedRun {
        run,
        release: None,
        completed: CompletedRun::lost(RunKind::Plan, "lost".to_owned(), now),
        commands: Vec::new(),
        plan: None,
        right: Some(right()),
        due: DueTime {
            device: device.to_owned(),
            due: None,
            failures: 0,
        },
    })
}

pub(super) fn right() -> RunRight {
    RunRight {
        node: "w1".to_owned(),
        shard: "site-0/0".to_owned(),
        epoch: 1,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_stored_although_its_device_has_moved_to_another_site() {
    let Some(store) = new_store() else {
        return;
    };
    let hub = hub(Some(store)).await;
    let link = link(&hub, TOKEN).await;
    // A run that the worker began, when the device was of its site.
    let (run, other) = (new_run("sw1"), new_run("sw1"));
    let began = run.clone();
    let id = hub.service.history().write(move |writer| {
        let id = writer.add_run(&began)?;
        writer.set_right(id, Some(&right()))?;
        Ok(id)
    });
    let id = id.await.unwrap();
    let stored = link.finish(ended(run.clone(), "sw1")).await.unwrap();
    assert_eq!(stored.id, id);
    for (what, refused) in [
        ("a run of nobody", ended(other, "sw1")),
        ("other times", ended(run, "sw2")),
    ] {
        let error = link.finish(refused).await.unwrap_err().to_string();
        assert!(error.contains("has no right to"), "{what}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_without_puppetdb_stores_the_reports_of_a_worker() {
    let Some(store) = new_store() else {
        return;
    };
    let hub = hub(Some(store)).await;
    let link = link(&hub, TOKEN).await;
    let fleet = hub.service.fleet();
    assert!(fleet.settings.puppetdb.is_none());
    let result = tests::ended(new_run("sw0"));
    let of = |certname: &str| PuppetDbCommand {
        certname: certname.to_owned(),
        ..result.commands[0].clone()
    };
    let own = fleet.certname("sw0").unwrap();
    // The report of a device of another site is removed.
    let commands = vec![of(&own), of("another")];
    let result = EndedRun { commands, ..result };
    link.finish(Arc::new(result)).await.unwrap();
    let stored = hub.service.history();
    let stored = stored.query(|reader| reader.puppetdb_commands(10)).await;
    let names = stored.unwrap().into_iter().map(|command| command.certname);
    assert_eq!(names.collect::<Vec<_>>(), [own]);
    // It is counted, as those of a device that the hub does not know. An answer was lost.
    let run = new_run("removed");
    let began = run.clone();
    let written = hub.service.history().write(move |writer| {
        let id = writer.add_run(&began)?;
        writer.set_right(id, Some(&right()))
    });
    written.await.unwrap();
    let removed = Arc::new(tests::ended(run));
    for _ in 0..2 {
        link.finish(Arc::clone(&removed)).await.unwrap();
    }
    let queue = hub.service.history();
    let queue = queue.query(|reader| reader.puppetdb_queue()).await.unwrap();
    assert_eq!(queue.waiting, 1);
    assert_eq!(queue.lost, BTreeMap::from([("unknown".to_owned(), 2)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_knows_workers_by_their_tokens_and_protocols() {
    let Some(store) = new_store() else {
        return;
    };
    let hub = hub(Some(store)).await;
    let unknown = link(&hub, "swt_test_unknown").await;
    let error = unknown.space().await.unwrap_err().to_string();
    assert!(error.contains("the token is that of no worker"), "{error}");
    // A token of the API is none of a worker, and the other way around.
    let request = hub.get(Role::Admin, "/fleet/v1/work");
    let (status, _) = text(request.send().await.unwrap()).await;
    assert_eq!(status, 401);
    let request = hub
        .client
        .get(hub.url("/api/v1/devices"))
        .bearer_auth(TOKEN);
    let (status, _) = text(request.send().await.unwrap()).await;
    assert_eq!(status, 401);
    for (protocol, expected) in [
        ("7", "update the program of the hub"),
        ("0", "update the program of the worker"),
        ("", "update the program of the worker"),
    ] {
        let request = hub.client.get(hub.url("/fleet/v1/work")).bearer_auth(TOKEN);
        let request = request.header("switchtender-protocol", protocol);
        let (status, answer) = text(request.send().await.unwrap()).await;
        assert_eq!(status, 409, "{answer}");
        assert!(answer.contains(expected), "{protocol}: {answer}");
    }
    let with_file = TestServer::start(TestOptions::default()).await;
    permit(&with_file, &["site-0"]);
    let link = link(&with_file, TOKEN).await;
    let error = link.space().await.unwrap_err().to_string();
    assert!(error.contains("this process is no hub"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_of_a_worker_is_copied_once_under_its_name() {
    let Some(store) = new_store() else {
        return;
    };
    let hub = hub(Some(store)).await;
    let link = link(&hub, TOKEN).await;
    assert_eq!(link.audit_end().await.unwrap(), 0);
    let entry = |action: &str| AuditEntry {
        time: clock::timestamp(),
        actor: "serve".to_owned(),
        method: "process".to_owned(),
        address: "local".to_owned(),
        action: action.to_owned(),
        target: "sw0 approval 1".to_owned(),
        result: AuditResult::Accepted,
    };
    let part = |action, start, end| AuditPart {
        entries: vec![entry(action)],
        start,
        end,
    };
    // The answer of the first one was lost.
    for _ in 0..2 {
        let first = part("run-approved", 0, 100);
        link.add_audit_part(first).await.unwrap();
    }
    assert_eq!(link.audit_end().await.unwrap(), 100);
    let second = part("approved-run-ended", 100, 200);
    link.add_audit_part(second).await.unwrap();
    let all = AuditCopyFilter {
        count: 10,
        ..AuditCopyFilter::default()
    };
    let copies = hub.service.history();
    let copies = copies.query(move |reader| reader.audit_copies(&all)).await;
    let copies = copies.unwrap();
    assert_eq!(copies.len(), 2, "{copies:?}");
    assert!(copies.iter().all(|(node, _)| node == "w1"), "{copies:?}");
    assert!(copies[0].1.contains("approved-run-ended"), "{copies:?}");
}

/// A program that answers all requests in the same way, with its address.
async fn portal(answer: &'static str) -> (String, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answers = task::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 64 << 10];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (format!("http://{address}"), answers)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_a_proxy_is_none_of_a_hub() {
    let Some(store) = new_store() else {
        return;
    };
    let hub = hub(Some(store)).await;
    let (page, refusal) = (
        "HTTP/1.1 200 OK\r\nContent-Length: 15\r\nConnection: close\r\n\r\n<html>Log in to",
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 19\r\nConnection: close\r\n\r\n{\"error\": \"no way\"}",
    );
    for answer in [page, refusal] {
        let (portal, _answers) = portal(answer).await;
        let alone = link_to(&hub, TOKEN, vec![portal.clone()]).await;
        let error = alone.space().await.unwrap_err();
        // A result that waits is delivered later: it is not refused.
        assert_eq!(error.problem, StoreProblem::Unreachable);
        assert!(error.text.contains("not from a hub"), "{error}");
        assert!(!alone.is_reachable());
        let with_hub = link_to(&hub, TOKEN, vec![portal, hub.url.clone()]).await;
        with_hub.space().await.unwrap();
        assert!(with_hub.is_reachable());
    }
}

/// The task of a hub that follows others: it receives all that they announce from now on.
async fn follows_others(hub: &TestServer) -> AbortOnDropHandle<()> {
    let mut notifications = hub.service.history().notifications();
    let service = hub.service.clone();
    let mut following = Box::pin(async move { service.follow_other_nodes().await });
    // It subscribes at once.
    assert!((&mut following).now_or_never().is_none());
    let first = tokio::time::timeout(LIMIT, notifications.recv()).await;
    let first = first.expect("the database answers").unwrap();
    assert_eq!(first, StoreNotification::Restored);
    task::spawn(following)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_live_at_another_hub() {
    use crate::history::RunEffect;
    use crate::report::RunStatus;
    use crate::serve::live::{LiveEvent, LiveEventKind};

    let Some(store) = new_store() else {
        return;
    };
    let owner = hub(Some(store.clone())).await;
    let viewer = hub(Some(store)).await;
    let run = owner
        .service
        .history()
        .write(|writer| writer.add_run(&new_run("sw0")));
    let run = run.await.unwrap();
    let tasks = [follows_others(&owner).await, follows_others(&viewer).await];
    let emit = |event| {
        owner.service.live().emit(LiveEvent {
            run,
            device: "sw0".to_owned(),
            event,
        });
    };
    let log = |text: String| {
        let entry = json!({"time": "2026-01-01T00:00:00Z", "level": "info", "source": "sw0", "file": null, "line": null,
            "message": text});
        let entry = serde_json::from_value(entry).unwrap();
        LiveEventKind::Log(Arc::new(entry))
    };
    emit(LiveEventKind::Started {
        kind: RunKind::Plan,
    });
    let long = "x".repeat(20_000);
    emit(log(long.clone()));
    let mut followed = viewer.service.follow(run).await.unwrap().unwrap();
    assert!(followed.watch.is_some());
    assert!(followed.earlier.is_empty());
    let mut next = async || {
        let received = tokio::time::timeout(LIMIT, followed.events.recv()).await;
        received.expect("an event of the other hub").unwrap().event
    };
    assert!(matches!(next().await, LiveEventKind::Started { .. }));
    assert_eq!(next().await, log(long));
    emit(log("second".to_owned()));
    assert_eq!(next().await, log("second".to_owned()));
    // Another viewer of the same process has the events until now.
    let second = viewer.service.follow(run).await.unwrap().unwrap();
    assert_eq!(second.earlier.len(), 3);
    emit(LiveEventKind::Ended {
        status: RunStatus::Pending,
        effect: RunEffect::default(),
    });
    assert!(matches!(next().await, LiveEventKind::Ended { .. }));
    drop(tasks);
}

//! Results are stored once, also if they were stored as a text before.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;
use switchtender_devices::task;
use test_support::postgresql::PostgreSql;

use super::*;
use crate::history::leases::{LeaseAnswer, LeaseClaim, LeaseRequest, LeaseSubject, NodeRecord};
use crate::history::runs::RunFilter;
use crate::history::{
    CatalogOrigin, HistoryOptions, HistoryStore, Requester, RunUuid, StoreLocation,
};
use crate::report::{RunRecord, RunStatus};
use crate::run_kind::RunKind;
use crate::serve::lease::lease_store::LeaseStore as _;

fn history() -> (tempfile::TempDir, HistoryStore) {
    let directory = tempfile::tempdir().unwrap();
    let options = HistoryOptions::at(directory.path().join("history.db"));
    (directory, HistoryStore::open(options).unwrap())
}

pub(in crate::serve) fn new_run(time: Timestamp) -> NewRun {
    NewRun {
        uuid: RunUuid::new(time),
        device: "sw1".to_owned(),
        kind: RunKind::Plan,
        follows_windows: true,
        requester: Requester::schedule(),
        priority: 0,
        queued: time,
        started: Some(time),
    }
}

/// The result of a plan with a resource, whose declared values are in no report.
pub(in crate::serve) fn ended(run: NewRun) -> EndedRun {
    let report = serde_json::json!({
        "host": "sw1", "time": "2026-11-24T12:00:00Z", "status": "unchanged",
        "configuration_version": "1", "transaction_completed": true,
        "resource_statuses": {"Network_vlan[10]": {"file": "site.pp", "line": 1, "events": []}},
    });
    let mut record = RunRecord::of_json(report.to_string().as_bytes()).unwrap();
    record.kind = run.kind;
    let values = vec![("vlan_name".to_owned(), "ten".to_owned())];
    record.declared = Some([("Network_vlan[10]".to_owned(), values)].into());
    record.facts = Some(BTreeMap::from([("os".to_owned(), "ios".to_owned())]));
    EndedRun {
        release: None,
        completed: CompletedRun {
            record,
            ended: run.queued,
            configuration: Some("hostname sw1\n".to_owned()),
            line_classes: None,
            origin: Some(CatalogOrigin {
                path: "/state".to_owned(),
                is_authoritative: true,
            }),
        },
        commands: vec![PuppetDbCommand {
            command: "replace_facts".into(),
            version: 5,
            certname: "sw1".to_owned(),
            produced: "2026-11-24T12:00:00.000Z".to_owned(),
            body: "{}".to_owned(),
        }],
        plan: None,
        due: DueTime {
            device: run.device.clone(),
            due: Some(run.queued),
            failures: 3,
        },
        right: None,
        run,
    }
}

#[tokio::test]
async fn a_result_of_text_has_all_parts_and_is_stored_once_without_its_begin() {
    let (_directory, history) = history();
    let run = new_run("2026-11-24T12:00:00Z".parse().unwrap());
    let text = serde_json::to_string(&ended(run)).unwrap();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let ended: EndedRun = serde_json::from_str(&text).unwrap();
        ids.push(history.finish(Arc::new(ended)).await.unwrap().id);
    }
    assert_eq!(ids[0], ids[1]);
    let all = RunFilter {
        limit: 10,
        ..RunFilter::default()
    };
    let (runs, resources, schedules, queue) = history
        .query(move |reader| {
            Ok((
                reader.runs(&all)?,
                reader.search_resources("sw1", "", 10, 0)?,
                reader.schedules()?,
                reader.puppetdb_queue()?,
            ))
        })
        .await
        .unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].status, RunStatus::Unchanged);
    assert_eq!(
        resources[0].declared,
        [("vlan_name".to_owned(), "ten".to_owned())]
    );
    assert_eq!(schedules["sw1"].failures, 3);
    assert_eq!(queue.waiting, 1);
}

#[tokio::test]
async fn a_request_begins_once_more_after_a_lost_answer() {
    let (_directory, history) = history();
    let time: Timestamp = "2026-11-24T12:00:00Z".parse().unwrap();
    let queued = NewRun {
        started: None,
        ..new_run(time)
    };
    let uuid = queued.uuid;
    let id = history.write(move |writer| writer.add_run(&queued)).await;
    let start = RunStart {
        device: "sw1".to_owned(),
        time,
        cause: StartCause::Request(id.unwrap()),
        kind: RunKind::Plan,
        release: None,
        right: None,
    };
    for _ in 0..2 {
        let answer = history.begin(start.clone()).await.unwrap();
        let BeginAnswer::Started(started) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(started.run.uuid, uuid);
    }
    let result = ended(new_run(time));
    let run = NewRun {
        uuid,
        ..result.run.clone()
    };
    let result = EndedRun { run, ..result };
    history.finish(Arc::new(result)).await.unwrap();
    let answer = history.begin(start).await.unwrap();
    assert!(matches!(answer, BeginAnswer::Withdrawn), "{answer:?}");
}

#[tokio::test]
async fn a_start_that_comes_twice_or_after_its_end_changes_no_run() {
    let (_directory, history) = history();
    let time = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
    let start = |run: &NewRun| RunStart {
        device: "sw1".to_owned(),
        time: run.started.unwrap(),
        cause: StartCause::New(run.clone()),
        kind: RunKind::Plan,
        release: None,
        right: None,
    };
    // The clock was set back meanwhile.
    let [first, second] = [time(3600), time(0)].map(|time| NewRun {
        started: Some(time),
        ..new_run(time)
    });
    let mut numbers = Vec::new();
    for run in [&first, &first, &second] {
        let BeginAnswer::Started(started) = history.begin(start(run)).await.unwrap() else {
            panic!("it starts");
        };
        numbers.push(started.id);
    }
    assert_eq!(numbers[0], numbers[1]);
    let answer = history.begin(start(&first)).await.unwrap();
    assert!(matches!(answer, BeginAnswer::Withdrawn), "{answer:?}");
    let all = RunFilter {
        limit: 10,
        ..RunFilter::default()
    };
    let runs = history.query(move |reader| reader.runs(&all)).await;
    let statuses: Vec<RunStatus> = runs.unwrap().iter().map(|run| run.status).collect();
    assert_eq!(statuses, [RunStatus::Running, RunStatus::Interrupted]);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_come_twice_in_another_order_and_after_a_takeover() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let database = server.new_database();
    let location = StoreLocation::parse(server.address(&database).as_ref(), "".as_ref());
    let history = HistoryStore::open(location.unwrap().into()).unwrap();
    let number = |statement: &str| {
        let number = server.execute(&database, statement);
        number.parse::<u64>().unwrap()
    };
    server.execute(
        &database,
        "INSERT INTO switchtender.lease (name, owner, holder, boot, epoch, since, beat)
         VALUES ('shard:default/0', 'one', 'one', 'boot', 1, 1, 1)",
    );
    let right = RunRight {
        node: "one".to_owned(),
        shard: "default/0".to_owned(),
        epoch: 1,
    };
    let start: Timestamp = "2026-11-24T12:00:00Z".parse().unwrap();
    let [first, second, third] = [0, 1, 2].map(|minutes| {
        let mut result = ended(new_run(start + SignedDuration::from_mins(minutes)));
        result.right = Some(right.clone());
        result.due.failures = u32::try_from(minutes).unwrap();
        Arc::new(result)
    });
    for result in [&second, &first, &second, &first] {
        history.finish(Arc::clone(result)).await.unwrap();
    }
    let late = "SELECT count(*) FROM switchtender.run WHERE is_late";
    assert_eq!(number("SELECT count(*) FROM switchtender.run"), 2);
    assert_eq!(number(late), 0);
    let before = history.query(|reader| reader.schedules()).await.unwrap();
    let takeover =
        "UPDATE switchtender.lease SET owner = 'two', holder = 'two', epoch = 2, since = 2";
    server.execute(&database, takeover);
    for result in [&third, &third, &first] {
        history.finish(Arc::clone(result)).await.unwrap();
    }
    assert_eq!(number("SELECT count(*) FROM switchtender.run"), 3);
    assert_eq!(number(late), 1);
    // It says nothing about the device.
    let after = history.query(|reader| reader.schedules()).await.unwrap();
    assert_eq!(before["sw1"].failures, after["sw1"].failures);
    assert_eq!(before["sw1"].next_due, after["sw1"].next_due);
}

/// The exchanges of a process with a store.
struct TestLeases {
    history: HistoryStore,
    request: LeaseRequest,
}

impl TestLeases {
    fn of(history: &HistoryStore, node: &str) -> Self {
        let node = NodeRecord {
            name: node.to_owned(),
            boot: node.to_owned(),
            ..NodeRecord::default()
        };
        Self {
            history: history.clone(),
            request: LeaseRequest {
                node,
                sites: [("default".to_owned(), 1)].into(),
                ..LeaseRequest::default()
            },
        }
    }

    /// Acquires the shard as it is now. Returns the right, and how many runs were interrupted.
    async fn acquire(&mut self, is_continued: bool) -> (RunRight, usize) {
        self.acquire_shard("default/0", is_continued).await
    }

    async fn acquire_shard(&mut self, shard: &str, is_continued: bool) -> (RunRight, usize) {
        let subject = LeaseSubject::Shard(shard.parse().unwrap());
        let mut interrupted = 0;
        for is_second in [false, true] {
            let answer = self.exchange().await;
            interrupted += answer.interrupted;
            let row = answer.leases.iter().find(|row| row.subject == subject);
            let (epoch, beat) = row.map_or((0, 0), |row| (row.epoch, row.beat));
            if is_second {
                let right = RunRight {
                    node: self.request.node.name.clone(),
                    shard: shard.to_owned(),
                    epoch,
                };
                self.request.acquire.clear();
                return (right, interrupted);
            }
            self.request.acquire.push(LeaseClaim {
                subject: subject.clone(),
                epoch,
                beat,
                is_continued,
            });
        }
        unreachable!("the second exchange returns")
    }

    async fn exchange(&mut self) -> LeaseAnswer {
        self.request.beats.push(self.request.beat);
        self.request.beat += 1;
        let answer = self.history.exchange(&self.request).await.unwrap();
        assert!(!answer.is_name_taken);
        self.request.server = Some(answer.server.clone());
        answer
    }
}

fn start_with(run: &NewRun, right: &RunRight) -> RunStart {
    RunStart {
        device: "sw1".to_owned(),
        time: run.queued,
        cause: StartCause::New(run.clone()),
        kind: run.kind,
        release: None,
        right: Some(right.clone()),
    }
}

#[tokio::test]
async fn a_lease_that_its_owner_takes_back_makes_no_result_late() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let address = server.address(&server.new_database());
    let store = StoreLocation::parse(address.as_ref(), "".as_ref()).unwrap();
    let history = HistoryStore::open(store.into()).unwrap();
    let time = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
    let run = |second: i64| NewRun {
        kind: RunKind::Apply,
        ..new_run(time(second))
    };
    let finish = async |run: &NewRun, right: &RunRight| {
        let result = EndedRun {
            right: Some(right.clone()),
            ..ended(run.clone())
        };
        history.finish(Arc::new(result)).await.unwrap();
        history
            .query(|reader| Ok((reader.late_runs()?, reader.puppetdb_queue()?.waiting)))
            .await
            .unwrap()
    };
    let mut a = TestLeases::of(&history, "a");
    let (first, _) = a.acquire(false).await;
    let (early, lost) = (run(0), run(1));
    let started = history.begin(start_with(&early, &first)).await.unwrap();
    assert!(matches!(started, BeginAnswer::Started(_)), "{started:?}");
    // The process takes its expired lease back: its run goes on, and has its result.
    let (second, interrupted) = a.acquire(true).await;
    assert!((second.epoch > first.epoch, interrupted) == (true, 0));
    assert_eq!(finish(&early, &first).await, (0, 1));
    // No run begins with the lease that has expired.
    let started = history.begin(start_with(&lost, &first)).await.unwrap();
    assert!(
        matches!(started, BeginAnswer::Elsewhere { .. }),
        "{started:?}"
    );
    // An apply that is lost is in the way of none after it.
    let started = history.begin(start_with(&lost, &second)).await.unwrap();
    assert!(matches!(started, BeginAnswer::Started(_)), "{started:?}");
    let (third, interrupted) = a.acquire(true).await;
    assert_eq!(interrupted, 0);
    let started = history.begin(start_with(&run(2), &third)).await.unwrap();
    assert!(matches!(started, BeginAnswer::Started(_)), "{started:?}");
    // The successor of a process that was killed has none of its runs, but its results.
    let (fourth, interrupted) = a.acquire(false).await;
    assert_eq!(interrupted, 1);
    assert_eq!(finish(&run(3), &third).await, (0, 2));
    // Another node: a result is late, and PuppetDB gets it.
    let mut b = TestLeases::of(&history, "b");
    b.acquire(false).await;
    assert_eq!(finish(&run(4), &fourth).await, (1, 3));
}

#[tokio::test]
async fn a_request_waits_for_the_apply_of_another_shard_and_reports_it_once() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let address = server.address(&server.new_database());
    let store = StoreLocation::parse(address.as_ref(), "".as_ref()).unwrap();
    let history = HistoryStore::open(store.into()).unwrap();
    let time: Timestamp = "2026-11-24T12:00:00Z".parse().unwrap();
    let apply = NewRun {
        kind: RunKind::Apply,
        ..new_run(time)
    };
    // The device moves to another site, and its first run goes on.
    let (mut a, mut b) = (TestLeases::of(&history, "a"), TestLeases::of(&history, "b"));
    let (first, _) = a.acquire_shard("berlin/0", false).await;
    let (second, _) = b.acquire_shard("munich/0", false).await;
    let started = history.begin(start_with(&apply, &first)).await.unwrap();
    assert!(matches!(started, BeginAnswer::Started(_)), "{started:?}");
    let request = NewRun {
        uuid: RunUuid::new(time),
        follows_windows: false,
        started: None,
        ..apply.clone()
    };
    let run = request.clone();
    let added = history.write(move |writer| writer.add_run(&run));
    let requested = added.await.unwrap();
    let begin = async || {
        let start = RunStart {
            cause: StartCause::Request(requested),
            ..start_with(&request, &second)
        };
        history.begin(start).await.unwrap()
    };
    let error = async || {
        let read = history.query(move |reader| reader.run(requested)).await;
        read.unwrap().unwrap().error
    };
    for expected in [true, false] {
        let answer = begin().await;
        let BeginAnswer::Elsewhere { reason, is_new } = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(is_new, expected, "it is logged once");
        assert_eq!(reason, "device runs elsewhere: on the node a");
        assert_eq!(error().await, Some(reason));
    }
    let plan = new_run(time);
    let started = history.begin(start_with(&plan, &second)).await.unwrap();
    assert!(matches!(started, BeginAnswer::Started(_)), "{started:?}");
    let result = EndedRun {
        right: Some(first),
        ..ended(apply)
    };
    history.finish(Arc::new(result)).await.unwrap();
    let started = begin().await;
    assert!(matches!(started, BeginAnswer::Started(_)), "{started:?}");
    assert_eq!(error().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_begins_although_another_process_is_paused_while_it_writes() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let address = server.address(&server.new_database());
    let store = StoreLocation::parse(address.as_ref(), "".as_ref()).unwrap();
    let open = || HistoryStore::open(store.clone().into()).unwrap();
    let (history, paused) = (open(), open());
    let (sender, paused_now) = std::sync::mpsc::channel();
    let (resume, resumed) = std::sync::mpsc::channel::<()>();
    let write = task::spawn(async move {
        let write = paused.write(move |_| {
            sender.send(()).unwrap();
            let _ = resumed.recv();
            Ok(())
        });
        write.await
    });
    paused_now.recv().unwrap();
    let run = new_run("2026-11-24T12:00:00Z".parse().unwrap());
    let start = RunStart {
        device: run.device.clone(),
        time: run.queued,
        kind: run.kind,
        cause: StartCause::New(run),
        release: None,
        right: None,
    };
    let started = within_limit(history.begin(start)).await.unwrap();
    assert!(matches!(started, BeginAnswer::Started(_)), "{started:?}");
    // The server has ended its transaction.
    drop(resume);
    write.await.unwrap().unwrap_err();
}

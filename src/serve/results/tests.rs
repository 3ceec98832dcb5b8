//! Spooled results are stored once and in their order, and none prevents the others.

use std::cell::RefCell;
use std::fs;

use jiff::{SignedDuration, Timestamp};
use test_support::postgresql::PostgreSql;
use test_support::write_fault::WRITE_FAULTS;

use super::*;
use crate::history::runs::{RunEntry, RunFilter};
use crate::history::{HistoryOptions, HistoryStore, StoreLocation};
use crate::report::RunStatus;
use crate::serve::run_store::tests::{ended, new_run};
use crate::serve::spool::SpoolSize;

struct Sandbox {
    dir: tempfile::TempDir,
    spool: Arc<Spool>,
}

fn time(minute: i64) -> Timestamp {
    let start: Timestamp = "2026-11-24T12:00:00Z".parse().unwrap();
    start + SignedDuration::from_mins(minute)
}

impl Sandbox {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let spool = Arc::new(Spool::open(dir.path().join("spool"), 1 << 30).unwrap());
        Self { dir, spool }
    }

    /// Spools the results of one device.
    fn add(&self, results: impl IntoIterator<Item = EndedRun>) {
        for result in results {
            self.spool.add(&result).unwrap();
        }
    }

    /// Delivers. Returns the devices whose results were stored.
    async fn deliver(&self, history: &HistoryStore) -> Result<Vec<Timestamp>, RunStoreError> {
        let stored = RefCell::new(Vec::new());
        while !self.spool.is_empty() {
            deliver(history, &self.spool, |result, _| {
                stored.borrow_mut().push(result.run.queued);
            })
            .await?;
        }
        Ok(stored.into_inner())
    }
}

async fn runs(history: &HistoryStore) -> Vec<RunEntry> {
    let all = RunFilter {
        limit: 10_000,
        ..RunFilter::default()
    };
    history
        .query(move |reader| reader.runs(&all))
        .await
        .unwrap()
}

#[tokio::test]
async fn results_are_stored_once_after_a_kill_between_store_and_removal() {
    let sandbox = Sandbox::new();
    let options = HistoryOptions::at(sandbox.dir.path().join("history.db"));
    let history = HistoryStore::open(options).unwrap();
    sandbox.add((0..3).map(|minute| ended(new_run(time(minute)))));
    let first = sandbox.spool.oldest(1).remove(0).path;
    let text = fs::read(&first).unwrap();
    assert_eq!(
        sandbox.deliver(&history).await.unwrap(),
        [0, 1, 2].map(time)
    );
    // The process was killed before it removed a result, and the next one finds it.
    fs::write(&first, text).unwrap();
    let spool = Spool::open(sandbox.dir.path().join("spool"), 1 << 30).unwrap();
    let after = Sandbox {
        spool: Arc::new(spool),
        ..sandbox
    };
    assert_eq!(after.deliver(&history).await.unwrap(), [time(0)]);
    assert!(after.spool.is_empty());
    assert_eq!(runs(&history).await.len(), 3);
}

#[tokio::test]
async fn results_of_several_devices_are_stored_together_and_those_of_one_in_order() {
    let sandbox = Sandbox::new();
    let options = HistoryOptions::at(sandbox.dir.path().join("history.db"));
    let history = HistoryStore::open(options).unwrap();
    sandbox.add((0..6).map(|minute| {
        let device = format!("sw{}", minute % 3);
        ended(NewRun {
            device,
            ..new_run(time(minute))
        })
    }));
    deliver(&history, &sandbox.spool, |_, _| ()).await.unwrap();
    let queued = |runs: Vec<RunEntry>| {
        let mut queued: Vec<Timestamp> = runs.iter().map(|run| run.queued).collect();
        queued.sort();
        queued
    };
    assert_eq!(queued(runs(&history).await), [0, 1, 2].map(time));
    deliver(&history, &sandbox.spool, |_, _| ()).await.unwrap();
    assert_eq!(runs(&history).await.len(), 6);
    assert!(sandbox.spool.is_empty());
}

#[tokio::test]
async fn a_full_store_takes_the_results_when_there_is_space() {
    let sandbox = Sandbox::new();
    let options = HistoryOptions {
        max_size: Some(512 << 10),
        ..HistoryOptions::at(sandbox.dir.path().join("history.db"))
    };
    let history = HistoryStore::open(options).unwrap();
    let large = |minute| {
        let mut result = ended(new_run(time(minute)));
        let text = (0..40_000).map(|line| format!("{minute} {line}\n"));
        result.completed.configuration = Some(text.collect());
        result
    };
    sandbox.add((0..12).map(large));
    let error = sandbox.deliver(&history).await.unwrap_err();
    assert_eq!(error.problem, StoreProblem::Unreachable, "{error}");
    assert!(!sandbox.spool.is_empty());
    history.set_max_size(Some(1 << 30)).await.unwrap();
    sandbox.deliver(&history).await.unwrap();
    assert_eq!(runs(&history).await.len(), 12);
}

#[tokio::test]
async fn a_damaged_file_does_not_prevent_the_others_and_waits() {
    let sandbox = Sandbox::new();
    let options = HistoryOptions::at(sandbox.dir.path().join("history.db"));
    let history = HistoryStore::open(options).unwrap();
    sandbox.add((0..3).map(|minute| ended(new_run(time(minute)))));
    let files = fs::read_dir(sandbox.dir.path().join("spool")).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    let text = fs::read(&files[1]).unwrap();
    fs::write(&files[1], "{").unwrap();
    assert_eq!(sandbox.deliver(&history).await.unwrap(), [0, 2].map(time));
    assert_eq!(runs(&history).await.len(), 2);
    let size = sandbox.spool.size();
    let reason = size.not_taken.unwrap();
    assert!(reason.contains("is damaged"), "{reason}");
    assert_eq!(size.results, 1);
    // Such as that of another version of the program.
    fs::write(&files[1], text).unwrap();
    sandbox.spool.retry();
    assert_eq!(sandbox.deliver(&history).await.unwrap(), [time(1)]);
    // Who removes one does without its run.
    sandbox.add([ended(new_run(time(3)))]);
    fs::remove_file(sandbox.spool.oldest(1).remove(0).path).unwrap();
    sandbox.deliver(&history).await.unwrap();
    assert_eq!(sandbox.spool.size(), SpoolSize::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_result_ends_its_run_and_does_not_prevent_the_others() {
    let sandbox = Sandbox::new();
    let path = sandbox.dir.path().join("history.db");
    let history = HistoryStore::open(HistoryOptions::at(&path)).unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE ON run WHEN NEW.hint = 'refused'
        BEGIN SELECT RAISE(ABORT, 'no such value'); END";
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch(refuse).unwrap();
    sets_aside(sandbox, &history).await;
}

/// By a constraint, by an index whose limit is exceeded, and by a value out of range.
#[tokio::test(flavor = "multi_thread")]
async fn what_postgresql_refuses_ends_its_run_and_does_not_prevent_the_others() {
    for (refusal, error) in [
        (
            "ALTER TABLE switchtender.run ADD CHECK (hint IS DISTINCT FROM 'refused')",
            "violates check constraint",
        ),
        (
            "CREATE INDEX ON switchtender.run ((CASE hint WHEN 'refused' THEN public.too_long() END))",
            "maximum size is",
        ),
        (
            "ALTER TABLE switchtender.run ADD CHECK
                 (hint IS NULL OR length(hint) / (CASE hint WHEN 'refused' THEN 0 ELSE 1 END) > 0)",
            "division by zero",
        ),
    ] {
        let Some(server) = PostgreSql::shared() else {
            return;
        };
        let database = server.new_database();
        let location = StoreLocation::parse(server.address(&database).as_ref(), "".as_ref());
        let history = HistoryStore::open(location.unwrap().into()).unwrap();
        // A text of an index that does not shrink.
        let long = "(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 1000) AS n)";
        let function = format!(
            "CREATE FUNCTION public.too_long() RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$ SELECT {long} $$"
        );
        server.execute(&database, &function);
        server.execute(&database, refusal);
        let found = sets_aside(Sandbox::new(), &history).await;
        assert!(found.contains(error), "{found}");
    }
}

/// Delivers a result that the store refuses, and another one. Returns the error of its run.
async fn sets_aside(sandbox: Sandbox, history: &HistoryStore) -> String {
    let mut refused = ended(new_run(time(0)));
    refused.completed.record.hint = Some("refused".to_owned());
    sandbox.add([refused, ended(new_run(time(1)))]);
    assert_eq!(sandbox.deliver(history).await.unwrap(), [0, 1].map(time));
    let mut found = runs(history).await;
    found.sort_by_key(|run| run.queued);
    let statuses: Vec<RunStatus> = found.iter().map(|run| run.status).collect();
    assert_eq!(statuses, [RunStatus::NotRun, RunStatus::Unchanged]);
    let error = found[0].error.clone().unwrap();
    assert!(error.starts_with("the store refuses the result"), "{error}");
    let left = fs::read_dir(sandbox.dir.path().join("spool/refused")).unwrap();
    assert_eq!(left.count(), 1);
    error
}

/// A database that permits no writes, or whose disk is full: the results wait, and each is stored once.
#[tokio::test(flavor = "multi_thread")]
async fn results_wait_for_a_database_without_writes_or_space() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    for fault in WRITE_FAULTS {
        let database = server.new_database();
        let location = StoreLocation::parse(server.address(&database).as_ref(), "".as_ref());
        let history = HistoryStore::open(location.unwrap().into()).unwrap();
        // The setting is that of new connections.
        let alter = |statement: &str| {
            server.execute(&database, statement);
            let ends = format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'
                     AND pid <> pg_backend_pid()"
            );
            server.execute("postgres", &ends);
        };
        let sandbox = Sandbox::new();
        sandbox.add((0..3).map(|minute| ended(new_run(time(minute)))));
        alter(&fault.begin(&database));
        // The first attempt can be on a connection that the server has ended.
        let mut error = sandbox.deliver(&history).await.unwrap_err();
        if !error.text.contains(fault.reason) {
            error = sandbox.deliver(&history).await.unwrap_err();
        }
        assert!(error.text.contains(fault.reason), "{error}");
        assert_eq!(error.problem, StoreProblem::Unreachable);
        assert_eq!(sandbox.spool.size().results, 3);
        alter(&fault.end(&database));
        while sandbox.deliver(&history).await.is_err() {}
        assert!(sandbox.spool.is_empty());
        assert_eq!(runs(&history).await.len(), 3);
    }
}

#[test]
fn results_of_an_outage_are_stored_once_though_the_server_is_killed_meanwhile() {
    const RESULTS: i64 = 200;
    if PostgreSql::shared().is_none() {
        return;
    }
    let server = PostgreSql::start(None).unwrap();
    let database = server.new_database();
    let location = StoreLocation::parse(server.address(&database).as_ref(), "".as_ref()).unwrap();
    let history = HistoryStore::open(location.into()).unwrap();
    let sandbox = Sandbox::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    server.leave();
    sandbox.add((0..RESULTS).map(|minute| ended(new_run(time(minute)))));
    let error = runtime.block_on(sandbox.deliver(&history)).unwrap_err();
    assert_eq!(error.problem, StoreProblem::Unreachable, "{error}");
    server.come_back();
    let count = || server.execute(&database, "SELECT count(*) FROM switchtender.run");
    std::thread::scope(|scope| {
        let killer = scope.spawn(|| {
            for kills in 1..=3 {
                while count().parse::<i64>().unwrap() < kills * RESULTS / 4 {}
                server.kill_and_wait();
            }
        });
        // As `serve`, which tries it again.
        while runtime.block_on(sandbox.deliver(&history)).is_err() {}
        killer.join().unwrap();
    });
    let mut found = runtime.block_on(runs(&history));
    found.sort_by_key(|run| run.id);
    let times: Vec<Timestamp> = found.iter().map(|run| run.queued).collect();
    assert_eq!(times, (0..RESULTS).map(time).collect::<Vec<_>>());
    assert!(found.iter().all(|run| run.status == RunStatus::Unchanged));
}

#[test]
fn results_wait_while_the_server_permits_no_writes() {
    if PostgreSql::shared().is_none() {
        return;
    }
    let server = PostgreSql::start(None).unwrap();
    let location = server.address(&server.new_database());
    let location = StoreLocation::parse(location.as_ref(), "".as_ref()).unwrap();
    let history = HistoryStore::open(location.into()).unwrap();
    let permit = |is_read_only: bool| {
        let value = if is_read_only { "on" } else { "off" };
        let set = format!("ALTER SYSTEM SET default_transaction_read_only = {value}");
        server.execute("postgres", &set);
        server.kill_and_wait();
    };
    let sandbox = Sandbox::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    sandbox.add((0..3).map(|minute| ended(new_run(time(minute)))));
    permit(true);
    loop {
        // The first error is that of the killed server.
        let error = runtime.block_on(sandbox.deliver(&history)).unwrap_err();
        assert_eq!(error.problem, StoreProblem::Unreachable, "{error}");
        if error.to_string().contains("permits no writes") {
            break;
        }
    }
    permit(false);
    while runtime.block_on(sandbox.deliver(&history)).is_err() {}
    assert_eq!(runtime.block_on(runs(&history)).len(), 3);
}

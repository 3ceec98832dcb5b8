//! What is removed from a store: by age, by size, and of the queue for PuppetDB.

use std::sync::Arc;

use super::*;

#[test]
fn full_store_refuses_runs_and_stores_again_after_retention() {
    let sandbox = Sandbox::with_size(1 << 20);
    assert_eq!(sandbox.history.space().unwrap().problem, None);
    let large = |minute| {
        let mut run = completed(RunKind::Apply, minute, &[("Vlan[1]", "changed")]);
        Arc::make_mut(&mut run.record.logs[0]).message = "x".repeat(20_000);
        run
    };
    let mut stored = 0;
    let mut problem = None;
    let error = loop {
        match sandbox.try_add("sw1", large(stored)) {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        problem = problem.or(sandbox.history.space().unwrap().problem);
        assert!(stored < 1000, "the limit has no effect");
    };
    assert!(matches!(error, HistoryError::Full), "{error}");
    // New runs are refused while results can still be stored.
    let problem = problem.expect("a warning before the store is full");
    assert!(problem.contains("is full: "), "{problem}");
    let filter = RunFilter {
        limit: 2000,
        ..RunFilter::default()
    };
    let runs = sandbox.read(|reader| reader.runs(&filter));
    assert_eq!(
        i64::try_from(runs.len()).unwrap(),
        stored,
        "no stored run is lost"
    );
    assert_eq!(sandbox.defects(), [""; 0]);
    let retention = Retention {
        age: Duration::from_secs(3600 * 24 * 365 * 100),
        size: Some(512 << 10),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let removed = runtime
        .block_on(sandbox.history.retain(retention, time(0)))
        .unwrap();
    assert!(removed.runs > 0);
    assert_eq!(sandbox.history.space().unwrap().problem, None);
    sandbox.add("sw1", large(stored));
}

fn old_runs_are_removed_except_the_last_of_a_device(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    for hour in 0..10 {
        let run = completed(RunKind::Apply, 60 * hour, &[("Vlan[1]", "changed")]);
        sandbox.add("sw1", run);
    }
    sandbox.add("sw2", completed(RunKind::Apply, 0, &[]));
    let retention = Retention {
        age: Duration::from_secs(5 * 60 * 60),
        size: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let removed = runtime
        .block_on(sandbox.history.retain(retention, time(10 * 60)))
        .unwrap();
    assert_eq!(removed.runs, 5);
    let filter = RunFilter {
        limit: 100,
        ..RunFilter::default()
    };
    let runs = sandbox.read(|reader| reader.runs(&filter));
    let of = |name: &str| runs.iter().filter(|run| run.device == name).count();
    assert_eq!((of("sw1"), of("sw2")), (5, 1));
    assert_eq!(sandbox.defects(), [""; 0]);
}

pub(super) fn retain(
    sandbox: &Sandbox,
    retention: Retention,
    now: Timestamp,
) -> maintenance::RetentionResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let removed = runtime.block_on(sandbox.history.retain(retention, now));
    removed.unwrap()
}

fn counters_do_not_fall_when_old_runs_are_removed(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    for hour in 0..10 {
        sandbox.add("sw1", completed(RunKind::Apply, 60 * hour, &[]));
    }
    let retention = Retention {
        age: Duration::from_secs(60 * 60),
        size: None,
    };
    let removed = retain(&sandbox, retention, time(10 * 60));
    assert_eq!(removed.runs, 9);
    let totals = sandbox.read(|reader| reader.total_counts());
    assert_eq!(totals, BTreeMap::from([("unchanged".to_owned(), 10)]));
}

fn wrong_clock_removes_nothing(engine: TestEngine) {
    const DAY: i64 = 24 * 60;
    let sandbox = Sandbox::on(engine);
    for day in 0..100 {
        let apply = completed(RunKind::Apply, day * DAY, &[]);
        sandbox.add("sw1", apply);
        sandbox.add("sw2", completed(RunKind::Plan, day * DAY, &[]));
    }
    let retention = Retention {
        age: Duration::from_secs(90 * 24 * 60 * 60),
        size: None,
    };
    let command = [command(99 * DAY, 10)];
    let add = move |writer: &HistoryWriter<'_>| {
        writer.add_puppetdb_commands(&command, None, time(99 * DAY))
    };
    sandbox.history.write_and_wait(add).unwrap();
    assert_eq!(retain(&sandbox, retention, time(100 * DAY)).runs, 20);
    // The clock is five years ahead, and a device runs.
    let wrong = (100 + 5 * 365) * DAY;
    assert_eq!(retain(&sandbox, retention, time(wrong)).runs, 0);
    sandbox.add("sw1", completed(RunKind::Apply, wrong, &[]));
    assert!(retain(&sandbox, retention, time(wrong)).runs <= 2);
    assert_eq!(sandbox.read(|reader| reader.puppetdb_queue()).waiting, 1);
    // It is right again.
    sandbox.add("sw1", completed(RunKind::Apply, 101 * DAY, &[]));
    assert!(retain(&sandbox, retention, time(101 * DAY)).runs <= 2);
}

fn runs_of_undelivered_webhook_messages_stay(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let set = |writer: &HistoryWriter<'_>| writer.set_webhooks(&["chat".to_owned()]);
    sandbox.history.write_and_wait(set).unwrap();
    for hour in 0..10 {
        sandbox.add("sw1", completed(RunKind::Apply, 60 * hour, &[]));
    }
    let retention = Retention {
        age: Duration::from_secs(5 * 60 * 60),
        size: None,
    };
    assert_eq!(retain(&sandbox, retention, time(10 * 60)).runs, 0);
    let third = sandbox.read(|reader| reader.ended_runs("chat", 3)).unwrap()[2].sequence;
    let advance = move |writer: &HistoryWriter<'_>| writer.advance_webhook("chat", third);
    sandbox.history.write_and_wait(advance).unwrap();
    assert_eq!(retain(&sandbox, retention, time(10 * 60)).runs, 3);
    // A receiver that is gone does not keep runs for ever.
    for day in 1..60 {
        sandbox.add("sw1", completed(RunKind::Apply, 24 * 60 * day, &[]));
    }
    assert!(retain(&sandbox, retention, time(60 * 24 * 60)).runs > 7);
}

fn command(minute: i64, size: usize) -> puppetdb_commands::PuppetDbCommand {
    puppetdb_commands::PuppetDbCommand {
        command: "store_report".into(),
        version: 8,
        certname: "sw1".to_owned(),
        produced: crate::clock::puppet_time(time(minute)),
        body: "x".repeat(size),
    }
}

fn commands_for_puppetdb_are_limited_in_size_and_age(engine: TestEngine) {
    const SIZE: u64 = 4 << 20;
    let sandbox = Sandbox::on(engine);
    let add = |minute: i64| {
        let write = move |writer: &HistoryWriter<'_>| {
            let commands = [command(minute, 10_000)];
            writer.add_puppetdb_commands(&commands, Some(SIZE), time(minute))
        };
        sandbox.history.write_and_wait(write).unwrap()
    };
    sandbox.add("sw1", completed(RunKind::Apply, 0, &[]));
    sandbox.add("sw1", completed(RunKind::Apply, 1, &[]));
    let lost: usize = (0..400).map(add).sum();
    let queue = sandbox.read(|reader| reader.puppetdb_queue());
    assert!(queue.bytes <= SIZE / 10, "{queue:?}");
    assert!(queue.waiting > 20, "{queue:?}");
    assert_eq!(queue.waiting + queue.lost["full"], 400, "{queue:?}");
    assert_eq!(u64::try_from(lost).unwrap(), queue.lost["full"]);
    // The oldest are gone, and the history has space.
    let first = sandbox.read(|reader| reader.puppetdb_commands(1));
    let oldest = i64::try_from(400 - queue.waiting).unwrap();
    assert_eq!(first[0].produced, crate::clock::puppet_time(time(oldest)));
    let retention = Retention {
        age: Duration::from_secs(3600 * 24 * 365),
        size: None,
    };
    assert_eq!(retain(&sandbox, retention, time(400)).runs, 0);
    for day in 1..=7 {
        sandbox.add("sw1", completed(RunKind::Apply, 24 * 60 * day, &[]));
    }
    let week = 7 * 24 * 60;
    retain(&sandbox, retention, time(400 + week));
    let queue = sandbox.read(|reader| reader.puppetdb_queue());
    assert_eq!((queue.waiting, queue.bytes), (0, 0), "{queue:?}");
    assert!(queue.lost["old"] > 20, "{queue:?}");
}

on_each_engine! {
    old_runs_are_removed_except_the_last_of_a_device,
    counters_do_not_fall_when_old_runs_are_removed,
    wrong_clock_removes_nothing,
    runs_of_undelivered_webhook_messages_stay,
    commands_for_puppetdb_are_limited_in_size_and_age,
}

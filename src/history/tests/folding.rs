//! Unchanged runs are folded by device and day: when, what stays, and what still finds them.

use super::*;
use crate::history::folded_runs::FoldedDay;
use crate::history::idempotency::KeyedRequest;
use crate::history::puppetdb_commands::PuppetDbCommand;
use crate::history::run_key::RunKey;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const UNCHANGED: [(&str, &str); 1] = [("Vlan[1]", "unchanged")];

/// Minutes of three days: an apply, a plan, a change and two applies of `sw1`, and one run of `sw2`.
fn with_runs(engine: TestEngine) -> (Sandbox, [RunId; 6]) {
    let sandbox = Sandbox::on(engine);
    let apply = |minute| completed(RunKind::Apply, minute, &UNCHANGED);
    let runs = [
        ("sw1", apply(0)),
        ("sw1", completed(RunKind::Plan, 30, &UNCHANGED)),
        ("sw2", apply(31)),
        (
            "sw1",
            completed(RunKind::Apply, 60, &[("Vlan[1]", "changed")]),
        ),
        ("sw1", apply(24 * 60)),
        ("sw1", apply(48 * 60)),
    ];
    let runs = runs.map(|(device, run)| sandbox.add(device, run).0);
    (sandbox, runs)
}

impl Sandbox {
    fn fold(&self, minute: i64) -> usize {
        let folding = self.history.fold_unchanged(DAY, time(minute));
        tokio::runtime::Runtime::new()
            .unwrap()
            .block_on(folding)
            .unwrap()
    }

    fn numbers(&self) -> Vec<i64> {
        let all = RunFilter {
            limit: 100,
            ..RunFilter::default()
        };
        let mut runs: Vec<i64> = (self.read(|reader| reader.runs(&all)).iter())
            .map(|run| run.id.0)
            .collect();
        runs.sort_unstable();
        runs
    }

    fn folded(&self, key: RunKey) -> Option<FoldedDay> {
        self.read(|reader| reader.folded_run(key))
    }
}

fn old_unchanged_runs_are_one_row_by_device_and_day(engine: TestEngine) {
    let (sandbox, [first, second, other, changed, third, last]) = with_runs(engine);
    let uuid = sandbox.read(|reader| reader.run(second)).unwrap().uuid;
    let counts = sandbox.read(|reader| reader.period_counts(time(0), time(60), 1));
    assert_eq!(sandbox.fold(49 * 60), 3);
    assert_eq!(sandbox.fold(49 * 60), 0, "all is folded");
    // The last run of each device stays, and so does the change.
    assert_eq!(sandbox.numbers(), [other.0, changed.0, last.0]);
    let days = sandbox.read(|reader| reader.folded_days("sw1", 10));
    let [newest, oldest] = &days[..] else {
        panic!("two days: {days:?}");
    };
    assert_eq!((newest.runs, newest.first_run), (1, third));
    assert_eq!((oldest.runs, oldest.plans), (2, 1));
    assert_eq!((oldest.first_run, oldest.last_run), (first, second));
    assert_eq!((oldest.first_ended, oldest.last_ended), (time(0), time(30)));
    for key in [
        RunKey::Number(first),
        RunKey::Number(second),
        RunKey::Uuid(uuid),
    ] {
        assert_eq!(sandbox.folded(key).as_ref(), Some(oldest), "{key}");
    }
    // Numbers of other devices can lie between those of a day.
    for run in [other, changed, last, RunId(4711)] {
        assert_eq!(sandbox.folded(RunKey::Number(run)), None, "{run}");
    }
    assert_eq!(sandbox.folded(RunKey::Uuid(RunUuid::new(time(0)))), None);
    let after = sandbox.read(|reader| reader.period_counts(time(0), time(60), 1));
    assert_eq!(after, counts, "charts have folded runs");
    let text = format!(
        "run {second} is folded: it was one of 2 unchanged runs of sw1 on {} (runs {first} to {second})",
        oldest.day
    );
    assert_eq!(oldest.describe(second), text);
    let check = HistoryCheck::begin(sandbox.history.location()).unwrap();
    assert_eq!(check.finish().folded_runs, 3);
}

fn counts_of_a_limited_sender_have_folded_runs(engine: TestEngine) {
    let (sandbox, _) = with_runs(engine);
    let counts = |device: &'static str| {
        let is_visible = move |known: &KnownDevice| known.name == device;
        let found = sandbox.history.read_visible(&is_visible, |reader| {
            let periods = reader.period_counts(time(0), time(49 * 60), 1)?;
            Ok((periods, reader.total_counts()?))
        });
        found.unwrap()
    };
    let before = ["sw1", "sw2"].map(counts);
    assert_eq!(sandbox.fold(49 * 60), 3);
    assert_eq!(["sw1", "sw2"].map(counts), before);
    let is_other = |known: &KnownDevice| known.name == "sw2";
    let read = |query: fn(&HistoryReader<'_>) -> Result<Vec<FoldedDay>, HistoryError>| {
        sandbox.history.read_visible(&is_other, query).unwrap()
    };
    assert_eq!(read(|reader| reader.folded_days("sw1", 10)), []);
    let run = read(|reader| {
        Ok(reader
            .folded_run(RunKey::Number(RunId(1)))?
            .into_iter()
            .collect())
    });
    assert_eq!(run, [], "the run of a device that is not visible");
}

fn runs_wait_for_webhooks_and_for_puppetdb(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let write = |write: fn(&HistoryWriter<'_>) -> Result<(), HistoryError>| {
        sandbox.history.write_and_wait(write).unwrap();
    };
    write(|writer| writer.set_webhooks(&["chat".to_owned()]));
    for minute in [0, 30, 48 * 60] {
        sandbox.add("sw1", completed(RunKind::Apply, minute, &UNCHANGED));
    }
    assert_eq!(sandbox.fold(49 * 60), 0, "the webhook has no message");
    write(|writer| writer.advance_webhook("chat", 1));
    assert_eq!(sandbox.fold(49 * 60), 1);
    write(|writer| writer.advance_webhook("chat", 3));
    write(|writer| {
        let command = PuppetDbCommand {
            command: "store_report".into(),
            version: 8,
            certname: "sw1".to_owned(),
            produced: crate::clock::puppet_time(time(30)),
            body: "{}".to_owned(),
        };
        let lost = writer.add_puppetdb_commands(&[command], None, time(48 * 60))?;
        assert_eq!(lost, 0);
        Ok(())
    });
    assert_eq!(sandbox.fold(49 * 60), 0, "PuppetDB has no report");
    write(|writer| writer.remove_puppetdb_command(1));
    assert_eq!(sandbox.fold(49 * 60), 1);
}

fn runs_that_are_still_needed_are_not_folded(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let apply = |minute| completed(RunKind::Apply, minute, &UNCHANGED);
    let skipped = completed(RunKind::Apply, 1, &[("Vlan[1]", "skipped")]);
    let (noted, _) = sandbox.add("sw1", skipped);
    sandbox.add("sw1", unreachable(2));
    let (reachable, _) = sandbox.add("sw1", apply(3));
    let (keyed, _) = sandbox.add("sw1", apply(4));
    let request = KeyedRequest {
        sender: "alice".to_owned(),
        key: "one".to_owned(),
        request: "apply sw1".to_owned(),
    };
    let time_of_key = time(30 * 60);
    let added = sandbox
        .history
        .write_and_wait(move |writer| writer.add_key(&request, keyed, time_of_key));
    added.unwrap();
    sandbox.add("sw1", apply(50 * 60));
    assert_eq!(sandbox.fold(51 * 60), 0);
    let numbers = sandbox.numbers();
    for run in [noted, reachable, keyed] {
        assert!(numbers.contains(&run.0), "{run}");
    }
    // The key is valid for a day.
    sandbox.add("sw1", apply(90 * 60));
    assert_eq!(sandbox.fold(91 * 60), 2);
    assert!(!sandbox.numbers().contains(&keyed.0));
}

fn repeated_result_of_a_folded_run_is_stored_once(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let repeated = new_run("sw1", RunKind::Apply, time(0));
    let (first, run) = (repeated.clone(), completed(RunKind::Apply, 0, &UNCHANGED));
    let write = sandbox.history.write_and_wait(move |writer| {
        let id = writer.add_run(&first)?;
        writer.finish_run(id, &run)?;
        Ok(id)
    });
    let id = write.unwrap();
    sandbox.add("sw1", completed(RunKind::Apply, 48 * 60, &UNCHANGED));
    assert_eq!(sandbox.fold(49 * 60), 1);
    let again = sandbox.history.write_and_wait(move |writer| {
        let id = writer.add_run(&repeated)?;
        Ok((id, writer.has_result(id)?))
    });
    assert_eq!(again.unwrap(), (id, true));
}

fn folded_days_end_with_the_retention(engine: TestEngine) {
    let (sandbox, _) = with_runs(engine);
    assert_eq!(sandbox.fold(49 * 60), 3);
    for minute in [72 * 60, 96 * 60, 120 * 60] {
        sandbox.add("sw1", completed(RunKind::Apply, minute, &UNCHANGED));
    }
    let retention = Retention {
        age: 3 * DAY,
        size: None,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let retained = runtime.block_on(sandbox.history.retain(retention, time(121 * 60)));
    retained.unwrap();
    let days = sandbox.read(|reader| reader.folded_days("sw1", 10));
    assert_eq!(days, []);
}

on_each_engine! {
    old_unchanged_runs_are_one_row_by_device_and_day,
    counts_of_a_limited_sender_have_folded_runs,
    runs_wait_for_webhooks_and_for_puppetdb,
    runs_that_are_still_needed_are_not_folded,
    repeated_result_of_a_folded_run_is_stored_once,
    folded_days_end_with_the_retention,
}

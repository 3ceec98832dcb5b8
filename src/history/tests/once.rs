//! What is written twice is stored once.

use super::*;

fn repeated_runs_are_one(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let run = new_run("sw1", RunKind::Apply, time(0));
    let add = || {
        let run = run.clone();
        let added = sandbox
            .history
            .write_and_wait(move |writer| writer.add_run(&run));
        added.unwrap()
    };
    let (first, second) = (add(), add());
    assert_eq!(first, second);
    let all = RunFilter {
        limit: 10,
        ..RunFilter::default()
    };
    assert_eq!(sandbox.read(|reader| reader.runs(&all)).len(), 1);
}

fn results_are_known_to_be_stored(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let has_result = |run| {
        let found = sandbox
            .history
            .write_and_wait(move |writer| writer.has_result(run));
        found.unwrap()
    };
    let (run, _) = sandbox.add("sw1", completed(RunKind::Apply, 0, &[]));
    assert!(has_result(run));
    let open = new_run("sw1", RunKind::Apply, time(1));
    let open = sandbox
        .history
        .write_and_wait(move |writer| {
            let run = writer.add_run(&open)?;
            writer.interrupt_runs(time(2))?;
            Ok(run)
        })
        .unwrap();
    // What became of the device is not known: a late result counts.
    assert!(!has_result(open));
}

fn several_processes_write_at_once(engine: TestEngine) {
    const PROCESSES: i64 = 4;
    const RUNS: i64 = 20;
    let sandbox = Sandbox::on(engine);
    let location = sandbox.history.location();
    std::thread::scope(|scope| {
        for process in 0..PROCESSES {
            scope.spawn(move || {
                let history = HistoryStore::open(location.clone().into()).unwrap();
                for minute in 0..RUNS {
                    let name = format!("sw{}", (minute + process) % 3);
                    let result = completed(RunKind::Apply, minute, &[("Vlan[1]", "changed")]);
                    let new = new_run(&name, RunKind::Apply, time(minute));
                    let stored = history.write_and_wait(move |writer| {
                        let run = writer.add_run(&new)?;
                        writer.finish_run(run, &result)
                    });
                    stored.unwrap();
                }
            });
        }
    });
    let totals = sandbox.read(|reader| reader.total_counts());
    let expected = u64::try_from(PROCESSES * RUNS).unwrap();
    assert_eq!(totals, BTreeMap::from([("changed".to_owned(), expected)]));
    assert_eq!(
        sandbox.read(|reader| reader.fleet_size(&FleetFilter::default())),
        3
    );
}

on_each_engine! {
    repeated_runs_are_one,
    results_are_known_to_be_stored,
    several_processes_write_at_once,
}

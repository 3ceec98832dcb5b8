//! Stores are copied between engines and exported: all tables, all rows, and the numbers that follow.

use std::path::Path;

use super::*;
use crate::history::puppetdb_commands::PuppetDbCommand;
use crate::history::store_copy::{self, CopiedTable};

/// A store on an engine with rows in many tables, of which the last run is removed.
fn filled(engine: TestEngine) -> Sandbox {
    let sandbox = Sandbox::on(engine);
    let write = |write: fn(&HistoryWriter<'_>) -> Result<(), HistoryError>| {
        sandbox.history.write_and_wait(write).unwrap();
    };
    write(|writer| writer.set_webhooks(&["chat".to_owned()]));
    // More rows than one statement has.
    for minute in 0..300 {
        let words = ["changed", "failed", "unchanged"];
        let word = words[usize::try_from(minute % 3).unwrap()];
        let run = CompletedRun {
            configuration: Some(format!("hostname sw1\nminute {minute}\n")),
            ..completed(RunKind::Apply, minute, &[("Vlan[1]", word)])
        };
        sandbox.add("sw1", run);
    }
    sandbox.add("sw2", unreachable(301));
    write(|writer| {
        let command = PuppetDbCommand {
            command: "store_report".into(),
            version: 8,
            certname: "sw1".to_owned(),
            produced: crate::clock::puppet_time(time(30)),
            body: "{\"ü\": true}".to_owned(),
        };
        let lost = writer.add_puppetdb_commands(&[command], None, time(48 * 60))?;
        assert_eq!(lost, 0);
        writer.advance_webhook("chat", 4)?;
        let last = writer.add_run(&new_run("sw3", RunKind::Plan, time(302)))?;
        writer
            .connection
            .execute("DELETE FROM run WHERE id = ?1", [last.0])?;
        Ok(())
    });
    sandbox
}

/// What a store has, as its readers see it.
fn content(history: &HistoryStore) -> impl PartialEq + std::fmt::Debug + use<> {
    let read = history.read(|reader| {
        let all = RunFilter {
            limit: 1000,
            ..RunFilter::default()
        };
        let runs = reader.runs(&all)?;
        let details: Vec<_> = (runs.iter())
            .map(|run| reader.run_detail(run.id).map(|found| found.unwrap().record))
            .collect::<Result<_, _>>()?;
        let ended = reader.ended_runs("chat", 1000)?.unwrap();
        Ok((
            runs,
            format!("{details:?}"),
            ended.len(),
            reader.puppetdb_queue()?,
            reader.puppetdb_commands(10)?,
            reader.configuration_at("sw1", time(100))?,
            reader.total_counts()?,
            reader.period_counts(time(0), time(301), 1)?,
        ))
    });
    read.unwrap()
}

fn target(engine: TestEngine, directory: &Path) -> StoreLocation {
    match engine {
        TestEngine::Sqlite => StoreLocation::File(directory.join("copy.db")),
        TestEngine::Postgres(server) => server.new_database(),
    }
}

/// The engines of this machine.
fn engines() -> Vec<TestEngine> {
    let server = server::DatabaseServer::shared().map(TestEngine::Postgres);
    [TestEngine::Sqlite].into_iter().chain(server).collect()
}

fn copy_has_all_rows_and_goes_on(engine: TestEngine) {
    for other in engines() {
        let sandbox = filled(engine);
        let before = content(&sandbox.history);
        let next = sandbox.history.read(|reader| {
            let all = RunFilter {
                limit: 1,
                ..RunFilter::default()
            };
            Ok(reader.runs(&all)?[0].id.0 + 2)
        });
        let from = sandbox.history.location().clone();
        let directory = sandbox.directory;
        drop(sandbox.history);
        let to = target(other, directory.path());
        let all = copied(&from, &to).unwrap();
        let names: Vec<&str> = all.iter().map(|table| &*table.table).collect();
        assert!(
            names.contains(&"run") && names.contains(&"state_key"),
            "{names:?}"
        );
        let history = HistoryStore::open(to.clone().into()).unwrap();
        assert_eq!(content(&history), before, "{other:?}");
        // A number is never used again, and the triggers work.
        let sandbox = Sandbox { history, directory };
        let (run, _) = sandbox.add("sw1", completed(RunKind::Apply, 400, &[]));
        assert_eq!(run.0, next.unwrap(), "{other:?}");
        let ended = sandbox
            .read(|reader| reader.ended_runs("chat", 1000))
            .unwrap();
        assert_eq!(ended.last().unwrap().run.id, run);
        assert_eq!(sandbox.defects(), Vec::<String>::new());
        drop(sandbox.history);
        let again = copied(&from, &to).unwrap_err().to_string();
        assert!(again.contains("is not empty (its table `"), "{again}");
    }
}

/// Connections of a store end soon after it is dropped.
fn copied(from: &StoreLocation, to: &StoreLocation) -> Result<Vec<CopiedTable>, HistoryError> {
    for _ in 0..600 {
        let copied = store_copy::copy(from, to);
        let error = copied.as_ref().err().map(ToString::to_string);
        if error.is_none_or(|error| !error.contains("other processes")) {
            return copied;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("other processes use the store");
}

fn export_is_a_complete_file_without_what_is_private(engine: TestEngine) {
    let sandbox = filled(engine);
    let sealed = sandbox.history.write_and_wait(|writer| {
        let insert = "INSERT INTO device_state (device, file, body, epoch) VALUES (?1, ?2, ?3, 0)";
        let (device, file, body) = ("sw1", "undo/1.json", vec![1_u8, 2, 3]);
        writer
            .connection
            .execute(insert, rusqlite::params![device, file, body])
    });
    sealed.unwrap();
    let before = content(&sandbox.history);
    let path = sandbox.directory.path().join("export.db");
    sandbox.history.export(&path).unwrap();
    let exists = sandbox.history.export(&path).unwrap_err().to_string();
    assert_eq!(exists, format!("{} exists", path.display()));
    let copy = HistoryStore::open(HistoryOptions::at(&path)).unwrap();
    assert_eq!(content(&copy), before);
    let check = HistoryCheck::begin(copy.location()).unwrap().finish();
    assert_eq!((check.defects.len(), check.devices), (0, 3));
    let count = "SELECT count(*) FROM device_state";
    let state = copy.read(|reader| {
        let rows: i64 = reader.connection.query_row(count, [], |row| row.get(0))?;
        Ok(rows)
    });
    assert_eq!(state.unwrap(), 0);
}

#[test]
fn a_database_in_use_is_not_copied() {
    let Some(server) = server::DatabaseServer::shared() else {
        return;
    };
    let sandbox = filled(TestEngine::Postgres(server));
    let to = StoreLocation::File(sandbox.directory.path().join("copy.db"));
    let error = store_copy::copy(sandbox.history.location(), &to).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("other processes use postgresql://"),
        "{text}"
    );
}

#[test]
fn tables_of_both_engines_have_one_order_for_copies() {
    let mut lists = Vec::new();
    for engine in engines() {
        let sandbox = Sandbox::on(engine);
        let tables = sandbox.read(|reader| crate::history::tables::tables(reader.connection));
        assert!(tables.len() > 20, "{tables:?}");
        lists.push(tables);
    }
    assert!(lists.iter().all(|list| *list == lists[0]), "{lists:?}");
}

on_each_engine! {
    copy_has_all_rows_and_goes_on,
    export_is_a_complete_file_without_what_is_private,
}

//! Tests of the history: what was written is read again, and stays after errors.

mod copying;
mod drift;
mod findings;
mod folding;
mod gone;
mod host_locks;
mod limits;
mod once;
mod outage;
mod releases;
mod roles;
mod server;
mod state_table;
mod statements;
mod unusable;
mod visible;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::device_state::{KnownDevice, Pause};
use super::devices::{DeviceResult, FleetFilter, FleetOrder};
use super::runs::RunFilter;
use super::*;
use crate::report::{RunRecord, RunStatus};
use crate::run_kind::RunKind;
use server::{TestEngine, on_each_engine};

/// An empty history on an engine.
struct Sandbox {
    directory: tempfile::TempDir,
    history: HistoryStore,
}

impl Sandbox {
    fn on(engine: TestEngine) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let location = match engine {
            TestEngine::Sqlite => StoreLocation::File(directory.path().join("history.db")),
            TestEngine::Postgres(server) => server.new_database(),
        };
        Self {
            history: HistoryStore::open(location.into()).unwrap(),
            directory,
        }
    }

    /// A file of a maximum size.
    fn with_size(max_size: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.db");
        let options = HistoryOptions {
            max_size: Some(max_size),
            ..HistoryOptions::at(path)
        };
        Self {
            history: HistoryStore::open(options).unwrap(),
            directory,
        }
    }

    fn defects(&self) -> Vec<String> {
        let check = HistoryCheck::begin(self.history.location()).unwrap();
        check.finish().defects
    }

    fn add(&self, device: &str, completed: CompletedRun) -> (RunId, RunEffect) {
        self.try_add(device, completed).unwrap()
    }

    fn try_add(
        &self,
        device: &str,
        completed: CompletedRun,
    ) -> Result<(RunId, RunEffect), HistoryError> {
        let new_run = new_run(device, completed.record.kind, completed.ended);
        self.history.write_and_wait(move |writer| {
            let run = writer.add_run(&new_run)?;
            Ok((run, writer.finish_run(run, &completed)?))
        })
    }

    fn read<T>(&self, query: impl FnOnce(&HistoryReader<'_>) -> Result<T, HistoryError>) -> T {
        self.history.read(query).unwrap()
    }
}

fn new_run(device: &str, kind: RunKind, time: Timestamp) -> NewRun {
    NewRun {
        uuid: RunUuid::new(time),
        device: device.to_owned(),
        kind,
        follows_windows: false,
        requester: Requester::schedule(),
        priority: 0,
        queued: time,
        started: Some(time),
    }
}

fn time(minute: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + minute * 60).unwrap()
}

/// A report of resources with their statuses; `noop` and `failure` are the statuses of an event.
fn report(resources: &[(&str, &str)]) -> RunRecord {
    let statuses = resources.iter().map(|(reference, word)| {
        let event = match *word {
            "changed" => "success",
            "pending" => "noop",
            "failed" => "failure",
            _ => "",
        };
        let events = match event {
            "" => json!([]),
            _ => json!([{
                "name": "name_changed", "property": "name", "status": event,
                "previous_value": "old", "desired_value": 7, "message": "changed old to 7",
                "corrective_change": false, "time": "2026-11-24T12:00:00.000000000+00:00",
            }]),
        };
        let operations = match *word {
            "changed" => json!([
                {"mode": ["vlan 42"], "line": "name seven", "outcome": "done",
                 "device_message": null, "milliseconds": 12, "attributes": []},
            ]),
            _ => json!([]),
        };
        let status = json!({
            "file": "site.pp", "line": 3, "evaluation_time": 0.5, "failed": *word == "failed",
            "changed": *word == "changed", "skipped": *word == "skipped",
            "skip_reason": (*word == "skipped").then_some("it is for a host"),
            "events": events, "operations": operations, "corrective_change": false,
        });
        ((*reference).to_owned(), status)
    });
    let statuses: serde_json::Map<String, Value> = statuses.collect();
    let report = json!({
        "host": "sw1", "time": "2026-11-24T12:00:00Z", "status": "changed",
        "configuration_version": 1234, "transaction_completed": true,
        "resource_statuses": statuses,
        "logs": [{"level": "notice", "source": "Puppet", "message": "Applied catalog",
                  "time": "2026-11-24T12:00:00Z", "file": null, "line": null}],
        "metrics": {"time": {"values": [["total", "Total", 1.25]]}},
    });
    RunRecord::of_json(report.to_string().as_bytes()).unwrap()
}

fn completed(kind: RunKind, minute: i64, resources: &[(&str, &str)]) -> CompletedRun {
    let facts = [("model".to_owned(), "C9300".to_owned())];
    CompletedRun {
        record: RunRecord {
            kind,
            facts: Some(facts.into()),
            ..report(resources)
        },
        ended: time(minute),
        configuration: None,
        line_classes: None,
        origin: Some(CatalogOrigin {
            path: "/state".to_owned(),
            is_authoritative: true,
        }),
    }
}

fn unreachable(minute: i64) -> CompletedRun {
    let record = RunRecord::lost(RunKind::Apply, "cannot connect".to_owned());
    CompletedRun {
        record: RunRecord {
            is_unreachable: true,
            ..record
        },
        ..completed(RunKind::Apply, minute, &[])
    }
}

fn run_is_read_as_it_was_written(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let resources = [("Vlan[1]", "unchanged"), ("Vlan[42]", "changed")];
    let (run, _) = sandbox.add("sw1", completed(RunKind::Apply, 0, &resources));
    let detail = sandbox.read(|reader| reader.run_detail(run)).unwrap();
    assert_eq!(detail.run.status, RunStatus::Changed);
    assert_eq!(detail.run.started, Some(time(0)));
    let record = detail.record.unwrap();
    assert_eq!(record.version().as_deref(), Some("1234"));
    assert_eq!(
        record.phases(),
        BTreeMap::from([("total".to_owned(), 1.25)])
    );
    assert_eq!(record.logs[0].message, "Applied catalog");
    let [resource] = &record.resources[..] else {
        panic!("one resource was not unchanged: {:?}", record.resources);
    };
    assert_eq!(resource.reference.as_str(), "Vlan[42]");
    assert_eq!(
        (resource.file.as_deref(), resource.line),
        (Some("site.pp"), Some(3))
    );
    assert_eq!(resource.events[0].desired_value, Some(7.into()));
    assert_eq!(resource.operations[0].text.as_deref(), Some("name seven"));
    assert_eq!(resource.operations[0].mode, ["vlan 42"]);
    assert_eq!(resource.operations[0].milliseconds, Some(12));
    let all = sandbox.read(|reader| reader.resources("sw1", 10, 0));
    let all: Vec<_> = all
        .iter()
        .map(|one| (&*one.resource, one.status.word()))
        .collect();
    assert_eq!(all, [("Vlan[1]", "unchanged"), ("Vlan[42]", "changed")]);
}

fn resource_history_has_only_runs_with_an_effect(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    for (minute, word) in ["changed", "unchanged", "skipped", "skipped", "failed"]
        .into_iter()
        .enumerate()
    {
        let minute = i64::try_from(minute).unwrap();
        sandbox.add(
            "sw1",
            completed(RunKind::Apply, minute, &[("Vlan[1]", word)]),
        );
    }
    let found = sandbox.read(|reader| reader.resource_history(None, "Vlan[1]", None, 10));
    let words = found.iter().map(|one| one.resource.result().word());
    let words: Vec<&str> = words.collect();
    assert_eq!(words, ["failed", "skipped", "changed"]);
    let other = sandbox.read(|reader| reader.resource_history(Some("sw2"), "Vlan[1]", None, 10));
    assert!(other.is_empty());
}

fn removed_resources_are_not_listed(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let both = [("Vlan[1]", "unchanged"), ("Vlan[2]", "unchanged")];
    sandbox.add("sw1", completed(RunKind::Apply, 0, &both));
    sandbox.add("sw1", completed(RunKind::Apply, 1, &both[1..]));
    // A run that ended early knows nothing about the resources.
    sandbox.add("sw1", unreachable(2));
    let all = sandbox.read(|reader| reader.resources("sw1", 10, 0));
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].resource, "Vlan[2]");
}

fn connection_changes_are_reported_once(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let unchanged = |minute| completed(RunKind::Apply, minute, &[("Vlan[1]", "unchanged")]);
    let changes = [
        unchanged(0),
        unreachable(1),
        unreachable(2),
        unchanged(3),
        unchanged(4),
    ]
    .map(|run| sandbox.add("sw1", run).1.connection);
    let expected = [
        None,
        Some(ConnectionChange::Unreachable),
        None,
        Some(ConnectionChange::Reachable),
        None,
    ];
    assert_eq!(changes, expected);
}

fn configurations_of_all_times_are_restored(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    // More than a chain of differences.
    let text = |minute: i64| {
        let line = |number: i64| {
            if number == minute % 7 {
                format!("interface {number}\n description of minute {minute}\n")
            } else {
                format!("interface {number}\n")
            }
        };
        (0..50).map(line).collect::<String>()
    };
    for minute in 0..80 {
        let run = CompletedRun {
            configuration: Some(text(minute)),
            ..completed(RunKind::Apply, minute, &[])
        };
        sandbox.add("sw1", run);
        // The same text is no version.
        let run = CompletedRun {
            configuration: Some(text(minute)),
            ..completed(RunKind::Apply, minute, &[])
        };
        sandbox.add("sw1", run);
    }
    let check = |minutes: std::ops::Range<i64>| {
        for minute in minutes {
            let found = sandbox.read(|reader| reader.configuration_at("sw1", time(minute)));
            assert_eq!(found.unwrap().1, text(minute), "minute {minute}");
        }
    };
    check(0..80);
    let versions = sandbox.read(|reader| reader.configurations("sw1", 1000, 0));
    assert_eq!(versions.len(), 80);
    let diff = sandbox.read(|reader| reader.configuration_difference("sw1", time(3), time(3)));
    assert_eq!(diff, "");
    let diff = sandbox.read(|reader| reader.configuration_difference("sw1", time(3), time(4)));
    assert!(diff.contains("\n- description of minute 3\n"), "{diff}");
    assert!(diff.contains("\n+ description of minute 4\n"), "{diff}");
    sandbox
        .history
        .write_and_wait(|writer| {
            let device = writer.device_id("sw1", time(0))?;
            writer.remove_configurations(device, time(40))
        })
        .unwrap();
    check(40..80);
    let versions = sandbox.read(|reader| reader.configurations("sw1", 1000, 0));
    assert_eq!(versions.len(), 40);
}

fn fleet_is_filtered_and_counted(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let devices = ["sw1", "sw2", "lb1"].map(|name| KnownDevice {
        name: name.to_owned(),
        platform: if name == "lb1" { "f5" } else { "ios" }.to_owned(),
        site: Some("berlin".to_owned()),
        labels: BTreeMap::from([("role".to_owned(), "access".to_owned())]),
        address: "192.0.2.1".to_owned(),
        guarantee: None,
    });
    let all = devices.to_vec();
    sandbox
        .history
        .write_and_wait(move |writer| writer.update_devices(&all, true, time(0)))
        .unwrap();
    sandbox.add(
        "sw2",
        completed(RunKind::Plan, 1, &[("Vlan[1]", "pending")]),
    );
    sandbox.add(
        "lb1",
        completed(RunKind::Apply, 1, &[("Vlan[1]", "failed")]),
    );
    let names = |filter: FleetFilter| {
        let filter = FleetFilter {
            limit: 10,
            ..filter
        };
        let found = sandbox.read(|reader| reader.fleet(&filter));
        let names: Vec<String> = found.into_iter().map(|device| device.name).collect();
        let size = sandbox.read(|reader| reader.fleet_size(&filter));
        assert_eq!(names.len(), usize::try_from(size).unwrap());
        names.join(" ")
    };
    assert_eq!(names(FleetFilter::default()), "lb1 sw1 sw2");
    let by_status = FleetFilter {
        order: FleetOrder::Status,
        ..FleetFilter::default()
    };
    assert_eq!(names(by_status), "lb1 sw2 sw1");
    let with_drift = FleetFilter {
        has_drift: true,
        ..FleetFilter::default()
    };
    assert_eq!(names(with_drift), "sw2");
    let named = FleetFilter {
        names: Some(vec!["sw2".to_owned(), "lb1".to_owned(), "none".to_owned()]),
        ..FleetFilter::default()
    };
    assert_eq!(names(named), "lb1 sw2");
    let without_run = FleetFilter {
        result: Some(DeviceResult::Never),
        ..FleetFilter::default()
    };
    assert_eq!(names(without_run), "sw1");
    let counts = sandbox.read(|reader| reader.fleet_counts());
    assert_eq!(counts.devices, 3);
    assert_eq!(counts.statuses["never"], 1);
    assert_eq!(counts.with_drift, 1);
    let periods = sandbox.read(|reader| reader.period_counts(time(0), time(60), 1));
    let failed: u32 = periods
        .iter()
        .filter_map(|one| one.runs.get("failed"))
        .sum();
    assert_eq!(failed, 1);
    assert_eq!(periods.last().unwrap().devices_with_drift, 1);
    let rest = devices[..1].to_vec();
    sandbox
        .history
        .write_and_wait(move |writer| writer.update_devices(&rest, true, time(2)))
        .unwrap();
    assert_eq!(names(FleetFilter::default()), "sw1");
}

fn schedule_and_requests_outlive_the_process(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let pause = Pause {
        since: time(1),
        reason: "maintenance".to_owned(),
        by: Requester {
            kind: RequesterKind::Page,
            name: "ops".to_owned(),
        },
    };
    let stored = pause.clone();
    sandbox
        .history
        .write_and_wait(move |writer| {
            writer.set_due("sw1", Some(time(30)), 2, time(0))?;
            writer.set_pause("sw2", Some(&stored), time(1))?;
            let request = NewRun {
                started: None,
                ..new_run("sw1", RunKind::Apply, time(2))
            };
            writer.add_run(&request)?;
            // What the windows permit is decided again after a restart.
            writer.add_run(&NewRun {
                uuid: RunUuid::new(time(2)),
                follows_windows: true,
                ..request
            })?;
            writer.add_run(&new_run("sw2", RunKind::Plan, time(2)))
        })
        .unwrap();
    let location = sandbox.history.location().clone();
    let history = HistoryStore::open(location.into()).unwrap();
    let interrupted = history
        .write_and_wait(|writer| writer.interrupt_runs(time(3)))
        .unwrap();
    assert_eq!(interrupted, 1);
    let schedules = history.read(|reader| reader.schedules()).unwrap();
    assert_eq!(schedules["sw1"].next_due, Some(time(30)));
    assert_eq!(schedules["sw1"].failures, 2);
    assert_eq!(schedules["sw2"].pause, Some(pause));
    let queued = history.read(|reader| reader.queued_runs()).unwrap();
    let queued: Vec<(&str, bool)> = queued
        .iter()
        .map(|(_, queued)| (&*queued.device, queued.follows_windows))
        .collect();
    assert_eq!(queued, [("sw1", false), ("sw1", true)]);
    let filter = RunFilter {
        status: Some(RunStatus::Interrupted),
        limit: 10,
        ..RunFilter::default()
    };
    let runs = history.read(|reader| reader.runs(&filter)).unwrap();
    assert_eq!(runs[0].device, "sw2");
}

fn failed_write_does_not_affect_others(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let error = sandbox.history.write_and_wait(|writer| {
        writer.add_run(&new_run("sw1", RunKind::Plan, time(0)))?;
        writer.finish_run(RunId(4711), &completed(RunKind::Plan, 0, &[]))
    });
    assert!(matches!(error, Err(HistoryError::Invalid(_))), "{error:?}");
    sandbox.add("sw2", completed(RunKind::Plan, 0, &[]));
    assert!(sandbox.read(|reader| reader.fleet_device("sw1")).is_none());
    assert!(sandbox.read(|reader| reader.fleet_device("sw2")).is_some());
}

#[test]
fn store_of_another_version_is_refused_and_stays() {
    let sandbox = Sandbox::on(TestEngine::Sqlite);
    let path = sandbox.directory.path().join("copy.db");
    for version in [0, 1, 3, 4711] {
        let _ = std::fs::remove_file(&path);
        sandbox.history.export(&path).unwrap();
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .pragma_update(None, "user_version", version)
            .unwrap();
        drop(connection);
        let before = std::fs::read(&path).unwrap();
        let opened = HistoryStore::open(HistoryOptions::at(&path)).map(|_| ());
        let checked = HistoryCheck::begin(&StoreLocation::File(path.clone())).map(|_| ());
        for error in [opened.unwrap_err(), checked.unwrap_err()] {
            let text = error.to_string();
            let has = format!("it has version {version}, and this program reads version 2: use ");
            assert!(text.starts_with(&has), "{text}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

fn failed_run_that_changed_the_device_is_a_change(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let resources = [("Vlan[1]", "changed"), ("Vlan[2]", "failed")];
    let (run, _) = sandbox.add("sw1", completed(RunKind::Apply, 3, &resources));
    let device = sandbox.read(|reader| reader.fleet_device("sw1")).unwrap();
    assert_eq!(device.last_status, Some(RunStatus::Failed));
    assert_eq!(device.last_changed, Some(time(3)));
    let entry = sandbox.read(|reader| reader.run(run)).unwrap();
    assert!(entry.is_change());
    let (run, _) = sandbox.add("sw2", completed(RunKind::Apply, 3, &resources[1..]));
    let device = sandbox.read(|reader| reader.fleet_device("sw2")).unwrap();
    assert_eq!(device.last_changed, None);
    assert!(!sandbox.read(|reader| reader.run(run)).unwrap().is_change());
}

#[test]
fn check_of_a_damaged_store_lists_the_defects() {
    let sandbox = Sandbox::on(TestEngine::Sqlite);
    for minute in 0..200 {
        let resources = [("Vlan[1]", "changed")];
        sandbox.add("sw1", completed(RunKind::Apply, minute, &resources));
    }
    let copy = sandbox.directory.path().join("copy.db");
    sandbox.history.export(&copy).unwrap();
    let mut bytes = std::fs::read(&copy).unwrap();
    // All pages after the tables of the schema.
    let from = bytes.len() / 2;
    bytes[from..].fill(0xa5);
    std::fs::write(&copy, bytes).unwrap();
    let check = HistoryCheck::begin(&StoreLocation::File(copy.clone()))
        .unwrap()
        .finish();
    assert!(!check.defects.is_empty());
    // Its reads say what is wrong, in no words of the library.
    let opened = HistoryStore::open(HistoryOptions::at(copy));
    let all = RunFilter {
        limit: 1000,
        ..RunFilter::default()
    };
    let read = opened.and_then(|history| history.read(|reader| reader.runs(&all)));
    assert!(matches!(read, Err(HistoryError::Damaged(_))), "{read:?}");
}

on_each_engine! {
    run_is_read_as_it_was_written,
    resource_history_has_only_runs_with_an_effect,
    removed_resources_are_not_listed,
    connection_changes_are_reported_once,
    configurations_of_all_times_are_restored,
    fleet_is_filtered_and_counted,
    schedule_and_requests_outlive_the_process,
    failed_write_does_not_affect_others,
    failed_run_that_changed_the_device_is_a_change,
}

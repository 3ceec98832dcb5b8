//! A simulated day: the dispatcher and the store with stub runs and a simulated clock.
//!
//! `SWITCHTENDER_SIMULATION=full cargo test --lib simulation -- --nocapture` simulates 10,000 devices for
//! a day and 500 for a week; without it, fewer devices for a shorter time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use test_support::stderr_note;

use super::dispatcher::{Dispatcher, PermittedRuns, RunToStart, ScheduledDevice};
use super::queue::QueueLimits;
use super::schedule::DeviceSchedule;
use crate::fleet::limits::Membership;
use crate::history::{
    CatalogOrigin, CompletedRun, HistoryCheck, HistoryOptions, HistoryStore, NewRun, Requester,
    RunUuid,
};
use crate::report::{RunRecord, RunStatus};
use crate::run_kind::RunKind;

/// The part of the runs in percent that find drift, and whose device is unreachable.
const DRIFT: u32 = 3;
const UNREACHABLE: u32 = 1;
/// Resources of each device.
const RESOURCES: usize = 20;
/// Log lines of an unchanged run.
const LOG: &str = "Applied catalog in 3.21 seconds";

struct Simulation {
    devices: usize,
    hours: i64,
    concurrency: usize,
}

#[derive(Debug)]
struct Outcome {
    runs: u64,
    latest: Duration,
    bytes: u64,
}

impl Simulation {
    fn run(&self) -> Outcome {
        let directory = tempfile::tempdir().unwrap();
        let history = HistoryStore::open(HistoryOptions::at(directory.path().join("history.db")));
        let history = history.unwrap();
        let mut dice = SmallRng::seed_from_u64(7);
        let mut now: Timestamp = "2026-11-24T00:00:00Z".parse().unwrap();
        let end = now + Duration::from_secs(self.hours.unsigned_abs() * 3600);
        let limits = QueueLimits {
            all: self.concurrency,
            per_site: Some(20),
            per_jump_host: None,
        };
        let mut dispatcher = Dispatcher::new(limits);
        dispatcher.set_devices(self.scheduled(), limits, &BTreeMap::new(), now);
        let mut running: BinaryHeap<Reverse<(Timestamp, u64)>> = BinaryHeap::new();
        let mut starts: BTreeMap<u64, (RunToStart, RunStatus, Timestamp)> = BTreeMap::new();
        let mut outcome = Outcome {
            runs: 0,
            latest: Duration::ZERO,
            bytes: 0,
        };
        let mut ended = Vec::new();
        while now < end {
            while let Some(Reverse((time, number))) = running.peek().copied()
                && time <= now
            {
                running.pop();
                let (start, status, started) = starts.remove(&number).unwrap();
                dispatcher.finish(&start.device, status.is_failure(), now);
                ended.push((start, status, started, now));
            }
            while let Some(start) = dispatcher.next_start(now, PermittedRuns::All) {
                let late = Duration::try_from(now.duration_since(start.due)).unwrap();
                outcome.latest = outcome.latest.max(late);
                outcome.runs += 1;
                let (status, seconds) = match dice.random_range(0..100) {
                    0..UNREACHABLE => (RunStatus::NotRun, 30.0),
                    roll if roll < UNREACHABLE + DRIFT => (RunStatus::Pending, 8.0),
                    _ => (RunStatus::Unchanged, dice.random_range(1.0..12.0)),
                };
                let finish = now + Duration::from_secs_f64(seconds);
                running.push(Reverse((finish, outcome.runs)));
                starts.insert(outcome.runs, (start, status, now));
            }
            if ended.len() >= 200 {
                store(&history, std::mem::take(&mut ended));
            }
            let next_end = running.peek().map(|Reverse((time, _))| *time);
            let next = dispatcher.wake_at().into_iter().chain(next_end).min();
            now = next.expect("a device is due").max(now);
        }
        store(&history, ended);
        outcome.bytes = HistoryCheck::begin(history.location())
            .unwrap()
            .finish()
            .bytes;
        outcome
    }

    fn scheduled(&self) -> Vec<ScheduledDevice> {
        let schedule = Arc::new(DeviceSchedule {
            interval: Duration::from_secs(1800),
            splay: Duration::from_secs(1800),
            windows: vec!["Mon-Fri 22:00-04:00".parse().unwrap()],
            zone: TimeZone::UTC,
            applies: true,
            needs_approval: false,
            priority: 0,
        });
        let devices = (0..self.devices).map(|number| ScheduledDevice {
            name: format!("sw{number:05}").into(),
            schedule: Arc::clone(&schedule),
            member: Membership {
                site: Some(format!("site{}", number % 100)),
                jump_host: None,
            },
        });
        devices.collect()
    }
}

fn store(history: &HistoryStore, ended: Vec<(RunToStart, RunStatus, Timestamp, Timestamp)>) {
    let written = history.write_and_wait(move |writer| {
        for (start, status, started, ended) in &ended {
            let run = writer.add_run(&NewRun {
                uuid: RunUuid::new(start.due),
                device: start.device.to_string(),
                kind: start.kind,
                follows_windows: true,
                requester: Requester::schedule(),
                priority: 0,
                queued: start.due,
                started: Some(*started),
            })?;
            writer.finish_run(run, &completed(start.kind, *status, *ended))?;
        }
        Ok(())
    });
    written.unwrap();
}

fn completed(kind: RunKind, status: RunStatus, ended: Timestamp) -> CompletedRun {
    let is_connected = status != RunStatus::NotRun;
    let statuses = (0..RESOURCES).map(|number| {
        let is_pending = number == 0 && status == RunStatus::Pending;
        let events = if is_pending {
            serde_json::json!([{
                "name": "description_changed", "property": "description", "status": "noop",
                "previous_value": "old", "desired_value": "new",
                "message": "current_value 'old', should be 'new' (noop)",
                "time": "2026-11-24T12:00:00.000000000+00:00",
            }])
        } else {
            serde_json::json!([])
        };
        let status = serde_json::json!({
            "file": "/etc/puppetlabs/code/site.pp", "line": number, "evaluation_time": 0.01,
            "events": events,
        });
        (format!("Network_interface[Ethernet{number}]"), status)
    });
    let statuses: serde_json::Map<String, serde_json::Value> = if is_connected {
        statuses.collect()
    } else {
        serde_json::Map::new()
    };
    let report = serde_json::json!({
        "host": "sw1", "time": "2026-11-24T12:00:00Z", "status": "unchanged",
        "configuration_version": "1790000000", "transaction_completed": is_connected,
        "resource_statuses": statuses,
        "logs": [{"level": "notice", "source": "Puppet", "message": LOG,
                  "time": "2026-11-24T12:00:00.000000000+00:00", "file": null, "line": null}],
        "metrics": {"time": {"values": [["total", "Total", 3.214], ["network_interface", "", 0.2]]}},
    });
    let record = if is_connected {
        let record = RunRecord::of_json(report.to_string().as_bytes()).unwrap();
        RunRecord {
            kind,
            facts: Some(BTreeMap::new()),
            ..record
        }
    } else {
        let error = "cannot connect to 192.0.2.1:22".to_owned();
        RunRecord {
            is_unreachable: true,
            ..RunRecord::lost(kind, error)
        }
    };
    CompletedRun {
        record,
        ended,
        configuration: None,
        line_classes: None,
        origin: Some(CatalogOrigin {
            path: "/state".to_owned(),
            is_authoritative: true,
        }),
    }
}

#[test]
fn simulation_of_scheduled_runs_is_never_a_minute_late() {
    let is_full = std::env::var("SWITCHTENDER_SIMULATION").is_ok_and(|text| text == "full");
    let simulations = if is_full {
        vec![(10_000, 24, 100), (500, 24 * 7, 20)]
    } else {
        vec![(2_000, 2, 20)]
    };
    for (devices, hours, concurrency) in simulations {
        let simulation = Simulation {
            devices,
            hours,
            concurrency,
        };
        let outcome = simulation.run();
        let per_run = outcome.bytes / outcome.runs.max(1);
        stderr_note::print(&format!(
            "{devices} devices, {hours} h: {} runs, at most {:.1} s late, {per_run} bytes per run",
            outcome.runs,
            outcome.latest.as_secs_f64()
        ));
        // Devices that fail have fewer runs.
        let expected = devices as u64 * hours.unsigned_abs() * 2;
        assert!(outcome.runs > expected * 95 / 100, "{outcome:?}");
        assert!(outcome.latest < Duration::from_secs(60), "{outcome:?}");
        assert!(per_run < 2048, "{outcome:?}");
    }
}

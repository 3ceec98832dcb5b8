//! Decides from the logs of the devices and of the database whether a write was stale, and a result lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::database::Database;
use switchtender_mocks::ExchangeLog;

/// Logs each acquisition of a lease, with the time of the database, which is on this host.
const WATCH: &str = "
    CREATE TABLE acquired (name TEXT, owner TEXT, epoch BIGINT, time DOUBLE PRECISION);
    CREATE FUNCTION log_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.owner IS NOT NULL AND (TG_OP = 'INSERT' OR NEW.epoch IS DISTINCT FROM OLD.epoch) THEN
            INSERT INTO acquired VALUES (NEW.name, NEW.owner, NEW.epoch, extract(epoch FROM clock_timestamp()));
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER log_lease AFTER INSERT OR UPDATE ON switchtender.lease
        FOR EACH ROW EXECUTE FUNCTION log_lease();
    INSERT INTO acquired SELECT name, owner, epoch, extract(epoch FROM clock_timestamp())
        FROM switchtender.lease WHERE owner IS NOT NULL";

/// The writes that a device received.
pub(super) struct DeviceLog {
    device: String,
    log: ExchangeLog,
    /// When the device started.
    started: Duration,
}

/// A write that a device received.
struct Write {
    node: String,
    value: String,
    time: Duration,
}

/// A value such as `nar17` of the process `a`, if a text has one.
fn value(text: &str) -> Option<(&str, &str)> {
    let words = text.split(|one: char| !one.is_ascii_alphanumeric());
    let mut values = words.filter_map(|word| {
        let (node, round) = word.strip_prefix('n')?.split_once('r')?;
        let is_value =
            node.len() == 1 && !round.is_empty() && round.bytes().all(|one| one.is_ascii_digit());
        is_value.then_some((node, word))
    });
    values.next()
}

/// The rows of the answer to a statement.
fn rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|line| !line.is_empty());
    let row = |line: &str| line.split('|').map(str::to_owned).collect();
    lines.map(row).collect()
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

impl DeviceLog {
    pub(super) fn new(device: &str, log: &ExchangeLog) -> Self {
        Self {
            device: device.to_owned(),
            log: log.clone(),
            started: now() - log.age(),
        }
    }

    fn writes(&self) -> Vec<Write> {
        let exchanges = self.log.exchanges();
        let writes = exchanges.iter().filter(|exchange| {
            let received = &exchange.received;
            // A refused write has no effect.
            let is_taken = exchange.status.is_none_or(|status| status < 300)
                && !exchange.answered.contains("<rpc-error>");
            is_taken && !received.starts_with("GET ") && !received.starts_with("do ")
        });
        let write = |exchange: &switchtender_mocks::Exchange| {
            let (node, value) = value(&exchange.received)?;
            Some(Write {
                node: node.to_owned(),
                value: value.to_owned(),
                time: self.started + Duration::from_millis(exchange.offset_ms),
            })
        };
        writes.filter_map(write).collect()
    }

    pub(super) fn count(&self) -> usize {
        self.writes().len()
    }
}

/// The leases that were acquired, and the results, as the database has them.
pub(super) struct Leases<'s> {
    server: &'s Database,
    database: String,
    /// Epochs by time, of each shard and process.
    acquired: BTreeMap<(String, String), Vec<(Duration, i64)>>,
    /// The shards of the devices.
    shards: BTreeMap<String, String>,
    /// Values of stored results by device, with their number.
    stored: BTreeMap<(String, String), usize>,
    /// Devices and times of runs that were interrupted.
    interrupted: Vec<(String, Duration, Duration)>,
    open: usize,
}

impl<'s> Leases<'s> {
    /// Logs the leases of a database from now on.
    pub(super) fn watch(server: &'s Database, database: &str) -> Self {
        server.execute(database, WATCH);
        Self {
            server,
            database: database.to_owned(),
            acquired: BTreeMap::new(),
            shards: BTreeMap::new(),
            stored: BTreeMap::new(),
            interrupted: Vec::new(),
            open: 0,
        }
    }

    fn rows(&self, statement: &str) -> Vec<Vec<String>> {
        rows(&self.server.execute(&self.database, statement))
    }

    /// Reads what was logged.
    pub(super) fn read(&mut self) {
        let seconds = |text: &str| Duration::from_secs_f64(text.parse().unwrap());
        let acquired = "SELECT replace(name, 'shard:', ''), owner, time, epoch FROM acquired
            WHERE name LIKE 'shard:%' ORDER BY epoch";
        for row in rows(&self.server.execute_on_all(&self.database, acquired)) {
            let of = (row[0].clone(), row[1].clone());
            let epochs = self.acquired.entry(of).or_default();
            epochs.push((seconds(&row[2]), row[3].parse().unwrap()));
        }
        let shards = "SELECT DISTINCT device.name, shard FROM switchtender.run
            JOIN switchtender.device ON device.id = run.device WHERE shard IS NOT NULL";
        for row in self.rows(shards) {
            self.shards.insert(row[0].clone(), row[1].clone());
        }
        // A value that a run has changed is no result of it.
        let results = "SELECT DISTINCT device.name, found[2], run.id FROM switchtender.resource_status
            JOIN switchtender.run ON run.id = resource_status.run JOIN switchtender.device ON device.id = run.device,
            regexp_matches(resource_status.record, '(previous_value\": ?\"|changed ''?)?(n[a-z]r[0-9]+)', 'g') AS found
            WHERE resource_status.status = 'changed' AND found[1] IS NULL";
        let runs = "SELECT device.name, started / 1000.0, ended / 1000.0 FROM switchtender.run
            JOIN switchtender.device ON device.id = run.device
            WHERE started IS NOT NULL AND run.status NOT IN ('changed', 'unchanged')";
        for row in self.rows(results) {
            *self
                .stored
                .entry((row[0].clone(), row[1].clone()))
                .or_default() += 1;
        }
        for row in self.rows(runs) {
            match &*row[2] {
                "" => self.open += 1,
                ended => self
                    .interrupted
                    .push((row[0].clone(), seconds(&row[1]), seconds(ended))),
            }
        }
    }

    /// The newest epoch that a process had for a device before a time. The clocks are equal up to a millisecond.
    fn epoch(&self, device: &str, node: &str, time: Duration) -> i64 {
        let shard = self.shards.get(device).cloned().unwrap_or_default();
        let acquired = self
            .acquired
            .get(&(shard, node.to_owned()))
            .into_iter()
            .flatten();
        let before = acquired.filter(|(acquired, _)| *acquired <= time + Duration::from_millis(1));
        before.map(|(_, epoch)| *epoch).max().unwrap_or(0)
    }
}

/// What the logs show.
pub(super) struct Verdict {
    pub(super) writes: usize,
    /// Acquired leases.
    pub(super) leases: usize,
    /// Writes after one of a newer lease.
    pub(super) stale: Vec<String>,
    /// Writes whose result is not stored, and whose run was not interrupted.
    pub(super) lost: Vec<String>,
    /// Results that are stored twice, and runs without an end.
    pub(super) twice: Vec<String>,
}

pub(super) fn judge(logs: &[DeviceLog], leases: &Leases<'_>) -> Verdict {
    let mut verdict = Verdict {
        writes: 0,
        leases: leases.acquired.values().map(Vec::len).sum(),
        stale: Vec::new(),
        lost: Vec::new(),
        twice: Vec::new(),
    };
    for log in logs {
        let device = &log.device;
        let mut newest = (0, String::new());
        let mut values = BTreeSet::new();
        for Write { node, value, time } in log.writes() {
            verdict.writes += 1;
            let epoch = leases.epoch(device, &node, time);
            if epoch < newest.0 {
                verdict.stale.push(format!(
                    "{device}: {value} with epoch {epoch} after {} with epoch {}",
                    newest.1, newest.0
                ));
            } else {
                newest = (epoch, value.clone());
            }
            let is_stored = leases.stored.contains_key(&(device.clone(), value.clone()));
            let mut interrupted = leases.interrupted.iter();
            let is_interrupted = interrupted.any(|(other, started, ended)| {
                other == device && *started <= time && time <= *ended
            });
            if !is_stored && !is_interrupted {
                verdict.lost.push(format!("{device}: {value} at {time:?}"));
            }
            values.insert(value);
        }
    }
    let twice = leases.stored.iter().filter(|(_, count)| **count > 1);
    verdict
        .twice
        .extend(twice.map(|((device, value), count)| format!("{device}: {value} {count} times")));
    if leases.open > 0 {
        verdict
            .twice
            .push(format!("{} runs have no end", leases.open));
    }
    verdict
}

//! The logs of the devices and of the database, as evidence for the judge.

use std::time::Duration;

use switchtender_mocks::{Exchange, ExchangeLog};
use test_support::postgresql::PostgreSql;

use super::database::Database;
use super::judge::{Acquisition, Evidence, RunOwner, Write};

/// Logs each acquisition of a lease. Its time is that since the boot, which no fault changes.
const WATCH: &str = "
    CREATE TABLE acquired (name TEXT, owner TEXT, epoch BIGINT, time TEXT);
    CREATE FUNCTION log_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.owner IS NOT NULL AND (TG_OP = 'INSERT' OR NEW.epoch IS DISTINCT FROM OLD.epoch) THEN
            INSERT INTO acquired
                VALUES (NEW.name, NEW.owner, NEW.epoch, split_part(pg_read_file('/proc/uptime'), ' ', 1));
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER log_lease AFTER INSERT OR UPDATE ON switchtender.lease
        FOR EACH ROW EXECUTE FUNCTION log_lease();
    INSERT INTO acquired SELECT name, owner, epoch, split_part(pg_read_file('/proc/uptime'), ' ', 1)
        FROM switchtender.lease WHERE owner IS NOT NULL";
const ACQUIRED: &str = "SELECT replace(name, 'shard:', ''), owner, epoch, time FROM acquired
    WHERE name LIKE 'shard:%'";
/// The number of shards has changed after the first runs.
const SHARDS: &str = "SELECT DISTINCT ON (device.name) device.name, shard FROM switchtender.run
    JOIN switchtender.device ON device.id = run.device WHERE shard IS NOT NULL
    ORDER BY device.name, run.id DESC";
/// A value that a run has replaced is no result of it.
const STORED: &str = "SELECT DISTINCT device.name, resource_status.resource, found[2], run.id
    FROM switchtender.resource_status JOIN switchtender.run ON run.id = resource_status.run
    JOIN switchtender.device ON device.id = run.device,
    regexp_matches(resource_status.record, '(previous_value\": ?\"|changed ''?)?(n[a-z]r[0-9]+)', 'g') AS found
    WHERE resource_status.status = 'changed' AND found[1] IS NULL";
const UNFINISHED: &str = "SELECT device.name, run.node, run.epoch, count(*) FROM switchtender.run
    JOIN switchtender.device ON device.id = run.device
    WHERE run.ended IS NOT NULL AND run.status NOT IN ('changed', 'unchanged') AND run.node IS NOT NULL
    GROUP BY 1, 2, 3";
const OPEN: &str =
    "SELECT count(*) FROM switchtender.run WHERE status = 'running' AND ended IS NULL";

/// The time since the boot.
pub(super) fn uptime() -> Duration {
    let text = std::fs::read_to_string("/proc/uptime").unwrap();
    seconds(text.split(' ').next().unwrap())
}

fn seconds(text: &str) -> Duration {
    Duration::from_secs_f64(text.parse().unwrap())
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

/// The writes that a device accepted.
pub(super) fn writes(log: &ExchangeLog) -> Vec<Write> {
    let started = uptime().saturating_sub(log.age());
    let exchanges = log.exchanges();
    assert!(exchanges.len() < 100_000, "the log of the device is full");
    let writes = exchanges.iter().filter(|exchange| {
        let received = &exchange.received;
        // A refused write has no effect.
        let is_taken = exchange.status.is_none_or(|status| status < 300)
            && !exchange.answered.contains("<rpc-error>");
        is_taken && !received.starts_with("GET ") && !received.starts_with("do ")
    });
    let write = |exchange: &Exchange| {
        let (node, value) = value(&exchange.received)?;
        Some(Write {
            node: node.to_owned(),
            value: value.to_owned(),
            time: started + Duration::from_millis(exchange.offset_ms),
        })
    };
    writes.filter_map(write).collect()
}

/// How often a process ended an earlier session at a device.
pub(super) fn ended_sessions(log: &ExchangeLog) -> usize {
    let exchanges = log.exchanges();
    let is_end = |exchange: &&Exchange| {
        let received = &exchange.received;
        received.contains("<kill-session>") || received.starts_with("clear line ")
    };
    exchanges.iter().filter(is_end).count()
}

/// The rows of the answer to a statement.
fn rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|line| !line.is_empty());
    let row = |line: &str| line.split('|').map(str::to_owned).collect();
    lines.map(row).collect()
}

/// Logs the leases of a database from now on.
pub(super) fn watch(server: &PostgreSql, database: &str) {
    server.execute(database, WATCH);
}

/// Reads what the database has after all processes have ended.
pub(super) fn read(server: &Database, database: &str) -> Evidence {
    let mut evidence = Evidence::default();
    let rows = |statement: &str| rows(&server.execute(database, statement));
    for acquired in server.execute_on_all(database, ACQUIRED) {
        for row in self::rows(&acquired) {
            evidence.acquired.insert(Acquisition {
                shard: row[0].clone(),
                epoch: row[2].parse().unwrap(),
                node: row[1].clone(),
                time: seconds(&row[3]),
            });
        }
    }
    for row in rows(SHARDS) {
        evidence.shards.insert(row[0].clone(), row[1].clone());
    }
    for row in rows(STORED) {
        let key = (row[0].clone(), row[1].clone(), row[2].clone());
        let runs = evidence.stored.entry(key).or_default();
        runs.insert(row[3].parse().unwrap());
    }
    for row in rows(UNFINISHED) {
        let owner = RunOwner {
            device: row[0].clone(),
            node: row[1].clone(),
            epoch: row[2].parse().unwrap(),
        };
        evidence.unfinished.insert(owner, row[3].parse().unwrap());
    }
    evidence.open = rows(OPEN)[0][0].parse().unwrap();
    evidence
}

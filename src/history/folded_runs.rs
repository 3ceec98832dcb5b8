//! Unchanged runs that are no longer stored one by one: one row for each device and day.
//!
//! A run is folded when it is old enough, tells nothing more than that nothing changed, and webhooks and PuppetDB
//! have received it. Its number and its UUID still find the row.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rusqlite::params;
use serde::Serialize;

use super::idempotency::VALID as KEY_VALID;
use super::run_key::RunKey;
use super::sql::{OptionalRow as _, Row};
use super::time_column::{milliseconds, time};
use super::{HistoryError, HistoryReader, HistoryStore, HistoryWriter, RunId, RunUuid};
use crate::run_kind::RunKind;

/// Runs that one transaction folds.
const STEP: usize = 500;
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// Days after that of its UUID on which a run can have ended.
const LONGEST_RUN: i64 = 2;

const COLUMNS: &str =
    "device.name AS device, day, runs, plans, first_run, folded_run.last_run AS last_run,
    first_ended, folded_run.last_ended AS last_ended";
const TABLES: &str = "folded_run JOIN device ON device.id = folded_run.device";

/// The unchanged runs of a device that ended on a day and are folded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct FoldedDay {
    pub(crate) device: String,
    /// The day in UTC.
    #[schema(value_type = String, format = Date)]
    pub(crate) day: Date,
    pub(crate) runs: u32,
    /// Those of the runs that were plans.
    pub(crate) plans: u32,
    /// The smallest and the largest number of the runs. Numbers between them can be of other devices.
    pub(crate) first_run: RunId,
    pub(crate) last_run: RunId,
    pub(crate) first_ended: Timestamp,
    pub(crate) last_ended: Timestamp,
}

impl FoldedDay {
    /// What became of one of its runs.
    pub(crate) fn describe(&self, run: impl std::fmt::Display) -> String {
        let (device, day, runs) = (&self.device, self.day, self.runs);
        let (first, last) = (self.first_run, self.last_run);
        if runs == 1 {
            return format!("run {run} is folded: it was an unchanged run of {device} on {day}");
        }
        format!(
            "run {run} is folded: it was one of {runs} unchanged runs of {device} on {day} (runs {first} to {last})"
        )
    }
}

/// A row while runs are added to it.
struct FoldedRow {
    runs: i64,
    plans: i64,
    first_run: i64,
    last_run: i64,
    first_ended: i64,
    last_ended: i64,
    /// Between spaces, so that a text search finds one.
    numbers: String,
    /// The random halves of their UUIDs, in the same order.
    keys: Vec<u8>,
    /// The hours of the day in which they ended.
    hours: Vec<i64>,
}

/// A run that is folded.
struct UnchangedRun {
    id: i64,
    uuid: RunUuid,
    device: i64,
    kind: RunKind,
    ended: i64,
}

impl HistoryStore {
    /// Folds unchanged runs of at least an age, in steps: other writes are not delayed. Returns their number.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) async fn fold_unchanged(
        &self,
        age: Duration,
        now: Timestamp,
    ) -> Result<usize, HistoryError> {
        let oldest = now.saturating_sub(age).unwrap_or(now);
        let waiting = self.query(|reader| reader.oldest_puppetdb_command());
        let before = waiting.await?.map_or(oldest, |waiting| oldest.min(waiting));
        let mut all = 0;
        loop {
            let folded = self
                .write(move |writer| writer.fold_some_runs(before, now))
                .await?;
            all += folded;
            if folded < STEP {
                return Ok(all);
            }
        }
    }
}

impl HistoryWriter<'_> {
    /// Folds some runs that ended before a time.
    fn fold_some_runs(&self, before: Timestamp, now: Timestamp) -> Result<usize, HistoryError> {
        let mut days: BTreeMap<(i64, i64), Vec<UnchangedRun>> = BTreeMap::new();
        let runs = self.unchanged_runs(before, now)?;
        let numbers: Vec<i64> = runs.iter().map(|run| run.id).collect();
        for run in runs {
            let day = run.ended.div_euclid(DAY) * DAY;
            days.entry((run.device, day)).or_default().push(run);
        }
        for ((device, day), runs) in days {
            let mut row = self.folded_row(device, day)?;
            for run in &runs {
                row.add(run, day);
            }
            self.write_folded_row(device, day, &row)?;
        }
        let list = serde_json::to_string(&numbers).expect("numbers are JSON");
        let mut delete = self.connection.prepare_cached(
            "DELETE FROM run WHERE id IN
                 (SELECT CAST(value AS BIGINT) FROM json_each(CAST(?1 AS TEXT)))",
        )?;
        delete.execute([list])?;
        Ok(numbers.len())
    }

    /// The oldest runs that can be folded. Those stay that a page or a request still needs: the last run of a device,
    /// one that ended an outage, one with notable resources, of an approval, with a valid key, or for a webhook.
    fn unchanged_runs(
        &self,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<UnchangedRun>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT run.id AS id, run.uuid AS uuid, run.device AS device, run.kind AS kind,
                 run.ended AS ended
             FROM run JOIN device ON device.id = run.device
             WHERE run.status = 'unchanged' AND run.ended < ?2
                 AND run.id IS DISTINCT FROM device.last_run AND connection_change IS NULL
                 AND NOT EXISTS (SELECT 1 FROM resource_status WHERE resource_status.run = run.id)
                 AND NOT EXISTS (SELECT 1 FROM approval WHERE plan_run = run.id)
                 AND NOT EXISTS (SELECT 1 FROM approval WHERE apply_run = run.id)
                 AND NOT EXISTS (SELECT 1 FROM idempotency_key
                     WHERE idempotency_key.run = run.id AND time > ?3)
                 AND NOT EXISTS (SELECT 1 FROM ended_run JOIN webhook
                     ON webhook.sequence < ended_run.sequence WHERE ended_run.run = run.id)
             ORDER BY run.ended LIMIT ?1",
        )?;
        let limit = i64::try_from(STEP).expect("a step is small");
        let valid = milliseconds(now - KEY_VALID);
        select.query_all(params![limit, milliseconds(before), valid], |row| {
            Ok(UnchangedRun {
                id: row.get("id")?,
                uuid: row.get("uuid")?,
                device: row.get("device")?,
                kind: row.get("kind")?,
                ended: row.get("ended")?,
            })
        })
    }

    fn folded_row(&self, device: i64, day: i64) -> Result<FoldedRow, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT runs, plans, first_run, last_run, first_ended, last_ended, numbers, keys, hours
             FROM folded_run WHERE device = ?1 AND day = ?2",
        )?;
        let found = select.query_row([device, day], |row| {
            let hours: String = row.get("hours")?;
            Ok(FoldedRow {
                runs: row.get("runs")?,
                plans: row.get("plans")?,
                first_run: row.get("first_run")?,
                last_run: row.get("last_run")?,
                first_ended: row.get("first_ended")?,
                last_ended: row.get("last_ended")?,
                numbers: row.get("numbers")?,
                keys: row.get("keys")?,
                hours: serde_json::from_str(&hours).unwrap_or_default(),
            })
        });
        Ok(found.optional()?.unwrap_or_else(FoldedRow::empty))
    }

    fn write_folded_row(&self, device: i64, day: i64, row: &FoldedRow) -> Result<(), HistoryError> {
        let hours = serde_json::to_string(&row.hours).expect("numbers are JSON");
        let mut upsert = self.connection.prepare_cached(
            "INSERT INTO folded_run (device, day, runs, plans, first_run, last_run, first_ended,
                 last_ended, numbers, keys, hours)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (device, day) DO UPDATE SET runs = ?3, plans = ?4, first_run = ?5,
                 last_run = ?6, first_ended = ?7, last_ended = ?8, numbers = ?9, keys = ?10,
                 hours = ?11",
        )?;
        upsert.execute(params![
            device,
            day,
            row.runs,
            row.plans,
            row.first_run,
            row.last_run,
            row.first_ended,
            row.last_ended,
            row.numbers,
            row.keys,
            hours
        ])?;
        Ok(())
    }

    /// The number of a run of a device that is folded.
    pub(super) fn folded_number(
        &self,
        device: i64,
        uuid: RunUuid,
    ) -> Result<Option<RunId>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT numbers, keys FROM folded_run WHERE device = ?1 AND day BETWEEN ?2 AND ?3",
        )?;
        let [first, last] = days_of(uuid);
        let rows: Vec<(String, Vec<u8>)> = select
            .query_all(params![device, first, last], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let found = rows.iter().find_map(|(numbers, keys)| {
            let position = position_of(keys, uuid)?;
            numbers.split_whitespace().nth(position)
        });
        Ok(found.and_then(|number| number.parse().ok()))
    }

    /// Whether a run is folded.
    pub(super) fn is_folded(&self, run: RunId) -> Result<bool, HistoryError> {
        let connection = self.connection;
        let found = HistoryReader { connection }.folded_run(RunKey::Number(run))?;
        Ok(found.is_some())
    }

    /// Removes the rows of days before a time.
    pub(super) fn remove_folded_days(&self, before: Timestamp) -> Result<usize, HistoryError> {
        let day = milliseconds(before) - DAY;
        self.connection
            .execute("DELETE FROM folded_run WHERE day < ?1", [day])
    }

    /// Removes the rows whose runs are older than all that are stored and can be removed.
    pub(super) fn remove_oldest_folded_days(&self) -> Result<usize, HistoryError> {
        self.connection.execute(
            "DELETE FROM folded_run WHERE last_run < coalesce(
                 (SELECT min(run.id) FROM run JOIN device ON device.id = run.device
                  WHERE run.ended IS NOT NULL AND run.id IS DISTINCT FROM device.last_run),
                 9223372036854775807)",
            [],
        )
    }
}

impl HistoryReader<'_> {
    /// The row of a run that is folded.
    pub(crate) fn folded_run(&self, key: RunKey) -> Result<Option<FoldedDay>, HistoryError> {
        match key {
            RunKey::Number(run) => {
                let mut select = self.connection.prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM {TABLES}
                     WHERE first_run <= ?1 AND folded_run.last_run >= ?1
                         AND instr(numbers, ?2) > 0"
                ))?;
                let text = format!(" {run} ");
                let found = select.query_row(params![run.0, text], folded_day);
                found.optional()
            }
            RunKey::Uuid(uuid) => self.folded_by_uuid(uuid),
        }
    }

    fn folded_by_uuid(&self, uuid: RunUuid) -> Result<Option<FoldedDay>, HistoryError> {
        let [first, last] = days_of(uuid);
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS}, keys FROM {TABLES} WHERE day = ?1"
        ))?;
        let mut day = first;
        while day <= last {
            let mut found = None;
            select.query_each([day], |row| {
                let keys: Vec<u8> = row.get("keys")?;
                if position_of(&keys, uuid).is_some() {
                    found = Some(folded_day(row)?);
                }
                Ok(())
            })?;
            if found.is_some() {
                return Ok(found);
            }
            day += DAY;
        }
        Ok(None)
    }

    /// The days of a device with folded runs, newest first.
    pub(crate) fn folded_days(
        &self,
        device: &str,
        limit: u32,
    ) -> Result<Vec<FoldedDay>, HistoryError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM {TABLES}
             WHERE folded_run.device = (SELECT id FROM device WHERE name = ?1)
             ORDER BY day DESC LIMIT ?2"
        ))?;
        select.query_all(params![device, limit], folded_day)
    }

    /// Whether runs of the day of a time are folded.
    pub(crate) fn has_folded_runs(&self, time: Timestamp) -> Result<bool, HistoryError> {
        let day = milliseconds(time).div_euclid(DAY) * DAY;
        let exists = "SELECT EXISTS (SELECT 1 FROM folded_run WHERE day = ?1)";
        self.connection.query_row(exists, [day], |row| row.get(0))
    }

    /// The number of all folded runs.
    pub(crate) fn folded_count(&self) -> Result<u64, HistoryError> {
        let sum = "SELECT CAST(coalesce(sum(runs), 0) AS BIGINT) FROM folded_run";
        let runs: i64 = self.connection.query_row(sum, [], |row| row.get(0))?;
        Ok(u64::try_from(runs).unwrap_or_default())
    }

    /// The time of the oldest command that waits for PuppetDB.
    fn oldest_puppetdb_command(&self) -> Result<Option<Timestamp>, HistoryError> {
        // A result that was stored late has an early time, so the first one is not always the oldest.
        let oldest = "SELECT min(produced) FROM puppetdb_command";
        let oldest: Option<String> = self.connection.query_row(oldest, [], |row| row.get(0))?;
        Ok(oldest.map(|text| text.parse().unwrap_or(Timestamp::UNIX_EPOCH)))
    }
}

impl FoldedRow {
    fn empty() -> Self {
        Self {
            runs: 0,
            plans: 0,
            first_run: i64::MAX,
            last_run: 0,
            first_ended: i64::MAX,
            last_ended: 0,
            numbers: " ".to_owned(),
            keys: Vec::new(),
            hours: Vec::new(),
        }
    }

    fn add(&mut self, run: &UnchangedRun, day: i64) {
        self.runs += 1;
        self.plans += i64::from(run.kind != RunKind::Apply);
        self.first_run = self.first_run.min(run.id);
        self.last_run = self.last_run.max(run.id);
        self.first_ended = self.first_ended.min(run.ended);
        self.last_ended = self.last_ended.max(run.ended);
        self.numbers.push_str(&format!("{} ", run.id));
        self.keys.extend(run.uuid.random_half());
        self.hours.push((run.ended - day).div_euclid(HOUR));
    }
}

/// The first and the last day on which a run with this UUID can have ended.
fn days_of(uuid: RunUuid) -> [i64; 2] {
    let day = uuid.milliseconds().div_euclid(DAY) * DAY;
    [day, day + LONGEST_RUN * DAY]
}

/// The position of a run in the keys of a row.
fn position_of(keys: &[u8], uuid: RunUuid) -> Option<usize> {
    let key = uuid.random_half();
    keys.chunks_exact(key.len()).position(|one| one == key)
}

fn folded_day(row: &Row<'_>) -> rusqlite::Result<FoldedDay> {
    Ok(FoldedDay {
        device: row.get("device")?,
        day: time(row, "day")?.to_zoned(TimeZone::UTC).date(),
        runs: row.get("runs")?,
        plans: row.get("plans")?,
        first_run: RunId(row.get("first_run")?),
        last_run: RunId(row.get("last_run")?),
        first_ended: time(row, "first_ended")?,
        last_ended: time(row, "last_ended")?,
    })
}

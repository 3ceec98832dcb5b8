//! Size, retention, checks and copies of a history.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Serialize;

use super::time_column::{milliseconds, time};
use super::{HistoryError, HistoryReader, HistoryStore, HistoryWriter};
use crate::error_chain::chain;

/// Free space that is needed to start runs: those that are running must be stored.
const RESERVE: u64 = 16 << 20;
/// Maximum part of the size that is used, in percent, for new runs to start.
const USABLE: u64 = 90;
/// Runs that webhooks have not been notified about are stored longer by this time.
const UNDELIVERED_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Runs that one transaction removes.
const STEP: i64 = 500;

/// How long runs are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retention {
    pub(crate) age: Duration,
    /// Maximum size in bytes of what is stored.
    pub(crate) size: Option<u64>,
}

/// What a retention removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RetentionResult {
    pub(crate) runs: usize,
    /// Those of the runs that a webhook was never notified about, because the store was full.
    pub(crate) undelivered: usize,
    pub(crate) configurations: usize,
    pub(crate) events: usize,
}

/// The space of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct Space {
    /// Bytes in use.
    pub(crate) used: u64,
    pub(crate) max_size: Option<u64>,
    /// Bytes that are free on the disk.
    pub(crate) free: u64,
    /// Why no run may start.
    pub(crate) problem: Option<String>,
}

/// The runs that are removed. The last run of each device stays.
#[derive(Clone, Copy)]
enum RunLimit {
    EndedBefore(Timestamp),
    /// The oldest first.
    Ended,
}

/// Whether runs are removed that webhooks have not been notified about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WebhookState {
    Delivered,
    Any,
}

/// A check of a file and its links, also if it is too damaged to be opened as a history.
pub(crate) struct HistoryCheck {
    connection: Connection,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HistoryCheckResult {
    /// Defects; none is good.
    pub(crate) defects: Vec<String>,
    pub(crate) devices: u64,
    pub(crate) runs: u64,
    pub(crate) bytes: u64,
}

impl HistoryStore {
    /// The space, and whether it suffices for new runs.
    ///
    /// # Errors
    /// The file or its file system cannot be read.
    pub(crate) fn space(&self) -> Result<Space, HistoryError> {
        let used = self.read(|reader| reader.used())?;
        let max_size = self.max_size();
        let statistics =
            rustix::fs::statvfs(self.path()).map_err(|error| HistoryError::File(error.into()))?;
        let free = statistics.f_bavail.saturating_mul(statistics.f_frsize);
        let problem = if free < RESERVE {
            let (free, reserve) = (free >> 20, RESERVE >> 20);
            Some(format!(
                "the disk of the store is full: {free} MiB are free, {reserve} MiB are needed"
            ))
        } else {
            let limit = max_size.filter(|limit| used > limit / 100 * USABLE);
            limit.map(|limit| {
                let (used, limit) = (used >> 10, limit >> 10);
                format!("the store is full: {used} KiB of at most {limit} KiB are used")
            })
        };
        Ok(Space {
            used,
            max_size,
            free,
            problem,
        })
    }

    /// Sets the maximum size of the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) async fn set_max_size(&self, size: Option<u64>) -> Result<(), HistoryError> {
        if self.max_size() == size {
            return Ok(());
        }
        self.write(move |writer| limit_size(writer.connection, size))
            .await?;
        self.lock_max_size().clone_from(&size);
        Ok(())
    }

    /// Removes old runs, in steps: other writes are not delayed. Time without runs does not count, so that
    /// a wrong clock removes nothing: see `HistoryReader::oldest_stored`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) async fn retain(
        &self,
        retention: Retention,
        now: Timestamp,
    ) -> Result<RetentionResult, HistoryError> {
        let ages = [retention.age, retention.age.saturating_add(UNDELIVERED_AGE)];
        let [oldest, undelivered] = self
            .query(move |reader| {
                let [age, undelivered] = ages.map(|age| reader.oldest_stored(age, now));
                Ok([age?, undelivered?])
            })
            .await?;
        let mut all = RetentionResult::default();
        for (before, delivery) in [
            (oldest, WebhookState::Delivered),
            (undelivered, WebhookState::Any),
        ] {
            let limit = RunLimit::EndedBefore(before);
            all.runs += self
                .remove_runs(limit, delivery, || async { Ok(true) })
                .await?;
        }
        if let Some(size) = retention.size {
            let is_too_large = || async { Ok(self.query(|reader| reader.used()).await? > size) };
            let delivered =
                self.remove_runs(RunLimit::Ended, WebhookState::Delivered, is_too_large);
            all.runs += delivered.await?;
            // A receiver that is gone must not fill the store.
            let rest = self.remove_runs(RunLimit::Ended, WebhookState::Any, is_too_large);
            all.undelivered = rest.await?;
            all.runs += all.undelivered;
        }
        let rest = self
            .write(move |writer| {
                writer.remove_old_commands(now)?;
                writer.remove_orphans(oldest)
            })
            .await?;
        all.configurations = rest.configurations;
        all.events = rest.events;
        Ok(all)
    }

    /// Removes runs in steps, as long as the condition holds.
    async fn remove_runs<F>(
        &self,
        limit: RunLimit,
        delivery: WebhookState,
        continues: impl Fn() -> F,
    ) -> Result<usize, HistoryError>
    where
        F: Future<Output = Result<bool, HistoryError>>,
    {
        let mut all = 0;
        while continues().await? {
            let removed = self
                .write(move |writer| writer.remove_some_runs(limit, delivery))
                .await?;
            all += removed;
            if removed == 0 {
                break;
            }
        }
        Ok(all)
    }

    /// Copies the history into a new file, also while it is in use.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub(crate) fn export(&self, to: &Path) -> Result<(), HistoryError> {
        if to.exists() {
            return Err(HistoryError::Exists(to.to_owned()));
        }
        let path = to.to_string_lossy().into_owned();
        self.read(move |reader| {
            // A statement that copies cannot run in a transaction.
            reader.connection.execute_batch("COMMIT")?;
            let copied = reader.connection.execute("VACUUM INTO ?1", [path]);
            reader.connection.execute_batch("BEGIN")?;
            copied?;
            Ok(())
        })
    }

    /// Gives the free pages of the file back to the disk. Returns the bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn vacuum(&self) -> Result<u64, HistoryError> {
        let before = std::fs::metadata(self.path()).map_err(HistoryError::File)?;
        self.write_and_wait(|writer| {
            let mut vacuum = writer.connection.prepare("PRAGMA incremental_vacuum")?;
            let mut rows = vacuum.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        })?;
        self.checkpoint()?;
        let after = std::fs::metadata(self.path()).map_err(HistoryError::File)?;
        Ok(before.len().saturating_sub(after.len()))
    }

    /// Writes the log of the file back into it.
    fn checkpoint(&self) -> Result<(), HistoryError> {
        let connection = super::connect(self.path(), rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

/// Sets the maximum size of a file.
pub(super) fn limit_size(connection: &Connection, size: Option<u64>) -> Result<(), HistoryError> {
    /// The limit of SQLite.
    const MOST_PAGES: i64 = 4_294_967_294;
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = size.map_or(MOST_PAGES, |size| {
        i64::try_from(size).unwrap_or(i64::MAX) / page
    });
    let query = format!("PRAGMA max_page_count = {}", pages.max(1));
    connection.query_row(&query, [], |_| Ok(()))?;
    Ok(())
}

impl HistoryCheck {
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn begin(path: &Path) -> Result<Self, HistoryError> {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(super::BUSY_LIMIT)?;
        // A damaged file can have an unreadable version: that is a finding of the check.
        match super::schema::check(&connection) {
            Err(error @ HistoryError::Version(_)) => Err(error),
            _ => Ok(Self { connection }),
        }
    }

    /// Ends the check from another thread.
    pub(crate) fn interrupt_handle(&self) -> rusqlite::InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    pub(crate) fn finish(self) -> HistoryCheckResult {
        let connection = &self.connection;
        HistoryReader { connection }.check()
    }
}

impl HistoryReader<'_> {
    /// The end of an age that is over. Only days with runs count, for ages below two days hours: a clock
    /// that is years ahead adds one of them, and a host that was off for a year none.
    pub(super) fn oldest_stored(
        &self,
        age: Duration,
        now: Timestamp,
    ) -> Result<Timestamp, HistoryError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        let unit = if age < 2 * DAY { HOUR } else { DAY };
        let units = age.as_millis().div_ceil(unit.as_millis()).max(1);
        let unit = i64::try_from(unit.as_millis()).expect("a day has few milliseconds");
        let mut select = self.connection.prepare_cached(
            "SELECT DISTINCT hour / ?1 * ?1 AS start FROM run_count
             ORDER BY start DESC LIMIT 1 OFFSET ?2",
        )?;
        let others = i64::try_from(units - 1).unwrap_or(i64::MAX);
        let start = select.query_row([unit, others], |row| time(row, "start"));
        let start = start.optional()?.unwrap_or(Timestamp::UNIX_EPOCH);
        Ok(now.saturating_sub(age).unwrap_or(now).min(start))
    }

    /// The bytes of the pages in use.
    fn used(&self) -> Result<u64, HistoryError> {
        let value = |name| -> rusqlite::Result<i64> {
            self.connection
                .pragma_query_value(None, name, |row| row.get(0))
        };
        let pages = value("page_count")? - value("freelist_count")?;
        Ok(u64::try_from(pages * value("page_size")?).unwrap_or_default())
    }

    /// What cannot be read of a damaged file is a defect, too.
    fn check(&self) -> HistoryCheckResult {
        let mut defects = Vec::new();
        self.find_defects(&mut defects, "PRAGMA integrity_check", |row| row.get(0));
        defects.retain(|defect| defect != "ok");
        self.find_defects(&mut defects, "PRAGMA foreign_key_check", |row| {
            let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
            Ok(format!("an entry of {table} has no entry of {parent}"))
        });
        let mut count = |table: &str| {
            let query = format!("SELECT count(*) FROM {table}");
            let count = self.connection.query_row(&query, [], |row| row.get(0));
            let count: i64 = count.unwrap_or_else(|error| {
                add_defect(&mut defects, &error);
                0
            });
            u64::try_from(count).unwrap_or_default()
        };
        HistoryCheckResult {
            devices: count("device"),
            runs: count("run"),
            bytes: self.used().unwrap_or_default(),
            defects,
        }
    }

    /// Adds the rows of a check, and the error that ends it.
    fn find_defects(
        &self,
        defects: &mut Vec<String>,
        query: &str,
        text: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<String>,
    ) {
        let found = self.connection.prepare(query).and_then(|mut check| {
            let mut rows = check.query([])?;
            while let Some(row) = rows.next()? {
                defects.push(text(row)?);
            }
            Ok(())
        });
        if let Err(error) = found {
            add_defect(defects, &error);
        }
    }
}

/// Adds an error once: a damaged page concerns several queries.
fn add_defect(defects: &mut Vec<String>, error: &rusqlite::Error) {
    let text = chain(error);
    if !defects.contains(&text) {
        defects.push(text);
    }
}

impl HistoryWriter<'_> {
    /// Removes some runs.
    fn remove_some_runs(
        &self,
        limit: RunLimit,
        delivery: WebhookState,
    ) -> Result<usize, HistoryError> {
        let before = match limit {
            RunLimit::EndedBefore(time) => milliseconds(time),
            RunLimit::Ended => i64::MAX,
        };
        let mut remove = self.connection.prepare_cached(
            "DELETE FROM run WHERE id IN (
                 SELECT run.id FROM run JOIN device ON device.id = run.device
                 WHERE run.ended < ?2 AND run.id IS NOT device.last_run
                     AND (?3 OR NOT EXISTS (
                         SELECT 1 FROM ended_run JOIN webhook
                             ON webhook.sequence < ended_run.sequence
                         WHERE ended_run.run = run.id))
                 ORDER BY run.id LIMIT ?1)",
        )?;
        let is_any = delivery == WebhookState::Any;
        Ok(remove.execute(params![STEP, before, is_any])?)
    }

    /// Removes what old runs left: configurations, facts, ended drift, resources and counts.
    fn remove_orphans(&self, before: Timestamp) -> Result<RetentionResult, HistoryError> {
        let time = milliseconds(before);
        let events = self
            .connection
            .execute("DELETE FROM drift WHERE ended < ?1", [time])?;
        self.connection
            .execute("DELETE FROM run_count WHERE hour < ?1", [time])?;
        self.connection.execute(
            "DELETE FROM fact WHERE time < ?1 AND run < (
                 SELECT max(newer.run) FROM fact AS newer
                 WHERE newer.device = fact.device AND newer.time < ?1)",
            [time],
        )?;
        self.connection.execute(
            "DELETE FROM resource WHERE removed IS NOT NULL
                 AND removed < (SELECT coalesce(min(id), 0) FROM run)
                 AND NOT EXISTS (SELECT 1 FROM drift WHERE drift.resource = resource.id)",
            [],
        )?;
        let mut select = self
            .connection
            .prepare("SELECT DISTINCT device FROM configuration WHERE time < ?1")?;
        let devices = select.query_map([time], |row| row.get(0))?;
        let devices: Vec<i64> = devices.collect::<Result<_, _>>()?;
        let mut configurations = 0;
        for device in devices {
            configurations += self.remove_configurations(device, before)?;
        }
        Ok(RetentionResult {
            configurations,
            events,
            ..RetentionResult::default()
        })
    }
}

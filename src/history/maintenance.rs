//! Size and retention of a history.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{OpenFlags, params};
use serde::{Deserialize, Serialize};

use super::sql::{Connection, OptionalRow as _};
use super::time_column::{milliseconds, time};
use super::{HistoryError, HistoryReader, HistoryStore, HistoryWriter, engine};

/// Free space that is needed to start runs: those that are running must be stored.
const RESERVE: u64 = 16 << 20;
/// Maximum part of the size that is used, in percent, for new runs to start.
const USABLE: u64 = 90;
/// Runs that webhooks have not been notified about are stored longer by this time.
const UNDELIVERED_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Runs that one transaction removes.
const STEP: i64 = 500;

/// The bytes of the tables and indexes in PostgreSQL.
const TABLE_SIZES: &str =
    "SELECT CAST(coalesce(sum(pg_total_relation_size(pg_class.oid)), 0) AS BIGINT)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'switchtender' AND relkind = 'r'";

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct Space {
    /// Bytes in use.
    pub(crate) used: u64,
    pub(crate) max_size: Option<u64>,
    /// Bytes that are free on the disk. `None`: it is that of a database server.
    pub(crate) free: Option<u64>,
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

impl HistoryStore {
    /// The space, and whether it suffices for new runs.
    ///
    /// # Errors
    /// The file or its file system cannot be read.
    pub(crate) fn space(&self) -> Result<Space, HistoryError> {
        let used = self.read(|reader| reader.used())?;
        let max_size = self.max_size();
        let free = self.location().file().map(free_space).transpose()?;
        let problem = if let Some(free) = free.filter(|free| *free < RESERVE) {
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

    /// Gives the free pages of the store back to the disk. Returns the bytes.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) fn vacuum(&self) -> Result<u64, HistoryError> {
        let before = self.read(|reader| reader.size())?;
        match self.location().file() {
            Some(path) => {
                self.write_and_wait(|writer| {
                    let vacuum = "PRAGMA incremental_vacuum";
                    let mut vacuum = writer.connection.prepare_cached(vacuum)?;
                    vacuum.query_each([], |_| Ok(()))
                })?;
                // Writes the log of the file back into it.
                let connection = engine::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            }
            None => self.inner.complete.vacuum()?,
        }
        let after = self.read(|reader| reader.size())?;
        Ok(before.saturating_sub(after))
    }
}

/// The free bytes of the disk of a file.
pub(crate) fn free_space(path: &Path) -> Result<u64, HistoryError> {
    let statistics = rustix::fs::statvfs(path).map_err(|error| HistoryError::File(error.into()))?;
    Ok(statistics.f_bavail.saturating_mul(statistics.f_frsize))
}

/// Sets the maximum size of a file. The settings refuse one for a server: its tables do not shrink.
pub(super) fn limit_size(connection: &Connection, size: Option<u64>) -> Result<(), HistoryError> {
    /// The limit of SQLite.
    const MOST_PAGES: i64 = 4_294_967_294;
    let Connection::Sqlite(connection) = connection else {
        return Ok(());
    };
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = size.map_or(MOST_PAGES, |size| {
        i64::try_from(size).unwrap_or(i64::MAX) / page
    });
    let query = format!("PRAGMA max_page_count = {}", pages.max(1));
    connection.query_row(&query, [], |_| Ok(()))?;
    Ok(())
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
    pub(super) fn used(&self) -> Result<u64, HistoryError> {
        self.bytes(self.connection.choose(
            "SELECT (page_count - freelist_count) * page_size
             FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
            TABLE_SIZES,
        ))
    }

    /// The bytes of all pages.
    fn size(&self) -> Result<u64, HistoryError> {
        self.bytes(self.connection.choose(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
            TABLE_SIZES,
        ))
    }

    fn bytes(&self, query: &str) -> Result<u64, HistoryError> {
        let bytes: i64 = self.connection.query_row(query, [], |row| row.get(0))?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }
}

/// Removes the runs that ended first. Each half has an index of its own, so that nothing is read if none is old.
fn remove_runs() -> String {
    let removable = |status: &str| {
        format!(
            "SELECT id, ended FROM run WHERE {status} AND ended < ?2
                 AND NOT EXISTS (SELECT 1 FROM device
                     WHERE device.id = run.device AND device.last_run = run.id)
                 AND (?3 OR NOT EXISTS (
                     SELECT 1 FROM ended_run JOIN webhook
                         ON webhook.sequence < ended_run.sequence
                     WHERE ended_run.run = run.id))"
        )
    };
    format!(
        "DELETE FROM run WHERE id IN (
             SELECT id FROM ({} UNION ALL {} ORDER BY ended LIMIT ?1) AS oldest)",
        removable("status = 'unchanged'"),
        removable("status <> 'unchanged'"),
    )
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
        let mut remove = self.connection.prepare_cached(&remove_runs())?;
        let is_any = delivery == WebhookState::Any;
        let removed = remove.execute(params![STEP, before, is_any])?;
        if let RunLimit::Ended = limit {
            self.remove_oldest_folded_days()?;
        }
        Ok(removed)
    }

    /// Removes what old runs left: configurations, facts, ended drift, resources and counts.
    fn remove_orphans(&self, before: Timestamp) -> Result<RetentionResult, HistoryError> {
        let time = milliseconds(before);
        let events = self
            .connection
            .execute("DELETE FROM drift WHERE ended < ?1", [time])?;
        self.connection
            .execute("DELETE FROM run_count WHERE hour < ?1", [time])?;
        self.remove_folded_days(before)?;
        // The last copy of a log has the place where the next one begins.
        self.connection.execute(
            "DELETE FROM audit_entry WHERE time < ?1 AND id < (
                 SELECT max(newer.id) FROM audit_entry AS newer
                 WHERE newer.node = audit_entry.node)",
            [time],
        )?;
        self.connection.execute(
            "DELETE FROM device_state WHERE device IN (
                 SELECT name FROM device
                 WHERE NOT is_current AND coalesce(last_ended, first_seen) < ?1)",
            [time],
        )?;
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
            .prepare_cached("SELECT DISTINCT device FROM configuration WHERE time < ?1")?;
        let devices: Vec<i64> = select.query_all([time], |row| row.get(0))?;
        self.remove_unused_releases()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::schema;

    #[test]
    fn runs_to_remove_are_found_by_indexes() {
        let connection = Connection::Sqlite(rusqlite::Connection::open_in_memory().unwrap());
        schema::update(&connection).unwrap();
        let mut explain = connection
            .prepare_cached(&format!("EXPLAIN QUERY PLAN {}", remove_runs()))
            .unwrap();
        let steps: Vec<String> = explain
            .query_all(params![1, 1, true], |row| row.get(3))
            .unwrap();
        let plan = steps.join("\n");
        for index in ["run_unchanged (ended<?)", "run_notable (ended<?)"] {
            assert!(plan.contains(index), "{plan}");
        }
        assert!(
            !plan.contains("SCAN run") && !plan.contains("SCAN device"),
            "{plan}"
        );
    }
}

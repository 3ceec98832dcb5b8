//! Size, retention, checks and copies of a history.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde::Serialize;

use super::time_column::milliseconds;
use super::{HistoryError, HistoryReader, HistoryStore, HistoryWriter};

/// Free space that is needed to start runs: those that are running must be stored.
const RESERVE: u64 = 16 << 20;
/// Maximum part of the size that is used, in percent, for new runs to start.
const USABLE: u64 = 90;
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

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HistoryCheck {
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
        let path = self.path().display();
        let problem = if free < RESERVE {
            let (free, reserve) = (free >> 20, RESERVE >> 20);
            Some(format!(
                "the disk of {path} is full: {free} MiB are free, {reserve} MiB are needed"
            ))
        } else {
            let limit = max_size.filter(|limit| used > limit / 100 * USABLE);
            limit.map(|limit| {
                let (used, limit) = (used >> 10, limit >> 10);
                format!("{path} is full: {used} KiB of at most {limit} KiB are used")
            })
        };
        Ok(Space {
            used,
            max_size,
            free,
            problem,
        })
    }

    /// Removes old runs, in steps: other writes are not delayed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) async fn retain(
        &self,
        retention: Retention,
        now: Timestamp,
    ) -> Result<RetentionResult, HistoryError> {
        let oldest = now.saturating_sub(retention.age).unwrap_or(now);
        let mut all = RetentionResult::default();
        loop {
            let removed = self
                .write(move |writer| writer.remove_old_runs(oldest))
                .await?;
            all.runs += removed;
            if removed == 0 {
                break;
            }
        }
        while let Some(size) = retention.size
            && self.query(|reader| reader.used()).await? > size
        {
            let removed = self.write(|writer| writer.remove_oldest_runs()).await?;
            all.runs += removed;
            if removed == 0 {
                break;
            }
        }
        let rest = self
            .write(move |writer| writer.remove_orphans(oldest))
            .await?;
        all.configurations = rest.configurations;
        all.events = rest.events;
        Ok(all)
    }

    /// Checks the file and its links.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn check(&self) -> Result<HistoryCheck, HistoryError> {
        self.read(|reader| reader.check())
    }

    /// Copies the history into a new file, also while it is in use.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub(crate) fn export(&self, to: &Path) -> Result<(), HistoryError> {
        if to.exists() {
            let text = format!("{} exists", to.display());
            return Err(HistoryError::Invalid(text));
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
pub(super) fn limit_size(connection: &Connection, size: u64) -> Result<(), HistoryError> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = i64::try_from(size).unwrap_or(i64::MAX) / page;
    let query = format!("PRAGMA max_page_count = {}", pages.max(1));
    connection.query_row(&query, [], |_| Ok(()))?;
    Ok(())
}

impl HistoryReader<'_> {
    /// The bytes of the pages in use.
    fn used(&self) -> Result<u64, HistoryError> {
        let value = |name| -> rusqlite::Result<i64> {
            self.connection
                .pragma_query_value(None, name, |row| row.get(0))
        };
        let pages = value("page_count")? - value("freelist_count")?;
        Ok(u64::try_from(pages * value("page_size")?).unwrap_or_default())
    }

    fn check(&self) -> Result<HistoryCheck, HistoryError> {
        let mut defects = Vec::new();
        let mut check = self.connection.prepare("PRAGMA integrity_check")?;
        let rows = check.query_map([], |row| row.get::<_, String>(0))?;
        for row in rows {
            let row = row?;
            if row != "ok" {
                defects.push(row);
            }
        }
        let mut links = self.connection.prepare("PRAGMA foreign_key_check")?;
        let rows = links.query_map([], |row| {
            let table: String = row.get(0)?;
            let parent: String = row.get(2)?;
            Ok(format!("an entry of {table} has no entry of {parent}"))
        })?;
        defects.extend(rows.collect::<Result<Vec<_>, _>>()?);
        let count = |table: &str| -> Result<u64, HistoryError> {
            let query = format!("SELECT count(*) FROM {table}");
            let count: i64 = self.connection.query_row(&query, [], |row| row.get(0))?;
            Ok(u64::try_from(count).unwrap_or_default())
        };
        Ok(HistoryCheck {
            defects,
            devices: count("device")?,
            runs: count("run")?,
            bytes: self.used()?,
        })
    }
}

impl HistoryWriter<'_> {
    /// Removes some runs that ended before a time. The last run of each device stays.
    fn remove_old_runs(&self, before: Timestamp) -> Result<usize, HistoryError> {
        self.remove_runs("run.ended < ?2", milliseconds(before))
    }

    /// Removes the oldest runs. The last run of each device stays.
    fn remove_oldest_runs(&self) -> Result<usize, HistoryError> {
        self.remove_runs("run.ended IS NOT NULL AND ?2 IS NOT NULL", 0)
    }

    fn remove_runs(&self, condition: &str, value: i64) -> Result<usize, HistoryError> {
        let query = format!(
            "DELETE FROM run WHERE id IN (
                 SELECT run.id FROM run JOIN device ON device.id = run.device
                 WHERE {condition} AND run.id IS NOT device.last_run
                 ORDER BY run.id LIMIT ?1)"
        );
        Ok(self.connection.execute(&query, params![STEP, value])?)
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
            runs: 0,
            configurations,
            events,
        })
    }
}

//! Copies of the audit logs of all nodes, for the pages of each hub. The log of a node is its file.

use jiff::Timestamp;
use rusqlite::params;

use super::sql::OptionalRow as _;
use super::time_column::milliseconds;
use super::{HistoryError, HistoryReader, HistoryWriter};

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AuditLine {
    pub(crate) time: Timestamp,
    /// JSON.
    pub(crate) entry: String,
}

/// The copies that are shown: those that have all that is given.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditCopyFilter {
    pub(crate) since: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
    pub(crate) actor: Option<String>,
    pub(crate) action: Option<String>,
    pub(crate) count: u32,
}

impl HistoryReader<'_> {
    /// The end in bytes of what is copied of the log of a node.
    pub(crate) fn audit_end(&self, node: &str) -> Result<u64, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT file_end FROM audit_entry WHERE node = ?1 ORDER BY id DESC LIMIT 1",
        )?;
        let end: Option<i64> = select.query_row([node], |row| row.get(0)).optional()?;
        Ok(end.map_or(0, i64::unsigned_abs))
    }

    /// The newest entries of all nodes, newest first: the name of the node, and JSON.
    pub(crate) fn audit_copies(
        &self,
        filter: &AuditCopyFilter,
    ) -> Result<Vec<(String, String)>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT node, entry FROM audit_entry
             WHERE (CAST(?1 AS BIGINT) IS NULL OR time >= ?1)
                 AND (CAST(?2 AS BIGINT) IS NULL OR time <= ?2)
                 AND (CAST(?3 AS TEXT) IS NULL OR json_extract(entry, '$.actor') = ?3)
                 AND (CAST(?4 AS TEXT) IS NULL OR json_extract(entry, '$.action') = ?4)
             ORDER BY time DESC, id DESC LIMIT ?5",
        )?;
        select.query_all(
            params![
                filter.since.map(milliseconds),
                filter.until.map(milliseconds),
                filter.actor,
                filter.action,
                i64::from(filter.count),
            ],
            |row| Ok((row.get("node")?, row.get("entry")?)),
        )
    }
}

impl HistoryWriter<'_> {
    /// Adds lines of the log of a node, with the end in bytes of what is copied then.
    pub(crate) fn add_audit_lines(
        &self,
        node: &str,
        lines: &[AuditLine],
        end: u64,
    ) -> Result<(), HistoryError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO audit_entry (node, file_end, time, entry) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let file_end = i64::try_from(end).unwrap_or(i64::MAX);
        for line in lines {
            insert.execute(params![node, file_end, milliseconds(line.time), line.entry])?;
        }
        Ok(())
    }
}

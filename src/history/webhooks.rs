//! The runs that webhooks have not been notified about.

use rusqlite::params;

use super::runs::RunEntry;
use super::sql::OptionalRow as _;
use super::{HistoryError, HistoryReader, HistoryWriter, RunId};

/// A run that ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnsentRun {
    /// Position in the order of ends.
    pub(crate) sequence: i64,
    pub(crate) run: RunEntry,
    /// It found resources that differ and did not differ before.
    pub(crate) is_drifted: bool,
}

impl HistoryReader<'_> {
    /// The runs that ended after the last one that a webhook was notified about, oldest first. `None`: that one is not
    /// known.
    pub(crate) fn ended_runs(
        &self,
        webhook: &str,
        limit: u32,
    ) -> Result<Option<Vec<UnsentRun>>, HistoryError> {
        let position = "SELECT sequence FROM webhook WHERE name = ?1";
        let position = self
            .connection
            .query_row(position, [webhook], |row| row.get(0));
        let position: Option<i64> = position.optional()?;
        let Some(position) = position else {
            return Ok(None);
        };
        let mut select = self.connection.prepare_cached(
            "SELECT sequence, run, EXISTS (SELECT 1 FROM drift WHERE since_run = run) AS is_drifted
             FROM ended_run
             WHERE sequence > ?1
             ORDER BY sequence LIMIT ?2",
        )?;
        let rows: Vec<(i64, RunId, bool)> = select.query_all(params![position, limit], |row| {
            Ok((row.get(0)?, RunId(row.get(1)?), row.get(2)?))
        })?;
        let mut ended = Vec::with_capacity(rows.len());
        for (sequence, run, is_drifted) in rows {
            if let Some(run) = self.run(run)? {
                ended.push(UnsentRun {
                    sequence,
                    run,
                    is_drifted,
                });
            }
        }
        Ok(Some(ended))
    }
}

impl HistoryWriter<'_> {
    /// Sets the webhooks of a process, and removes those that no node has. A new one begins with the next run that ends.
    pub(crate) fn set_webhooks(&self, names: &[String]) -> Result<(), HistoryError> {
        let list = serde_json::to_string(names)
            .map_err(|error| HistoryError::Invalid(error.to_string()))?;
        self.connection.execute(
            "DELETE FROM webhook
             WHERE name NOT IN (SELECT value FROM json_each(CAST(?1 AS TEXT)))
                 AND name NOT IN (SELECT named.value
                     FROM node, json_each(json_extract(record, '$.webhooks')) AS named)",
            [&list],
        )?;
        for name in names {
            self.add_webhook(name)?;
        }
        self.remove_notified()
    }

    /// Adds a webhook, unless it is there. It begins with the next run that ends.
    pub(crate) fn add_webhook(&self, name: &str) -> Result<(), HistoryError> {
        self.connection.execute(
            "INSERT INTO webhook (name, sequence)
             SELECT CAST(?1 AS TEXT), coalesce(max(sequence), 0) FROM ended_run WHERE TRUE
             ON CONFLICT DO NOTHING",
            [name],
        )?;
        Ok(())
    }

    /// A webhook was notified about a run and those before it.
    pub(crate) fn advance_webhook(&self, name: &str, sequence: i64) -> Result<(), HistoryError> {
        self.connection.execute(
            "UPDATE webhook SET sequence = ?2 WHERE name = ?1",
            params![name, sequence],
        )?;
        self.remove_notified()
    }

    /// Removes the runs that no webhook needs.
    fn remove_notified(&self) -> Result<(), HistoryError> {
        self.connection.execute(
            "DELETE FROM ended_run
             WHERE sequence <= coalesce((SELECT min(sequence) FROM webhook), sequence)",
            [],
        )?;
        Ok(())
    }
}

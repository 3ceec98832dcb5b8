//! Writes the resources of a run that were not unchanged.

use std::collections::{HashMap, HashSet};

use rusqlite::params;

use super::json;
use crate::history::{HistoryError, HistoryWriter, RunId};
use crate::report::RunRecord;
use crate::transaction::ResourceResult;

impl HistoryWriter<'_> {
    /// Adds the statuses with events and operations. A resource that is skipped in every run is written
    /// once.
    pub(super) fn add_statuses(
        &self,
        run: RunId,
        device: i64,
        resources: &HashMap<String, i64>,
        record: &RunRecord,
    ) -> Result<(), HistoryError> {
        let earlier = self.notable_statuses(device)?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO resource_status (run, resource, status, record) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let mut update = self
            .connection
            .prepare_cached("UPDATE resource SET last_status = ?2, last_run = ?3 WHERE id = ?1")?;
        for status in record.managed() {
            let result = status.result();
            let Some(id) = resources.get(status.reference.as_str()) else {
                continue;
            };
            if result == ResourceResult::Skipped && earlier.get(id) == Some(&result) {
                continue;
            }
            insert.execute(params![run.0, id, result, json(&**status)?])?;
            update.execute(params![id, result, run.0])?;
        }
        let managed: HashSet<&str> = record
            .managed()
            .map(|status| status.reference.as_str())
            .collect();
        let notable: HashSet<i64> = resources.values().copied().collect();
        for id in earlier.keys().filter(|id| !notable.contains(id)) {
            let reference = self.reference_of(*id)?;
            if managed.contains(reference.as_str()) {
                update.execute(params![id, ResourceResult::Unchanged, run.0])?;
            }
        }
        Ok(())
    }

    /// The resources of a device that were not unchanged in the last run.
    fn notable_statuses(&self, device: i64) -> Result<HashMap<i64, ResourceResult>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT id, last_status FROM resource
             WHERE device = ?1 AND last_status <> 'unchanged'",
        )?;
        select.query_all([device], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn reference_of(&self, resource: i64) -> Result<String, HistoryError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT reference FROM resource WHERE id = ?1")?;
        select.query_row([resource], |row| row.get(0))
    }
}

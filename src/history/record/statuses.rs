//! Writes the resources of a run that were not unchanged.

use std::collections::HashMap;

use rusqlite::params;

use crate::history::{HistoryError, HistoryWriter, RunId};
use crate::report::stored::{StoredEvent, StoredOperation, StoredReport};

impl HistoryWriter<'_> {
    /// Adds the statuses with events and operations. A resource that is skipped in every run is written
    /// once.
    pub(super) fn add_statuses(
        &self,
        run: RunId,
        device: i64,
        resources: &HashMap<String, i64>,
        parts: &StoredReport,
    ) -> Result<(), HistoryError> {
        let earlier = self.notable_statuses(device)?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO resource_status
                 (run, resource, status, is_corrective, skip_reason, seconds)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let mut update = self
            .connection
            .prepare_cached("UPDATE resource SET last_status = ?2, last_run = ?3 WHERE id = ?1")?;
        for (reference, status) in &parts.resource_statuses {
            let word = status.word();
            let Some(id) = resources.get(reference) else {
                continue;
            };
            let is_same = earlier.get(id).is_some_and(|earlier| earlier == word);
            if word == "skipped" && is_same {
                continue;
            }
            insert.execute(params![
                run.0,
                id,
                word,
                status.corrective_change,
                status.skip_reason,
                status.evaluation_time,
            ])?;
            self.add_events(run, *id, &status.events)?;
            self.add_operations(run, *id, &status.operations)?;
            update.execute(params![id, word, run.0])?;
        }
        let notable: Vec<i64> = resources.values().copied().collect();
        for id in earlier.keys().filter(|id| !notable.contains(id)) {
            let reference = self.reference_of(*id)?;
            if parts.resource_statuses.contains_key(&reference) {
                update.execute(params![id, "unchanged", run.0])?;
            }
        }
        Ok(())
    }

    /// The resources of a device that were not unchanged in the last run.
    fn notable_statuses(&self, device: i64) -> Result<HashMap<i64, String>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT id, last_status FROM resource
             WHERE device = ?1 AND last_status <> 'unchanged'",
        )?;
        let rows = select.query_map([device], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn reference_of(&self, resource: i64) -> Result<String, HistoryError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT reference FROM resource WHERE id = ?1")?;
        Ok(select.query_row([resource], |row| row.get(0))?)
    }

    fn add_events(
        &self,
        run: RunId,
        resource: i64,
        events: &[StoredEvent],
    ) -> Result<(), HistoryError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO event (run, resource, number, name, property, status, previous_value,
                 desired_value, message, is_corrective, time)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
        let text = |value: &serde_json::Value| (!value.is_null()).then(|| value.to_string());
        for (number, event) in (0_i64..).zip(events) {
            insert.execute(params![
                run.0,
                resource,
                number,
                event.name,
                event.property,
                event.status,
                text(&event.previous_value),
                text(&event.desired_value),
                event.message,
                event.corrective_change,
                event.time,
            ])?;
        }
        Ok(())
    }

    fn add_operations(
        &self,
        run: RunId,
        resource: i64,
        operations: &[StoredOperation],
    ) -> Result<(), HistoryError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO operation
                 (run, resource, number, mode, text, outcome, device_message, milliseconds)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        for (number, operation) in (0_i64..).zip(operations) {
            let milliseconds = operation.milliseconds;
            insert.execute(params![
                run.0,
                resource,
                number,
                serde_json::Value::from(operation.mode.clone()).to_string(),
                operation.text,
                operation.outcome,
                operation.device_message,
                milliseconds.and_then(|took| i64::try_from(took).ok()),
            ])?;
        }
        Ok(())
    }
}

//! Resources that differ from their catalog, with the time since when.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use rusqlite::params;
use serde::Serialize;

use super::devices::names_json;
use super::sql::Row;
use super::time_column::{milliseconds, optional_time, time};
use super::{HistoryError, HistoryReader, HistoryWriter, RunId};
use crate::report::RunRecord;
use crate::run_kind::RunKind;
use crate::transaction::{Event, ResourceResult, ResourceStatus};

/// The run that updates the drift of its device.
pub(super) struct DriftUpdate {
    pub(super) device: i64,
    pub(super) run: RunId,
    pub(super) time: Timestamp,
    pub(super) kind: RunKind,
}

/// A resource that differs, or differed, from its catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct DriftEntry {
    pub(crate) device: String,
    pub(crate) resource: String,
    pub(crate) since: Timestamp,
    /// The run that found it.
    pub(crate) since_run: RunId,
    pub(crate) ended: Option<Timestamp>,
    /// The run that found or caused the end.
    pub(crate) ended_run: Option<RunId>,
    /// `corrected` by a run, `gone` by itself, or `removed` from the catalog.
    pub(crate) end_reason: Option<String>,
    /// What changed: `device`, since the last run that set the values, or `desired state`.
    pub(crate) cause: String,
    /// The differences, as the last run found them.
    pub(crate) message: String,
}

/// The drift that a query selects.
#[derive(Clone, Debug, Default)]
pub(crate) struct DriftFilter {
    pub(crate) device: Option<String>,
    /// Only that of devices with these names.
    pub(crate) names: Option<Vec<String>>,
    /// A part of the reference.
    pub(crate) resource: Option<String>,
    /// Only what still differs.
    pub(crate) is_open: bool,
    /// Only what differed at this time or later.
    pub(crate) after: Option<Timestamp>,
    pub(crate) limit: u32,
    pub(crate) offset: u32,
}

impl HistoryWriter<'_> {
    /// Opens and ends drift. Resources that were skipped, or not evaluated, do not change it.
    pub(super) fn update_drift(
        &self,
        update: &DriftUpdate,
        resources: &HashMap<String, i64>,
        record: &RunRecord,
    ) -> Result<(), HistoryError> {
        let open = self.open_drift(update.device)?;
        for status in record.managed() {
            let reference = status.reference.as_str();
            let opened = open.get(reference);
            let is_corrected = status.changed && !status.failed && update.kind == RunKind::Apply;
            match (status.is_drift(), opened) {
                (true, None) => {
                    let Some(resource) = resources.get(reference) else {
                        continue;
                    };
                    let id = self.begin_drift(update, *resource, status)?;
                    if is_corrected {
                        self.end_drift(update, id, "corrected")?;
                    }
                }
                (_, Some(id)) if is_corrected => self.end_drift(update, *id, "corrected")?,
                // The difference can have another value than at its begin.
                (true, Some(id)) => self.update_difference(*id, status)?,
                (false, Some(id)) if status.result() == ResourceResult::Unchanged => {
                    self.end_drift(update, *id, "gone")?;
                }
                _ => {}
            }
        }
        let managed: HashSet<&str> = record
            .managed()
            .map(|status| status.reference.as_str())
            .collect();
        if record.completed && !managed.is_empty() {
            let mut removed = open
                .iter()
                .filter(|(name, _)| !managed.contains(name.as_str()));
            removed.try_for_each(|(_, id)| self.end_drift(update, *id, "removed"))?;
        }
        Ok(())
    }

    fn open_drift(&self, device: i64) -> Result<HashMap<String, i64>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT resource.reference, drift.id
             FROM drift JOIN resource ON resource.id = drift.resource
             WHERE drift.device = ?1 AND drift.ended IS NULL",
        )?;
        select.query_all([device], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn begin_drift(
        &self,
        update: &DriftUpdate,
        resource: i64,
        status: &ResourceStatus,
    ) -> Result<i64, HistoryError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO drift (device, resource, since, since_run, message, cause)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        insert.insert(params![
            update.device,
            resource,
            milliseconds(update.time),
            update.run.0,
            difference(status),
            cause(status)
        ])
    }

    fn update_difference(&self, id: i64, status: &ResourceStatus) -> Result<(), HistoryError> {
        let mut update = self.connection.prepare_cached(
            "UPDATE drift SET message = ?2, cause = ?3
             WHERE id = ?1 AND (message <> ?2 OR cause <> ?3)",
        )?;
        update.execute(params![id, difference(status), cause(status)])?;
        Ok(())
    }

    fn end_drift(&self, update: &DriftUpdate, id: i64, reason: &str) -> Result<(), HistoryError> {
        let mut end = self.connection.prepare_cached(
            "UPDATE drift SET ended = ?2, ended_run = ?3, end_reason = ?4 WHERE id = ?1",
        )?;
        end.execute(params![id, milliseconds(update.time), update.run.0, reason])?;
        Ok(())
    }
}

/// The differences of a resource, one per line.
fn difference(status: &ResourceStatus) -> String {
    let differences = status.changes().filter_map(Event::difference);
    differences.collect::<Vec<_>>().join("\n")
}

/// What changed since the last run that set the values.
fn cause(status: &ResourceStatus) -> &'static str {
    if status.corrective_change {
        "device"
    } else {
        "desired state"
    }
}

impl HistoryReader<'_> {
    /// Drift, newest first.
    pub(crate) fn drift(&self, filter: &DriftFilter) -> Result<Vec<DriftEntry>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT device.name AS device, resource.reference AS resource, since, since_run, ended,
                 ended_run, end_reason, cause, message
             FROM drift
             JOIN device ON device.id = drift.device
             JOIN resource ON resource.id = drift.resource
             WHERE (CAST(?1 AS TEXT) IS NULL OR device.name = ?1)
                 AND (CAST(?2 AS TEXT) IS NULL OR instr(resource.reference, ?2) > 0)
                 AND (NOT ?3 OR ended IS NULL)
                 AND (CAST(?4 AS BIGINT) IS NULL OR ended IS NULL OR ended >= ?4)
                 AND (CAST(?7 AS TEXT) IS NULL
                     OR device.name IN (SELECT value FROM json_each(CAST(?7 AS TEXT))))
             ORDER BY drift.id DESC LIMIT ?5 OFFSET ?6",
        )?;
        select.query_all(
            params![
                filter.device,
                filter.resource,
                filter.is_open,
                filter.after.map(milliseconds),
                filter.limit,
                filter.offset,
                names_json(filter.names.as_ref())
            ],
            entry,
        )
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<DriftEntry> {
    Ok(DriftEntry {
        device: row.get("device")?,
        resource: row.get("resource")?,
        since: time(row, "since")?,
        since_run: RunId(row.get("since_run")?),
        ended: optional_time(row, "ended")?,
        ended_run: row.get::<_, Option<i64>>("ended_run")?.map(RunId),
        end_reason: row.get("end_reason")?,
        cause: row.get("cause")?,
        message: row.get("message")?,
    })
}

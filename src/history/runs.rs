//! Reads runs with their resources, events, operations and logs.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::params;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::devices::names_json;
use super::releases::ReleaseNumber;
use super::run::{RunNumbers, is_change};
use super::sql::{OptionalRow as _, Row};
use super::time_column::{milliseconds, optional_time, time};
use super::{
    ConnectionChange, HistoryError, HistoryReader, Requester, RequesterKind, RunId, RunUuid,
};
use crate::git::GitRevision;
use crate::report::{RunRecord, RunStatus};
use crate::run_kind::RunKind;
use crate::transaction::{LogEntry, ResourceJson, ResourceResult, ResourceStatus};

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub(crate) struct RunEntry {
    pub(crate) id: RunId,
    /// Its key in all stores.
    #[schema(value_type = String)]
    pub(crate) uuid: RunUuid,
    pub(crate) device: String,
    /// What the runs of all devices of one command have in common; `undo` accepts it.
    pub(crate) name: Option<String>,
    pub(crate) kind: RunKind,
    pub(crate) status: RunStatus,
    pub(crate) requester: Requester,
    pub(crate) queued: Timestamp,
    pub(crate) started: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
    #[serde(flatten)]
    pub(crate) counts: RunNumbers,
    pub(crate) is_unreachable: bool,
    /// Whether the device has become unreachable with this run, or reachable again.
    pub(crate) connection_change: Option<ConnectionChange>,
    /// Of a run that waits: why its last start was refused.
    pub(crate) error: Option<String>,
    pub(crate) hint: Option<String>,
    /// The commit of the desired state, if it is in a Git work tree.
    pub(crate) revision: Option<GitRevision>,
    /// The release of the settings, the inventory and the desired state, in a fleet with releases.
    pub(crate) release: Option<ReleaseNumber>,
    /// The node that ran it, in a fleet.
    pub(crate) node: Option<String>,
    /// Whether the result came after another node had taken the device over: it says nothing about the device.
    pub(crate) is_late: bool,
}

impl RunEntry {
    /// Whether the run changed the device; a failed run can have changed it, too.
    pub(crate) fn is_change(&self) -> bool {
        is_change(self.kind, self.status, &self.counts)
    }
}

/// A run with all its parts.
#[derive(Clone, Debug)]
pub(crate) struct RunDetail {
    pub(crate) run: RunEntry,
    /// Who requested the same while the run waited.
    pub(crate) further_requesters: Vec<Requester>,
    /// The resources that were not unchanged, and all other parts. `None`: the run has no result.
    pub(crate) record: Option<RunRecord>,
}

/// A run with all its parts as JSON.
#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = RunDetail)]
pub(crate) struct RunDetailJson {
    #[serde(flatten)]
    run: RunEntry,
    /// Why it has not started, if `serve` is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waits_because: Option<String>,
    /// Who requested the same while the run waited.
    further_requesters: Vec<Requester>,
    configuration_version: Option<String>,
    /// Seconds by category.
    phases: BTreeMap<String, f64>,
    /// Resources that were not unchanged.
    #[schema(value_type = Vec<ResourceJson>)]
    resources: Vec<Arc<ResourceStatus>>,
    #[schema(value_type = Vec<LogEntry>)]
    logs: Vec<Arc<LogEntry>>,
    /// The difference that the run made to the configuration, or would make. Empty: none is known.
    configuration_difference: String,
}

impl From<RunDetail> for RunDetailJson {
    fn from(detail: RunDetail) -> Self {
        let record = detail.record.as_ref();
        let phases = record.map(RunRecord::phases).unwrap_or_default();
        // Three decimals are shorter as text.
        let rounded = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
        Self {
            waits_because: None,
            configuration_version: record.and_then(RunRecord::version),
            phases: phases
                .into_iter()
                .map(|(name, seconds)| (name, rounded(seconds)))
                .collect(),
            resources: record
                .map(|record| record.resources.clone())
                .unwrap_or_default(),
            logs: record.map(|record| record.logs.clone()).unwrap_or_default(),
            configuration_difference: record
                .map(|record| record.difference.clone())
                .unwrap_or_default(),
            run: detail.run,
            further_requesters: detail.further_requesters,
        }
    }
}

/// A run in which a resource was not unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub(crate) struct ResourceRun {
    pub(crate) device: String,
    pub(crate) run: RunId,
    pub(crate) kind: RunKind,
    pub(crate) ended: Option<Timestamp>,
    #[serde(flatten)]
    #[schema(value_type = ResourceJson)]
    pub(crate) resource: ResourceStatus,
}

/// A resource of a device's catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct ManagedResource {
    pub(crate) resource: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    #[schema(value_type = String)]
    pub(crate) status: ResourceResult,
    /// The run of this status.
    pub(crate) run: RunId,
}

/// The runs that a query selects, newest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFilter {
    pub(crate) device: Option<String>,
    /// Only runs of devices with these names.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) name: Option<String>,
    pub(crate) status: Option<RunStatus>,
    pub(crate) kind: Option<RunKind>,
    pub(crate) requester: Option<RequesterKind>,
    /// Only runs that are not unchanged.
    pub(crate) is_notable: bool,
    pub(crate) queued_after: Option<Timestamp>,
    /// Only runs before this one, for paging.
    pub(crate) before: Option<RunId>,
    pub(crate) limit: u32,
}

const COLUMNS: &str =
    "run.id AS id, run.uuid AS uuid, device.name AS device, run.name AS name, run.kind AS kind, run.status AS status,
    requester.kind AS requester_kind, requester.name AS requester_name, queued, started, ended,
    run.resources AS resources, changed, failed, skipped, pending, operations, to_send,
    run.not_understood AS not_understood, is_unreachable,
    connection_change, error, hint, state_commit, state_is_modified,
    run.release AS release, run.node AS node, run.is_late AS is_late";

const TABLES: &str = "run JOIN device ON device.id = run.device
    JOIN requester ON requester.id = run.requester";

impl HistoryReader<'_> {
    pub(crate) fn runs(&self, filter: &RunFilter) -> Result<Vec<RunEntry>, HistoryError> {
        // A device has an index of its own.
        let of_device = match filter.device {
            Some(_) => "run.device = (SELECT id FROM device WHERE name = ?1)",
            None => "CAST(?1 AS TEXT) IS NULL",
        };
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM {TABLES}
             WHERE {of_device}
                 AND (CAST(?2 AS TEXT) IS NULL OR run.status = ?2)
                 AND (CAST(?3 AS TEXT) IS NULL OR run.kind = ?3)
                 AND (CAST(?4 AS TEXT) IS NULL OR requester.kind = ?4)
                 AND (NOT ?5 OR run.status <> 'unchanged')
                 AND (CAST(?6 AS BIGINT) IS NULL OR queued >= ?6)
                 AND (CAST(?7 AS BIGINT) IS NULL OR run.id < ?7)
                 AND (CAST(?9 AS TEXT) IS NULL OR run.name = ?9)
                 AND (CAST(?10 AS TEXT) IS NULL
                     OR device.name IN (SELECT value FROM json_each(CAST(?10 AS TEXT))))
             ORDER BY run.id DESC LIMIT ?8"
        ))?;
        select.query_all(
            params![
                filter.device,
                filter.status,
                filter.kind,
                filter.requester,
                filter.is_notable,
                filter.queued_after.map(milliseconds),
                filter.before.map(|run| run.0),
                filter.limit,
                filter.name,
                names_json(filter.names.as_ref())
            ],
            entry,
        )
    }

    pub(crate) fn run(&self, id: RunId) -> Result<Option<RunEntry>, HistoryError> {
        let mut select = self
            .connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE run.id = ?1"))?;
        select.query_row([id.0], entry).optional()
    }

    /// A run with all its parts.
    pub(crate) fn run_detail(&self, id: RunId) -> Result<Option<RunDetail>, HistoryError> {
        let Some(run) = self.run(id)? else {
            return Ok(None);
        };
        let record: Option<String> =
            self.connection
                .query_row("SELECT record FROM run WHERE id = ?1", [id.0], |row| {
                    row.get(0)
                })?;
        let record: Option<RunRecord> = record.as_deref().map(stored).transpose()?;
        let resources = self.resources_of_run(id)?;
        Ok(Some(RunDetail {
            run,
            further_requesters: self.further_requesters(id)?,
            record: record.map(|record| record.with_resources(resources)),
        }))
    }

    fn further_requesters(&self, run: RunId) -> Result<Vec<Requester>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT kind, name FROM further_requester
                 JOIN requester ON requester.id = further_requester.requester
             WHERE run = ?1 ORDER BY kind, name",
        )?;
        select.query_all([run.0], |row| {
            let (kind, name) = (row.get(0)?, row.get(1)?);
            Ok(Requester { kind, name })
        })
    }

    fn resources_of_run(&self, run: RunId) -> Result<Vec<Arc<ResourceStatus>>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT record FROM resource_status WHERE run = ?1 ORDER BY resource",
        )?;
        let records: Vec<String> = select.query_all([run.0], |row| row.get(0))?;
        let records = records.iter();
        records.map(|text| Ok(Arc::new(stored(text)?))).collect()
    }

    /// The runs in which a resource was not unchanged, newest first. `device`: of this device only.
    pub(crate) fn resource_history(
        &self,
        device: Option<&str>,
        reference: &str,
        before: Option<RunId>,
        limit: u32,
    ) -> Result<Vec<ResourceRun>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT device.name AS device, run.id AS run, run.kind AS kind, run.ended AS ended,
                 resource_status.record AS record
             FROM resource
             JOIN resource_status ON resource_status.resource = resource.id
             JOIN run ON run.id = resource_status.run
             JOIN device ON device.id = resource.device
             WHERE reference = ?2 AND (CAST(?1 AS TEXT) IS NULL OR device.name = ?1)
                 AND (CAST(?3 AS BIGINT) IS NULL OR run.id < ?3)
             ORDER BY run.id DESC LIMIT ?4",
        )?;
        select.query_all(
            params![device, reference, before.map(|run| run.0), limit],
            |row| {
                Ok(ResourceRun {
                    device: row.get("device")?,
                    run: RunId(row.get("run")?),
                    kind: row.get("kind")?,
                    ended: optional_time(row, "ended")?,
                    resource: json_column(row, "record")?,
                })
            },
        )
    }

    /// The resources of a device's catalog, in the order of their names.
    pub(crate) fn resources(
        &self,
        device: &str,
        limit: u32,
        offset: u32,
    ) -> Result<Vec<ManagedResource>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT reference, file, line, last_status, last_run FROM resource
             WHERE device = (SELECT id FROM device WHERE name = ?1) AND removed IS NULL
             ORDER BY reference COLLATE natural_order LIMIT ?2 OFFSET ?3",
        )?;
        select.query_all(params![device, limit, offset], |row| {
            Ok(ManagedResource {
                resource: row.get("reference")?,
                file: row.get("file")?,
                line: line(row)?,
                status: row.get("last_status")?,
                run: RunId(row.get("last_run")?),
            })
        })
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<RunEntry> {
    Ok(RunEntry {
        id: RunId(row.get("id")?),
        uuid: row.get("uuid")?,
        device: row.get("device")?,
        name: row.get("name")?,
        kind: row.get("kind")?,
        status: row.get("status")?,
        requester: Requester {
            kind: row.get("requester_kind")?,
            name: row.get("requester_name")?,
        },
        queued: time(row, "queued")?,
        started: optional_time(row, "started")?,
        ended: optional_time(row, "ended")?,
        counts: RunNumbers {
            resources: row.get("resources")?,
            changed: row.get("changed")?,
            failed: row.get("failed")?,
            skipped: row.get("skipped")?,
            pending: row.get("pending")?,
            operations: row.get("operations")?,
            to_send: row.get("to_send")?,
            not_understood: row.get("not_understood")?,
        },
        is_unreachable: row.get("is_unreachable")?,
        connection_change: row.get("connection_change")?,
        error: row.get("error")?,
        hint: row.get("hint")?,
        revision: revision(row)?,
        release: row.get::<_, Option<i64>>("release")?.map(ReleaseNumber),
        node: row.get("node")?,
        is_late: row.get("is_late")?,
    })
}

fn revision(row: &Row<'_>) -> rusqlite::Result<Option<GitRevision>> {
    let commit: Option<String> = row.get("state_commit")?;
    let is_modified = row.get("state_is_modified")?;
    Ok(commit.map(|commit| GitRevision {
        commit,
        is_modified,
    }))
}

/// What a column has as JSON.
fn stored<T: DeserializeOwned>(text: &str) -> Result<T, HistoryError> {
    serde_json::from_str(text).map_err(|error| HistoryError::Invalid(error.to_string()))
}

fn json_column<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })
}

fn line(row: &Row<'_>) -> rusqlite::Result<Option<u64>> {
    let line: Option<i64> = row.get("line")?;
    Ok(line.and_then(|line| u64::try_from(line).ok()))
}

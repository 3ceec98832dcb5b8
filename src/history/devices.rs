//! The fleet: devices with the result of their last run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::params;
use rusqlite::types::ToSql;
use serde::{Deserialize, Serialize};

use super::sql::{OptionalRow as _, Row};
use super::time_column::{optional_time, time};
use super::{HistoryError, HistoryReader, Requester, RequesterKind, RunId};
use crate::coverage::line_classes::LineClasses;
use crate::inventory::{Selectable, selection};
use crate::report::{FindingRecord, RunStatus, UnknownText};
use crate::words::words;

words! {
    /// The result of a device in one word: the status of its last run, unless it cannot be connected or had no run.
    DeviceResult {
        Failed = "failed",
        Unreachable = "unreachable",
        NotRun = "not run",
        Interrupted = "interrupted",
        Pending = "pending",
        Changed = "changed",
        Unchanged = "unchanged",
        /// It had no run.
        Never = "never",
    }
}

impl DeviceResult {
    /// The result of a device after a run; `None`: the run has not ended.
    pub(crate) fn of(status: RunStatus, is_unreachable: bool) -> Option<Self> {
        Some(match status {
            _ if is_unreachable => Self::Unreachable,
            RunStatus::Failed => Self::Failed,
            RunStatus::NotRun => Self::NotRun,
            RunStatus::Interrupted => Self::Interrupted,
            RunStatus::Pending => Self::Pending,
            RunStatus::Changed => Self::Changed,
            RunStatus::Unchanged => Self::Unchanged,
            RunStatus::Queued | RunStatus::Running | RunStatus::Canceled => return None,
        })
    }
}

/// A device in the list of the fleet.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub(crate) struct FleetDevice {
    pub(crate) name: String,
    pub(crate) platform: String,
    pub(crate) site: Option<String>,
    pub(crate) labels: BTreeMap<String, String>,
    /// Where it is connected: host name or address, and the port if it is not the usual one.
    pub(crate) address: String,
    /// The model, as the device names it.
    pub(crate) model: Option<String>,
    /// The version of its software.
    pub(crate) version: Option<String>,
    pub(crate) serial_number: Option<String>,
    /// The status of the last run, `unreachable`, or `never`.
    pub(crate) result: DeviceResult,
    /// Whether the inventory has it.
    pub(crate) is_current: bool,
    pub(crate) first_seen: Timestamp,
    pub(crate) last_run: Option<RunId>,
    pub(crate) last_status: Option<RunStatus>,
    /// Why the last run did not happen, or ended early.
    pub(crate) last_error: Option<String>,
    /// Number of resources that failed in the last run.
    pub(crate) last_failed: u32,
    pub(crate) last_ended: Option<Timestamp>,
    pub(crate) last_changed: Option<Timestamp>,
    pub(crate) unreachable_since: Option<Timestamp>,
    /// Consecutive failures.
    pub(crate) failures: u32,
    /// Number of resources that differ.
    pub(crate) drift: u32,
    pub(crate) resources: u32,
    /// The share of the lines of its configuration that a declared resource has, in percent. `None`: unknown.
    pub(crate) managed_percent: Option<usize>,
    /// The share of the lines that a type reads.
    pub(crate) covered_percent: Option<usize>,
    /// `None` also while the device is paused.
    pub(crate) next_due: Option<Timestamp>,
    pub(crate) paused_since: Option<Timestamp>,
    pub(crate) pause_reason: Option<String>,
    pub(crate) paused_by: Option<Requester>,
}

impl Selectable for FleetDevice {
    fn names(&self) -> [&str; 2] {
        [&self.name, &self.name]
    }

    fn label(&self, key: &str) -> Option<&str> {
        let labels = &self.labels;
        selection::label(key, labels.get(key), self.site.as_deref(), &self.platform)
    }
}

/// The devices that a query selects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FleetFilter {
    /// A part of the name.
    pub(crate) name: Option<String>,
    /// Only devices with these names.
    pub(crate) names: Option<Vec<String>>,
    /// The status of the last run.
    pub(crate) status: Option<RunStatus>,
    pub(crate) result: Option<DeviceResult>,
    pub(crate) platform: Option<String>,
    pub(crate) site: Option<String>,
    pub(crate) has_drift: bool,
    pub(crate) is_unreachable: bool,
    pub(crate) is_paused: bool,
    pub(crate) order: FleetOrder,
    pub(crate) limit: u32,
    pub(crate) offset: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FleetOrder {
    #[default]
    Name,
    /// Failures first, then drift.
    Status,
    /// The oldest first.
    LastRun,
    NextDue,
    Site,
    Model,
    Version,
}

/// The counts of the fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct FleetCounts {
    pub(crate) devices: u32,
    /// By result: the status of the last run, `unreachable`, or `never`.
    pub(crate) statuses: BTreeMap<String, u32>,
    pub(crate) with_drift: u32,
    pub(crate) unreachable: u32,
    pub(crate) paused: u32,
}

/// The findings of a device's last catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct DeviceFindings {
    pub(crate) device: String,
    pub(crate) findings: Vec<FindingRecord>,
    pub(crate) not_understood: Vec<UnknownText>,
}

/// The result of a device, as [`DeviceResult`].
const RESULT: &str = "CASE WHEN unreachable_since IS NOT NULL THEN 'unreachable'
    ELSE coalesce(last_status, 'never') END";

/// The newest facts of a device.
const FACTS: &str =
    "(SELECT facts FROM fact WHERE fact.device = device.id ORDER BY run DESC LIMIT 1)";

const COLUMNS: &str = "device.name, platform, site, labels, address, is_current, first_seen, last_run,
    last_status, last_ended, last_changed, unreachable_since, device.failures, drift, resources, line_classes,
    CASE WHEN paused_since IS NULL THEN next_due END AS next_due, paused_since, pause_reason,
    (SELECT kind FROM requester WHERE requester.id = paused_by) AS paused_kind,
    (SELECT name FROM requester WHERE requester.id = paused_by) AS paused_name,
    (SELECT error FROM run WHERE run.id = last_run) AS last_error,
    coalesce((SELECT failed FROM run WHERE run.id = last_run), 0) AS last_failed";

const SELECTED: &str = "is_current
    AND (CAST(?1 AS TEXT) IS NULL OR instr(device.name, ?1) > 0)
    AND (CAST(?2 AS TEXT) IS NULL OR device.name IN (SELECT value FROM json_each(CAST(?2 AS TEXT))))
    AND (CAST(?3 AS TEXT) IS NULL OR last_status = ?3)
    AND (CAST(?4 AS TEXT) IS NULL OR platform = ?4)
    AND (CAST(?5 AS TEXT) IS NULL OR coalesce(site, '') = ?5)
    AND (NOT ?6 OR drift > 0)
    AND (NOT ?7 OR unreachable_since IS NOT NULL)
    AND (NOT ?8 OR paused_since IS NOT NULL)
    AND (CAST(?9 AS TEXT) IS NULL OR CASE WHEN unreachable_since IS NOT NULL THEN 'unreachable'
        ELSE coalesce(last_status, 'never') END = ?9)";

/// The order of the devices that need attention.
const URGENCY: &str = "WHEN 'failed' THEN 0 WHEN 'unreachable' THEN 1 WHEN 'not run' THEN 2
    WHEN 'interrupted' THEN 3 WHEN 'pending' THEN 4 WHEN 'changed' THEN 5 ELSE 6 END, drift DESC";

impl FleetFilter {
    /// Calls a function with the values of [`SELECTED`].
    fn with_values<T>(&self, work: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        work(&[
            &self.name,
            &names_json(self.names.as_ref()),
            &self.status,
            &self.platform,
            &self.site,
            &self.has_drift,
            &self.is_unreachable,
            &self.is_paused,
            &self.result,
        ])
    }
}

impl FleetOrder {
    /// The terms before the name.
    fn terms(self) -> String {
        let fact = |name: &str| {
            format!("json_extract({FACTS}, '{name}') COLLATE natural_order NULLS LAST,")
        };
        match self {
            Self::Name => String::new(),
            Self::Status => format!("CASE {RESULT} {URGENCY},"),
            Self::LastRun => "last_ended NULLS FIRST,".to_owned(),
            Self::NextDue => "next_due NULLS LAST,".to_owned(),
            Self::Site => "site COLLATE natural_order NULLS LAST,".to_owned(),
            Self::Model => fact("$.hardwaremodel"),
            Self::Version => fact("$.operatingsystemrelease"),
        }
    }
}

impl HistoryReader<'_> {
    /// The selected devices of the inventory.
    pub(crate) fn fleet(&self, filter: &FleetFilter) -> Result<Vec<FleetDevice>, HistoryError> {
        let order = filter.order.terms();
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS}, {FACTS} AS facts, {RESULT} AS result
             FROM device LEFT JOIN schedule ON schedule.device = device.id
             WHERE {SELECTED}
             ORDER BY {order} device.name COLLATE natural_order LIMIT ?10 OFFSET ?11"
        ))?;
        filter.with_values(|values| {
            let page: [&dyn ToSql; 2] = [&filter.limit, &filter.offset];
            select.query_all(&[values, &page].concat()[..], device)
        })
    }

    /// The number of selected devices.
    pub(crate) fn fleet_size(&self, filter: &FleetFilter) -> Result<u32, HistoryError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT count(*) FROM device LEFT JOIN schedule ON schedule.device = device.id
             WHERE {SELECTED}"
        ))?;
        filter.with_values(|values| select.query_row(values, |row| row.get(0)))
    }

    /// The counts of all devices of the inventory.
    pub(crate) fn fleet_counts(&self) -> Result<FleetCounts, HistoryError> {
        let mut counts = FleetCounts::default();
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {RESULT}, count(*), count(*) FILTER (WHERE drift > 0),
                 count(unreachable_since), count(paused_since)
             FROM device LEFT JOIN schedule ON schedule.device = device.id
             WHERE is_current GROUP BY 1",
        ))?;
        select.query_each([], |row| {
            let devices: u32 = row.get(1)?;
            counts.devices += devices;
            counts.statuses.insert(row.get(0)?, devices);
            counts.with_drift += row.get::<_, u32>(2)?;
            counts.unreachable += row.get::<_, u32>(3)?;
            counts.paused += row.get::<_, u32>(4)?;
            Ok(())
        })?;
        Ok(counts)
    }

    /// When the devices without a run have their first one: the next time, and the last one.
    pub(crate) fn first_runs(&self) -> Result<Option<(Timestamp, Timestamp)>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT min(next_due) AS next, max(next_due) AS last FROM device
             JOIN schedule ON schedule.device = device.id
             WHERE is_current AND last_run IS NULL AND paused_since IS NULL",
        )?;
        let times = select.query_row([], |row| {
            Ok((optional_time(row, "next")?, optional_time(row, "last")?))
        })?;
        Ok(times.0.zip(times.1))
    }

    /// A device; also one that the inventory no longer has.
    pub(crate) fn fleet_device(&self, name: &str) -> Result<Option<FleetDevice>, HistoryError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS}, {FACTS} AS facts, {RESULT} AS result
             FROM device LEFT JOIN schedule ON schedule.device = device.id
             WHERE device.name = ?1"
        ))?;
        select.query_row([name], device).optional()
    }

    /// The devices of which a catalog has findings, or of which text was not understood.
    pub(crate) fn findings(
        &self,
        names: Option<&Vec<String>>,
        limit: u32,
        offset: u32,
    ) -> Result<Vec<DeviceFindings>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT name, findings, not_understood FROM device
             WHERE is_current AND (findings <> '[]' OR not_understood <> '[]')
                 AND (CAST(?3 AS TEXT) IS NULL
                     OR name IN (SELECT value FROM json_each(CAST(?3 AS TEXT))))
             ORDER BY name COLLATE natural_order LIMIT ?1 OFFSET ?2",
        )?;
        select.query_all(params![limit, offset, names_json(names)], |row| {
            Ok(DeviceFindings {
                device: row.get("name")?,
                findings: parse(&row.get::<_, String>("findings")?),
                not_understood: parse(&row.get::<_, String>("not_understood")?),
            })
        })
    }
}

/// Names as a list for a query.
pub(super) fn names_json(names: Option<&Vec<String>>) -> Option<String> {
    names.map(|names| serde_json::to_string(names).expect("names are JSON"))
}

fn parse<T: serde::de::DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

fn device(row: &Row<'_>) -> rusqlite::Result<FleetDevice> {
    let lines = LineClasses::parse(&row.get::<_, String>("line_classes")?).counts();
    let percent = |count| (lines.total() > 0).then(|| lines.percent(count));
    let facts: Option<String> = row.get("facts")?;
    let mut facts: BTreeMap<String, String> = parse(&facts.unwrap_or_default());
    Ok(FleetDevice {
        name: row.get("name")?,
        platform: row.get("platform")?,
        site: row.get("site")?,
        labels: parse(&row.get::<_, String>("labels")?),
        address: row.get("address")?,
        model: facts
            .remove("hardwaremodel")
            .or_else(|| facts.remove("model")),
        version: facts.remove("operatingsystemrelease"),
        serial_number: facts.remove("serialnumber"),
        result: row.get("result")?,
        is_current: row.get("is_current")?,
        first_seen: time(row, "first_seen")?,
        last_run: row.get::<_, Option<i64>>("last_run")?.map(RunId),
        last_status: row.get("last_status")?,
        last_error: row.get("last_error")?,
        last_failed: row.get("last_failed")?,
        last_ended: optional_time(row, "last_ended")?,
        last_changed: optional_time(row, "last_changed")?,
        unreachable_since: optional_time(row, "unreachable_since")?,
        failures: row.get("failures")?,
        drift: row.get("drift")?,
        resources: row.get("resources")?,
        managed_percent: percent(lines.managed()),
        covered_percent: percent(lines.covered()),
        next_due: optional_time(row, "next_due")?,
        paused_since: optional_time(row, "paused_since")?,
        pause_reason: row.get("pause_reason")?,
        paused_by: match row.get::<_, Option<RequesterKind>>("paused_kind")? {
            Some(kind) => Some(Requester {
                kind,
                name: row.get("paused_name")?,
            }),
            None => None,
        },
    })
}

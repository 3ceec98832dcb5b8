//! The fleet: devices with the result of their last run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use super::time_column::{optional_time, time};
use super::{HistoryError, HistoryReader, Requester, RequesterKind, RunId};
use crate::coverage::line_classes::LineClasses;
use crate::inventory::{Selectable, selection};
use crate::report::{FindingRecord, RunStatus, UnknownText};

/// A device in the list of the fleet.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub(crate) struct FleetDevice {
    pub(crate) name: String,
    pub(crate) platform: String,
    pub(crate) site: Option<String>,
    pub(crate) labels: BTreeMap<String, String>,
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
    pub(crate) status: Option<RunStatus>,
    pub(crate) platform: Option<String>,
    pub(crate) site: Option<String>,
    /// `KEY=VALUE`
    pub(crate) label: Option<String>,
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
}

/// The counts of the fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct FleetCounts {
    pub(crate) devices: u32,
    /// By the status of the last run; `never` for devices without a run.
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

const COLUMNS: &str = "device.name, platform, site, labels, is_current, first_seen, last_run,
    last_status, last_ended, last_changed, unreachable_since, device.failures, drift, resources, line_classes,
    CASE WHEN paused_since IS NULL THEN next_due END AS next_due, paused_since, pause_reason,
    (SELECT kind FROM requester WHERE requester.id = paused_by) AS paused_kind,
    (SELECT name FROM requester WHERE requester.id = paused_by) AS paused_name,
    (SELECT error FROM run WHERE run.id = last_run) AS last_error,
    coalesce((SELECT failed FROM run WHERE run.id = last_run), 0) AS last_failed";

const SELECTED: &str = "is_current = 1
    AND (?1 IS NULL OR instr(device.name, ?1) > 0)
    AND (?2 IS NULL OR last_status = ?2)
    AND (?3 IS NULL OR platform = ?3)
    AND (?4 IS NULL OR site = ?4)
    AND (?5 IS NULL OR EXISTS (SELECT 1 FROM json_each(labels)
        WHERE key || '=' || value = ?5))
    AND (NOT ?6 OR drift > 0)
    AND (NOT ?7 OR unreachable_since IS NOT NULL)
    AND (NOT ?8 OR paused_since IS NOT NULL)";

impl HistoryReader<'_> {
    /// The selected devices of the inventory.
    pub(crate) fn fleet(&self, filter: &FleetFilter) -> Result<Vec<FleetDevice>, HistoryError> {
        let order = match filter.order {
            FleetOrder::Name => "device.name",
            FleetOrder::Status => {
                "CASE last_status WHEN 'failed' THEN 0 WHEN 'not run' THEN 0
                     WHEN 'interrupted' THEN 1 WHEN 'pending' THEN 2 WHEN 'changed' THEN 3
                     ELSE 4 END, drift DESC, device.name"
            }
            FleetOrder::LastRun => "last_ended NULLS FIRST, device.name",
            FleetOrder::NextDue => "next_due NULLS LAST, device.name",
        };
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM device LEFT JOIN schedule ON schedule.device = device.id
             WHERE {SELECTED} ORDER BY {order} LIMIT ?9 OFFSET ?10"
        ))?;
        let rows = select.query_map(
            params![
                filter.name,
                filter.status,
                filter.platform,
                filter.site,
                filter.label,
                filter.has_drift,
                filter.is_unreachable,
                filter.is_paused,
                filter.limit,
                filter.offset
            ],
            device,
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The number of selected devices.
    pub(crate) fn fleet_size(&self, filter: &FleetFilter) -> Result<u32, HistoryError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT count(*) FROM device LEFT JOIN schedule ON schedule.device = device.id
             WHERE {SELECTED}"
        ))?;
        let count = select.query_row(
            params![
                filter.name,
                filter.status,
                filter.platform,
                filter.site,
                filter.label,
                filter.has_drift,
                filter.is_unreachable,
                filter.is_paused
            ],
            |row| row.get(0),
        )?;
        Ok(count)
    }

    /// The counts of all devices of the inventory.
    pub(crate) fn fleet_counts(&self) -> Result<FleetCounts, HistoryError> {
        let mut counts = FleetCounts::default();
        let mut select = self.connection.prepare_cached(
            "SELECT coalesce(last_status, 'never'), count(*), sum(drift > 0),
                 sum(unreachable_since IS NOT NULL), sum(paused_since IS NOT NULL)
             FROM device LEFT JOIN schedule ON schedule.device = device.id
             WHERE is_current = 1 GROUP BY 1",
        )?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let devices: u32 = row.get(1)?;
            counts.devices += devices;
            counts.statuses.insert(row.get(0)?, devices);
            counts.with_drift += row.get::<_, u32>(2)?;
            counts.unreachable += row.get::<_, u32>(3)?;
            counts.paused += row.get::<_, u32>(4)?;
        }
        Ok(counts)
    }

    /// A device; also one that the inventory no longer has.
    pub(crate) fn fleet_device(&self, name: &str) -> Result<Option<FleetDevice>, HistoryError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM device LEFT JOIN schedule ON schedule.device = device.id
             WHERE device.name = ?1"
        ))?;
        Ok(select.query_row([name], device).optional()?)
    }

    /// The devices of which a catalog has findings, or of which text was not understood.
    pub(crate) fn findings(
        &self,
        limit: u32,
        offset: u32,
    ) -> Result<Vec<DeviceFindings>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT name, findings, not_understood FROM device
             WHERE is_current = 1 AND (findings <> '[]' OR not_understood <> '[]')
             ORDER BY name LIMIT ?1 OFFSET ?2",
        )?;
        let rows = select.query_map(params![limit, offset], |row| {
            Ok(DeviceFindings {
                device: row.get("name")?,
                findings: parse(&row.get::<_, String>("findings")?),
                not_understood: parse(&row.get::<_, String>("not_understood")?),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn parse<T: serde::de::DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

fn device(row: &Row<'_>) -> rusqlite::Result<FleetDevice> {
    let lines = LineClasses::parse(&row.get::<_, String>("line_classes")?).counts();
    let percent = |count| (lines.total() > 0).then(|| lines.percent(count));
    Ok(FleetDevice {
        name: row.get("name")?,
        platform: row.get("platform")?,
        site: row.get("site")?,
        labels: parse(&row.get::<_, String>("labels")?),
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

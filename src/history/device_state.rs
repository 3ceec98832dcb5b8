//! Devices: the inventory's, their facts, and what the scheduler stores about them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rusqlite::params;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::record::RunDevice;
use super::sql::{OptionalRow as _, Row};
use super::time_column::{milliseconds, optional_time, time};
use super::{HistoryError, HistoryReader, HistoryWriter, Requester, RunId};
use crate::inventory::{Selectable, selection};

/// A device of the inventory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownDevice {
    pub(crate) name: String,
    pub(crate) platform: String,
    pub(crate) site: Option<String>,
    pub(crate) labels: BTreeMap<String, String>,
    /// Host name or address, and the port if it is not the usual one.
    pub(crate) address: String,
    /// The class of what its platform promises about late writes. `None`: unknown, or as before.
    pub(crate) guarantee: Option<String>,
}

impl KnownDevice {
    /// Whether an update would store what is stored.
    fn is_stored_as(&self, stored: &Self) -> bool {
        let guarantee = self.guarantee.as_ref().or(stored.guarantee.as_ref());
        *stored
            == Self {
                guarantee: guarantee.cloned(),
                ..self.clone()
            }
    }
}

impl Selectable for KnownDevice {
    fn names(&self) -> [&str; 2] {
        [&self.name, &self.name]
    }

    fn label(&self, key: &str) -> Option<&str> {
        let labels = &self.labels;
        selection::label(key, labels.get(key), self.site.as_deref(), &self.platform)
    }
}

/// The part of a device's schedule that outlives a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredSchedule {
    pub(crate) next_due: Option<Timestamp>,
    /// Consecutive failures.
    pub(crate) failures: u32,
    pub(crate) pause: Option<Pause>,
}

/// Why a device has no scheduled runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
    pub(crate) since: Timestamp,
    pub(crate) reason: String,
    pub(crate) by: Requester,
}

/// The facts of a device from a time on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct FactSet {
    pub(crate) run: RunId,
    pub(crate) time: Timestamp,
    pub(crate) facts: BTreeMap<String, String>,
}

/// A row of devices as the inventory has them.
pub(super) fn known_device(row: &Row<'_>) -> rusqlite::Result<KnownDevice> {
    let labels: String = row.get("labels")?;
    Ok(KnownDevice {
        name: row.get("name")?,
        platform: row.get("platform")?,
        site: row.get("site")?,
        labels: serde_json::from_str(&labels).unwrap_or_default(),
        address: row.get("address")?,
        guarantee: row.get("guarantee")?,
    })
}

impl HistoryReader<'_> {
    /// What is known of a device; also of one that the inventory no longer has.
    pub(crate) fn known_device(&self, name: &str) -> Result<Option<KnownDevice>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT name, platform, site, labels, address, guarantee FROM device WHERE name = ?1",
        )?;
        select.query_row([name], known_device).optional()
    }
}

/// The fact with the serial number of a device.
const SERIAL: &str = "serialnumber";

impl HistoryWriter<'_> {
    /// The number of a device, which is added if necessary.
    pub(super) fn device_id(&self, name: &str, now: Timestamp) -> Result<i64, HistoryError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT id FROM device WHERE name = ?1")?;
        if let Some(id) = select.query_row([name], |row| row.get(0)).optional()? {
            return Ok(id);
        }
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO device (name, platform, first_seen) VALUES (?1, '', ?2)",
        )?;
        insert.insert(params![name, milliseconds(now)])
    }

    /// Where the device is that the store has by the name of another one: its address differs, and no equal serial
    /// number shows that it is the same device. Two inventories can have the same names.
    pub(crate) fn other_address(
        &self,
        device: &KnownDevice,
        facts: Option<&BTreeMap<String, String>>,
    ) -> Result<Option<String>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT address,
                 (SELECT facts FROM fact WHERE fact.device = device.id ORDER BY time DESC LIMIT 1)
             FROM device WHERE name = ?1",
        )?;
        let found = select.query_row([&device.name], |row| {
            Ok((row.get(0)?, row.get::<_, Option<String>>(1)?))
        });
        let found: Option<(String, Option<String>)> = found.optional()?;
        let Some((address, stored)) = found else {
            return Ok(None);
        };
        let has_both = !address.is_empty() && !device.address.is_empty();
        if !has_both || address == device.address {
            return Ok(None);
        }
        let stored: BTreeMap<String, String> = stored
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let is_same = facts.is_some_and(|facts| facts.get(SERIAL) == stored.get(SERIAL));
        Ok((!is_same).then_some(address))
    }

    /// Adds devices, and updates those that differ. With `is_complete`, all other devices are no longer current.
    pub(crate) fn update_devices(
        &self,
        devices: &[KnownDevice],
        is_complete: bool,
        now: Timestamp,
    ) -> Result<(), HistoryError> {
        let mut current = self.current_devices()?;
        let mut upsert = self.connection.prepare_cached(
            "INSERT INTO device (name, platform, site, labels, address, first_seen, guarantee)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (name)
             DO UPDATE SET platform = ?2, site = ?3, labels = ?4, address = ?5,
                 guarantee = coalesce(CAST(?7 AS TEXT), device.guarantee), is_current = TRUE",
        )?;
        for device in devices {
            let stored = current.remove(&device.name);
            if stored.is_some_and(|stored| device.is_stored_as(&stored)) {
                continue;
            }
            let labels = serde_json::to_string(&device.labels)
                .map_err(|error| HistoryError::Invalid(error.to_string()))?;
            upsert.execute(params![
                device.name,
                device.platform,
                device.site,
                labels,
                device.address,
                milliseconds(now),
                device.guarantee
            ])?;
        }
        if is_complete {
            let mut forget = self
                .connection
                .prepare_cached("UPDATE device SET is_current = FALSE WHERE name = ?1")?;
            for name in current.keys() {
                forget.execute([name])?;
            }
        }
        Ok(())
    }

    /// The devices of the inventory as they are stored.
    fn current_devices(&self) -> Result<BTreeMap<String, KnownDevice>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT name, platform, site, labels, address, guarantee FROM device WHERE is_current",
        )?;
        let devices: Vec<KnownDevice> = select.query_all([], known_device)?;
        let devices = devices.into_iter();
        Ok(devices.map(|one| (one.name.clone(), one)).collect())
    }

    pub(super) fn update_facts(
        &self,
        device: &RunDevice,
        run: RunId,
        now: Timestamp,
        facts: &BTreeMap<String, String>,
    ) -> Result<(), HistoryError> {
        let text = serde_json::to_string(facts)
            .map_err(|error| HistoryError::Invalid(error.to_string()))?;
        let digest = Sha256::digest(&text)[..16].to_vec();
        if device.fact_digest.as_ref() == Some(&digest) {
            return Ok(());
        }
        self.connection.execute(
            "INSERT INTO fact (device, run, time, facts) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (device, run) DO UPDATE SET time = ?3, facts = ?4",
            params![device.id, run.0, milliseconds(now), text],
        )?;
        self.connection.execute(
            "UPDATE device SET fact_digest = ?2 WHERE id = ?1",
            params![device.id, digest],
        )?;
        Ok(())
    }

    /// Stores when a device is due, and its failures.
    pub(crate) fn set_due(
        &self,
        device: &str,
        next_due: Option<Timestamp>,
        failures: u32,
        now: Timestamp,
    ) -> Result<(), HistoryError> {
        let device = self.device_id(device, now)?;
        let mut upsert = self.connection.prepare_cached(
            "INSERT INTO schedule (device, next_due, failures) VALUES (?1, ?2, ?3)
             ON CONFLICT (device) DO UPDATE SET next_due = ?2, failures = ?3",
        )?;
        upsert.execute(params![device, next_due.map(milliseconds), failures])?;
        Ok(())
    }

    /// Pauses the scheduled runs of a device, or resumes them.
    pub(crate) fn set_pause(
        &self,
        device: &str,
        pause: Option<&Pause>,
        now: Timestamp,
    ) -> Result<(), HistoryError> {
        let device = self.device_id(device, now)?;
        let by = pause
            .map(|pause| self.requester_id(&pause.by))
            .transpose()?;
        self.connection.execute(
            "INSERT INTO schedule (device, paused_since, pause_reason, paused_by)
             VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (device)
             DO UPDATE SET paused_since = ?2, pause_reason = ?3, paused_by = ?4",
            params![
                device,
                pause.map(|pause| milliseconds(pause.since)),
                pause.map(|pause| &pause.reason),
                by
            ],
        )?;
        Ok(())
    }
}

impl HistoryReader<'_> {
    /// The stored schedules by device.
    pub(crate) fn schedules(&self) -> Result<BTreeMap<String, StoredSchedule>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT device.name, next_due, schedule.failures, paused_since, pause_reason,
                 requester.kind AS paused_kind, requester.name AS paused_name
             FROM schedule
             JOIN device ON device.id = schedule.device
             LEFT JOIN requester ON requester.id = schedule.paused_by",
        )?;
        select.query_all([], |row| {
            let since = optional_time(row, "paused_since")?;
            let pause = match since {
                Some(since) => Some(Pause {
                    since,
                    reason: row.get::<_, Option<_>>("pause_reason")?.unwrap_or_default(),
                    by: Requester {
                        kind: row.get("paused_kind")?,
                        name: row.get("paused_name")?,
                    },
                }),
                None => None,
            };
            let schedule = StoredSchedule {
                next_due: optional_time(row, "next_due")?,
                failures: row.get("failures")?,
                pause,
            };
            Ok((row.get("name")?, schedule))
        })
    }

    /// The devices that are paused.
    pub(crate) fn paused_devices(&self) -> Result<BTreeSet<String>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT device.name AS name FROM schedule JOIN device ON device.id = schedule.device
             WHERE paused_since IS NOT NULL",
        )?;
        select.query_all([], |row| row.get(0))
    }

    /// The facts of a device at a time; `None`: now.
    pub(crate) fn facts(
        &self,
        device: &str,
        at: Option<Timestamp>,
    ) -> Result<Option<FactSet>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT run, time, facts FROM fact
             WHERE device = (SELECT id FROM device WHERE name = ?1)
                 AND (CAST(?2 AS BIGINT) IS NULL OR time <= ?2)
             ORDER BY run DESC LIMIT 1",
        )?;
        let found = select.query_row(params![device, at.map(milliseconds)], |row| {
            let facts: String = row.get("facts")?;
            Ok(FactSet {
                run: RunId(row.get("run")?),
                time: time(row, "time")?,
                facts: serde_json::from_str(&facts).unwrap_or_default(),
            })
        });
        found.optional()
    }
}

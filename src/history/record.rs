//! Writes runs: requested, started and ended.

mod leased;
mod statuses;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use rusqlite::params;
use sha2::{Digest as _, Sha256};

pub(super) use leased::OWN_RUNS;

use super::devices::DeviceResult;
use super::drift::DriftUpdate;
use super::run::{RunNumbers, RunRight};
use super::run_uuid::RunUuid;
use super::sql::OptionalRow as _;
use super::time_column::milliseconds;
use super::{
    CompletedRun, ConnectionChange, HistoryError, HistoryWriter, NewRun, Requester, RunEffect,
    RunId,
};
use crate::report::{RunRecord, RunStatus};
use crate::run_kind::RunKind;
use crate::transaction::{ResourceResult, ResourceStatus};

/// The run of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddedRequest {
    New(RunId),
    /// An earlier request for the same is still waiting.
    Waiting(RunId),
}

/// A device of a run that ends.
pub(super) struct RunDevice {
    pub(super) id: i64,
    pub(super) resource_digest: Option<Vec<u8>>,
    pub(super) fact_digest: Option<Vec<u8>>,
    was_unreachable: bool,
    drift: u32,
    /// Where its desired state comes from, as far as it is known.
    origin: Option<String>,
}

impl HistoryWriter<'_> {
    /// Adds a run. A run that was added before stays as it is.
    pub(crate) fn add_run(&self, run: &NewRun) -> Result<RunId, HistoryError> {
        let same = "SELECT id FROM run WHERE uuid = ?1";
        let mut select = self.connection.prepare_cached(same)?;
        let added = select.query_row([run.uuid], |row| row.get(0).map(RunId));
        if let Some(added) = added.optional()? {
            return Ok(added);
        }
        let device = self.device_id(&run.device, run.queued)?;
        if let Some(folded) = self.folded_number(device, run.uuid)? {
            return Ok(folded);
        }
        let requester = self.requester_id(&run.requester)?;
        let status = match run.started {
            Some(_) => RunStatus::Running,
            None => RunStatus::Queued,
        };
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO run (device, kind, requester, status, priority, queued, started,
                 follows_windows, uuid)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        let id = insert.insert(params![
            device,
            run.kind,
            requester,
            status,
            run.priority,
            milliseconds(run.queued),
            run.started.map(milliseconds),
            run.follows_windows,
            run.uuid
        ])?;
        Ok(RunId(id))
    }

    /// Adds a request. One that asks for the same as a run that waits is added to that run as a further
    /// requester, unless that run was requested before `oldest` and expires.
    pub(crate) fn add_request(
        &self,
        run: &NewRun,
        oldest: Timestamp,
    ) -> Result<AddedRequest, HistoryError> {
        let device = self.device_id(&run.device, run.queued)?;
        // The kind of a run that follows the change windows is not known before its start.
        let mut select = self.connection.prepare_cached(
            "SELECT id FROM run WHERE device = ?1 AND status = 'queued' AND follows_windows = ?2
                 AND (?2 OR kind = ?3) AND queued > ?4 ORDER BY id LIMIT 1",
        )?;
        let (follows_windows, oldest) = (run.follows_windows, milliseconds(oldest));
        let values = params![device, follows_windows, run.kind, oldest];
        let waiting = select.query_row(values, |row| row.get(0).map(RunId));
        let Some(waiting) = waiting.optional()? else {
            return Ok(AddedRequest::New(self.add_run(run)?));
        };
        let requester = self.requester_id(&run.requester)?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO further_requester (run, requester)
             SELECT id, ?2 FROM run WHERE id = ?1 AND requester <> ?2
             ON CONFLICT DO NOTHING",
        )?;
        insert.execute(params![waiting.0, requester])?;
        Ok(AddedRequest::Waiting(waiting))
    }

    /// Marks a queued run as started. Returns false if it was withdrawn, or has started.
    pub(crate) fn start_run(
        &self,
        run: RunId,
        kind: RunKind,
        started: Timestamp,
    ) -> Result<bool, HistoryError> {
        let mut update = self.connection.prepare_cached(
            "UPDATE run SET status = ?2, started = ?3, kind = ?5, error = NULL
             WHERE id = ?1 AND status = ?4",
        )?;
        let (to, from) = (RunStatus::Running, RunStatus::Queued);
        let changed = update.execute(params![run.0, to, milliseconds(started), from, kind])?;
        Ok(changed > 0)
    }

    /// Ends runs of a device that began in the store, but not in the process: the answer of the database was lost.
    /// Only the process that runs the device may call it, before it starts a run of it. In a fleet, the runs are those
    /// of its lease. The run `own` is not one of them: its start can be sent again.
    pub(crate) fn end_lost_runs(
        &self,
        device: &str,
        own: Option<RunUuid>,
        right: Option<&RunRight>,
        time: Timestamp,
    ) -> Result<(), HistoryError> {
        let mut update = self.connection.prepare_cached(&format!(
            "UPDATE run SET status = ?4, ended = ?5, error = 'the database was lost at its start'
             WHERE status = ?6 AND ended IS NULL
                 AND device = (SELECT id FROM device WHERE name = ?7)
                 AND uuid IS DISTINCT FROM ?8 AND {OWN_RUNS}"
        ))?;
        let (to, from) = (RunStatus::Interrupted, RunStatus::Running);
        let shard = right.map(|right| &right.shard);
        let epoch = right.map(|right| right.epoch);
        let node = right.map(|right| &right.node);
        let ended = milliseconds(time);
        update.execute(params![shard, epoch, node, to, ended, from, device, own])?;
        Ok(())
    }

    /// Whether a run has ended. The process has given up its start without an answer, but a hub can still have it.
    pub(crate) fn has_ended(&self, run: RunUuid) -> Result<bool, HistoryError> {
        let select = "SELECT ended IS NOT NULL FROM run WHERE uuid = ?1";
        let mut select = self.connection.prepare_cached(select)?;
        let found = select.query_row([run], |row| row.get(0)).optional()?;
        Ok(found.unwrap_or(false))
    }

    /// Ends a run that did not start. Returns false if it has started or ended. `reason`: if nobody has
    /// withdrawn it.
    pub(crate) fn cancel_run(
        &self,
        run: RunId,
        time: Timestamp,
        reason: Option<&str>,
    ) -> Result<bool, HistoryError> {
        let mut update = self.connection.prepare_cached(
            "UPDATE run SET status = ?2, ended = ?3, error = ?5 WHERE id = ?1 AND status = ?4",
        )?;
        let (to, from) = (RunStatus::Canceled, RunStatus::Queued);
        let changed = update.execute(params![run.0, to, milliseconds(time), from, reason])?;
        Ok(changed > 0)
    }

    /// The device of a run.
    pub(crate) fn device_name(&self, run: RunId) -> Result<String, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT device.name FROM run JOIN device ON device.id = run.device WHERE run.id = ?1",
        )?;
        select.query_row([run.0], |row| row.get(0))
    }

    /// Whether the result of a run is stored. An attempt to store it can have an unknown end.
    pub(crate) fn has_result(&self, run: RunId) -> Result<bool, HistoryError> {
        let select = "SELECT record IS NOT NULL FROM run WHERE id = ?1";
        let mut select = self.connection.prepare_cached(select)?;
        let found = select.query_row([run.0], |row| row.get(0));
        match found.optional()? {
            Some(has_result) => Ok(has_result),
            None => self.is_folded(run),
        }
    }

    /// Marks the runs of processes that have ended as interrupted: only the one that runs devices may call it. Queued
    /// runs stay queued.
    pub(crate) fn interrupt_runs(&self, time: Timestamp) -> Result<usize, HistoryError> {
        let changed = self.connection.execute(
            "UPDATE run SET status = ?1, ended = ?2,
                 error = 'the process ended during the run; the state of the device is unknown'
             WHERE status = ?3",
            params![
                RunStatus::Interrupted,
                milliseconds(time),
                RunStatus::Running
            ],
        )?;
        Ok(changed)
    }

    /// Writes the end of a run with all its parts.
    pub(crate) fn finish_run(
        &self,
        run: RunId,
        completed: &CompletedRun,
    ) -> Result<RunEffect, HistoryError> {
        let device = self.device_of_run(run)?;
        let record = &completed.record;
        let connection = match (device.was_unreachable, record.is_unreachable) {
            (false, true) => Some(ConnectionChange::Unreachable),
            // Other failures before the connection prove nothing.
            (true, false) if record.facts.is_some() => Some(ConnectionChange::Reachable),
            _ => None,
        };
        self.finish_run_row(run, completed, connection)?;
        self.count_run(completed)?;
        let is_preview = completed.is_preview(device.origin.as_deref());
        let resources = self.update_resources(&device, run, record, is_preview)?;
        self.add_statuses(run, device.id, &resources, record)?;
        let drift = DriftUpdate {
            device: device.id,
            run,
            time: completed.ended,
            kind: record.kind,
        };
        if !is_preview {
            self.update_drift(&drift, &resources, record)?;
        }
        if let Some(origin) = completed.origin.as_ref().filter(|one| one.is_authoritative) {
            let update = "UPDATE device SET catalog_origin = ?2 WHERE id = ?1";
            let mut update = self.connection.prepare_cached(update)?;
            update.execute(params![device.id, origin.path])?;
        }
        if let Some(facts) = &record.facts {
            self.update_facts(&device, run, completed.ended, facts)?;
        }
        if let Some(text) = &completed.configuration {
            self.add_configuration(device.id, run, completed.ended, text)?;
            self.set_line_classes(device.id, completed.line_classes.as_ref())?;
        }
        self.finish_device_row(&device, run, completed)?;
        let drift = "SELECT drift FROM device WHERE id = ?1";
        let mut select = self.connection.prepare_cached(drift)?;
        Ok(RunEffect {
            connection,
            drift_before: device.drift,
            drift_after: select.query_row([device.id], |row| row.get(0))?,
        })
    }

    fn finish_run_row(
        &self,
        run: RunId,
        completed: &CompletedRun,
        connection: Option<ConnectionChange>,
    ) -> Result<(), HistoryError> {
        let record = &completed.record;
        let counts = RunNumbers::from(&record.counts);
        let revision = record.revision.as_ref();
        let mut update = self.connection.prepare_cached(
            "UPDATE run SET kind = ?2, status = ?3, ended = ?4, resources = ?5, changed = ?6,
                 failed = ?7, skipped = ?8, pending = ?9, operations = ?10, to_send = ?11,
                 not_understood = ?12, is_unreachable = ?13, error = ?14, hint = ?15,
                 connection_change = ?16, record = ?17, name = ?18, state_commit = ?19,
                 state_is_modified = ?20
             WHERE id = ?1",
        )?;
        update.execute(params![
            run.0,
            record.kind,
            record.status(),
            milliseconds(completed.ended),
            counts.resources,
            counts.changed,
            counts.failed,
            counts.skipped,
            counts.pending,
            counts.operations,
            counts.to_send,
            counts.not_understood,
            record.is_unreachable,
            record.problem(),
            record.hint,
            connection,
            json(&record.without_resources())?,
            record.run_name,
            revision.map(|revision| &revision.commit),
            revision.is_some_and(|revision| revision.is_modified),
        ])?;
        Ok(())
    }

    fn finish_device_row(
        &self,
        device: &RunDevice,
        run: RunId,
        completed: &CompletedRun,
    ) -> Result<(), HistoryError> {
        let ended = milliseconds(completed.ended);
        let record = &completed.record;
        let status = record.status();
        let mut update = self.connection.prepare_cached(
            "UPDATE device SET last_run = ?2, last_status = ?3, last_ended = ?4,
                 last_changed = CASE WHEN ?5 THEN ?4 ELSE last_changed END,
                 unreachable_since =
                     CASE WHEN ?6 THEN coalesce(unreachable_since, ?4)
                          WHEN ?8 THEN NULL ELSE unreachable_since END,
                 failures = CASE WHEN ?7 THEN failures + 1 ELSE 0 END,
                 drift = (SELECT count(*) FROM drift WHERE drift.device = ?1 AND ended IS NULL)
             WHERE id = ?1",
        )?;
        update.execute(params![
            device.id,
            run.0,
            status,
            ended,
            completed.is_change(),
            record.is_unreachable,
            status.is_failure(),
            record.facts.is_some(),
        ])?;
        let findings = json(&record.findings)?;
        if status == RunStatus::NotRun && record.facts.is_none() {
            // A refused catalog has findings; without them, the catalog is unknown.
            if !record.findings.is_empty() {
                let mut update = self
                    .connection
                    .prepare_cached("UPDATE device SET findings = ?2 WHERE id = ?1")?;
                update.execute(params![device.id, findings])?;
            }
            return Ok(());
        }
        let not_understood = json(&record.not_understood)?;
        let mut update = self.connection.prepare_cached(
            "UPDATE device SET not_understood = ?2, findings = ?3
             WHERE id = ?1 AND (not_understood <> ?2 OR findings <> ?3)",
        )?;
        update.execute(params![device.id, not_understood, findings])?;
        Ok(())
    }

    fn device_of_run(&self, run: RunId) -> Result<RunDevice, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT device.id, resource_digest, fact_digest,
                 unreachable_since IS NOT NULL, drift, catalog_origin
             FROM run JOIN device ON device.id = run.device WHERE run.id = ?1",
        )?;
        let found = select.query_row([run.0], |row| {
            Ok(RunDevice {
                id: row.get(0)?,
                resource_digest: row.get(1)?,
                fact_digest: row.get(2)?,
                was_unreachable: row.get(3)?,
                drift: row.get(4)?,
                origin: row.get(5)?,
            })
        });
        let found = found.optional()?;
        found.ok_or_else(|| HistoryError::Invalid(format!("the run {run} is unknown")))
    }

    /// The numbers of the resources of a run. The table of the resources is updated if they changed, but not by a
    /// preview, whose resources are not those of the device.
    fn update_resources(
        &self,
        device: &RunDevice,
        run: RunId,
        record: &RunRecord,
        is_preview: bool,
    ) -> Result<HashMap<String, i64>, HistoryError> {
        let digest = resource_digest(record);
        let managed: HashSet<&str> = record
            .managed()
            .map(|status| status.reference.as_str())
            .collect();
        let is_complete = !is_preview && record.completed && !managed.is_empty();
        if is_complete && device.resource_digest.as_deref() != Some(&digest) {
            let mut upsert = self.connection.prepare_cached(
                "INSERT INTO resource
                     (device, reference, file, line, added, last_status, last_run, declared)
                 VALUES (?1, ?2, ?3, ?4, ?5, 'unchanged', ?5, ?6)
                 ON CONFLICT (device, reference)
                 DO UPDATE SET file = ?3, line = ?4, removed = NULL, declared = ?6",
            )?;
            for status in record.managed() {
                let (reference, file) = (status.reference.as_str(), status.file.as_deref());
                let declared = declared(record, reference).map(json).transpose()?;
                let line = line(status);
                upsert.execute(params![device.id, reference, file, line, run.0, declared])?;
            }
            let known = self.resource_ids(device.id)?;
            let mut remove = self
                .connection
                .prepare_cached("UPDATE resource SET removed = ?2 WHERE id = ?1")?;
            let gone = known.iter();
            for (_, id) in gone.filter(|(name, _)| !managed.contains(name.as_str())) {
                remove.execute(params![id, run.0])?;
            }
            let mut update = self.connection.prepare_cached(
                "UPDATE device SET resource_digest = ?2, resources = ?3 WHERE id = ?1",
            )?;
            let count = i64::try_from(managed.len()).unwrap_or(i64::MAX);
            update.execute(params![device.id, digest, count])?;
        }
        self.notable_resource_ids(device.id, run, record, is_preview)
    }

    /// The numbers of the resources that are not unchanged.
    fn notable_resource_ids(
        &self,
        device: i64,
        run: RunId,
        record: &RunRecord,
        is_preview: bool,
    ) -> Result<HashMap<String, i64>, HistoryError> {
        let mut found = HashMap::new();
        let mut select = self
            .connection
            .prepare_cached("SELECT id FROM resource WHERE device = ?1 AND reference = ?2")?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO resource
                 (device, reference, file, line, added, last_status, last_run, removed)
             VALUES (?1, ?2, ?3, ?4, ?5, 'unchanged', ?5, ?6)",
        )?;
        let removed = is_preview.then_some(run.0);
        for status in record.managed() {
            if status.result() == ResourceResult::Unchanged {
                continue;
            }
            let (reference, file) = (status.reference.as_str(), status.file.as_deref());
            let id = select.query_row(params![device, reference], |row| row.get(0));
            let id = match id.optional()? {
                Some(id) => id,
                None => insert.insert(params![
                    device,
                    reference,
                    file,
                    line(status),
                    run.0,
                    removed
                ])?,
            };
            found.insert(reference.to_owned(), id);
        }
        Ok(found)
    }

    fn resource_ids(&self, device: i64) -> Result<HashMap<String, i64>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT reference, id FROM resource WHERE device = ?1 AND removed IS NULL",
        )?;
        select.query_all([device], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn count_run(&self, completed: &CompletedRun) -> Result<(), HistoryError> {
        const HOUR: i64 = 3_600_000;
        let hour = milliseconds(completed.ended).div_euclid(HOUR) * HOUR;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO run_count (hour, status, runs) VALUES (?1, ?2, 1)
             ON CONFLICT (hour, status) DO UPDATE SET runs = run_count.runs + 1",
        )?;
        let status = completed.record.status();
        let result = DeviceResult::of(status, completed.record.is_unreachable);
        insert.execute(params![
            hour,
            result.map_or(status.word(), DeviceResult::word)
        ])?;
        // Counters of metrics never fall, so retention does not touch this table.
        let mut count = self.connection.prepare_cached(
            "INSERT INTO run_total (status, runs) VALUES (?1, 1)
             ON CONFLICT (status) DO UPDATE SET runs = run_total.runs + 1",
        )?;
        count.execute(params![status])?;
        Ok(())
    }

    /// The number of a requester, who is added if necessary.
    pub(super) fn requester_id(&self, requester: &Requester) -> Result<i64, HistoryError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT id FROM requester WHERE kind = ?1 AND name = ?2")?;
        let found = select.query_row(params![requester.kind, requester.name], |row| row.get(0));
        if let Some(id) = found.optional()? {
            return Ok(id);
        }
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO requester (kind, name) VALUES (?1, ?2)")?;
        insert.insert(params![requester.kind, requester.name])
    }
}

/// A digest that changes if a resource is added, moved or removed.
fn resource_digest(record: &RunRecord) -> Vec<u8> {
    let mut digest = Sha256::new();
    for status in record.managed() {
        let file = status.file.as_deref().unwrap_or_default();
        let line = status.line.unwrap_or_default();
        digest.update(format!("{}\0{file}\0{line}\n", status.reference));
        for (name, value) in declared(record, status.reference.as_str())
            .into_iter()
            .flatten()
        {
            digest.update(format!("{name}\0{value}\0"));
        }
    }
    digest.finalize()[..16].to_vec()
}

/// The declared attributes of a resource. `None`: they were not recorded.
fn declared<'r>(record: &'r RunRecord, reference: &str) -> Option<&'r Vec<(String, String)>> {
    record.declared.as_ref()?.get(reference)
}

/// The line of a declaration as a column.
fn line(status: &ResourceStatus) -> Option<i64> {
    status.line.and_then(|line| i64::try_from(line).ok())
}

/// A value as JSON for a column.
fn json(value: &impl serde::Serialize) -> Result<String, HistoryError> {
    serde_json::to_string(value).map_err(|error| HistoryError::Invalid(error.to_string()))
}

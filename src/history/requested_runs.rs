//! Runs that were requested and have not started.

use jiff::Timestamp;
use rusqlite::params;

use super::record::OWN_RUNS;
use super::run::RunRight;
use super::sql::{OptionalRow as _, Row};
use super::time_column::{milliseconds, optional_time, time};
use super::{HistoryError, HistoryReader, HistoryWriter, NewRun, Requester, RunId};
use crate::report::RunStatus;
use crate::run_kind::RunKind;

const SELECT: &str =
    "SELECT run.id AS id, uuid, device.name AS device, run.kind AS kind, follows_windows,
    requester.kind AS requester_kind, requester.name AS requester_name, priority, queued, started
    FROM run JOIN device ON device.id = run.device JOIN requester ON requester.id = run.requester";

impl HistoryReader<'_> {
    /// Runs that were requested and have not started, in the order of their requests.
    pub(crate) fn queued_runs(&self) -> Result<Vec<(RunId, NewRun)>, HistoryError> {
        let mut select = self.connection.prepare_cached(&format!(
            "{SELECT} WHERE run.ended IS NULL AND run.status = 'queued' ORDER BY run.id"
        ))?;
        select.query_all([], |row| Ok((RunId(row.get("id")?), requested(row)?)))
    }

    /// Runs that were requested at a time or before and have not started.
    pub(crate) fn expired_requests(&self, oldest: Timestamp) -> Result<Vec<RunId>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT id FROM run WHERE ended IS NULL AND status = 'queued' AND queued <= ?1
             ORDER BY id",
        )?;
        select.query_all([milliseconds(oldest)], |row| row.get(0).map(RunId))
    }
}

impl HistoryWriter<'_> {
    /// Queues a request again that began in the store with this right, but not in the process: the answer of the
    /// database was lost.
    pub(crate) fn queue_lost_request(
        &self,
        run: RunId,
        right: Option<&RunRight>,
    ) -> Result<(), HistoryError> {
        let mut update = self.connection.prepare_cached(&format!(
            "UPDATE run SET status = ?4, started = NULL
             WHERE id = ?5 AND status = ?6 AND ended IS NULL AND {OWN_RUNS}"
        ))?;
        let (to, from) = (RunStatus::Queued, RunStatus::Running);
        let shard = right.map(|right| &right.shard);
        let epoch = right.map(|right| right.epoch);
        let node = right.map(|right| &right.node);
        update.execute(params![shard, epoch, node, to, run.0, from])?;
        Ok(())
    }

    /// Stores why a requested run was not started. Returns false if the last reason was the same.
    pub(crate) fn refuse_start(&self, run: RunId, reason: &str) -> Result<bool, HistoryError> {
        let mut update = self.connection.prepare_cached(
            "UPDATE run SET error = ?2
             WHERE id = ?1 AND status = ?3 AND error IS DISTINCT FROM ?2",
        )?;
        Ok(update.execute(params![run.0, reason, RunStatus::Queued])? > 0)
    }

    /// Starts a requested run. `None`: it was withdrawn, or has started.
    pub(crate) fn start_request(
        &self,
        run: RunId,
        kind: RunKind,
        time: Timestamp,
    ) -> Result<Option<NewRun>, HistoryError> {
        if !self.start_run(run, kind, time)? {
            return Ok(None);
        }
        let select = format!("{SELECT} WHERE run.id = ?1");
        let mut select = self.connection.prepare_cached(&select)?;
        select.query_row([run.0], requested).optional()
    }
}

fn requested(row: &Row<'_>) -> rusqlite::Result<NewRun> {
    Ok(NewRun {
        uuid: row.get("uuid")?,
        device: row.get("device")?,
        kind: row.get("kind")?,
        follows_windows: row.get("follows_windows")?,
        requester: Requester {
            kind: row.get("requester_kind")?,
            name: row.get("requester_name")?,
        },
        priority: row.get("priority")?,
        queued: time(row, "queued")?,
        started: optional_time(row, "started")?,
    })
}

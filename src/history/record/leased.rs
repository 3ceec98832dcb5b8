//! Runs of a fleet: the lease that a run begins with, and results that come after it.

use rusqlite::params;

use crate::history::run::RunRight;
use crate::history::sql::OptionalRow as _;
use crate::history::{CompletedRun, HistoryError, HistoryReader, HistoryWriter, RunId};
use crate::report::RunStatus;
use crate::run_kind::RunKind;

/// The runs of a shard (?1) that the node (?3) began with its lease (?2), or with an earlier one of the same shard that
/// nobody else has had since. Without a lease, those without one.
pub(in crate::history) const OWN_RUNS: &str = "shard IS NOT DISTINCT FROM CAST(?1 AS TEXT)
    AND (epoch IS NOT DISTINCT FROM CAST(?2 AS BIGINT)
        OR node = CAST(?3 AS TEXT) AND epoch < CAST(?2 AS BIGINT)
            AND epoch >= (SELECT since FROM lease
                WHERE name = 'shard:' || CAST(?1 AS TEXT) AND holder = CAST(?3 AS TEXT)))";

impl HistoryReader<'_> {
    /// Whether a node began a run.
    pub(crate) fn is_run_of(&self, run: RunId, node: &str) -> Result<bool, HistoryError> {
        let select = "SELECT count(*) FROM run WHERE id = ?1 AND node = ?2";
        let mut select = self.connection.prepare_cached(select)?;
        let count: i64 = select.query_row(params![run.0, node], |row| row.get(0))?;
        Ok(count > 0)
    }

    /// Whether a node runs a device now.
    pub(crate) fn runs_device(&self, node: &str, device: &str) -> Result<bool, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT count(*) FROM run
             WHERE device = (SELECT id FROM device WHERE name = ?1)
                 AND node = ?2 AND status = ?3 AND ended IS NULL",
        )?;
        let count: i64 =
            select.query_row(params![device, node, RunStatus::Running], |row| row.get(0))?;
        Ok(count > 0)
    }
}

impl HistoryWriter<'_> {
    /// Why a run may not begin: its lease has another owner, or the device is being changed by another run. A process
    /// that was paused since it decided learns it here.
    pub(crate) fn runs_elsewhere(
        &self,
        device: &str,
        kind: RunKind,
        right: Option<&RunRight>,
    ) -> Result<Option<String>, HistoryError> {
        let Some(right) = right else {
            return Ok(None);
        };
        if !self.is_owner(right)? {
            let shard = &right.shard;
            return Ok(Some(format!(
                "another node has the lease of the shard {shard}"
            )));
        }
        if kind != RunKind::Apply {
            return Ok(None);
        }
        let mut select = self.connection.prepare_cached(
            "SELECT coalesce(node, '') FROM run
             WHERE device = (SELECT id FROM device WHERE name = ?1)
                 AND status = ?2 AND ended IS NULL AND kind = ?3 AND shard IS NOT NULL",
        )?;
        let found = select.query_row(params![device, RunStatus::Running, kind], |row| row.get(0));
        let node: Option<String> = found.optional()?;
        if let Some(node) = node {
            return Ok(Some(format!("device runs elsewhere: on the node {node}")));
        }
        let command = self.reader().changing_command(device)?;
        Ok(command.map(|holder| format!("a command changes the device: {holder}")))
    }

    /// Stores the lease of a run.
    pub(crate) fn set_right(
        &self,
        run: RunId,
        right: Option<&RunRight>,
    ) -> Result<(), HistoryError> {
        let Some(RunRight { node, shard, epoch }) = right else {
            return Ok(());
        };
        let update = "UPDATE run SET node = ?2, shard = ?3, epoch = ?4 WHERE id = ?1";
        let mut update = self.connection.prepare_cached(update)?;
        update.execute(params![run.0, node, shard, epoch])?;
        Ok(())
    }

    /// Whether a lease is the one that the store has.
    fn is_owner(&self, right: &RunRight) -> Result<bool, HistoryError> {
        self.compare_lease(
            "SELECT owner = ?2 AND epoch = ?3 FROM lease WHERE name = ?1",
            right,
        )
    }

    /// Whether another node has acquired the shard of a lease meanwhile, or may have. A lease that its owner took back
    /// after it had expired is the same for results.
    pub(crate) fn is_late(&self, right: Option<&RunRight>) -> Result<bool, HistoryError> {
        let Some(right) = right else {
            return Ok(false);
        };
        let is_of_holder =
            "SELECT holder = ?2 AND since <= ?3 AND epoch >= ?3 FROM lease WHERE name = ?1";
        Ok(!self.compare_lease(is_of_holder, right)?)
    }

    fn compare_lease(&self, select: &str, right: &RunRight) -> Result<bool, HistoryError> {
        let RunRight { node, shard, epoch } = right;
        let mut select = self.connection.prepare_cached(select)?;
        let name = format!("shard:{shard}");
        let found = select.query_row(params![name, node, epoch], |row| row.get(0));
        let found: Option<Option<bool>> = found.optional()?;
        Ok(found.flatten() == Some(true))
    }

    /// Writes the end of a run whose shard another node has: it says nothing about the device.
    pub(crate) fn finish_late_run(
        &self,
        run: RunId,
        completed: &CompletedRun,
    ) -> Result<(), HistoryError> {
        let device = self.device_of_run(run)?;
        let record = &completed.record;
        self.finish_run_row(run, completed, None)?;
        self.count_run(completed)?;
        let resources = self.notable_resource_ids(device.id, run, record, true)?;
        self.add_statuses(run, device.id, &resources, record)?;
        let mut update =
            (self.connection).prepare_cached("UPDATE run SET is_late = TRUE WHERE id = ?1")?;
        update.execute([run.0])?;
        Ok(())
    }
}

//! Plans that wait for the approval of a person before they run.
//!
//! Only what people decided is stored. The state follows from it, from the time, and from the two runs of an approval:
//! the plan, and the run that applies it. So a crash leaves no state that nobody ends.

use jiff::Timestamp;
use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::run::word_columns;
use super::sql::{OptionalRow as _, Row};
use super::time_column::{milliseconds, optional_time, time};
use super::{HistoryError, HistoryReader, HistoryWriter, NewRun, Requester, RunId};
use crate::words::words;

words! {
    /// What became of a plan that needs an approval.
    ApprovalState {
        /// The plan is not made yet.
        Planning = "planning",
        /// It waits for a person.
        Waiting = "waiting",
        /// It waits for the change window.
        Approved = "approved",
        /// Its run waits or is in progress.
        Running = "running",
        /// It ran as approved.
        Applied = "applied",
        /// The device or its desired state differed from the plan: it was not changed.
        Refused = "refused",
        Rejected = "rejected",
        Expired = "expired",
        /// The plan, or its run, failed.
        Failed = "failed",
        /// The plan changes nothing.
        Unneeded = "unneeded",
    }
}

word_columns! { ApprovalState }

/// A plan that somebody requests.
#[derive(Clone, Debug)]
pub(crate) struct NewApproval {
    pub(crate) run: NewRun,
    /// The person who requests it. `None`: a program.
    pub(crate) person: Option<String>,
    pub(crate) expires: Timestamp,
}

/// A plan with its approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct ApprovalEntry {
    pub(crate) id: i64,
    pub(crate) device: String,
    pub(crate) state: ApprovalState,
    pub(crate) author: Requester,
    /// The person who requested it. `None`: a program.
    #[serde(skip)]
    pub(crate) person: Option<String>,
    pub(crate) created: Timestamp,
    pub(crate) expires: Timestamp,
    /// The run that made the plan.
    pub(crate) plan_run: RunId,
    /// Who approved or rejected it.
    pub(crate) decided_by: Option<String>,
    pub(crate) decided: Option<Timestamp>,
    /// Why it was rejected.
    pub(crate) reason: Option<String>,
    /// The run that applies the plan.
    pub(crate) run: Option<RunId>,
}

/// What a person decides.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalDecision {
    pub(crate) is_approved: bool,
    pub(crate) by: String,
    pub(crate) reason: String,
    pub(crate) time: Timestamp,
}

/// The approval that a run belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ApprovalOfRun {
    pub(crate) id: i64,
    /// Who requested it.
    pub(crate) author: String,
    /// The plan that the run applies. `None`: the run makes the plan.
    pub(crate) plan: Option<String>,
}

const COLUMNS: &str = "approval.id AS id, device.name AS device, requester.kind AS author_kind,
    requester.name AS author_name, person, approval.created AS created, expires, plan_run, decided_by, decided,
    reason, apply_run,
    CASE
        WHEN planned.ended IS NULL THEN 'planning'
        WHEN plan IS NULL AND planned.status = 'unchanged' THEN 'unneeded'
        WHEN plan IS NULL THEN 'failed'
        WHEN NOT is_approved THEN 'rejected'
        WHEN apply_run IS NULL AND expires <= ?1 THEN 'expired'
        WHEN is_approved IS NULL THEN 'waiting'
        WHEN apply_run IS NULL THEN 'approved'
        WHEN applied.ended IS NULL THEN 'running'
        WHEN applied.status IN ('changed', 'unchanged') THEN 'applied'
        WHEN applied.status = 'not run' THEN 'refused'
        ELSE 'failed'
    END AS state";

const TABLES: &str = "approval
    JOIN device ON device.id = approval.device
    JOIN requester ON requester.id = approval.author
    JOIN run AS planned ON planned.id = plan_run
    LEFT JOIN run AS applied ON applied.id = apply_run";

impl HistoryReader<'_> {
    /// Plans that need an approval, newest first. `device`: of this device only.
    pub(crate) fn approvals(
        &self,
        device: Option<&str>,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ApprovalEntry>, HistoryError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE (CAST(?2 AS TEXT) IS NULL OR device.name = ?2)
             ORDER BY approval.id DESC LIMIT ?3"
        ))?;
        select.query_all(params![milliseconds(now), device, limit], entry)
    }

    /// An approval with its plan as JSON; there is none before it is made.
    pub(crate) fn approval(
        &self,
        id: i64,
        now: Timestamp,
    ) -> Result<Option<(ApprovalEntry, Option<String>)>, HistoryError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS}, plan FROM {TABLES} WHERE approval.id = ?2"
        ))?;
        let found = select.query_row(params![milliseconds(now), id], |row| {
            Ok((entry(row)?, row.get("plan")?))
        });
        found.optional()
    }

    /// The approval that a run belongs to.
    pub(crate) fn approval_of_run(
        &self,
        run: RunId,
    ) -> Result<Option<ApprovalOfRun>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT approval.id AS id, requester.name AS author,
                 CASE WHEN apply_run = ?1 THEN plan END AS plan
             FROM approval JOIN requester ON requester.id = author
             WHERE plan_run = ?1 OR apply_run = ?1",
        )?;
        let found = select.query_row([run.0], |row| {
            Ok(ApprovalOfRun {
                id: row.get("id")?,
                author: row.get("author")?,
                plan: row.get("plan")?,
            })
        });
        found.optional()
    }

    /// Plans that are approved and have not run, and those that have expired since the last call of
    /// [`HistoryWriter::end_approval`].
    pub(crate) fn open_approvals(
        &self,
        now: Timestamp,
    ) -> Result<Vec<ApprovalEntry>, HistoryError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM {TABLES}
             WHERE NOT is_ended AND plan IS NOT NULL AND apply_run IS NULL
                 AND (expires <= ?1 OR is_approved) ORDER BY approval.id"
        ))?;
        select.query_all([milliseconds(now)], entry)
    }
}

impl HistoryWriter<'_> {
    /// Adds a request for an approval with the run that makes its plan.
    pub(crate) fn add_approval(&self, new: &NewApproval) -> Result<(i64, RunId), HistoryError> {
        let run = self.add_run(&new.run)?;
        let device = self.device_id(&new.run.device, new.run.queued)?;
        let author = self.requester_id(&new.run.requester)?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO approval (device, author, person, created, expires, plan_run)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let id = insert.insert(params![
            device,
            author,
            new.person,
            milliseconds(new.run.queued),
            milliseconds(new.expires),
            run.0
        ])?;
        Ok((id, run))
    }

    /// Stores the plan of an approval.
    pub(crate) fn set_plan(&self, id: i64, plan: &str) -> Result<(), HistoryError> {
        let update = "UPDATE approval SET plan = ?2 WHERE id = ?1 AND plan IS NULL";
        let mut update = self.connection.prepare_cached(update)?;
        update.execute(params![id, plan])?;
        Ok(())
    }

    /// Approves or rejects a plan. Returns false if it does not wait any more.
    pub(crate) fn decide_approval(
        &self,
        id: i64,
        decision: &ApprovalDecision,
    ) -> Result<bool, HistoryError> {
        let mut update = self.connection.prepare_cached(
            "UPDATE approval SET is_approved = ?2, decided_by = ?3, reason = nullif(?4, ''), decided = ?5,
                 is_ended = NOT ?2
             WHERE id = ?1 AND is_approved IS NULL AND plan IS NOT NULL AND expires > ?5",
        )?;
        let changed = update.execute(params![
            id,
            decision.is_approved,
            decision.by,
            decision.reason,
            milliseconds(decision.time)
        ])?;
        Ok(changed > 0)
    }

    /// Adds the run that applies an approved plan. `None`: it has one, or has expired.
    pub(crate) fn add_approved_run(
        &self,
        id: i64,
        run: &NewRun,
    ) -> Result<Option<RunId>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT count(*) FROM approval
             WHERE id = ?1 AND is_approved AND apply_run IS NULL AND expires > ?2",
        )?;
        let count: u32 =
            select.query_row(params![id, milliseconds(run.queued)], |row| row.get(0))?;
        if count == 0 {
            return Ok(None);
        }
        let run = self.add_run(run)?;
        let update = "UPDATE approval SET apply_run = ?2, is_ended = TRUE WHERE id = ?1";
        self.connection.execute(update, params![id, run.0])?;
        Ok(Some(run))
    }

    /// Marks an approval whose end is recorded.
    pub(crate) fn end_approval(&self, id: i64) -> Result<(), HistoryError> {
        let update = "UPDATE approval SET is_ended = TRUE WHERE id = ?1";
        self.connection.execute(update, [id])?;
        Ok(())
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<ApprovalEntry> {
    Ok(ApprovalEntry {
        id: row.get("id")?,
        device: row.get("device")?,
        state: row.get("state")?,
        author: Requester {
            kind: row.get("author_kind")?,
            name: row.get("author_name")?,
        },
        person: row.get("person")?,
        created: time(row, "created")?,
        expires: time(row, "expires")?,
        plan_run: RunId(row.get("plan_run")?),
        decided_by: row.get("decided_by")?,
        decided: optional_time(row, "decided")?,
        reason: row.get("reason")?,
        run: row.get::<_, Option<i64>>("apply_run")?.map(RunId),
    })
}

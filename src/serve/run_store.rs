//! What the runner side of the process asks of its store: the schedules, the requests, and the begin and the end of runs.
//!
//! The store can be a history, or be reached through another process. Arguments and results are plain values for
//! this reason. Runs are identified by their UUID, so that each call can be repeated after a lost answer.

mod of_history;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::dispatcher::RunCause;
use crate::history::approvals::{ApprovalEntry, ApprovalOfRun};
use crate::history::device_state::{KnownDevice, StoredSchedule};
use crate::history::puppetdb_commands::PuppetDbCommand;
use crate::history::releases::ReleaseNumber;
use crate::history::run::RunRight;
use crate::history::{CompletedRun, NewRun, RunEffect, RunId, Space};
use crate::run_kind::RunKind;

/// The store of a process that runs devices.
#[async_trait]
pub(crate) trait RunStore: Send + Sync {
    /// The space for results.
    async fn space(&self) -> Result<Space, RunStoreError>;

    /// Stores the devices of the settings. All others are no longer current.
    async fn use_devices(
        &self,
        devices: Vec<KnownDevice>,
        time: Timestamp,
    ) -> Result<(), RunStoreError>;

    /// The schedules and pauses by device.
    async fn schedules(&self) -> Result<BTreeMap<String, StoredSchedule>, RunStoreError>;

    /// The devices that are paused.
    async fn paused(&self) -> Result<BTreeSet<String>, RunStoreError>;

    /// Stores when devices are due.
    async fn set_due(&self, due: Vec<DueTime>, time: Timestamp) -> Result<(), RunStoreError>;

    /// Runs that were requested and have not started, in the order of their requests.
    async fn requests(&self) -> Result<Vec<WaitingRequest>, RunStoreError>;

    /// Ends the runs of processes that have ended. Returns their number.
    async fn interrupt(&self, time: Timestamp) -> Result<usize, RunStoreError>;

    /// Stores that a run begins.
    async fn begin(&self, start: RunStart) -> Result<BeginAnswer, RunStoreError>;

    /// Stores the result of a run, once. The run is added if its begin is not stored.
    async fn finish(&self, ended: Arc<EndedRun>) -> Result<StoredResult, RunStoreError>;

    /// Ends a request that has not started.
    async fn cancel(&self, cancel: CancelRequest) -> Result<CanceledRequest, RunStoreError>;

    /// Whether the running configuration of a device was stored once.
    async fn has_configuration(&self, device: &str) -> Result<bool, RunStoreError>;

    /// Plans that are approved and have not run, and those that have expired and are not ended.
    async fn open_approvals(&self, time: Timestamp) -> Result<Vec<ApprovalEntry>, RunStoreError>;

    /// Ends an approval whose end is recorded.
    async fn end_approval(&self, approval: i64) -> Result<(), RunStoreError>;

    /// Adds the run of an approved plan. `None`: it has one, or has expired.
    async fn add_approved_run(
        &self,
        approval: i64,
        run: NewRun,
    ) -> Result<Option<RunId>, RunStoreError>;
}

/// How long the store may take to answer. A process that is paused while it writes delays others by a third of it.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The same for a spooled result, which no device waits for: its upload can be slow.
pub(in crate::serve) const DELIVERY_LIMIT: Duration = Duration::from_secs(5 * 60);

/// Waits for the store, but not for ever. What was requested can be done nevertheless.
pub(super) async fn within_limit<T>(
    request: impl Future<Output = Result<T, RunStoreError>>,
) -> Result<T, RunStoreError> {
    within(ANSWER_LIMIT, request).await
}

pub(super) async fn within<T>(
    limit: Duration,
    request: impl Future<Output = Result<T, RunStoreError>>,
) -> Result<T, RunStoreError> {
    let answer = tokio::time::timeout(limit, request).await;
    answer.unwrap_or_else(|_| {
        let seconds = limit.as_secs();
        Err(RunStoreError {
            problem: StoreProblem::Unreachable,
            text: format!("the store does not answer within {seconds} s"),
            hint: None,
        })
    })
}

/// When a device is due.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DueTime {
    pub(crate) device: String,
    /// `None`: it is paused, or its run is in progress.
    pub(crate) due: Option<Timestamp>,
    /// Consecutive failures.
    pub(crate) failures: u32,
}

/// A requested run that has not started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WaitingRequest {
    pub(crate) id: RunId,
    pub(crate) run: NewRun,
}

impl WaitingRequest {
    pub(super) fn cause(&self) -> RunCause {
        RunCause::Request {
            run: self.id,
            kind: (!self.run.follows_windows).then_some(self.run.kind),
        }
    }
}

/// A run that begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunStart {
    pub(crate) device: String,
    /// What it does: a request that follows the change windows gets it at the start.
    pub(crate) kind: RunKind,
    pub(crate) time: Timestamp,
    pub(crate) cause: StartCause,
    /// The release of its inputs. `None`: files of the process.
    pub(crate) release: Option<ReleaseNumber>,
    /// The lease of its shard. `None`: this process is the only one with the store.
    pub(crate) right: Option<RunRight>,
}

/// Why a run begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum StartCause {
    /// It was requested.
    Request(RunId),
    /// It is not in the store.
    New(NewRun),
}

/// Whether a run may begin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum BeginAnswer {
    Started(Box<StartedRun>),
    /// The request was withdrawn, or has started.
    Withdrawn,
    /// Another node runs the device.
    Elsewhere {
        reason: String,
        /// It is not the reason of the last attempt of the same request.
        #[serde(default)]
        is_new: bool,
    },
}

/// A run whose begin is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StartedRun {
    pub(crate) id: RunId,
    pub(crate) run: NewRun,
    /// The approval that it belongs to.
    pub(crate) approval: Option<ApprovalOfRun>,
    /// The device was changed with this release, and that of the run is older: it must not change the device.
    pub(crate) newer_release: Option<ReleaseNumber>,
}

/// A run that has ended, with all that is stored about it in one transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EndedRun {
    pub(crate) run: NewRun,
    /// The release of its inputs. `None`: files of the process.
    pub(crate) release: Option<ReleaseNumber>,
    pub(crate) completed: CompletedRun,
    /// Facts and reports for PuppetDB.
    pub(crate) commands: Vec<PuppetDbCommand>,
    /// The plan that the run made for an approval.
    pub(crate) plan: Option<PlanForApproval>,
    /// When its device is due again.
    pub(crate) due: DueTime,
    /// The lease that it began with.
    pub(crate) right: Option<RunRight>,
}

/// A plan that waits for an approval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlanForApproval {
    pub(crate) approval: i64,
    /// JSON.
    pub(crate) plan: String,
}

/// A run whose result is stored.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct StoredResult {
    pub(crate) id: RunId,
    /// Nothing if the result was stored before.
    pub(crate) effect: RunEffect,
    /// Commands for PuppetDB that were removed, because too many wait.
    pub(crate) lost_commands: usize,
}

/// The end of a request that has not started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CancelRequest {
    pub(crate) run: RunId,
    /// `None`: somebody has withdrawn it.
    pub(crate) reason: Option<String>,
    pub(crate) time: Timestamp,
}

/// What became of a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CanceledRequest {
    pub(crate) device: String,
    /// False: it has started or ended before.
    pub(crate) is_canceled: bool,
}

/// Why the store did not do what was requested.
#[derive(Clone, Debug, thiserror::Error, Serialize, Deserialize)]
#[error("{text}")]
pub(crate) struct RunStoreError {
    pub(crate) problem: StoreProblem,
    pub(crate) text: String,
    pub(crate) hint: Option<String>,
}

/// Whether a repetition can succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StoreProblem {
    /// The store is full, cannot be reached, or cannot be used now.
    Unreachable,
    /// The hub says that the worker has no right to it. Its rules can change.
    Foreign,
    /// It will never accept this.
    Refused,
}

#[cfg(test)]
pub(super) mod tests;

//! The begin of a run: it is stored first, with the right of this process to the device.

use super::condition::Condition;
use super::dispatcher::{RunCause, RunToStart, WITHOUT_STORE};
use super::held_devices::HeldRight;
use super::run_store::{BeginAnswer, RunStart, StartCause, StoreProblem, within_limit};
use super::service::Service;
use crate::clock;
use crate::history::approvals::ApprovalOfRun;
use crate::history::releases::ReleaseNumber;
use crate::history::{NewRun, Requester, RunId, RunUuid};
use crate::run_kind::RunKind;

/// Why a run does not start.
pub(super) enum NoStart {
    /// It waits until it can be stored.
    Problem(String),
    /// The store refuses this run.
    Refused(String),
    /// It waits until the store answers.
    WithoutStore(String),
    /// Another process has withdrawn the request, or runs the device.
    Withdrawn,
}

/// A run that goes on: its begin is stored, or it is a plan without the store.
pub(super) struct RunInProgress {
    /// `None`: the store does not have it.
    pub(super) id: Option<RunId>,
    pub(super) run: NewRun,
    pub(super) approval: Option<ApprovalOfRun>,
    /// The device was changed with this release, and that of the run is older.
    pub(super) newer_release: Option<ReleaseNumber>,
}

impl Service {
    /// Stores that a run starts. The space is checked before each run: its result must be stored. Without the store, a
    /// scheduled run is a plan, and its result is spooled.
    pub(super) async fn begin(
        &self,
        start: &mut RunToStart,
        right: &HeldRight,
        release: Option<ReleaseNumber>,
    ) -> Result<RunInProgress, NoStart> {
        if self.condition().no_applies.is_none() {
            self.check_space_again().await;
        }
        let Condition {
            no_runs,
            no_applies,
            ..
        } = self.condition();
        if let Some(problem) = no_runs {
            return Err(NoStart::Problem(problem));
        }
        let requested = run_start(start, right, release);
        if let Some(reason) = no_applies {
            return without_store(start, requested, reason);
        }
        let error = match within_limit(self.store().begin(requested.clone())).await {
            Ok(BeginAnswer::Started(started)) => {
                let started = *started;
                return Ok(RunInProgress {
                    id: Some(started.id),
                    run: started.run,
                    approval: started.approval,
                    newer_release: started.newer_release,
                });
            }
            Ok(BeginAnswer::Withdrawn) => return Err(NoStart::Withdrawn),
            Ok(BeginAnswer::Elsewhere { reason, is_new }) => {
                if is_new {
                    tracing::warn!("a run does not start: {reason}");
                }
                return Err(NoStart::Withdrawn);
            }
            Err(error) => error,
        };
        let reason = format!("cannot store the run: {error}");
        if error.problem != StoreProblem::Unreachable {
            return Err(NoStart::Refused(reason));
        }
        self.refuse_applies(reason.clone());
        without_store(start, requested, reason)
    }

    /// A run that the store refuses does not start. Others can start.
    pub(super) async fn end_refused(&self, start: &RunToStart, reason: String) {
        tracing::error!("a run does not start: {reason}");
        if let RunCause::Request { run, .. } = &start.cause
            && let Err(error) = self.store_canceled(*run, Some(reason)).await
        {
            tracing::error!("cannot store the end of run {run}: {error}");
        }
        let now = clock::timestamp();
        self.inner.dispatcher().finish(&start.device, false, now);
    }

    /// A run whose start cannot be stored does not start. A request waits again.
    pub(super) fn cannot_begin(&self, start: &RunToStart, reason: NoStart) {
        let now = clock::timestamp();
        match reason {
            NoStart::Withdrawn => {
                return self.inner.dispatcher().finish(&start.device, false, now);
            }
            NoStart::Problem(reason) | NoStart::Refused(reason) => {
                tracing::error!("a run does not start: {reason}");
                self.refuse_runs(reason);
            }
            NoStart::WithoutStore(reason) => tracing::warn!("a requested run waits: {reason}"),
        }
        let mut dispatcher = self.inner.dispatcher();
        dispatcher.finish(&start.device, false, now);
        if let RunCause::Request { .. } = &start.cause {
            dispatcher.request(
                &start.device,
                start.cause.clone(),
                start.priority,
                start.due,
            );
        }
    }
}

/// A scheduled run goes on without the store as a plan. A request waits.
fn without_store(
    start: &mut RunToStart,
    requested: RunStart,
    reason: String,
) -> Result<RunInProgress, NoStart> {
    let StartCause::New(run) = requested.cause else {
        return Err(NoStart::WithoutStore(reason));
    };
    if start.kind == RunKind::Apply {
        start.kind = RunKind::Plan;
        start.plans_because = Some(WITHOUT_STORE);
    }
    Ok(RunInProgress {
        id: None,
        run: NewRun {
            kind: start.kind,
            ..run
        },
        approval: None,
        newer_release: None,
    })
}

/// What the store is told of a run that begins.
fn run_start(start: &RunToStart, right: &HeldRight, release: Option<ReleaseNumber>) -> RunStart {
    let (time, device) = (clock::timestamp(), start.device.to_string());
    let cause = match &start.cause {
        RunCause::Request { run, .. } => StartCause::Request(*run),
        RunCause::Schedule => StartCause::New(NewRun {
            uuid: RunUuid::new(time),
            device: device.clone(),
            kind: start.kind,
            follows_windows: true,
            requester: Requester::schedule(),
            priority: start.priority,
            queued: start.due,
            started: Some(time),
        }),
    };
    RunStart {
        device,
        kind: start.kind,
        time,
        cause,
        release,
        right: right.stored(),
    }
}

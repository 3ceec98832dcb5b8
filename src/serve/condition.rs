//! What prevents the process from its work: a store that is away or full, settings and releases that are rejected.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use tokio::time::Instant;

use super::lease::leases::Leases;
use super::run_store::within_limit;
use super::service::Service;
use crate::clock;
use crate::history::Space;
use crate::history::releases::ReleaseNumber;
use crate::store::blocking_io;

/// Runs that begin within this time share a check.
const SPACE_FRESHNESS: Duration = Duration::from_secs(1);

/// What prevents the process from its work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct Condition {
    /// Why no run starts.
    pub(crate) no_runs: Option<String>,
    /// Why no run changes a device: the store is away or full. Scheduled runs are plans.
    pub(crate) no_applies: Option<String>,
    /// Why the last change of the settings was rejected.
    pub(crate) rejected_settings: Option<String>,
    /// Why the last backup was not written, committed or pushed.
    pub(crate) failed_backup: Option<String>,
    pub(crate) loaded: Option<Timestamp>,
    /// The release that the devices come from. `None`: files of the process.
    pub(crate) release: Option<ReleaseNumber>,
    /// Why the newest release is not used. Then runs only plan.
    pub(crate) rejected_release: Option<String>,
    /// Why this node may run no device of the fleet.
    pub(crate) refused: Option<String>,
    /// The sites of the fleet that no node may run.
    pub(crate) no_node: Option<String>,
}

impl Service {
    /// What prevents the process from its work now.
    pub(crate) fn condition(&self) -> Condition {
        Condition {
            refused: self.leases().and_then(Leases::refusal),
            no_node: self.leases().and_then(Leases::no_node),
            ..self.inner.condition().clone()
        }
    }

    /// Starts no run until the next check of the space.
    pub(super) fn refuse_runs(&self, reason: String) {
        self.inner.condition().no_runs.get_or_insert(reason);
    }

    /// Changes no device until the store can be used.
    pub(super) fn refuse_applies(&self, reason: String) {
        let is_new = {
            let mut condition = self.inner.condition();
            // A database that restarts can have another reason later, such as a full disk.
            condition.no_applies.replace(reason.clone()).is_none()
        };
        if is_new {
            tracing::error!("no run changes a device, scheduled runs are plans: {reason}");
        }
    }

    /// The store can be used again. Returns whether it could not before.
    pub(super) fn permit_applies(&self) -> bool {
        let was_refused = self.inner.condition().no_applies.take().is_some();
        if was_refused {
            tracing::warn!("runs change devices again: the store can be used");
            self.inner.wake.notify_one();
        }
        was_refused
    }

    /// Checks the space, unless another run has checked it just now: runs that start together share a check.
    pub(super) async fn check_space_again(&self) {
        let mut checked = self.inner.space_checked.lock().await;
        let is_fresh = |at: Instant| clock::instant().duration_since(at) < SPACE_FRESHNESS;
        if !checked.is_some_and(is_fresh) {
            self.check_space().await;
            *checked = Some(clock::instant());
        }
    }

    /// Stops new runs without free space, and starts them again with it. Without the store, no run changes a device.
    pub(super) async fn check_space(&self) {
        let spool = Arc::clone(&self.inner.spool);
        let spool_problem = blocking_io::run(move || spool.problem()).await;
        let refused = self.leases().and_then(Leases::refusal);
        let problem = match within_limit(self.store().space()).await {
            Ok(Space { problem: None, .. }) => {
                // A spooled result proves more than a read: it permits the runs.
                if self.inner.spool.is_empty() && self.permit_applies() {
                    self.synchronize_states().await;
                }
                refused.clone()
            }
            Ok(space) => space.problem,
            Err(error) => {
                self.refuse_applies(error.text);
                None
            }
        };
        let problem = problem.or(spool_problem);
        let earlier = {
            let mut condition = self.inner.condition();
            condition.refused = refused;
            std::mem::replace(&mut condition.no_runs, problem.clone())
        };
        match (earlier, problem) {
            (None, Some(problem)) => {
                tracing::error!("no run starts: {problem}");
                // Old runs can be in the way.
                self.inner.retention.notify_one();
            }
            (Some(_), None) => {
                tracing::info!("runs start again");
                self.inner.wake.notify_one();
            }
            _ => {}
        }
    }
}

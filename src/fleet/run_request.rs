//! What is requested of a run: one value for the command line, `device`, `undo`, stored plans and `serve`.
//!
//! A constructor names only what differs and ends with `..RunRequest::default()`.

use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::names::DeviceName;
use switchtender_devices::provider::driver_provider::ProtectPolicy;
use switchtender_devices::session::fence::Fence;
pub(crate) use switchtender_devices::session::ledger::LockWait;
use tokio_util::sync::CancellationToken;

use super::change_limits::ChangeLimits;
use super::plan_confirmation::PlanConfirmation;
use super::stored_plan::PlanUse;
use crate::clock;
use crate::coverage::strict::Strict;
use crate::inventory::FailurePolicy;
use crate::run_kind::RunKind;
use crate::store::{DeviceStore, Store};
use crate::transaction::TransactionSettings;
use crate::validate::Policy;

/// What the runs of all devices share. The default is a plan.
#[derive(Default)]
pub(crate) struct RunRequest {
    pub(crate) kind: RunKind,
    pub(crate) settings: TransactionSettings,
    pub(crate) policy: Policy,
    /// Text of a device that was not understood may be rewritten and removed.
    pub(crate) overwrite_unknown: bool,
    /// Changes of what the session uses are permitted without protection.
    pub(crate) allow_own_path: bool,
    /// An undo may leave a difference to the configuration before the run.
    pub(crate) allow_incomplete_undo: bool,
    /// The record has the graph of the catalog.
    pub(crate) draws: bool,
    /// The record has the coverage of the configuration.
    pub(crate) coverage: bool,
    /// Lines that must be managed; otherwise the device is refused.
    pub(crate) strict: Option<Strict>,
    /// Plans have the commands that undo the changes.
    pub(crate) show_undo: bool,
    pub(crate) limits: ChangeLimits,
    pub(crate) plan: PlanUse,
    /// Devices are changed after the user has agreed to their plans.
    pub(crate) confirmation: Option<Arc<PlanConfirmation>>,
    /// The name of the run, for its undo.
    pub(crate) run: RunName,
    /// Overrides the protection of the devices.
    pub(crate) protect: Option<ProtectPolicy>,
    /// Overrides `on_failure` of the devices.
    pub(crate) on_failure: Option<FailurePolicy>,
    /// When it is cancelled, the current resource is finished and the run ends in order.
    pub(crate) stop: CancellationToken,
    /// The time for the current resource after `stop`. `None`: `STOP_GRACE`.
    pub(crate) stop_grace: Option<Duration>,
    /// When it is cancelled, the current resource is not waited for: the run ends at once.
    pub(crate) abort: CancellationToken,
    /// Maximum duration of the run of one device.
    pub(crate) time_limit: Option<Duration>,
    pub(crate) lock_wait: LockWait,
    /// The epoch of the lease that permits the run. `None`: there are no leases.
    pub(crate) epoch: Option<i64>,
    /// The right of this process to change the devices, in a fleet. It is asked before each write, as the locks are.
    pub(crate) right: Option<Arc<dyn Fence>>,
    /// The first run of the device after it was taken over: its earlier sessions end before the first write.
    pub(crate) ends_sessions: bool,
}

impl RunRequest {
    /// The state of a device for this run.
    pub(crate) fn device_store(&self, store: &Store, device: &DeviceName) -> DeviceStore {
        let is_apply = self.kind == RunKind::Apply;
        let store = store.device(device).with_epoch(self.epoch);
        store.read_copies(!is_apply)
    }
}

/// The name of a run, for its undo: the time at which it was requested.
#[derive(Clone, Debug)]
pub(crate) struct RunName(String);

impl Default for RunName {
    fn default() -> Self {
        let time = clock::timestamp();
        Self(time.strftime("%Y%m%dT%H%M%S.%3fZ").to_string())
    }
}

impl std::ops::Deref for RunName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

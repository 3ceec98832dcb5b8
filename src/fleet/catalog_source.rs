//! The source of a device's desired state: it yields the catalog and the way to the device.
//!
//! [`device_run`](super::device_run) is the same for all of them.

use std::path::PathBuf;
use std::sync::Arc;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::{Facts, Platform, Registry};
use switchtender_devices::provider::driver_provider::ProtectPolicy;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::Access;
use tokio_util::sync::CancellationToken;

use super::change_limits::ChangeLimits;
use super::connector::DeviceConnector;
use super::coverage::LinePolicy;
use super::device_run::DeviceRunError;
use super::undo::UndoRecord;
use crate::agent::run_log::RunLog;
use crate::catalog::{CachedStatus, Loading};
use crate::desired_state::OriginMap;
use crate::git::GitRevision;
use crate::inventory::{FailurePolicy, SavePolicy, StandbyPolicy};
use crate::store::LockSubject;
use crate::validate::CatalogTarget;

/// A source before its run.
pub(crate) trait CatalogSource: Send + Sized {
    /// The source after its preparation.
    type Prepared: PreparedSource;

    /// The lock on the directory of the device's name.
    fn directory_lock(&self) -> LockSubject;

    /// The file that names the device, for people.
    fn inventory(&self) -> String;

    /// Where the desired state comes from; `None`: it is what was before an earlier run.
    fn origin(&self) -> Option<String>;

    /// The directory of the graphs of the run, if they are written.
    fn graph_dir(&self) -> Option<PathBuf>;

    /// Waits until the run may start, before the device is locked.
    fn wait_for_start(
        &self,
        _stop: &CancellationToken,
    ) -> impl Future<Output = Result<(), DeviceRunError>> + Send {
        async { Ok(()) }
    }

    /// Prepares the run; the device is not contacted. Adds the secrets of the device to `mask` before it logs.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    fn prepare(
        self,
        mask: &SecretMask,
        log: &mut dyn RunLog,
    ) -> impl Future<Output = Result<Preparation<Self::Prepared>, DeviceRunError>> + Send;
}

/// What a run has before it contacts the device.
pub(crate) struct Preparation<S> {
    pub(crate) source: S,
    pub(crate) settings: DeviceSettings,
    /// `None`: the source needs the facts of the device.
    pub(crate) catalog: Option<CatalogText>,
    /// The commit of the desired state.
    pub(crate) revision: Option<GitRevision>,
}

/// A source that knows the way to the device.
pub(crate) trait PreparedSource: Send {
    /// What the source keeps of a catalog that it retrieved with facts.
    type Retrieved: Send + Sync;

    /// The connection parameters, with resolved credentials.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    fn connector(
        &self,
        access: Access,
    ) -> impl Future<Output = Result<DeviceConnector, DeviceRunError>> + Send;

    /// The catalog for a device with these facts. `None`: the facts must be read again, with a new
    /// [`connector`](PreparedSource::connector).
    ///
    /// # Cancellation
    /// May be dropped at any time.
    fn retrieve(
        &mut self,
        facts: &Facts,
        log: &mut dyn RunLog,
    ) -> impl Future<Output = Result<Option<(CatalogText, Self::Retrieved)>, DeviceRunError>> + Send;

    /// A retrieved catalog passed all checks and is applied next.
    fn before_transaction(
        &mut self,
        _retrieved: &Self::Retrieved,
        _log: &mut dyn RunLog,
    ) -> impl Future<Output = Result<(), DeviceRunError>> + Send {
        async { Ok(()) }
    }

    /// A run that has asked for a catalog is over, with or without success. `retrieved` is `None` without a
    /// catalog.
    fn after_run(
        &mut self,
        _facts: &Facts,
        _retrieved: Option<&Self::Retrieved>,
        _log: &mut dyn RunLog,
    ) -> impl Future<Output = Result<(), DeviceRunError>> + Send {
        async { Ok(()) }
    }
}

/// Settings of one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceSettings {
    /// When the configuration is saved.
    pub(crate) save: SavePolicy,
    /// Maximum numbers for its run.
    pub(crate) limits: ChangeLimits,
    /// Whether its changes are reverted unless they are confirmed.
    pub(crate) protect: ProtectPolicy,
    /// Whether a scheduled reload may revert them.
    pub(crate) allows_reload: bool,
    /// Whether its changes are undone after a failed resource.
    pub(crate) on_failure: FailurePolicy,
    /// Whether it is changed while it is the standby unit of a pair.
    pub(crate) standby: StandbyPolicy,
    /// Whether all earlier sessions of its login end after a takeover or a crash, not only the recorded ones.
    pub(crate) ends_sessions: bool,
}

/// The text of a catalog and what is needed to check it.
pub(crate) struct CatalogText {
    /// Whether it is one of an earlier run.
    pub(crate) cached: CachedStatus,
    pub(crate) source: Arc<Source>,
    pub(crate) loading: Loading,
    /// Where the parts of a catalog from desired state files come from.
    pub(crate) origins: Option<OriginMap>,
    /// What desired state files say about lines that no resource has.
    pub(crate) line_policy: LinePolicy,
    /// The definitions of the catalog's environment.
    pub(crate) registry: Arc<Registry>,
    pub(crate) platform: Arc<Platform>,
    pub(crate) target: CatalogTarget,
    /// The record of the run that the catalog undoes.
    pub(crate) undo: Option<Arc<UndoRecord>>,
}

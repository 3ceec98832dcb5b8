//! The two ends of a device run: the source of its catalog and the receiver of its report.
//!
//! [`device_run`](super::device_run) is the same for all of them.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use secrecy::SecretString;
use serde_json::value::RawValue;
use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::{Facts, Platform, Registry};
use switchtender_devices::provider::driver_provider::ProtectPolicy;
use switchtender_devices::session::Access;
use tokio_util::sync::CancellationToken;

use super::change_limits::ChangeLimits;
use super::connector::DeviceConnector;
use super::device_run::DeviceRunError;
use super::undo::UndoRecord;
use crate::agent::run_log::RunLog;
use crate::catalog::Loading;
use crate::desired_state::OriginMap;
use crate::inventory::{FailurePolicy, SavePolicy, StandbyPolicy};
use crate::report;
use crate::store::{LockSubject, StoreError};
use crate::validate::CatalogTarget;

/// Where the catalog of a device comes from, and how the device is reached.
pub(crate) trait CatalogSource: Send {
    /// Waits until the run may start, before the device is locked.
    fn wait_for_start<'a>(
        &'a mut self,
        _stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), DeviceRunError>> {
        Box::pin(async move { Ok(()) })
    }

    /// The lock on the directory of the device's name.
    fn directory_lock(&self) -> LockSubject;

    /// The file that names the device, for people.
    fn inventory(&self) -> String;

    /// Where the desired state comes from; `None`: it is what was before an earlier run.
    fn origin(&self) -> Option<String>;

    /// Prepares the run; the device is not contacted.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    fn prepare<'a>(
        &'a mut self,
        log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<DeviceSettings, DeviceRunError>>;

    /// The catalog. `facts` are `None` before the device is contacted; a source that needs facts
    /// then returns `None` and is called again after login. It also returns `None` if the facts must
    /// be read again, with a new [`connector`](CatalogSource::connector).
    ///
    /// # Cancellation
    /// May be dropped at any time.
    fn catalog<'a>(
        &'a mut self,
        facts: Option<&'a Facts>,
        log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<Option<CatalogText>, DeviceRunError>>;

    /// The connection parameters, with resolved credentials.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    fn connector(
        &mut self,
        access: Access,
    ) -> BoxFuture<'_, Result<DeviceConnector, DeviceRunError>>;

    /// The catalog passed all checks and is applied next.
    fn before_transaction<'a>(
        &'a mut self,
        _log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<(), DeviceRunError>> {
        Box::pin(async move { Ok(()) })
    }

    /// The run is over, with or without success.
    fn after_run<'a>(
        &'a mut self,
        _log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<(), DeviceRunError>> {
        Box::pin(async move { Ok(()) })
    }
}

/// Receives the report of a device run.
pub(crate) trait ReportSink: Send {
    /// The context of the report, without the values that follow from the catalog.
    fn report_context(&self) -> report::Context;

    /// Adds the values that are available only after the run.
    fn complete_report(&self, _report: &mut report::Report) {}

    /// Whether the report is delivered without resources that have neither changes nor failures.
    fn excludes_unchanged_resources(&self) -> bool {
        false
    }

    /// Delivers the report, which is JSON. `error` is set if the device did not run.
    ///
    /// # Errors
    /// The report is lost.
    fn deliver<'a>(
        &'a mut self,
        report: &'a RawValue,
        error: Option<&'a DeviceRunError>,
        log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<(), ReportError>>;
}

/// Why a report is lost.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    #[error(transparent)]
    File(#[from] crate::agent::device_file::FileError),
    #[error(transparent)]
    Store(#[from] StoreError),
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
    /// Texts that are masked in every message of the run.
    pub(crate) secrets: Vec<SecretString>,
    /// The directory of the graphs of this device's run.
    pub(crate) graph_dir: Option<PathBuf>,
}

/// The text of a catalog and what is needed to check it.
pub(crate) struct CatalogText {
    pub(crate) source: Arc<Source>,
    pub(crate) loading: Loading,
    /// Where the parts of a catalog from desired state files come from.
    pub(crate) origins: Option<OriginMap>,
    /// The definitions of the catalog's environment.
    pub(crate) registry: Arc<Registry>,
    pub(crate) platform: Arc<Platform>,
    pub(crate) target: CatalogTarget,
    /// The record of the run that the catalog undoes.
    pub(crate) undo: Option<Arc<UndoRecord>>,
}

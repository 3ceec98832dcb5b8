//! The receiver of the report of a device run.

use serde_json::value::RawValue;

use super::device_run::DeviceRunError;
use crate::agent::run_log::RunLog;
use crate::report::Report;
use crate::store::StoreError;

/// Receives the report of a device run.
pub(crate) trait ReportSink: Send {
    /// Adds the values that are available only after the run.
    fn complete_report(&self, _report: &mut Report) {}

    /// Whether the report is delivered without resources that have neither changes nor failures.
    fn excludes_unchanged_resources(&self) -> bool {
        false
    }

    /// Delivers the report, which is JSON. `error` is set if the device did not run.
    ///
    /// # Errors
    /// The report is lost.
    fn deliver(
        self,
        report: &RawValue,
        error: Option<&DeviceRunError>,
        log: &mut dyn RunLog,
    ) -> impl Future<Output = Result<(), ReportError>> + Send;
}

/// Why a report is lost.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    #[error(transparent)]
    File(#[from] crate::agent::device_file::FileError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

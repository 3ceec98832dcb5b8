//! The receiver of the report of a device run.

use serde_json::value::RawValue;

use super::device_run::DeviceRunError;
use crate::agent::run_log::RunLog;
use crate::report::RunRecord;
use crate::store::StoreError;

/// The record of a run with the JSON of its report.
#[derive(Clone, Copy)]
pub(crate) struct FinishedReport<'a> {
    pub(crate) record: &'a RunRecord,
    pub(crate) json: &'a RawValue,
}

/// Receives the report of a device run.
pub(crate) trait ReportSink: Send {
    /// Adds the values that are available only after the run.
    fn complete_report(&self, _record: &mut RunRecord) {}

    /// Whether the report is delivered without resources that have neither changes nor failures.
    fn excludes_unchanged_resources(&self) -> bool {
        false
    }

    /// Delivers the report. `error` is set if the device did not run.
    ///
    /// # Errors
    /// The report is lost.
    fn deliver(
        self,
        report: FinishedReport<'_>,
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

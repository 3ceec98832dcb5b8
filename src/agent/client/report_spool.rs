//! The spool of unsent reports of a device, in the order of the runs.
//!
//! A report stays in the spool while the server does not respond or fails. A report that the server
//! rejects gets the extension `.refused`. Delivery starts with the oldest report and stops at the
//! first failure, so that the server receives them in order.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::endpoint::Endpoint;
use crate::agent::device_file::{self, FileError, FileMode};
use crate::agent::http::RequestError;
use crate::agent::layout::Layout;
use crate::agent::run_log::RunLog;
use crate::store::blocking_io;

/// Maximum number of spooled reports; the oldest are removed.
pub(crate) const MAX_REPORTS: usize = 500;

/// A report in the spool.
#[derive(Debug, Serialize, Deserialize)]
struct SpooledReport {
    environment: String,
    report: Box<RawValue>,
}

/// The result of a delivery.
#[derive(Debug)]
pub enum Delivery {
    /// The server received the report, and `earlier` spooled ones.
    Sent {
        /// Number of reports from earlier runs in the spool before this delivery.
        earlier: usize,
    },
    /// The server did not respond or failed; the report remains in the spool.
    Spooled(RequestError),
    /// The server rejected the report; the path is its file.
    Refused(RequestError, PathBuf),
}

/// The spool of one device.
#[derive(Clone, Debug)]
pub struct ReportSpool {
    dir: PathBuf,
}

impl ReportSpool {
    /// Uses the directory `spool` below the `var` directory of the device.
    pub fn new(layout: &Layout) -> Self {
        Self {
            dir: layout.var.join("spool"),
        }
    }

    /// Adds a report to the spool.
    ///
    /// # Cancellation
    /// May be dropped at any time; the report is then stored or not.
    pub(crate) async fn put(&self, report: &RawValue, environment: &str) -> Result<(), FileError> {
        let entry = SpooledReport {
            environment: environment.to_owned(),
            report: report.to_owned(),
        };
        let text = serde_json::to_string(&entry).expect("an entry is JSON");
        let spool = self.clone();
        blocking_io::run(move || spool.add(&text)).await
    }

    fn add(&self, text: &str) -> Result<(), FileError> {
        let reports = self.reports();
        for old in reports.iter().rev().skip(MAX_REPORTS - 1) {
            device_file::remove(old)?;
        }
        let next = reports
            .last()
            .and_then(|path| path.file_stem()?.to_str()?.parse::<u64>().ok())
            .map_or(0, |last| last + 1);
        let file = self.dir.join(format!("{next:012}.json"));
        device_file::write(&file, text, FileMode::GroupReadable)
    }

    /// The spooled reports, oldest first.
    pub fn reports(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.dir)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "json")
            })
            .collect();
        files.sort();
        files
    }

    /// Sends the spooled reports and then this one; stores it if the server does not respond.
    ///
    /// # Cancellation
    /// May be dropped at any time: the report is stored before anything is sent.
    pub(crate) async fn deliver(
        &self,
        endpoint: &Endpoint<'_>,
        report: &RawValue,
        environment: &str,
        log: &mut dyn RunLog,
    ) -> Result<Delivery, FileError> {
        self.put(report, environment).await?;
        let reports = self.reports();
        let last = reports.len().saturating_sub(1);
        for (index, path) in reports.iter().enumerate() {
            let Some(entry) = self.read(path)? else {
                continue;
            };
            match endpoint.report(&entry.report, &entry.environment).await {
                Ok(()) => {
                    device_file::remove(path)?;
                }
                Err(error) if error.is_temporary() => return Ok(Delivery::Spooled(error)),
                Err(error) => {
                    let aside = self.set_aside(path)?;
                    if index == last {
                        return Ok(Delivery::Refused(error, aside));
                    }
                    log.error(format!(
                        "The server rejected an earlier report, stored as {}: {error}",
                        aside.display()
                    ));
                }
            }
        }
        Ok(Delivery::Sent { earlier: last })
    }

    fn read(&self, path: &Path) -> Result<Option<SpooledReport>, FileError> {
        let Some(text) = device_file::read(path)? else {
            return Ok(None);
        };
        match serde_json::from_str(&text) {
            Ok(entry) => Ok(Some(entry)),
            // An unknown format: keep the file, but do not send it.
            Err(_) => self.set_aside(path).map(|_| None),
        }
    }

    fn set_aside(&self, path: &Path) -> Result<PathBuf, FileError> {
        let aside = path.with_extension("refused");
        std::fs::rename(path, &aside).map_err(|source| FileError {
            action: "rename",
            path: path.to_owned(),
            source,
        })?;
        Ok(aside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn report_spool_keeps_the_newest_reports() {
        let dir = tempfile::tempdir().unwrap();
        let spool = ReportSpool {
            dir: dir.path().join("spool"),
        };
        for number in 0..MAX_REPORTS + 3 {
            let report = RawValue::from_string(number.to_string()).unwrap();
            spool.put(&report, "production").await.unwrap();
        }
        let reports = spool.reports();
        assert_eq!(reports.len(), MAX_REPORTS);
        let first = spool.read(&reports[0]).unwrap().unwrap();
        assert_eq!(first.report.get(), "3");
    }
}

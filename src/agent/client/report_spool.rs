//! Reports that the server has not taken yet, per device, in the order of their runs.
//!
//! A report is spooled when the server could not be asked or could not take it now; one that it
//! refuses would be refused again and is set aside. Sending begins with the oldest and ends with
//! the first that cannot be sent, so the server sees runs in order.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::endpoint::Endpoint;
use crate::agent::http::RequestError;
use crate::agent::layout::{self, FileError, Layout, Readers};
use crate::agent::run_log::RunLog;
use crate::store::blocking_io;

/// How many reports wait at most; the oldest give way.
pub const LONGEST: usize = 500;

/// A report that waits.
#[derive(Debug, Serialize, Deserialize)]
struct Waiting {
    environment: String,
    report: Value,
}

/// What became of a report.
#[derive(Debug)]
pub enum Delivery {
    /// The server has it, and `earlier` others that waited.
    Sent {
        earlier: usize,
    },
    Spooled(RequestError),
    /// The server will never take it; it lies in the file.
    Refused(RequestError, PathBuf),
}

/// The spool of one device.
#[derive(Clone, Debug)]
pub struct Spool {
    dir: PathBuf,
}

impl Spool {
    pub fn new(layout: &Layout) -> Self {
        Self {
            dir: layout.var.join("spool"),
        }
    }

    /// Puts a report at the end, when there is no server to ask.
    ///
    /// # Cancellation
    /// May be dropped at any time; it lies there then, or not.
    pub async fn put(&self, report: &Value, environment: &str) -> Result<(), FileError> {
        let text = serde_json::json!({"environment": environment, "report": report}).to_string();
        let spool = self.clone();
        blocking_io::run(move || spool.add(&text)).await
    }

    fn add(&self, text: &str) -> Result<(), FileError> {
        let waiting = self.waiting();
        for old in waiting.iter().rev().skip(LONGEST - 1) {
            layout::remove(old)?;
        }
        let next = waiting
            .last()
            .and_then(|path| path.file_stem()?.to_str()?.parse::<u64>().ok())
            .map_or(0, |last| last + 1);
        let file = self.dir.join(format!("{next:012}.json"));
        layout::write(&file, text, Readers::Group)
    }

    /// The reports that wait, oldest first.
    pub fn waiting(&self) -> Vec<PathBuf> {
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

    /// Sends a report after those that wait; keeps it if it cannot be sent now.
    ///
    /// # Cancellation
    /// May be dropped at any time: the report lies in the spool before anything is sent.
    pub async fn deliver(
        &self,
        endpoint: &Endpoint<'_>,
        report: &Value,
        environment: &str,
        log: &mut dyn RunLog,
    ) -> Result<Delivery, FileError> {
        self.put(report, environment).await?;
        let waiting = self.waiting();
        let last = waiting.len() - 1;
        for (index, path) in waiting.iter().enumerate() {
            let Some(entry) = self.read(path)? else {
                continue;
            };
            match endpoint.report(&entry.report, &entry.environment).await {
                Ok(()) => {
                    layout::remove(path)?;
                }
                Err(error) if error.is_temporary() => return Ok(Delivery::Spooled(error)),
                Err(error) => {
                    let aside = self.set_aside(path)?;
                    if index == last {
                        return Ok(Delivery::Refused(error, aside));
                    }
                    log.error(format!(
                        "The server does not take an earlier report; it lies in {}: {error}",
                        aside.display()
                    ));
                }
            }
        }
        Ok(Delivery::Sent { earlier: last })
    }

    fn read(&self, path: &Path) -> Result<Option<Waiting>, FileError> {
        let Some(text) = layout::read(path)? else {
            return Ok(None);
        };
        match serde_json::from_str(&text) {
            Ok(entry) => Ok(Some(entry)),
            // Written by nobody we know: out of the way, but not lost.
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
    async fn the_spool_has_an_end_and_keeps_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool {
            dir: dir.path().join("spool"),
        };
        for number in 0..LONGEST + 3 {
            spool
                .put(&serde_json::json!({ "number": number }), "production")
                .await
                .unwrap();
        }
        let waiting = spool.waiting();
        assert_eq!(waiting.len(), LONGEST);
        let first = spool.read(&waiting[0]).unwrap().unwrap();
        assert_eq!(first.report["number"], 3);
    }
}

//! The files that a run leaves in a device's state directory: its memory, and for people and
//! monitoring (`docs/transaction.md`, sections 16 and 17) what the catalog manages, and the last run.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::catalog::Resources;
use crate::report::Report;
use crate::store::{self, DeviceStore, StoreError};

/// What the next run of a device relies on.
pub(super) const MEMORY: &str = "memory.json";

/// What a catalog manages. Taken before the run, which makes resources of its own.
pub(super) struct Managed {
    classes: String,
    resources: String,
}

impl Managed {
    pub fn of(resources: &Resources) -> Self {
        Self {
            classes: resources.classes_txt(),
            resources: resources.resources_txt(),
        }
    }

    /// Writes `classes.txt` and `resources.txt`.
    pub fn write(&self, store: &DeviceStore) -> Result<(), StoreError> {
        store.write("state/classes.txt", &self.classes)?;
        store.write("state/resources.txt", &self.resources)?;
        Ok(())
    }
}

/// What a run came to.
pub(super) struct LastRun {
    summary: String,
    report: String,
}

impl LastRun {
    /// `sent` is the report as it is sent.
    pub fn new(report: &Report, sent: &impl Serialize) -> Self {
        Self {
            summary: report.summary_yaml(),
            report: serde_json::to_string(sent).expect("a report is JSON"),
        }
    }

    /// Writes `last_run_summary.yaml` and the report itself.
    pub fn write(&self, store: &DeviceStore) -> Result<(), StoreError> {
        store.write("state/last_run_summary.yaml", &self.summary)?;
        store.write("state/last_run_report.json", &self.report)?;
        Ok(())
    }
}

/// Where one of a run's graphs goes: `DIR/<device>/<file>`.
pub(super) fn graph_path(dir: &Path, device: &str, file: &str) -> PathBuf {
    dir.join(store::directory_name(device)).join(file)
}

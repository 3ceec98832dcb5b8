//! The files that a run leaves in a device's state directory: its memory, and for people and
//! monitoring (`docs/reference/transaction.md`, sections 16 and 17) what the catalog manages, and the last run.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::catalog::Resources;
use crate::report::Report;
use crate::store::secret_digests::SecretDigests;
use crate::store::{self, DeviceStore, StoreError};
use crate::transaction::{Memory, history};

const MEMORY: &str = "memory.json";

/// What the next run of a device relies on.
pub(super) struct DeviceState {
    pub memory: Memory,
    pub remembered: Arc<SecretDigests>,
}

impl DeviceState {
    /// What earlier runs left; nothing if there were none.
    pub fn load(store: &DeviceStore) -> Result<Self, StoreError> {
        Ok(Self {
            memory: store.load(MEMORY, history::VERSION)?.unwrap_or_default(),
            remembered: Arc::new(SecretDigests::load(store)?),
        })
    }

    /// Writes all of it, though a part of it cannot be written.
    ///
    /// # Errors
    /// What was the first that could not be written.
    pub fn write(&self, store: &DeviceStore) -> Result<(), StoreError> {
        let memory = store.save(MEMORY, history::VERSION, &self.memory);
        memory.and(self.remembered.save(store))
    }
}

/// What a catalog manages. Taken before the run, which makes resources of its own.
pub(super) struct ManagedResources {
    classes: String,
    resources: String,
}

impl ManagedResources {
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

/// Writes the graphs of a run: where each goes, and its text.
pub(super) fn write_graphs(graphs: &[(PathBuf, String)]) -> Result<(), StoreError> {
    let mut graphs = graphs.iter();
    graphs.try_for_each(|(path, text)| store::write_file(path, text))
}

//! The files in the state directory of a device: the state for the next run, the facts, and for people and
//! monitoring (`docs/reference/transaction.md`, sections 16 and 17) what the catalog manages, and the last run.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::value::RawValue;
use switchtender_devices::driver::Facts;
use switchtender_devices::format_version::FormatVersion;

use crate::catalog::Resources;
use crate::report::RunRecord;
use crate::store::file::state_version;
use crate::store::secret_digests::SecretDigests;
use crate::store::{self, DeviceStore, StoreError};
use crate::transaction::Memory;

const MEMORY: &str = "memory.json";
const FACTS: &str = "facts.json";

/// The version of both files.
const VERSION: FormatVersion = state_version(1);

/// Stores the facts of a device, for commands that do not contact it.
pub(super) fn save_facts(store: &DeviceStore, facts: &Facts) -> Result<(), StoreError> {
    store.save(FACTS, VERSION, facts)
}

/// The facts of the last run; `None` before the first.
pub(crate) fn last_facts(store: &DeviceStore) -> Result<Option<Facts>, StoreError> {
    store.load(FACTS, VERSION)
}

/// Stores the state of the resources of a device.
pub(super) fn save_memory(store: &DeviceStore, memory: &Memory) -> Result<(), StoreError> {
    store.save(MEMORY, VERSION, memory)
}

/// The state that the next run of a device needs.
pub(super) struct DeviceState {
    pub(crate) memory: Memory,
    pub(crate) remembered: Arc<SecretDigests>,
}

impl DeviceState {
    /// The state of earlier runs; empty before the first.
    pub(crate) fn load(store: &DeviceStore) -> Result<Self, StoreError> {
        Ok(Self {
            memory: store.load(MEMORY, VERSION)?.unwrap_or_default(),
            remembered: Arc::new(SecretDigests::load(store)?),
        })
    }

    /// Writes all files, also after an error.
    ///
    /// # Errors
    /// The first error.
    pub(crate) fn write(&self, store: &DeviceStore) -> Result<(), StoreError> {
        let memory = save_memory(store, &self.memory);
        memory.and(self.remembered.save(store))
    }
}

/// The classes and resources of a catalog, without those that the run generates.
pub(super) struct ManagedResources {
    classes: String,
    resources: String,
}

impl ManagedResources {
    pub(crate) fn of(resources: &Resources) -> Self {
        Self {
            classes: resources.classes_txt(),
            resources: resources.resources_txt(),
        }
    }

    /// Writes `classes.txt` and `resources.txt`.
    pub(crate) fn write(&self, store: &DeviceStore) -> Result<(), StoreError> {
        store.write("state/classes.txt", &self.classes)?;
        store.write("state/resources.txt", &self.resources)?;
        Ok(())
    }
}

/// The summary and the report of a run.
pub(super) struct LastRun {
    summary: String,
    report: Box<RawValue>,
}

impl LastRun {
    /// `sent` is the report as it was delivered.
    pub(crate) fn new(record: &RunRecord, sent: Box<RawValue>) -> Self {
        Self {
            summary: record.summary_yaml(),
            report: sent,
        }
    }

    /// Writes `last_run_summary.yaml` and the report itself.
    pub(crate) fn write(&self, store: &DeviceStore) -> Result<(), StoreError> {
        store.write(store::SUMMARY, &self.summary)?;
        store.write(store::REPORT, self.report.get())?;
        Ok(())
    }
}

/// Writes the graphs of a run: path and text.
pub(super) fn write_graphs(graphs: &[(PathBuf, String)]) -> Result<(), StoreError> {
    let mut graphs = graphs.iter();
    graphs.try_for_each(|(path, text)| store::write_file(path, text))
}

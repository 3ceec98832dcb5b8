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
use crate::store::state_key::SealedError;
use crate::store::{self, DeviceStore, StoreError};
use crate::transaction::Memory;

const MEMORY: &str = "memory.json";
/// The recorded values of `audit`.
const AUDITED: &str = "audited.json";
const FACTS: &str = "facts.json";

/// The version of these files.
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
    let mut memory = memory.clone();
    let audited = memory.take_audited();
    store.save(MEMORY, VERSION, &memory)?;
    if !audited.is_empty() {
        store.save(AUDITED, VERSION, &audited)
    } else if store.has(AUDITED)? {
        store.remove(AUDITED)
    } else {
        Ok(())
    }
}

/// A structure, or none if the key that sealed it is lost: then `lost` has a message more.
fn load_sealed<T>(
    loaded: Result<T, StoreError>,
    none: T,
    lost: &mut Vec<String>,
) -> Result<T, StoreError> {
    match loaded {
        Err(StoreError::Sealed(error @ SealedError::OtherKey { .. })) => {
            lost.push(error.to_string());
            Ok(none)
        }
        loaded => loaded,
    }
}

/// The state that the next run of a device needs.
pub(super) struct DeviceState {
    pub(crate) memory: Memory,
    pub(crate) remembered: Arc<SecretDigests>,
    /// What cannot be read, because the key of the hosts is lost.
    pub(crate) lost: Vec<String>,
}

impl DeviceState {
    /// The state of earlier runs; empty before the first.
    pub(crate) fn load(store: &DeviceStore) -> Result<Self, StoreError> {
        let mut lost = Vec::new();
        let mut memory: Memory = store.load(MEMORY, VERSION)?.unwrap_or_default();
        let audited = store.load(AUDITED, VERSION);
        memory.add_audited(load_sealed(audited, None, &mut lost)?.unwrap_or_default());
        let digests = SecretDigests::load(store);
        let digests = load_sealed(digests, SecretDigests::new(), &mut lost)?;
        Ok(Self {
            memory,
            remembered: Arc::new(digests),
            lost,
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

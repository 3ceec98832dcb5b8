//! The devices with files in the state directory, and the removal of these files.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use switchtender_devices::names::DeviceName;

use super::shared_state::is_unreachable;
use super::{DeviceStore, LockError, LockSubject, Store, StoreError, directory_name, file};

/// The report of the last run, below the directory of a device.
pub(crate) const REPORT: &str = "state/last_run_report.json";
/// The summary of the last run, below the directory of a device.
pub(crate) const SUMMARY: &str = "state/last_run_summary.yaml";

/// A device with files in the state directory.
#[derive(Clone, Debug)]
pub(crate) struct StoredDevice {
    pub(crate) name: DeviceName,
    dir: PathBuf,
    store: DeviceStore,
}

/// Why files of a device cannot be removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoveStateError {
    #[error(transparent)]
    Locked(#[from] LockError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot remove {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl Store {
    /// The devices with a directory or structures in a store, sorted by name. Directories with another name are left
    /// out.
    pub(crate) fn devices(&self) -> Result<Vec<StoredDevice>, StoreError> {
        let mut names = self.local_names()?;
        if let Some(shared) = &self.shared {
            for name in shared.devices()? {
                names.extend(DeviceName::parse(&name).ok());
            }
        }
        let devices = names.into_iter().map(|name| {
            let store = self.device(&name);
            let dir = store.dir.clone();
            StoredDevice { name, dir, store }
        });
        Ok(devices.collect())
    }

    /// Moves what the files of this host have to the store of several hosts, if there is one. A run in progress does
    /// so for its device.
    ///
    /// # Errors
    /// As [`DeviceStore::synchronize`].
    pub(crate) fn synchronize(&self) -> Result<(), StoreError> {
        let Some(shared) = &self.shared else {
            return Ok(());
        };
        for name in self.local_names()? {
            match self.device(&name).move_own_files(shared) {
                // Those of the other devices wait, too.
                Err(error) if is_unreachable(&error) => return Ok(()),
                // The other devices go on.
                Err(error) => tracing::warn!(
                    "{name}: its state is not in the store: {}",
                    crate::error_chain::chain(&error)
                ),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// The names of the devices with a directory.
    fn local_names(&self) -> Result<BTreeSet<DeviceName>, StoreError> {
        let mut names = BTreeSet::new();
        for path in file::directories(&self.root.join("devices"))? {
            let Some(directory) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            let name = percent_decode_str(directory).decode_utf8();
            let name = name.ok().and_then(|name| DeviceName::parse(&name).ok());
            names.extend(name.filter(|name| directory_name(name) == directory));
        }
        Ok(names)
    }
}

impl StoredDevice {
    pub(crate) fn report(&self) -> PathBuf {
        self.dir.join(REPORT)
    }

    /// The time of the last report.
    pub(crate) fn report_time(&self) -> Option<Timestamp> {
        let modified = fs::metadata(self.report()).ok()?.modified().ok()?;
        Timestamp::try_from(modified).ok()
    }

    /// Whether the directory is that of `switchtender device`, with keys and certificates.
    pub(crate) fn has_certificates(&self) -> bool {
        self.dir.join("ssl").exists()
    }

    /// Removes the directory of the device, unless a run has locked it.
    pub(crate) fn remove(&self) -> Result<(), RemoveStateError> {
        let _lock = self.store.lock(&LockSubject::Name)?;
        self.store.remove_shared()?;
        Ok(file::remove_directory(&self.dir)?)
    }

    /// Removes the report and the summary of the last run, unless a run has locked the device.
    pub(crate) fn remove_report(&self) -> Result<(), RemoveStateError> {
        let _lock = self.store.lock(&LockSubject::Name)?;
        for file in [REPORT, SUMMARY] {
            let path = self.dir.join(file);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(&path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> RemoveStateError {
    move |source| RemoveStateError::Io {
        path: path.to_owned(),
        source,
    }
}

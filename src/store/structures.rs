//! Structures of a device: in files, or in the table of a store with copies in files.

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use switchtender_devices::format_version::FormatVersion;

use super::file::{self, Durability};
use super::shared_state::{NewBody, SharedState, can_wait};
use super::state_key::SealedError;
use super::{DeviceStore, StoreError, directory_name};

/// What happens to a structure while the store is away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IfUnreachable {
    /// It waits in a file of the host.
    Wait,
    Fail,
}

impl DeviceStore {
    /// Reads a structure written by [`DeviceStore::save`]; `None` if there is none yet.
    pub(crate) fn load<T: DeserializeOwned>(
        &self,
        name: &str,
        version: FormatVersion,
    ) -> Result<Option<T>, StoreError> {
        let bytes = self.read(name)?;
        let content = bytes.map(|bytes| file::decode(&self.dir.join(name), &bytes, version));
        content.transpose()
    }

    /// Writes a structure with its version, atomically. While the store is away, it waits for it.
    pub(crate) fn save<T: Serialize>(
        &self,
        name: &str,
        version: FormatVersion,
        content: &T,
    ) -> Result<(), StoreError> {
        self.save_with(name, version, content, IfUnreachable::Wait)
    }

    /// Writes what the next run must know if this one is killed. It is an error if the store is away: the next run can
    /// be on another host.
    pub(crate) fn save_before_change<T: Serialize>(
        &self,
        name: &str,
        version: FormatVersion,
        content: &T,
    ) -> Result<(), StoreError> {
        self.save_with(name, version, content, IfUnreachable::Fail)
    }

    fn save_with<T: Serialize>(
        &self,
        name: &str,
        version: FormatVersion,
        content: &T,
        if_unreachable: IfUnreachable,
    ) -> Result<(), StoreError> {
        let path = self.dir.join(name);
        let Some(shared) = &self.shared else {
            file::save(&path, version, content)?;
            return self.note_own(&self.file(name));
        };
        let bytes = file::encode(&path, version, content)?;
        match self.write_shared(shared, name, &bytes, version) {
            Err(error) if can_wait(&error) && if_unreachable == IfUnreachable::Wait => {
                file::replace(&path, &bytes, Durability::Disk)?;
                self.note_pending(&self.file(name))
            }
            Err(error) => Err(error),
            Ok(()) => {
                file::replace(&path, &bytes, Durability::Process)?;
                self.note_stored(&self.file(name))
            }
        }
    }

    fn write_shared(
        &self,
        shared: &SharedState,
        name: &str,
        bytes: &[u8],
        version: FormatVersion,
    ) -> Result<(), StoreError> {
        let (file, epoch) = (self.file(name), self.epoch);
        match shared.read(&self.device, &file) {
            Ok(Some((found, found_epoch))) => {
                file::check_replaced(&self.dir.join(name), &found, version)?;
                if found == bytes && epoch.is_none_or(|epoch| epoch == found_epoch) {
                    return Ok(());
                }
            }
            // What nobody can read is replaced.
            Ok(None) | Err(StoreError::Sealed(_)) => {}
            Err(error) => return Err(error),
        }
        let bytes = Some(bytes);
        shared.write(&self.device, &file, NewBody { bytes, epoch })
    }

    /// Removes a structure, if it exists. While the store is away, the removal waits for it.
    pub(crate) fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.dir.join(name);
        let Some(shared) = &self.shared else {
            file::remove(&path)?;
            return self.note_own(&self.file(name));
        };
        let (file, epoch) = (self.file(name), self.epoch);
        let bytes = None;
        match shared.write(&self.device, &file, NewBody { bytes, epoch }) {
            Err(error) if can_wait(&error) => {
                file::remove(&path)?;
                self.note_pending(&file)
            }
            Err(error) => Err(error),
            Ok(()) => {
                file::remove(&path)?;
                self.note_stored(&file)
            }
        }
    }

    /// Whether there is a structure.
    pub(crate) fn has(&self, name: &str) -> Result<bool, StoreError> {
        let (directory, file) = name.rsplit_once('/').unwrap_or(("", name));
        let names = self.structures(directory)?;
        Ok(names
            .iter()
            .any(|name| Some(&**name) == file.strip_suffix(".json")))
    }

    /// The names of the structures in a directory, without `.json`, sorted.
    pub(crate) fn structures(&self, directory: &str) -> Result<Vec<String>, StoreError> {
        let Some(files) = self.table_files()? else {
            return file::structures(&self.dir.join(directory));
        };
        let prefix = self.file(directory);
        let names = files.iter().filter_map(|file| {
            let rest = file.strip_prefix(&prefix)?;
            let rest = if prefix.is_empty() {
                rest
            } else {
                rest.strip_prefix('/')?
            };
            rest.strip_suffix(".json")
                .filter(|name| !name.contains('/'))
        });
        Ok(names.map(str::to_owned).collect())
    }

    /// The names of the devices with a structure below a directory of the name, as directories.
    pub(super) fn directories(&self, directory: &str) -> Result<Vec<PathBuf>, StoreError> {
        let parent = self.dir.join(directory);
        let Some(files) = self.table_files()? else {
            return file::directories(&parent);
        };
        let prefix = format!("{}/", self.file(directory));
        let names = files.iter().filter_map(|file| {
            let (name, _) = file.strip_prefix(&prefix)?.split_once('/')?;
            Some(parent.join(name))
        });
        let mut directories: Vec<PathBuf> = names.collect();
        directories.dedup();
        Ok(directories)
    }

    /// Moves all structures to another state of the device. Those that `is_left` names are removed.
    pub(super) fn move_structures(
        &self,
        target: &DeviceStore,
        is_left: impl Fn(&str) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        for directory in ["", super::RECORDS] {
            for name in self.structures(directory)? {
                let name = if directory.is_empty() {
                    format!("{name}.json")
                } else {
                    format!("{directory}/{name}.json")
                };
                if !is_left(&name)? {
                    self.copy_to(target, &name)?;
                }
                self.remove(&name)?;
            }
        }
        file::remove_directory(&self.dir)
    }

    fn copy_to(&self, target: &DeviceStore, name: &str) -> Result<(), StoreError> {
        let bytes = match self.read(name) {
            // What nobody can read any more is not moved.
            Err(StoreError::Sealed(SealedError::OtherKey { .. })) => return Ok(()),
            found => found?,
        };
        let Some(bytes) = bytes else {
            return Ok(());
        };
        if let Some(shared) = &target.shared {
            let change = NewBody {
                bytes: Some(&bytes),
                epoch: target.epoch,
            };
            shared.write(&target.device, &target.file(name), change)?;
        }
        file::replace(&target.dir.join(name), &bytes, Durability::Disk)
    }

    /// Removes all structures of the device from the store; files stay.
    pub(super) fn remove_shared(&self) -> Result<(), StoreError> {
        let Some(shared) = &self.shared else {
            return Ok(());
        };
        for file in self.table_files()?.unwrap_or_default() {
            let change = NewBody {
                bytes: None,
                epoch: None,
            };
            shared.write(&self.device, &file, change)?;
        }
        Ok(())
    }

    /// The names of all structures in the table. `None`: the files of the host have them, or copies for a run that
    /// changes nothing.
    fn table_files(&self) -> Result<Option<Vec<String>>, StoreError> {
        let Some(shared) = &self.shared else {
            return Ok(None);
        };
        match shared.files(&self.device) {
            Err(error) if can_wait(&error) && self.reads_copies => Ok(None),
            files => files.map(Some),
        }
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.dir.join(name);
        let Some(shared) = &self.shared else {
            return file::read(&path);
        };
        match shared.read(&self.device, &self.file(name)) {
            Err(error) if can_wait(&error) && self.reads_copies => file::read(&path),
            found => Ok(found?.map(|(bytes, _)| bytes)),
        }
    }

    /// The name of a structure in the table.
    fn file(&self, name: &str) -> String {
        let path = self.dir.join(name);
        let below = path.strip_prefix(self.name_dir()).unwrap_or(&path);
        below.to_string_lossy().trim_end_matches('/').to_owned()
    }

    /// The directory of the name, which has the states of all devices with this name.
    pub(super) fn name_dir(&self) -> PathBuf {
        self.root.join("devices").join(directory_name(&self.device))
    }
}

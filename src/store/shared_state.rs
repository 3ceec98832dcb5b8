//! The structures of devices in the table of a store, for the device stores of a host.
//!
//! The files of the host are copies then. They are read only by runs that change nothing, while the store is away.
//! What could not be written waits in its copy: the file `in-store.json` of a device names it. A device without this file has a
//! state from before the store, which moves there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use switchtender_devices::format_version::FormatVersion;

use super::file::{self, state_version};
use super::host_locks::HostLocks;
use super::state_key::{SealingKey, StateKey, StateKeyError};
use super::state_table::{StateChange, StateRow, StateTable, StateTableError};
use super::{DeviceStore, StoreError};

/// Names the copies of a device that the store does not have yet.
const COPIES: &str = "in-store.json";
const VERSION: FormatVersion = state_version(1);
/// The epoch of what was written without the store: older than each lease, so what another host writes prevails.
const BEFORE_LEASES: Option<i64> = Some(0);
/// The directory for a state from before the store, if the store has another one.
const BEFORE: &str = "before-store";

/// Structures without anything secret. They outlive a lost key. All others are sealed.
const PLAIN: [&str; 5] = [
    "facts.json",
    "identity.json",
    "memory.json",
    "protected-run.json",
    "sessions.json",
];

/// Whether a structure is not sealed, also that of another device with the name.
fn is_plain(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    PLAIN.contains(&name)
}

/// The table of a store, and the key of the host.
#[derive(Clone, Debug)]
pub(crate) struct SharedState {
    table: Arc<dyn StateTable>,
    key: Arc<SealingKey>,
    /// `None`: runs have leases.
    pub(super) locks: Option<Arc<dyn HostLocks>>,
}

/// The files of a device that are copies.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Copies {
    /// Those that the store does not have yet, with the epochs of their leases. If the file is missing, the structure is
    /// removed there.
    pending: BTreeMap<String, Option<i64>>,
}

impl SharedState {
    /// The state in a table. The first host creates the key in its state directory.
    ///
    /// # Errors
    /// This host does not have the key of the table.
    pub(crate) fn open(root: &Path, table: Arc<dyn StateTable>) -> Result<Self, StateKeyError> {
        let key = Arc::new(SealingKey::open(root, &*table)?);
        Ok(Self {
            table,
            key,
            locks: None,
        })
    }

    /// The same state, for commands: devices are locked for all hosts.
    #[must_use]
    pub(crate) fn with_locks(self, locks: Arc<dyn HostLocks>) -> Self {
        let locks = Some(locks);
        Self { locks, ..self }
    }

    /// The state for a command: only one that seals something creates the key.
    ///
    /// # Errors
    /// This host does not have the key of the table.
    pub(crate) fn of_command(
        root: &Path,
        table: Arc<dyn StateTable>,
    ) -> Result<Self, StateKeyError> {
        let key = Arc::new(SealingKey::of_command(root, &*table)?);
        Ok(Self {
            table,
            key,
            locks: None,
        })
    }

    fn key(&self) -> Result<&StateKey, StoreError> {
        Ok(self.key.get(&*self.table)?)
    }

    /// The names of the devices that have structures.
    pub(super) fn devices(&self) -> Result<Vec<String>, StoreError> {
        let devices = self.table.devices();
        devices.map_err(failed_about("the states of devices".to_owned()))
    }

    /// The names of the structures of a device.
    pub(super) fn files(&self, device: &str) -> Result<Vec<String>, StoreError> {
        let files = self.table.files(device);
        files.map_err(failed_about(format!("the state of {device}")))
    }

    /// A structure with its epoch.
    pub(super) fn read(
        &self,
        device: &str,
        file: &str,
    ) -> Result<Option<(Vec<u8>, i64)>, StoreError> {
        let found = self.table.get(device, file);
        let Some(StateRow { body, epoch }) = found.map_err(failed(device, file))? else {
            return Ok(None);
        };
        let plain = if is_plain(file) {
            body
        } else {
            self.key()?.unseal(device, file, body)?
        };
        Ok(Some((plain, epoch)))
    }

    /// Replaces or removes a structure.
    pub(super) fn write(
        &self,
        device: &str,
        file: &str,
        change: NewBody<'_>,
    ) -> Result<(), StoreError> {
        let NewBody { bytes, epoch } = change;
        let body = match bytes {
            None => None,
            Some(bytes) if is_plain(file) => Some(bytes.to_vec()),
            Some(bytes) => Some(self.key()?.seal(device, file, bytes)),
        };
        let change = StateChange {
            device: device.to_owned(),
            file: file.to_owned(),
            body,
            epoch,
        };
        self.table.change(&change).map_err(failed(device, file))
    }
}

/// The new bytes of a structure.
#[derive(Clone, Copy)]
pub(super) struct NewBody<'a> {
    /// `None`: it is removed.
    pub(super) bytes: Option<&'a [u8]>,
    pub(super) epoch: Option<i64>,
}

/// An error about a structure.
fn failed(device: &str, file: &str) -> impl FnOnce(StateTableError) -> StoreError + use<> {
    failed_about(format!("{file} of {device}"))
}

fn failed_about(subject: String) -> impl FnOnce(StateTableError) -> StoreError {
    move |source| StoreError::Table { subject, source }
}

/// Whether the table cannot be used at the moment.
pub(super) fn is_unreachable(error: &StoreError) -> bool {
    matches!(of_table(error), Some(StateTableError::Unreachable { .. }))
}

/// Whether the table can take later what it does not take now.
pub(super) fn can_wait(error: &StoreError) -> bool {
    let is_foreign = matches!(of_table(error), Some(StateTableError::Foreign { .. }));
    is_foreign || is_unreachable(error)
}

fn of_table(error: &StoreError) -> Option<&StateTableError> {
    match error {
        StoreError::Table { source, .. } | StoreError::Key(StateKeyError::Table(source)) => {
            Some(source)
        }
        _ => None,
    }
}

impl DeviceStore {
    /// Moves a state from before the store there, and writes what waits for the store. While the store is away, both
    /// wait.
    ///
    /// # Errors
    /// The files cannot be read, or the store refuses them.
    pub(crate) fn synchronize(&self) -> Result<(), StoreError> {
        let Some(shared) = &self.shared else {
            return Ok(());
        };
        match self.synchronize_with(shared) {
            Err(error) if can_wait(&error) => Ok(()),
            result => result,
        }
    }

    /// Whether files of this host are not in the store.
    fn has_own_files(&self) -> Result<bool, StoreError> {
        Ok(match self.copies()? {
            Some(copies) => !copies.pending.is_empty(),
            None => !own_structures(&self.name_dir())?.is_empty(),
        })
    }

    fn synchronize_with(&self, shared: &SharedState) -> Result<(), StoreError> {
        let copies = match self.copies()? {
            Some(copies) => copies,
            None => {
                let own = own_structures(&self.name_dir())?;
                if own.is_empty() {
                    return Ok(());
                }
                if !shared.files(&self.device)?.is_empty() {
                    return self.set_aside(&own);
                }
                let copies = self.first_copies()?;
                self.save_copies(&copies)?;
                copies
            }
        };
        self.deliver(shared, copies)
    }

    /// A state from before the store: all of it waits.
    fn first_copies(&self) -> Result<Copies, StoreError> {
        let own = own_structures(&self.name_dir())?.into_iter();
        Ok(Copies {
            pending: own.map(|file| (file, BEFORE_LEASES)).collect(),
        })
    }

    /// Synchronizes, unless a run has the device.
    pub(super) fn move_own_files(&self, shared: &SharedState) -> Result<(), StoreError> {
        if self.has_own_files()?
            && let Ok(_lock) = self.lock(&super::LockSubject::Name)
        {
            self.synchronize_with(shared)?;
        }
        Ok(())
    }

    fn deliver(&self, shared: &SharedState, mut copies: Copies) -> Result<(), StoreError> {
        while let Some((file, epoch)) = copies.pending.first_key_value() {
            let (file, epoch) = (file.clone(), *epoch);
            let bytes = file::read(&self.name_dir().join(&file))?;
            let bytes = bytes.as_deref();
            match shared.write(&self.device, &file, NewBody { bytes, epoch }) {
                Err(StoreError::Table {
                    source: error @ StateTableError::Stale { .. },
                    ..
                }) => tracing::warn!("{file} of {} is not stored: {error}", self.device),
                result => result?,
            }
            copies.pending.remove(&file);
            self.save_copies(&copies)?;
        }
        Ok(())
    }

    /// The store has a state of another host, which prevails. The files of this one stay, elsewhere.
    fn set_aside(&self, own: &[String]) -> Result<(), StoreError> {
        let base = self.name_dir();
        let aside = base.join(BEFORE);
        for name in own {
            file::move_to(&base.join(name), &aside.join(name))?;
        }
        self.save_copies(&Copies::default())?;
        tracing::warn!(
            "{}: the store has the state of another host, which is used; the state of this host is in {}",
            self.device,
            aside.display()
        );
        Ok(())
    }

    /// Notes that a structure is in the store.
    pub(super) fn note_stored(&self, file: &str) -> Result<(), StoreError> {
        match self.copies()? {
            Some(copies) if !copies.pending.contains_key(file) => Ok(()),
            copies => {
                let mut copies = copies.map_or_else(|| self.first_copies(), Ok)?;
                copies.pending.remove(file);
                self.save_copies(&copies)
            }
        }
    }

    /// Notes that a structure waits for the store.
    pub(super) fn note_pending(&self, file: &str) -> Result<(), StoreError> {
        let copies = self.copies()?;
        let mut copies = copies.map_or_else(|| self.first_copies(), Ok)?;
        copies.pending.insert(file.to_owned(), self.epoch);
        self.save_copies(&copies)
    }

    /// Notes a change without the store: the files are the state again, not copies. If something waits for the store, it
    /// still waits, and this one, too.
    pub(super) fn note_own(&self, file: &str) -> Result<(), StoreError> {
        match self.copies()? {
            Some(mut copies) if !copies.pending.is_empty() => {
                copies
                    .pending
                    .entry(file.to_owned())
                    .or_insert(BEFORE_LEASES);
                self.save_copies(&copies)
            }
            _ => file::remove(&self.copies_file()),
        }
    }

    fn copies(&self) -> Result<Option<Copies>, StoreError> {
        file::load(&self.copies_file(), VERSION)
    }

    fn save_copies(&self, copies: &Copies) -> Result<(), StoreError> {
        file::save(&self.copies_file(), VERSION, copies)
    }

    fn copies_file(&self) -> PathBuf {
        self.name_dir().join(COPIES)
    }
}

/// The structures in the directory of a name, also of other devices with this name.
fn own_structures(dir: &Path) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    let others = dir.join(super::identity::OTHERS);
    for state in [dir.to_owned()]
        .into_iter()
        .chain(file::directories(&others)?)
    {
        for directory in [state.clone(), state.join(super::RECORDS)] {
            let files = file::structures(&directory)?.into_iter();
            let files = files.map(|name| directory.join(format!("{name}.json")));
            let names = files.filter_map(|path| Some(path.strip_prefix(dir).ok()?.to_owned()));
            found.extend(names.filter_map(|name| name.to_str().map(str::to_owned)));
        }
    }
    found.retain(|name| name != COPIES);
    Ok(found)
}

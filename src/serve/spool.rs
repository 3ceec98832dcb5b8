//! Results that the store has not taken yet, as files in the order of their ends.
//!
//! A result is on the disk when [`Spool::add`] returns, and its file stays until the store has it. A process that ends
//! between both delivers it again, which changes nothing: the store knows the UUID of the run.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use switchtender_devices::format_version::FormatVersion;
use tokio::sync::Notify;

use super::run_store::EndedRun;
use crate::history::free_space;
use crate::store::StoreError;
use crate::store::file::{self, state_version};

const VERSION: FormatVersion = state_version(1);

/// Bytes of results, from which on no run starts. Those in progress are spooled nevertheless.
pub(crate) const SPOOL_LIMIT: u64 = 1 << 30;
/// Free bytes of the disk that are needed to start runs.
const RESERVE: u64 = 16 << 20;
/// The directory of the results that the store refuses.
const REFUSED: &str = "refused";

/// The results that wait for the store.
pub(crate) struct Spool {
    directory: PathBuf,
    limit: u64,
    state: Mutex<SpoolState>,
    /// A result was added.
    pub(super) added: Notify,
}

#[derive(Default)]
struct SpoolState {
    /// The file and its size by number.
    waiting: BTreeMap<u64, (String, u64)>,
    last_number: u64,
    bytes: u64,
    /// Why the last result could not be written to the disk.
    write_problem: Option<String>,
}

/// A result that waits.
pub(super) struct SpooledResult {
    number: u64,
    pub(super) path: PathBuf,
}

/// How many results wait for the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct SpoolSize {
    pub(crate) results: usize,
    pub(crate) bytes: u64,
}

impl Spool {
    /// Opens the spool in a directory, which is created if necessary. `limit` in bytes.
    ///
    /// # Errors
    /// The directory cannot be used.
    pub(crate) fn open(directory: PathBuf, limit: u64) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Io {
            action: "use",
            path: directory.clone(),
            source,
        };
        file::create_dir(&directory.join(REFUSED)).map_err(failed)?;
        let mut state = SpoolState::default();
        for entry in std::fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if let Some(number) = number_of(&name) {
                state.add(number, name, entry.metadata().map_err(failed)?.len());
            } else if name.starts_with(file::UNFINISHED) {
                // Of a process that ended while it wrote: the result was never complete.
                std::fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(Self {
            directory,
            limit,
            state: Mutex::new(state),
            added: Notify::new(),
        })
    }

    /// Writes a result to the disk.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be written.
    pub(super) fn add(&self, ended: &EndedRun) -> Result<(), StoreError> {
        let number = {
            let mut state = self.state();
            state.last_number += 1;
            state.last_number
        };
        let name = format!("{number:012}-{}.json", ended.run.uuid);
        let path = self.directory.join(&name);
        let written = file::save(&path, VERSION, ended).and_then(|()| self.sync());
        let size = written.and_then(|()| self.size_of(&path));
        if size.is_err() {
            // The caller tries again: it must not be delivered twice.
            let _ = file::remove(&path);
        }
        let mut state = self.state();
        match size {
            Ok(size) => {
                state.write_problem = None;
                state.add(number, name, size);
                drop(state);
                self.added.notify_one();
                Ok(())
            }
            Err(error) => {
                state.write_problem = Some(crate::error_chain::chain(&error));
                Err(error)
            }
        }
    }

    /// The name of a new file is on the disk.
    fn sync(&self) -> Result<(), StoreError> {
        let synced = File::open(&self.directory).and_then(|directory| directory.sync_all());
        synced.map_err(|source| StoreError::Io {
            action: "write",
            path: self.directory.clone(),
            source,
        })
    }

    fn size_of(&self, path: &Path) -> Result<u64, StoreError> {
        let metadata = std::fs::metadata(path).map_err(|source| StoreError::Io {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        Ok(metadata.len())
    }

    /// The oldest results, in their order.
    pub(super) fn oldest(&self, limit: usize) -> Vec<SpooledResult> {
        let state = self.state();
        let oldest = state.waiting.iter().take(limit);
        oldest
            .map(|(number, (name, _))| SpooledResult {
                number: *number,
                path: self.directory.join(name),
            })
            .collect()
    }

    /// Reads a result.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or is that of another version of the program.
    pub(super) fn read(&self, result: &SpooledResult) -> Result<EndedRun, StoreError> {
        let found = file::load(&result.path, VERSION)?;
        found.ok_or_else(|| StoreError::Io {
            action: "read",
            path: result.path.clone(),
            source: std::io::ErrorKind::NotFound.into(),
        })
    }

    /// Removes a result that the store has.
    pub(super) fn remove(&self, result: &SpooledResult) {
        if let Err(error) = file::remove(&result.path) {
            // It is delivered again after a restart, which changes nothing.
            tracing::warn!("{}", crate::error_chain::chain(&error));
        }
        self.state().remove(result.number);
    }

    /// Moves a result away that the store will never take. Returns its new location.
    pub(super) fn set_aside(&self, result: &SpooledResult) -> PathBuf {
        let name = result.path.file_name().unwrap_or_default();
        let location = self.directory.join(REFUSED).join(name);
        let moved = std::fs::rename(&result.path, &location);
        self.state().remove(result.number);
        if moved.is_ok() {
            location
        } else {
            result.path.clone()
        }
    }

    /// The store takes results again: nothing waits for the disk.
    pub(super) fn forget_problem(&self) {
        self.state().write_problem = None;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.state().waiting.is_empty()
    }

    pub(crate) fn size(&self) -> SpoolSize {
        let state = self.state();
        SpoolSize {
            results: state.waiting.len(),
            bytes: state.bytes,
        }
    }

    /// Why no run may start: its result could not be spooled.
    pub(super) fn problem(&self) -> Option<String> {
        let (results, bytes) = {
            let state = self.state();
            if let Some(problem) = &state.write_problem {
                return Some(format!("cannot spool results: {problem}"));
            }
            (state.waiting.len(), state.bytes)
        };
        if results == 0 {
            return None;
        }
        if bytes >= self.limit {
            let limit = self.limit >> 20;
            return Some(format!(
                "the spool is full: {results} results wait for the store and need {limit} MiB"
            ));
        }
        let free = free_space(&self.directory).ok()?;
        (free < RESERVE).then(|| {
            let (free, reserve) = (free >> 20, RESERVE >> 20);
            format!("the disk of the spool is full: {free} MiB are free, {reserve} MiB are needed")
        })
    }

    fn state(&self) -> MutexGuard<'_, SpoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpoolState {
    fn add(&mut self, number: u64, name: String, size: u64) {
        self.last_number = self.last_number.max(number);
        self.bytes += size;
        self.waiting.insert(number, (name, size));
    }

    fn remove(&mut self, number: u64) {
        if let Some((_, size)) = self.waiting.remove(&number) {
            self.bytes = self.bytes.saturating_sub(size);
        }
    }
}

/// The number of the file of a result.
fn number_of(name: &str) -> Option<u64> {
    let (number, rest) = name.split_once('-')?;
    rest.ends_with(".json").then_some(())?;
    number.parse().ok()
}

//! Results that the store has not taken yet, as files in the order of their ends.
//!
//! A result is on the disk when [`Spool::add`] returns, and its file stays until the store has it. A process that ends
//! between both delivers it again, which changes nothing: the store knows the UUID of the run.
//!
//! Results that the store does not take although it answers are held: they prevent no others, and wait again after a
//! while. Held are all results of their devices, so that those of a device stay in their order.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
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
/// The directory of the results that the store refuses: it has only the ends of their runs.
const REFUSED: &str = "refused";
/// The part of the limit for refused results. The oldest are removed.
const REFUSED_PART: u64 = 16;

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
    waiting: SpooledFiles,
    held: SpooledFiles,
    held_devices: BTreeSet<String>,
    /// Why the store did not take the last one of those that are held, or were before.
    not_taken: Option<String>,
    refused: SpooledFiles,
    last_number: u64,
    /// Why the last result could not be written to the disk.
    write_problem: Option<String>,
}

/// The name and the size of files by number.
type SpooledFiles = BTreeMap<u64, (String, u64)>;

/// A result that waits.
pub(super) struct SpooledResult {
    number: u64,
    pub(super) path: PathBuf,
}

/// How many results wait for the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct SpoolSize {
    pub(crate) results: usize,
    /// With those that the store refused.
    pub(crate) bytes: u64,
    /// Why the store does not take some of them although it answers.
    pub(crate) not_taken: Option<String>,
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
        let refused = directory.join(REFUSED);
        file::create_dir(&refused).map_err(failed)?;
        let mut state = SpoolState {
            waiting: files_in(&directory).map_err(failed)?,
            refused: files_in(&refused).map_err(failed)?,
            ..SpoolState::default()
        };
        let last = [&state.waiting, &state.refused];
        let last = last.iter().filter_map(|files| files.last_key_value());
        state.last_number = last.map(|(number, _)| *number).max().unwrap_or_default();
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
                state.waiting.insert(number, (name, size));
                if state.held_devices.contains(&ended.run.device) {
                    // The device is run again: the store can take the earlier ones, too.
                    state.retry();
                }
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

    /// Reads a result. `None`: somebody has removed its file.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or is that of another version of the program.
    pub(super) fn read(&self, result: &SpooledResult) -> Result<Option<EndedRun>, StoreError> {
        file::load(&result.path, VERSION)
    }

    /// Removes a result that the store has.
    pub(super) fn remove(&self, result: &SpooledResult) {
        if let Err(error) = file::remove(&result.path) {
            // It is delivered again after a restart, which changes nothing.
            tracing::warn!("{}", crate::error_chain::chain(&error));
        }
        self.state().remove(result.number);
    }

    /// Whether earlier results of a device are held.
    pub(super) fn holds(&self, device: &str) -> bool {
        self.state().held_devices.contains(device)
    }

    /// Holds a result that the store does not take. `None`: its device is not known.
    pub(super) fn hold(&self, result: &SpooledResult, device: Option<&str>, reason: String) {
        let mut state = self.state();
        if let Some(file) = state.waiting.remove(&result.number) {
            state.held.insert(result.number, file);
        }
        state.held_devices.extend(device.map(str::to_owned));
        state.not_taken = Some(reason);
    }

    /// What is held waits again.
    pub(super) fn retry(&self) {
        self.state().retry();
    }

    /// Why results are held. `None`: none is.
    pub(super) fn not_taken(&self) -> Option<String> {
        let state = self.state();
        state.not_taken.clone().filter(|_| !state.held.is_empty())
    }

    /// Moves a result away that the store will never take. Returns its new location.
    pub(super) fn set_aside(&self, result: &SpooledResult) -> PathBuf {
        let directory = self.directory.join(REFUSED);
        let location = directory.join(result.path.file_name().unwrap_or_default());
        let moved = std::fs::rename(&result.path, &location);
        let mut state = self.state();
        let Some(file) = state.remove(result.number).filter(|_| moved.is_ok()) else {
            return result.path.clone();
        };
        state.refused.insert(result.number, file);
        while bytes(&state.refused) > self.limit / REFUSED_PART
            && let Some((_, (name, _))) = state.refused.pop_first()
        {
            tracing::warn!("the refused result {name} is removed: there are too many");
            if let Err(error) = file::remove(&directory.join(name)) {
                tracing::warn!("{}", crate::error_chain::chain(&error));
            }
        }
        location
    }

    /// The store takes results again: nothing waits for the disk.
    pub(super) fn forget_problem(&self) {
        self.state().write_problem = None;
    }

    /// Whether none waits, besides those that are held.
    pub(super) fn is_empty(&self) -> bool {
        self.state().waiting.is_empty()
    }

    pub(crate) fn size(&self) -> SpoolSize {
        let state = self.state();
        SpoolSize {
            results: state.results(),
            bytes: state.bytes(),
            not_taken: state.not_taken.clone(),
        }
    }

    /// Why no run may start: its result could not be spooled.
    pub(super) fn problem(&self) -> Option<String> {
        let (results, bytes) = {
            let state = self.state();
            if let Some(problem) = &state.write_problem {
                return Some(format!("cannot spool results: {problem}"));
            }
            (state.results(), state.bytes())
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
    fn results(&self) -> usize {
        self.waiting.len() + self.held.len()
    }

    fn bytes(&self) -> u64 {
        let all = [&self.waiting, &self.held, &self.refused];
        all.into_iter().map(bytes).sum()
    }

    fn remove(&mut self, number: u64) -> Option<(String, u64)> {
        let removed = self.waiting.remove(&number);
        if self.results() == 0 {
            self.not_taken = None;
        }
        removed
    }

    fn retry(&mut self) {
        self.waiting.append(&mut self.held);
        self.held_devices.clear();
    }
}

fn bytes(files: &SpooledFiles) -> u64 {
    files.values().map(|(_, size)| size).sum()
}

/// The results in a directory.
fn files_in(directory: &Path) -> std::io::Result<SpooledFiles> {
    let mut files = SpooledFiles::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if let Some(number) = number_of(&name) {
            files.insert(number, (name, entry.metadata()?.len()));
        } else if name.starts_with(file::UNFINISHED) {
            // Of a process that ended while it wrote: the result was never complete.
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(files)
}

/// The number of the file of a result.
fn number_of(name: &str) -> Option<u64> {
    let (number, rest) = name.split_once('-')?;
    rest.ends_with(".json").then_some(())?;
    number.parse().ok()
}

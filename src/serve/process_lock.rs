//! The locks of the process: two processes with the same state directory or store would run devices twice.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::access::AccessPaths;
use crate::store::{self, FileLock, FileLockError};

/// The locks of the state directory and of the store. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct ProcessLock {
    _state_dir: FileLock,
    /// A server has a lock of its own.
    _store: Option<FileLock>,
}

/// Why the process does not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessLockError {
    #[error("process {holder} serves the {subject} {path}")]
    Held {
        subject: &'static str,
        path: PathBuf,
        holder: String,
    },
    #[error(transparent)]
    File(FileLockError),
}

impl ProcessLock {
    /// Takes the locks before anything is written.
    ///
    /// # Errors
    /// Another process has one of them.
    pub(crate) fn take(
        paths: &AccessPaths,
        store: Option<&Path>,
    ) -> Result<Self, ProcessLockError> {
        Ok(Self {
            _state_dir: lock("state directory", paths.state_directory(), &paths.lock())?,
            _store: store.map(lock_store).transpose()?,
        })
    }
}

/// Takes the lock of a store in a file, as a process of `serve` does.
///
/// # Errors
/// A process has it.
pub(crate) fn lock_store(store: &Path) -> Result<FileLock, ProcessLockError> {
    lock("store", store, &beside(store))
}

/// The file of the lock of a store. A lock of the store itself would be that of SQLite.
fn beside(store: &Path) -> PathBuf {
    // Two names of one file have one lock, also before the file exists.
    let of_missing = || {
        let dir = store.parent()?;
        let dir = if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            dir
        };
        store::create_dir(dir).ok()?;
        Some(dir.canonicalize().ok()?.join(store.file_name()?))
    };
    let resolved = store.canonicalize().ok().or_else(of_missing);
    let mut name = OsString::from(resolved.unwrap_or_else(|| store.to_owned()));
    name.push(".lock");
    name.into()
}

fn lock(subject: &'static str, path: &Path, file: &Path) -> Result<FileLock, ProcessLockError> {
    FileLock::take(file).map_err(|error| match error {
        FileLockError::Held { holder, .. } => ProcessLockError::Held {
            subject,
            path: path.to_owned(),
            holder,
        },
        other => ProcessLockError::File(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_lock_names_the_process_that_has_the_store_or_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        let paths = |root: &Path| AccessPaths::in_state_directory(root);
        let store = one.join("history.db");
        let first = ProcessLock::take(&paths(&one), Some(&store)).unwrap();
        let id = std::process::id();
        let refused = |root: &Path, store: &Path| {
            let error = ProcessLock::take(&paths(root), Some(store)).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            refused(&two, &store),
            format!("process {id} serves the store {}", store.display())
        );
        assert_eq!(
            refused(&one, &two.join("history.db")),
            format!("process {id} serves the state directory {}", one.display())
        );
        drop(first);
        ProcessLock::take(&paths(&two), Some(&store)).unwrap();
    }
}

//! Locks across processes: one run per device, one process of `serve`.
//!
//! A lock is a file lock of the kernel. It ends with the process, so a crash leaves no stale lock.
//! The file contains the process ID of the holder and is blank after an orderly release. A process
//! ID without a lock means that its process was killed; the temporary files of a killed run are removed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
#[cfg(feature = "serve")]
use std::time::Duration;

use switchtender_devices::names::DeviceName;

#[cfg(feature = "serve")]
use crate::clock;

/// A file locked by this process. The lock is released when it is dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    file: File,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // If this fails, the next run looks for temporary files and finds none.
        let _ = self.file.write_all_at(RELEASED, 0);
    }
}

/// The longest time that a writer waits for others, and the pause between two attempts.
#[cfg(feature = "serve")]
const LONGEST_WAIT: Duration = Duration::from_secs(10);
#[cfg(feature = "serve")]
const PAUSE: Duration = Duration::from_millis(10);

/// Always the same length: truncated files are written to the disk when they are closed.
const RELEASED: &[u8; 10] = b"          ";

/// Why a file cannot be locked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileLockError {
    #[error("{} is locked by process {holder}", .path.display())]
    Held { path: PathBuf, holder: String },
    #[error("cannot lock {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl FileLock {
    /// Locks a file, which is created if necessary.
    ///
    /// # Errors
    /// Another process has the lock.
    #[cfg(feature = "serve")]
    pub(crate) fn take(path: &Path) -> Result<Self, FileLockError> {
        Ok(Self::take_after(path)?.0)
    }

    /// Locks a file, which is created if necessary; true if the last holder was killed.
    fn take_after(path: &Path) -> Result<(Self, bool), FileLockError> {
        let failed = |source| FileLockError::Io {
            path: path.to_owned(),
            source,
        };
        let file = open(path).map_err(failed)?;
        match file.try_lock() {
            // Another process has removed the directory since the file was opened.
            Ok(()) if !is_at(&file, path) => Self::take_after(path),
            Ok(()) => Self::held(file).map_err(failed),
            Err(TryLockError::WouldBlock) => Err(FileLockError::Held {
                path: path.to_owned(),
                holder: holder(&file)
                    .ok()
                    .filter(|holder| !holder.is_empty())
                    .unwrap_or_else(|| "unknown".to_owned()),
            }),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Locks a file, if necessary after the end of another lock.
    ///
    /// # Errors
    /// Another process has the lock for a longer time.
    #[cfg(feature = "serve")]
    pub(crate) fn wait(path: &Path) -> Result<Self, FileLockError> {
        let end = clock::instant() + LONGEST_WAIT;
        loop {
            match Self::take(path) {
                Err(FileLockError::Held { .. }) if clock::instant() < end => {
                    std::thread::sleep(PAUSE);
                }
                result => return result,
            }
        }
    }

    /// The holder writes its process ID after it has locked the file.
    fn held(file: File) -> io::Result<(Self, bool)> {
        let was_killed = !holder(&file)?.is_empty();
        let text = format!("{:<1$}", std::process::id(), RELEASED.len());
        file.write_all_at(text.as_bytes(), 0)?;
        Ok((Self { file }, was_killed))
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        super::file::create_dir(dir)?;
    }
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

fn holder(file: &File) -> io::Result<String> {
    let mut text = [0; RELEASED.len()];
    let length = file.read_at(&mut text, 0)?;
    Ok(String::from_utf8_lossy(&text[..length]).trim().to_owned())
}

/// A device locked by this process. The lock is released when it is dropped.
#[derive(Debug)]
pub(crate) struct DeviceLock {
    _file: FileLock,
}

/// The cause why a device cannot be locked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    #[error("another run has locked {device} (process {holder}, {})", .path.display())]
    Held {
        device: DeviceName,
        holder: String,
        path: PathBuf,
    },
    #[error("cannot lock {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

pub(crate) fn take(device: &DeviceName, dir: &Path) -> Result<DeviceLock, LockError> {
    let taken = FileLock::take_after(&dir.join("lock"));
    let (file, was_killed) = taken.map_err(|error| match error {
        FileLockError::Held { path, holder } => LockError::Held {
            device: device.clone(),
            holder,
            path,
        },
        FileLockError::Io { path, source } => LockError::Io { path, source },
    })?;
    if was_killed {
        let removed = super::file::remove_leftovers(dir);
        removed.map_err(|source| LockError::Io {
            path: dir.to_owned(),
            source,
        })?;
    }
    Ok(DeviceLock { _file: file })
}

/// Whether a path is still that of an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let number = |data: std::fs::Metadata| (data.dev(), data.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(found)) => number(open) == number(found),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sw1() -> DeviceName {
        DeviceName::parse("sw1").unwrap()
    }

    #[test]
    fn lock_is_exclusive_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let first = take(&sw1(), dir.path()).unwrap();
        let error = take(&sw1(), dir.path()).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "another run has locked sw1 (process {}, {})",
                std::process::id(),
                dir.path().join("lock").display()
            )
        );
        drop(first);
        take(&sw1(), dir.path()).unwrap();
    }

    #[test]
    fn lock_after_a_killed_run_removes_its_temporary_files() {
        let dir = tempfile::tempdir().unwrap();
        let half = dir.path().join("state/.unfinished-x");
        std::fs::create_dir(dir.path().join("state")).unwrap();
        std::fs::write(&half, "{\"half").unwrap();
        let killed = take(&sw1(), dir.path()).unwrap();
        let text = std::fs::read(dir.path().join("lock")).unwrap();
        drop(killed);
        assert!(half.exists(), "an orderly release removes nothing");

        // The file of a killed process still has its process ID.
        std::fs::write(dir.path().join("lock"), text).unwrap();
        take(&sw1(), dir.path()).unwrap();
        assert!(!half.exists());
    }
}

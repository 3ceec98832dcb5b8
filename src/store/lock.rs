//! Locks that allow one run per device, across processes.
//!
//! The lock is a file lock of the kernel. It ends with the process, so a crash leaves no stale lock.
//! The file contains the process ID of the holder and is blank after an orderly release. A process
//! ID without a lock means that a run was killed; its temporary files are removed.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use switchtender_devices::names::DeviceName;

/// A device locked by this process. The lock is released when it is dropped.
#[derive(Debug)]
pub(crate) struct DeviceLock {
    file: File,
}

impl Drop for DeviceLock {
    fn drop(&mut self) {
        // If this fails, the next run looks for temporary files and finds none.
        let _ = self.file.write_all_at(RELEASED, 0);
    }
}

/// Always the same length: truncated files are written to the disk when they are closed.
const RELEASED: &[u8; 10] = b"          ";

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
        source: std::io::Error,
    },
}

pub(crate) fn take(device: &DeviceName, dir: &Path) -> Result<DeviceLock, LockError> {
    let path = dir.join("lock");
    let failed = |source| LockError::Io {
        path: path.clone(),
        source,
    };
    super::file::create_dir(dir).map_err(failed)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(failed)?;
    // The holder writes its process ID after it has locked the file.
    let holder = || {
        let mut text = [0; RELEASED.len()];
        let length = file.read_at(&mut text, 0)?;
        Ok(String::from_utf8_lossy(&text[..length]).trim().to_owned())
    };
    match file.try_lock() {
        // Another process has removed the directory since the file was opened.
        Ok(()) if !is_at(&file, &path) => take(device, dir),
        Ok(()) => {
            if !holder().map_err(failed)?.is_empty() {
                super::file::remove_leftovers(dir).map_err(failed)?;
            }
            let text = format!("{:<1$}", std::process::id(), RELEASED.len());
            file.write_all_at(text.as_bytes(), 0).map_err(failed)?;
            Ok(DeviceLock { file })
        }
        Err(TryLockError::WouldBlock) => Err(LockError::Held {
            device: device.clone(),
            holder: holder()
                .ok()
                .filter(|holder| !holder.is_empty())
                .unwrap_or_else(|| "unknown".to_owned()),
            path,
        }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
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

//! One run per device at a time, across processes.
//!
//! The lock is the kernel's, on an open file: it ends with the process, however that ends, so a
//! crash leaves no lock to clean up. The file's text tells people who holds it, and the next run
//! whether the last one gave it back: one that was killed may have left files half written.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// A device taken by this process; given back when dropped.
#[derive(Debug)]
pub struct DeviceLock {
    file: File,
}

impl Drop for DeviceLock {
    fn drop(&mut self) {
        // If that cannot be said, the next run looks for leftovers and finds none.
        let _ = self.file.write_all_at(NOBODY, 0);
    }
}

/// Always of one length: a file that is cut is written to the disk when it is closed.
const NOBODY: &[u8; 10] = b"          ";

/// Why a device could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another run is at work on {device} (process {holder})")]
    Held { device: String, holder: String },
    #[error("cannot lock {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

pub fn take(device: &str, dir: &Path) -> Result<DeviceLock, LockError> {
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
    // Of one that holds it, between its lock and its text there may be nothing yet.
    let holder = || {
        let mut text = [0; NOBODY.len()];
        let length = file.read_at(&mut text, 0)?;
        Ok(String::from_utf8_lossy(&text[..length]).trim().to_owned())
    };
    match file.try_lock() {
        Ok(()) => {
            if !holder().map_err(failed)?.is_empty() {
                super::file::remove_leftovers(dir).map_err(failed)?;
            }
            let text = format!("{:<1$}", std::process::id(), NOBODY.len());
            file.write_all_at(text.as_bytes(), 0).map_err(failed)?;
            Ok(DeviceLock { file })
        }
        Err(TryLockError::WouldBlock) => Err(LockError::Held {
            device: device.to_owned(),
            holder: holder()
                .ok()
                .filter(|holder| !holder.is_empty())
                .unwrap_or_else(|| "unknown".to_owned()),
        }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_taken_once_and_free_again_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let first = take("sw1", dir.path()).unwrap();
        let error = take("sw1", dir.path()).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "another run is at work on sw1 (process {})",
                std::process::id()
            )
        );
        drop(first);
        take("sw1", dir.path()).unwrap();
    }

    #[test]
    fn what_a_killed_run_left_half_written_is_gone_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let half = dir.path().join("state/.unfinished-x");
        std::fs::create_dir(dir.path().join("state")).unwrap();
        std::fs::write(&half, "{\"half").unwrap();
        let killed = take("sw1", dir.path()).unwrap();
        let text = std::fs::read(dir.path().join("lock")).unwrap();
        drop(killed);
        assert!(half.exists(), "whoever gives a device back left nothing");

        // The kernel's lock ends with a process; what it wrote stays.
        std::fs::write(dir.path().join("lock"), text).unwrap();
        take("sw1", dir.path()).unwrap();
        assert!(!half.exists());
    }
}

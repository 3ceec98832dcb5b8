//! One run per device at a time, across processes.
//!
//! The lock is the kernel's, on an open file: it ends with the process, however that ends, so a
//! crash leaves nothing to clean up. The file's text only tells people who holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// A device taken by this process; given back when dropped.
#[derive(Debug)]
pub struct DeviceLock {
    _file: File,
}

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
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {
            // Always of one length: a file that is cut is written to the disk when it is closed.
            write!(file, "{:<10}", std::process::id()).map_err(failed)?;
            super::file::remove_leftovers(dir).map_err(failed)?;
            Ok(DeviceLock { _file: file })
        }
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Only for the message: between lock and text there may be nothing yet.
            let _ = file.read_to_string(&mut holder);
            let holder = match holder.trim() {
                "" => "unknown",
                holder => holder,
            };
            Err(LockError::Held {
                device: device.to_owned(),
                holder: holder.to_owned(),
            })
        }
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
}

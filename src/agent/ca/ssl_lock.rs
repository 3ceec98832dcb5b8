//! The lock on the keys and certificates of a device.
//!
//! The lock is a file lock of the kernel, which ends with the process. The content of the file, the
//! process ID, is for Puppet and for users.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use switchtender_devices::names::Certname;

use crate::agent::device_file::{FileError, create_dir, remove};
use crate::agent::layout::Layout;

/// Puppet's `ssl.lock`, released and removed on drop.
#[derive(Debug)]
pub(crate) struct SslLock {
    path: PathBuf,
    _file: File,
}

/// The lock is not available.
#[derive(Debug, thiserror::Error)]
pub enum SslLockError {
    #[error("another process ({holder}) updates the certificates of {device} and has locked {}", .path.display())]
    Held {
        device: Certname,
        holder: String,
        path: PathBuf,
    },
    #[error(transparent)]
    File(#[from] FileError),
}

impl SslLock {
    /// Takes the lock. A file without a lock of the kernel does not block.
    pub(crate) fn take(layout: &Layout) -> Result<Self, SslLockError> {
        let path = layout.lock();
        create_dir(&layout.ssl)?;
        let failed = |source| FileError {
            action: "lock",
            path: path.clone(),
            source,
        };
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o640)
                .open(&path)
                .map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(SslLockError::Held {
                        device: layout.certname.clone(),
                        holder: read_holder(&mut file),
                        path,
                    });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source).into()),
            }
            // The holder before can have removed the file after it was opened.
            if !is_at(&file, &path) {
                continue;
            }
            file.set_len(0)
                .and_then(|()| file.write_all(std::process::id().to_string().as_bytes()))
                .map_err(failed)?;
            return Ok(Self { path, _file: file });
        }
    }
}

impl Drop for SslLock {
    fn drop(&mut self) {
        // The file is removed while it is locked. A file that stays does not block.
        let _ = remove(&self.path);
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(stored)) => open.ino() == stored.ino() && open.dev() == stored.dev(),
        _ => false,
    }
}

/// The process ID in the file, for messages.
fn read_holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(20).read_to_string(&mut text);
    match read {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(dir: &Path) -> Layout {
        Layout {
            certname: Certname::parse("SW1.lab.test").unwrap(),
            ssl: dir.join("conf/devices/SW1.lab.test/ssl"),
            var: dir.join("var/devices/SW1.lab.test"),
        }
    }

    #[test]
    fn ssl_lock_is_exclusive_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let layout = layout(dir.path());
        let lock = SslLock::take(&layout).unwrap();
        let process = std::process::id().to_string();
        assert_eq!(std::fs::read_to_string(layout.lock()).unwrap(), process);
        assert_eq!(
            SslLock::take(&layout).unwrap_err().to_string(),
            format!(
                "another process ({process}) updates the certificates of SW1.lab.test and has locked {}",
                layout.lock().display()
            )
        );
        drop(lock);
        assert!(!layout.lock().exists());
        SslLock::take(&layout).unwrap();
    }

    #[test]
    fn ssl_lock_process_id_of_a_running_process_does_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let layout = layout(dir.path());
        std::fs::create_dir_all(&layout.ssl).unwrap();
        // After a reboot any process can have the process ID of a killed run.
        for content in ["1", &std::process::id().to_string(), "", "text"] {
            std::fs::write(layout.lock(), content).unwrap();
            SslLock::take(&layout).unwrap();
        }
    }
}

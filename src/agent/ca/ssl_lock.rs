//! The lock on the keys and certificates of a device.

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use switchtender_devices::names::Certname;

use crate::agent::device_file::{FileError, create_dir, read, remove};
use crate::agent::layout::Layout;

/// Puppet's `ssl.lock`, released on drop.
#[derive(Debug)]
pub(crate) struct SslLock {
    path: PathBuf,
}

/// The lock is not available.
#[derive(Debug, thiserror::Error)]
pub enum SslLockError {
    #[error("another process ({holder}) updates the certificates of {device}")]
    Held { device: Certname, holder: u32 },
    #[error(transparent)]
    File(#[from] FileError),
}

impl SslLock {
    /// Takes the lock. Replaces the lock of a process that no longer runs.
    pub(crate) fn take(layout: &Layout) -> Result<Self, SslLockError> {
        let path = layout.lock();
        create_dir(&layout.ssl)?;
        loop {
            let made = std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o640)
                .open(&path);
            match made {
                Ok(mut file) => {
                    // The content is for Puppet and for users; the file itself is the lock.
                    let _ = std::io::Write::write_all(
                        &mut file,
                        std::process::id().to_string().as_bytes(),
                    );
                    return Ok(Self { path });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    let holder = read(&path)?.and_then(|text| text.trim().parse().ok());
                    if let Some(holder) = holder.filter(|pid| is_alive(*pid)) {
                        return Err(SslLockError::Held {
                            device: layout.certname.clone(),
                            holder,
                        });
                    }
                    remove(&path)?;
                }
                Err(source) => {
                    return Err(SslLockError::File(FileError {
                        action: "write",
                        path,
                        source,
                    }));
                }
            }
        }
    }
}

impl Drop for SslLock {
    fn drop(&mut self) {
        // Without an effect on the next process: it replaces the lock of a dead process.
        let _ = remove(&self.path);
    }
}

fn is_alive(pid: u32) -> bool {
    pid != std::process::id() && Path::new("/proc").join(pid.to_string()).exists()
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
    fn ssl_lock_of_a_dead_process_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let layout = layout(dir.path());
        let lock = SslLock::take(&layout).unwrap();
        drop(lock);
        assert!(!layout.lock().exists());
        std::fs::write(layout.lock(), "1").unwrap();
        let error = SslLock::take(&layout).unwrap_err().to_string();
        assert_eq!(
            error,
            "another process (1) updates the certificates of SW1.lab.test"
        );
        std::fs::write(layout.lock(), "4194305").unwrap();
        SslLock::take(&layout).unwrap();
    }
}

//! Locks across processes: one run per device, one process of `serve`.
//!
//! A run locks the address before it connects, and the serial numbers when it knows them: two inventories with
//! the same names do not block each other, and a device with two names or addresses is changed by one run. A host
//! key is not locked, because images are copied with their keys.
//!
//! A lock is a file lock of the kernel. It ends with the process, so a crash leaves no stale lock.
//! The file contains the process ID of the holder and is blank after an orderly release. A process
//! ID without a lock means that its process was killed; the temporary files of a killed run are removed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};
use switchtender_devices::names::DeviceName;
use switchtender_devices::session::fence::{Fence, FenceError};

use super::host_locks::HostLockError;
use super::state_table::StateTableError;
use super::{DeviceStore, directory_name};
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
const LONGEST_WAIT: Duration = Duration::from_secs(10);
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

impl FileLockError {
    fn held_by(file: &File, path: &Path) -> Self {
        let holder = holder(file).ok().filter(|holder| !holder.is_empty());
        Self::Held {
            path: path.to_owned(),
            holder: holder.unwrap_or_else(|| "unknown".to_owned()),
        }
    }
}

impl FileLock {
    /// Locks a file, which is created if necessary.
    ///
    /// # Errors
    /// Another process has the lock.
    pub(crate) fn take(path: &Path) -> Result<Self, FileLockError> {
        Ok(Self::take_after(path)?.0)
    }

    /// Locks a file, which is created if necessary. Returns the process ID of the last holder if it was killed.
    fn take_after(path: &Path) -> Result<(Self, Option<String>), FileLockError> {
        let failed = |source| FileLockError::Io {
            path: path.to_owned(),
            source,
        };
        let file = open(path).map_err(failed)?;
        match file.try_lock() {
            // Another process has removed the directory since the file was opened.
            Ok(()) if !is_at(&file, path) => Self::take_after(path),
            Ok(()) => Self::held(file).map_err(failed),
            Err(TryLockError::WouldBlock) => Err(FileLockError::held_by(&file, path)),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Locks a file, if necessary after the end of another lock.
    ///
    /// # Errors
    /// Another process has the lock for a longer time.
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
    fn held(file: File) -> io::Result<(Self, Option<String>)> {
        let killed = Some(holder(&file)?).filter(|holder| !holder.is_empty());
        let text = format!("{:<1$}", std::process::id(), RELEASED.len());
        file.write_all_at(text.as_bytes(), 0)?;
        Ok((Self { file }, killed))
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        super::file::create_dir(dir)?;
    }
    // A link would have its target overwritten.
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits());
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags.expect("flags of open"))
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

fn holder(file: &File) -> io::Result<String> {
    let mut text = [0; RELEASED.len()];
    let length = file.read_at(&mut text, 0)?;
    Ok(String::from_utf8_lossy(&text[..length]).trim().to_owned())
}

/// What a run locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LockSubject {
    /// The directory of the name, alone: for its certificates, and for its removal.
    Name,
    /// The directory of the name, together with other runs.
    SharedName,
    /// Where the device is reached.
    Address(String),
    /// The device itself.
    Serial(String),
}

impl LockSubject {
    fn path(&self, store: &DeviceStore) -> PathBuf {
        let file = match self {
            LockSubject::Name | LockSubject::SharedName => return store.dir.join("lock"),
            LockSubject::Address(address) => format!("address-{}", directory_name(address)),
            LockSubject::Serial(serial) => format!("serial-{}", directory_name(serial)),
        };
        let file = if file.len() > LONGEST_NAME {
            hex::encode(Sha256::digest(file))
        } else {
            file
        };
        store.root.join("locks").join(file)
    }

    fn render(&self, device: &DeviceName) -> String {
        match self {
            LockSubject::Serial(serial) => format!("the device with the serial number {serial}"),
            _ => device.to_string(),
        }
    }
}

/// The locks of a run. It may write to its device while it has all of them.
#[derive(Debug, Default)]
pub(crate) struct HeldLocks {
    locks: Mutex<Vec<Box<dyn Fence>>>,
}

impl HeldLocks {
    pub(crate) fn add(&self, lock: Box<dyn Fence>) {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.push(lock);
    }
}

impl Fence for HeldLocks {
    fn check(&self) -> Result<(), FenceError> {
        let locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.iter().try_for_each(|lock| lock.check())
    }
}

/// Longest name of a file.
const LONGEST_NAME: usize = 200;

/// What this process has locked. The lock is released when it is dropped.
#[derive(Debug)]
pub(crate) struct DeviceLock {
    path: PathBuf,
    held: HeldFile,
}

#[derive(Debug)]
enum HeldFile {
    Alone(FileLock),
    Shared(File),
}

impl DeviceLock {
    fn file(&self) -> &File {
        match &self.held {
            HeldFile::Alone(lock) => &lock.file,
            HeldFile::Shared(file) => file,
        }
    }
}

/// Where the file was removed, another process can lock a new one.
impl Fence for DeviceLock {
    fn check(&self) -> Result<(), FenceError> {
        if is_at(self.file(), &self.path) {
            return Ok(());
        }
        let path = self.path.display();
        Err(FenceError {
            reason: format!(
                "the lock {path} was removed, so another process may change the device"
            ),
        })
    }
}

/// The cause why a device cannot be locked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    #[error("another run has locked {subject} (process {holder}, {})", .path.display())]
    Held {
        subject: String,
        holder: String,
        path: PathBuf,
    },
    /// On another host, by the store of several hosts.
    #[error("another run has locked {device} ({holder})")]
    HeldInStore { device: String, holder: String },
    #[error("cannot lock {device} in the store")]
    Store {
        device: String,
        #[source]
        source: StateTableError,
    },
    #[error("cannot lock {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl LockError {
    /// Whether the lock is free when another run has ended.
    pub(crate) fn is_held(&self) -> bool {
        matches!(self, Self::Held { .. } | Self::HeldInStore { .. })
    }
}

/// Locks the name of a device for all hosts of a store. `None`: the store has only this host.
pub(super) fn take_for_all_hosts(store: &DeviceStore) -> Result<Option<Box<dyn Fence>>, LockError> {
    let locks = store
        .shared
        .as_ref()
        .and_then(|shared| shared.locks.as_ref());
    let Some(locks) = locks else {
        return Ok(None);
    };
    let device = store.device.to_string();
    match locks.lock(&device) {
        Ok(lock) => Ok(Some(lock)),
        Err(HostLockError::Held { holder }) => Err(LockError::HeldInStore { device, holder }),
        Err(HostLockError::Store(source)) => Err(LockError::Store { device, source }),
    }
}

pub(super) fn take(store: &DeviceStore, subject: &LockSubject) -> Result<DeviceLock, LockError> {
    let failed = |error| match error {
        FileLockError::Held { path, holder } => LockError::Held {
            subject: subject.render(&store.device),
            holder,
            path,
        },
        FileLockError::Io { path, source } => LockError::Io { path, source },
    };
    let path = subject.path(store);
    if *subject == LockSubject::SharedName {
        let held = HeldFile::Shared(share(&path).map_err(failed)?);
        return Ok(DeviceLock { path, held });
    }
    let (file, killed) = FileLock::take_after(&path).map_err(failed)?;
    if let Some(process) = killed
        && store.dir.exists()
    {
        let removed = super::file::remove_leftovers(&store.dir, &process);
        removed.map_err(|source| LockError::Io {
            path: store.dir.clone(),
            source,
        })?;
    }
    let held = HeldFile::Alone(file);
    Ok(DeviceLock { path, held })
}

/// Locks a file together with others.
fn share(path: &Path) -> Result<File, FileLockError> {
    let failed = |source| FileLockError::Io {
        path: path.to_owned(),
        source,
    };
    let file = open(path).map_err(failed)?;
    match file.try_lock_shared() {
        Ok(()) if !is_at(&file, path) => share(path),
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(FileLockError::held_by(&file, path)),
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
    use super::super::Store;
    use super::*;

    fn device(dir: &Path, name: &str) -> DeviceStore {
        Store::at(dir).device(&DeviceName::parse(name).unwrap())
    }

    #[test]
    fn lock_is_exclusive_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let sw1 = device(dir.path(), "sw1");
        let subject = LockSubject::Address("192.0.2.1:22".to_owned());
        let first = sw1.lock(&subject).unwrap();
        let error = sw1.lock(&subject).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "another run has locked sw1 (process {}, {})",
                std::process::id(),
                dir.path().join("locks/address-192.0.2.1%3A22").display()
            )
        );
        drop(first);
        sw1.lock(&subject).unwrap();
    }

    #[test]
    fn fence_refuses_when_a_lock_was_removed() {
        let dir = tempfile::tempdir().unwrap();
        let sw1 = device(dir.path(), "sw1");
        let held = HeldLocks::default();
        let address = LockSubject::Address("192.0.2.1:22".to_owned());
        for subject in [&LockSubject::SharedName, &address] {
            held.add(Box::new(sw1.lock(subject).unwrap()));
        }
        assert_eq!(held.check(), Ok(()));
        let path = address.path(&sw1);
        std::fs::remove_file(&path).unwrap();
        let _other_run = sw1.lock(&address).unwrap();
        let reason = held.check().unwrap_err().to_string();
        let expected = "was removed, so another process may change the device";
        assert_eq!(reason, format!("the lock {} {expected}", path.display()));
    }

    #[test]
    fn lock_is_that_of_address_and_serial_number() {
        let dir = tempfile::tempdir().unwrap();
        let address = |text: &str| LockSubject::Address(text.to_owned());
        let serial = |text: &str| LockSubject::Serial(text.to_owned());
        let shared = LockSubject::SharedName;
        let cases = [
            // (first name, its lock, second name, its lock, whether the second waits)
            ("sw1", address("a"), "sw1", address("b"), false),
            ("sw1", address("a"), "core", address("a"), true),
            ("sw1", serial("A"), "sw1", serial("B"), false),
            ("sw1", serial("A"), "core", serial("A"), true),
            ("sw1", shared.clone(), "sw1", shared.clone(), false),
            ("sw1", shared.clone(), "sw1", LockSubject::Name, true),
            ("sw1", LockSubject::Name, "sw1", shared, true),
        ];
        for (first, lock, second, other, waits) in cases {
            let _held = device(dir.path(), first).lock(&lock).unwrap();
            let result = device(dir.path(), second).lock(&other);
            assert_eq!(result.is_err(), waits, "{lock:?} {other:?}");
        }
    }

    #[test]
    fn lock_does_not_follow_links_and_refuses_special_files() {
        let dir = tempfile::tempdir().unwrap();
        let precious = dir.path().join("precious");
        std::fs::write(&precious, "precious text").unwrap();
        let missing = dir.path().join("missing");
        let sw1 = device(dir.path(), "sw1");
        for subject in [
            LockSubject::Name,
            LockSubject::SharedName,
            LockSubject::Address("a".to_owned()),
        ] {
            let lock = subject.path(&sw1);
            std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
            let reason = || {
                let error = sw1.lock(&subject).unwrap_err();
                crate::error_chain::chain(&error)
            };
            for target in [&*precious, &*missing, Path::new("/dev/zero")] {
                std::os::unix::fs::symlink(target, &lock).unwrap();
                let reason = reason();
                assert!(
                    reason.contains("Too many levels of symbolic links"),
                    "{reason}"
                );
                std::fs::remove_file(&lock).unwrap();
            }
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, &lock, mode).unwrap();
            let reason = reason();
            assert!(reason.contains("not a regular file"), "{reason}");
            std::fs::remove_file(&lock).unwrap();
        }
        let text = std::fs::read_to_string(&precious).unwrap();
        assert_eq!((text.as_str(), missing.exists()), ("precious text", false));
    }

    #[test]
    fn lock_after_a_killed_run_removes_its_temporary_files() {
        let dir = tempfile::tempdir().unwrap();
        let sw1 = device(dir.path(), "sw1");
        let subject = LockSubject::Address("192.0.2.1:22".to_owned());
        let own = std::process::id();
        let state = sw1.dir().join("state");
        let half = state.join(format!(".unfinished-{own}-x"));
        let of_another_run = state.join(".unfinished-1-x");
        std::fs::create_dir_all(&state).unwrap();
        std::fs::write(&half, "{\"half").unwrap();
        std::fs::write(&of_another_run, "{\"half").unwrap();
        let killed = sw1.lock(&subject).unwrap();
        let path = subject.path(&sw1);
        let text = std::fs::read(&path).unwrap();
        drop(killed);
        assert!(half.exists(), "an orderly release removes nothing");

        // The file of a killed process still has its process ID.
        std::fs::write(&path, text).unwrap();
        sw1.lock(&subject).unwrap();
        assert!(!half.exists());
        assert!(of_another_run.exists());
    }
}

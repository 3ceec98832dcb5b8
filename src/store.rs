//! The state of devices between runs, in the state directory.
//!
//! Layout: `<root>/devices/<device>/…`, readable by the owner only. Files that describe the last run belong to
//! the name of a device, the others to the device itself ([`identity`]). Every file is replaced atomically:
//! after a crash it is the old or the new one. Structures have a version; other versions are refused.
//! The next run depends on structures, so they are synced to disk before a run ends. Texts only report
//! a run and are not synced.
//!
//! With a store for several hosts, structures are in its table ([`state_table`]), and the files are copies.

pub(crate) mod blocking_io;
pub(crate) mod file;
pub(crate) mod host_locks;
pub(crate) mod identity;
mod lock;
pub(crate) mod rollout_log;
pub(crate) mod secret_digests;
mod shared_state;
pub(crate) mod state_key;
pub(crate) mod state_table;
mod stored_device;
mod structures;

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use switchtender_devices::names::DeviceName;
use switchtender_devices::session::fence::Fence;

use file::Durability;
pub(crate) use file::{StoreError, create_dir};
pub(crate) use lock::{DeviceLock, HeldLocks, LockError, LockSubject};
pub(crate) use lock::{FileLock, FileLockError};
pub(crate) use shared_state::SharedState;
pub(crate) use stored_device::{REPORT, SUMMARY, StoredDevice};

/// The directory of structures with one file for each run.
pub(crate) const RECORDS: &str = "undo";

/// The state directory.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    root: PathBuf,
    shared: Option<SharedState>,
}

impl Store {
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            shared: None,
        }
    }

    /// The same directory, with the structures in the table of a store. `None`: they are in files.
    #[must_use]
    pub(crate) fn shared(self, shared: Option<SharedState>) -> Self {
        Self { shared, ..self }
    }

    /// The state directory unless the user gives one: `$SWITCHTENDER_STATE`, else
    /// `/var/lib/switchtender` for root, else the user's XDG state directory.
    ///
    /// `variable` reads an environment variable; `root`: the process runs as root.
    pub(crate) fn default_root(
        variable: impl Fn(&str) -> Option<PathBuf>,
        root: bool,
    ) -> Option<PathBuf> {
        let named = |name| variable(name).filter(|path| !path.as_os_str().is_empty());
        named("SWITCHTENDER_STATE")
            .or_else(|| root.then(|| PathBuf::from("/var/lib/switchtender")))
            .or_else(|| named("XDG_STATE_HOME").map(|state| state.join("switchtender")))
            .or_else(|| named("HOME").map(|home| home.join(".local/state/switchtender")))
    }

    /// The same store of several hosts, if there is one, with another directory on this host.
    pub(crate) fn with_root(&self, root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            shared: self.shared.clone(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The store of one device. Nothing is created before the first write.
    pub(crate) fn device(&self, name: &DeviceName) -> DeviceStore {
        DeviceStore {
            device: name.clone(),
            root: self.root.clone(),
            dir: self.root.join("devices").join(directory_name(name)),
            shared: self.shared.clone(),
            epoch: None,
            reads_copies: false,
        }
    }
}

/// A warning about a state directory whose files others can replace.
pub(crate) fn writable_by_others(dir: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = std::fs::metadata(dir).ok()?.mode() & 0o7777;
    (mode & 0o002 != 0).then(|| {
        let dir = dir.display();
        format!("others can write the state directory {dir} (mode {mode:o}): run `chmod 700 {dir}`")
    })
}

/// A directory with files of one device.
#[derive(Clone, Debug)]
pub(crate) struct DeviceStore {
    device: DeviceName,
    root: PathBuf,
    dir: PathBuf,
    shared: Option<SharedState>,
    /// The epoch of the lease under which structures are changed.
    epoch: Option<i64>,
    /// While the store is away, structures are read from the copies on this host.
    reads_copies: bool,
}

impl DeviceStore {
    /// The store for a run under a lease.
    #[must_use]
    pub(crate) fn with_epoch(self, epoch: Option<i64>) -> Self {
        Self { epoch, ..self }
    }

    /// The store for work that changes nothing on the device: while the store of several hosts is away, the copies on
    /// this host suffice.
    #[must_use]
    pub(crate) fn read_copies(self, reads_copies: bool) -> Self {
        Self {
            reads_copies,
            ..self
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The state directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Locks a device, or what belongs to its name, until the lock is dropped.
    pub(crate) fn lock(&self, subject: &LockSubject) -> Result<DeviceLock, LockError> {
        lock::take(self, subject)
    }

    /// Locks the name of a device for all hosts of a store, until the lock is dropped. `None`: there is no such store.
    pub(crate) fn lock_for_all_hosts(&self) -> Result<Option<Box<dyn Fence>>, LockError> {
        lock::take_for_all_hosts(self)
    }

    /// Writes a text file, atomically.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, StoreError> {
        let path = self.dir.join(name);
        file::replace(&path, text.as_bytes(), Durability::Process)?;
        Ok(path)
    }
}

/// Writes a file that the user named, atomically: a report, a graph.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), StoreError> {
    file::replace(path, text.as_bytes(), Durability::Process)
}

/// Bytes of a device name that are percent-encoded in its directory.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// The name of a device as one path component, percent-encoded; a leading dot, too.
pub(crate) fn directory_name(device: &str) -> String {
    let name = utf8_percent_encode(device, ENCODED).to_string();
    match name.strip_prefix('.') {
        Some(rest) => format!("%2E{rest}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_name_is_one_path_component() {
        assert_eq!(directory_name("sw1.lab.test"), "sw1.lab.test");
        assert_eq!(directory_name("../x"), "%2E.%2Fx");
        assert_eq!(directory_name("ü:1"), "%C3%BC%3A1");
        assert_eq!(directory_name("."), "%2E");
    }

    #[test]
    fn state_directory_that_others_can_write_is_reported() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        for (mode, is_reported) in [
            (0o700, false),
            (0o755, false),
            (0o1777, true),
            (0o757, true),
        ] {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(dir.path(), permissions).unwrap();
            let found = writable_by_others(dir.path()).is_some();
            assert_eq!(found, is_reported, "{mode:o}");
        }
        assert_eq!(writable_by_others(&dir.path().join("none")), None);
    }

    #[test]
    fn default_root_depends_on_user_and_environment() {
        type Variables = &'static [(&'static str, &'static str)];
        let environment = |pairs: Variables| {
            move |name: &str| {
                pairs
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| PathBuf::from(value))
            }
        };
        let cases: [(Variables, bool, Option<&str>); 5] = [
            (
                &[("SWITCHTENDER_STATE", "/s"), ("HOME", "/h")],
                true,
                Some("/s"),
            ),
            (&[("HOME", "/root")], true, Some("/var/lib/switchtender")),
            (
                &[("XDG_STATE_HOME", "/x"), ("HOME", "/h")],
                false,
                Some("/x/switchtender"),
            ),
            (
                &[("HOME", "/h"), ("XDG_STATE_HOME", "")],
                false,
                Some("/h/.local/state/switchtender"),
            ),
            (&[], false, None),
        ];
        for (variables, root, expected) in cases {
            assert_eq!(
                Store::default_root(environment(variables), root),
                expected.map(PathBuf::from)
            );
        }
    }
}

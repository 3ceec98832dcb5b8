//! What is kept between runs, per device, in the state directory.
//!
//! Layout: `<root>/devices/<device>/…`, readable by the owner only. Every file is written beside
//! its old version and takes its place, so that a crash at any moment leaves the old or the new
//! one, never half of either. Structures carry a version; a newer one than we know is refused. They are
//! what the next run relies on, and are on the disk before a run ends; texts only tell of a run,
//! and nobody waits for the disk with them.

pub(crate) mod disk;
pub(crate) mod file;
mod lock;
pub mod remembered;

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use file::Lasts;
pub use file::{StoreError, create_dir};
pub use lock::{DeviceLock, LockError};

/// The state directory.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where state is kept when the user does not say: `$SWITCHTENDER_STATE`, else
    /// `/var/lib/switchtender` for root, else the user's XDG state directory.
    ///
    /// `variable` looks up an environment variable; `root` says whether we run as root.
    pub fn default_root(variable: impl Fn(&str) -> Option<PathBuf>, root: bool) -> Option<PathBuf> {
        let named = |name| variable(name).filter(|path| !path.as_os_str().is_empty());
        named("SWITCHTENDER_STATE")
            .or_else(|| root.then(|| PathBuf::from("/var/lib/switchtender")))
            .or_else(|| named("XDG_STATE_HOME").map(|state| state.join("switchtender")))
            .or_else(|| named("HOME").map(|home| home.join(".local/state/switchtender")))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The room of one device. Nothing is created before the first write.
    pub fn device(&self, name: &str) -> DeviceStore {
        DeviceStore {
            device: name.to_owned(),
            dir: self.root.join("devices").join(directory_name(name)),
        }
    }
}

/// What is kept of one device.
#[derive(Clone, Debug)]
pub struct DeviceStore {
    device: String,
    dir: PathBuf,
}

impl DeviceStore {
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Takes the device for this process until the lock is dropped.
    pub fn lock(&self) -> Result<DeviceLock, LockError> {
        lock::take(&self.device, &self.dir)
    }

    /// Reads a structure written by [`DeviceStore::save`]; `None` if there is none yet.
    pub fn load<T: DeserializeOwned>(
        &self,
        name: &str,
        version: u32,
    ) -> Result<Option<T>, StoreError> {
        file::load(&self.dir.join(name), version)
    }

    /// Writes a structure with its version, atomically.
    pub fn save<T: Serialize>(
        &self,
        name: &str,
        version: u32,
        content: &T,
    ) -> Result<(), StoreError> {
        file::save(&self.dir.join(name), version, content)
    }

    /// Writes a text file, atomically.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, StoreError> {
        let path = self.dir.join(name);
        file::take_turns(&path, text.as_bytes(), Lasts::AfterProcess)?;
        Ok(path)
    }
}

/// Writes a file that the user named, atomically: a report, a graph.
pub fn write_file(path: &Path, text: &str) -> Result<(), StoreError> {
    file::replace(path, text.as_bytes())
}

/// The name of a device as one path component: anything unusual becomes `%XX`.
pub fn directory_name(device: &str) -> String {
    use std::fmt::Write as _;

    let mut name = String::with_capacity(device.len());
    for (index, byte) in device.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_')
            || (byte == b'.' && index > 0);
        if plain {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02X}");
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_cannot_leave_its_room() {
        assert_eq!(directory_name("sw1.lab.test"), "sw1.lab.test");
        assert_eq!(directory_name("../x"), "%2E.%2Fx");
        assert_eq!(directory_name("."), "%2E");
    }

    #[test]
    fn the_default_place_depends_on_who_runs_it() {
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

//! A clock that a test sets for single processes, with libfaketime. The time since the boot is not changed.

use std::path::PathBuf;

use crate::peer;

/// The offset of the clock of processes.
#[derive(Debug)]
pub struct HostClock {
    library: PathBuf,
    file: PathBuf,
}

/// The library, of the Debian package `faketime`.
fn library() -> Option<PathBuf> {
    let directories = std::fs::read_dir("/usr/lib").ok()?;
    let mut found = directories
        .filter_map(|directory| Some(directory.ok()?.path().join("faketime/libfaketime.so.1")));
    found.find(|library| library.exists())
}

impl HostClock {
    /// A clock with the right time. `file`: where its offset is. `None`: libfaketime is missing, and the test says that it
    /// is skipped.
    ///
    /// # Panics
    /// If libfaketime is missing and required.
    pub fn new(file: PathBuf) -> Option<Self> {
        let found = library();
        let missing = "there is no libfaketime (tests/real-peers/test-tools.sh install)";
        if peer::skips(found.is_none().then(|| missing.to_owned())) {
            return None;
        }
        Some(Self {
            library: found?,
            file,
        })
    }

    /// Variables of the processes with this clock.
    pub fn environment(&self) -> [(&'static str, String); 5] {
        [
            ("LD_PRELOAD", self.library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", self.file.display().to_string()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("NO_FAKE_STAT", "1".to_owned()),
        ]
    }

    /// Sets the clock of the running processes.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn set(&self, hours: i8) {
        let new = self.file.with_extension("new");
        std::fs::write(&new, format!("{:+}\n", i32::from(hours) * 3600)).unwrap();
        std::fs::rename(new, &self.file).unwrap();
    }
}

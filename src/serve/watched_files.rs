//! The files of the settings, and whether they changed since they were read.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::store::blocking_io;

/// Interval between two checks of the files. It works on every file system, and costs nothing.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// Inode, size, mode and time of change of a file. `None`: it cannot be read.
type FileState = Option<(u64, u64, u32, i64, i64)>;

/// Files with their states before they were read, so that a change during a load is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WatchedFiles {
    states: BTreeMap<PathBuf, FileState>,
}

impl WatchedFiles {
    /// Adds a file that is read next.
    pub(crate) fn add(&mut self, path: &Path) {
        let states = self.states.entry(path.to_owned());
        states.or_insert_with(|| state(path));
    }

    /// Adds a file, or a directory with its files.
    pub(crate) fn add_with_entries(&mut self, path: &Path) {
        self.add(path);
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            self.add(&entry.path());
        }
    }

    /// Adds the files that the other has and this one has not, with their states.
    pub(super) fn add_missing(&mut self, other: Self) {
        for (path, state) in other.states {
            self.states.entry(path).or_insert(state);
        }
    }

    /// The same files as they are now.
    pub(crate) fn read_again(&self) -> Self {
        let paths = self.states.keys();
        Self {
            states: paths.map(|path| (path.clone(), state(path))).collect(),
        }
    }

    /// Waits until a file changed and does not change any more.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(super) async fn changed(&self) {
        let mut last = self.clone();
        loop {
            tokio::time::sleep(WATCH_INTERVAL).await;
            let files = last.clone();
            let now = blocking_io::run(move || files.read_again()).await;
            if now != *self && now == last {
                return;
            }
            last = now;
        }
    }
}

fn state(path: &Path) -> FileState {
    let data = std::fs::metadata(path).ok()?;
    let (seconds, nanoseconds) = (data.mtime(), data.mtime_nsec());
    Some((data.ino(), data.size(), data.mode(), seconds, nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_after_the_first_record_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("device.conf");
        std::fs::write(&file, "[sw1]\n").unwrap();
        let mut files = WatchedFiles::default();
        files.add_with_entries(dir.path());
        files.add(&dir.path().join("missing"));
        assert_eq!(files.read_again(), files);
        std::fs::write(&file, "[sw1]\n[sw2]\n").unwrap();
        // The file was read between the two records.
        files.add(&file);
        assert_ne!(files.read_again(), files);
        let now = files.read_again();
        std::fs::write(dir.path().join("missing"), "").unwrap();
        assert_ne!(now.read_again(), now);
    }
}

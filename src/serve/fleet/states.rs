//! The directories of desired state of the settings, and the devices that have no file there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::desired_state::{StateDirectory, Unmanaged};
use crate::diagnostic::{Diagnostic, Severity};
use crate::inventory::{Device, Inventory};
use crate::serve::watched_files::WatchedFiles;

/// The directories of desired state, with the devices that have no file there.
#[derive(Default)]
pub(super) struct States<'d>(BTreeMap<PathBuf, (StateDirectory, Vec<&'d Device>)>);

impl<'d> States<'d> {
    /// Whether a device has a file. Otherwise the files that it can get are watched.
    pub(super) fn manages(
        &mut self,
        path: &Path,
        device: &'d Device,
        inventory: &Inventory,
        files: &mut WatchedFiles,
    ) -> bool {
        let (directory, unmanaged) = self
            .0
            .entry(path.to_owned())
            .or_insert_with(|| (StateDirectory::new(path, inventory), Vec::new()));
        // Their states are read first: a file can appear meanwhile.
        let mut watched = WatchedFiles::default();
        for candidate in directory.candidates(device) {
            watched.add(&candidate);
        }
        let is_managed = directory.manages(device);
        if !is_managed {
            files.add_missing(watched);
            unmanaged.push(device);
        }
        is_managed
    }

    pub(super) fn findings(&self, severity: Severity) -> impl Iterator<Item = Diagnostic> {
        self.0.values().filter_map(move |(directory, unmanaged)| {
            Some(Unmanaged::new(directory, unmanaged)?.finding(severity))
        })
    }
}

//! The files of devices in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchtender_devices::read::{CONFIG, Reads};
use switchtender_devices::regular_file;

use super::device_list::{self, DeviceTypes};
use crate::fleet::saved_files::{SavedFileError, device_stem, has_answers};

/// The list of devices in a folder of Oxidized or RANCID.
const DEVICE_LIST: &str = "router.db";
/// The folder of the configurations beside it.
const CONFIGURATIONS: &str = "configs";
/// Files and folders that version control and RANCID add.
const FOREIGN: [&str; 5] = [
    "CVS",
    "router.db",
    "routers.all",
    "routers.up",
    "routers.down",
];
/// Names of files that say nothing about the device.
const GENERIC: [&str; 8] = [
    "config",
    "running",
    "running-config",
    "show-running-config",
    "show_running-config",
    "startup",
    "startup-config",
    "configuration",
];
/// The beginning of the line in which RANCID names the type of a device.
const CONTENT_TYPE: &str = "RANCID-CONTENT-TYPE:";

/// A file that may be of a device.
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    pub(super) group: Option<String>,
    /// It was named itself, not its folder.
    pub(super) is_alone: bool,
    types: Arc<DeviceTypes>,
}

impl FoundFile {
    pub(super) fn alone(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            group: None,
            is_alone: true,
            types: Arc::default(),
        }
    }

    /// What the folder, or the first lines of the file, say of the type of the device.
    pub(super) fn platform_word(&self, reads: &Reads) -> Option<String> {
        let file = self.path.file_name()?.to_string_lossy();
        let listed = self.types.get(file.as_ref());
        let listed = listed.or_else(|| self.types.get(&device_stem(&self.path)));
        listed.cloned().or_else(|| {
            let mut lines = reads.get(CONFIG)?.lines().take(3);
            let word = lines.find_map(|line| Some(line.split_once(CONTENT_TYPE)?.1.trim()))?;
            Some(word.to_ascii_lowercase())
        })
    }
}

/// The first file of each device in a folder and its groups, by path. Hidden files are no devices.
pub(super) fn files(top: &Path) -> Result<Vec<FoundFile>, SavedFileError> {
    let mut found = Vec::new();
    walk(top, &[], &Arc::default(), &mut found)?;
    Ok(found)
}

fn walk(
    folder: &Path,
    group: &[String],
    types: &Arc<DeviceTypes>,
    found: &mut Vec<FoundFile>,
) -> Result<(), SavedFileError> {
    let failed = |cause| SavedFileError::Read {
        path: folder.to_owned(),
        cause,
    };
    let list = folder.join(DEVICE_LIST);
    let mut types = Arc::clone(types);
    if list.is_file() {
        let text = regular_file::read_text(&list, regular_file::LARGEST);
        let text = text.map_err(|cause| SavedFileError::Read {
            path: list.clone(),
            cause,
        })?;
        types = Arc::new(device_list::parse(&text));
        // The other files here are of the program.
        let configurations = folder.join(CONFIGURATIONS);
        if configurations.is_dir() {
            return walk(&configurations, group, &types, found);
        }
    }
    let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut folders = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if name.starts_with('.') || FOREIGN.contains(&name.as_str()) {
            continue;
        }
        // Links to folders are not followed: they can form a loop.
        if entry.file_type().map_err(failed)?.is_dir() {
            folders.insert(name, path);
        } else if path.is_file() {
            files.entry(device_stem(&path)).or_default().push(path);
        }
    }
    for mut paths in files.into_values() {
        paths.sort();
        // Answers beside a configuration are read with it.
        if paths.iter().any(|path| !has_answers(path)) {
            paths.retain(|path| !has_answers(path));
        } else {
            paths.truncate(1);
        }
        found.extend(paths.into_iter().map(|path| FoundFile {
            path,
            group: (!group.is_empty()).then(|| group.join("/")),
            is_alone: false,
            types: Arc::clone(&types),
        }));
    }
    for (name, path) in folders {
        let inner = if name == CONFIGURATIONS {
            group.to_vec()
        } else {
            [group, &[name]].concat()
        };
        walk(&path, &inner, &types, found)?;
    }
    Ok(())
}

/// Whether a name says nothing about the device.
pub(super) fn is_generic(stem: &str) -> bool {
    let name = stem.to_ascii_lowercase();
    GENERIC.contains(&name.as_str())
}

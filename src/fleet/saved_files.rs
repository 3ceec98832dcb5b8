//! Files with the saved answers of a device: a configuration, or answers by name of the read.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use switchtender_devices::driver::Backup;
use switchtender_devices::names::DeviceName;
use switchtender_devices::read::{CONFIG, Reads};
use switchtender_devices::recording::{Recording, RecordingError};
use switchtender_devices::regular_file;
use switchtender_devices::session::saved::SavedAnswers;

use super::connector::RECORDING;
use crate::store;

/// The extensions of the files of a device.
const EXTENSIONS: [&str; 3] = ["json", RECORDING, "cfg"];

/// A file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SavedFileError {
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("cannot read {}", path.display())]
    Json {
        path: PathBuf,
        #[source]
        cause: serde_json::Error,
    },
    #[error("cannot read {}", path.display())]
    Recording {
        path: PathBuf,
        #[source]
        cause: RecordingError,
    },
}

impl SavedFileError {
    pub(crate) fn is_missing_file(&self) -> bool {
        matches!(self, Self::Read { cause, .. } if cause.kind() == io::ErrorKind::NotFound)
    }

    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        self.is_missing_file().then(|| {
            "save the running configuration as DIR/DEVICE.cfg, or answers as DIR/DEVICE.json"
                .to_owned()
        })
    }
}

/// The answers in a file and in the file of the same device beside it, if there is one: `sw1.json`
/// beside `sw1.cfg`. The file itself must exist.
pub(crate) fn read_with_neighbor(path: &Path) -> Result<Reads, SavedFileError> {
    let mut reads = read_file(path)?;
    for extension in EXTENSIONS {
        let neighbor = path.with_extension(extension);
        if neighbor != path && neighbor.exists() {
            for (name, answer) in read_file(&neighbor)? {
                reads.entry(name).or_insert(answer);
            }
        }
    }
    Ok(reads)
}

/// The first file of each device in a directory, by name.
pub(crate) fn list(directory: &Path) -> Result<Vec<PathBuf>, SavedFileError> {
    let failed = |cause| SavedFileError::Read {
        path: directory.to_owned(),
        cause,
    };
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_known = EXTENSIONS.contains(&extension) && path.is_file();
        if let Some(name) = path.file_stem().filter(|_| is_known) {
            let name = name.to_owned();
            files.entry(name).or_insert(path);
        }
    }
    Ok(files.into_values().collect())
}

/// Reads a file: with the extension `json` it has answers by name of the read,
/// `{"GET /mgmt/tm/ltm/pool": {"items": []}, "vlan_brief": {"lines": ["…"]}}`, with `recording` it is a
/// recording, of which the first answers count; otherwise it is a configuration.
pub(crate) fn read_file(path: &Path) -> Result<Reads, SavedFileError> {
    let extension = path.extension().unwrap_or_default();
    if extension == RECORDING {
        return Ok(read_recording(path)?.reads());
    }
    let text = read_text(path)?;
    if extension != "json" {
        return Ok(Reads::from_iter([(
            CONFIG.to_owned(),
            text.replace("\r\n", "\n"),
        )]));
    }
    let answers: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).map_err(|cause| SavedFileError::Json {
            path: path.to_owned(),
            cause,
        })?;
    let named = |(name, answer): (String, serde_json::Value)| {
        let name = if name.starts_with('/') {
            format!("GET {name}")
        } else {
            name
        };
        (name, Backup::answer(answer))
    };
    Ok(answers.into_iter().map(named).collect())
}

/// Reads a recording.
pub(crate) fn read_recording(path: &Path) -> Result<Recording, SavedFileError> {
    Recording::parse(&read_text(path)?).map_err(|cause| SavedFileError::Recording {
        path: path.to_owned(),
        cause,
    })
}

fn read_text(path: &Path) -> Result<String, SavedFileError> {
    regular_file::read_text(path, regular_file::LARGEST).map_err(|cause| SavedFileError::Read {
        path: path.to_owned(),
        cause,
    })
}

/// The saved answers of a device, `DIR/<device>.cfg`, `.recording` and `.json`. One is enough.
pub(crate) fn read_directory(
    directory: &Path,
    device: &DeviceName,
) -> Result<SavedAnswers, SavedFileError> {
    let name = store::directory_name(device);
    let mut reads = Reads::default();
    let mut missing = None;
    for extension in EXTENSIONS {
        match read_file(&directory.join(format!("{name}.{extension}"))) {
            Ok(answers) => reads.extend(answers),
            Err(error) if error.is_missing_file() => missing = Some(error),
            Err(error) => return Err(error),
        }
    }
    match missing {
        Some(error) if reads.is_empty() => Err(error),
        _ => Ok(SavedAnswers {
            device: device.to_string(),
            reads,
        }),
    }
}

//! Files with the saved answers of a device: a configuration, or answers by name of the read.

use std::ffi::OsStr;
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

/// The extensions of files with answers.
const ANSWERS: [&str; 2] = ["json", RECORDING];
/// The extensions of configurations.
const CONFIGURATIONS: [&str; 3] = ["cfg", "conf", "config"];
/// The extensions of texts that may be configurations.
const TEXTS: [&str; 2] = ["txt", "log"];

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

    /// Why, without the path.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Read { cause, .. } => cause.to_string(),
            Self::Json { cause, .. } => cause.to_string(),
            Self::Recording { cause, .. } => cause.to_string(),
        }
    }

    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        self.is_missing_file().then(|| {
            "save the running configuration as DIR/DEVICE.cfg, or answers as DIR/DEVICE.json"
                .to_owned()
        })
    }
}

/// The answers in a file and in the files of the same device beside it, if there are any: `sw1.json`
/// beside `sw1.cfg`. The file itself must exist.
pub(crate) fn read_with_neighbor(path: &Path) -> Result<Reads, SavedFileError> {
    let mut reads = read_file(path)?;
    let stem = device_stem(path);
    let configurations = CONFIGURATIONS.iter().filter(|_| has_answers(path));
    for extension in ANSWERS.iter().chain(configurations) {
        let neighbor = path.with_file_name(format!("{stem}.{extension}"));
        if neighbor != path && neighbor.exists() {
            for (name, answer) in read_file(&neighbor)? {
                reads.entry(name).or_insert(answer);
            }
        }
    }
    Ok(reads)
}

/// The file name without an extension of saved answers: `sw1.example.net` of `sw1.example.net.cfg`.
pub(crate) fn device_stem(path: &Path) -> String {
    let is_known = is_named_as_saved(path) || TEXTS.contains(&extension(path));
    let stem = path.file_stem().filter(|_| is_known);
    let stem = stem.or(path.file_name()).unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Whether the extension of a file says that it has saved answers.
pub(crate) fn is_named_as_saved(path: &Path) -> bool {
    has_answers(path) || CONFIGURATIONS.contains(&extension(path))
}

/// Whether a file has answers by name, not a configuration.
pub(crate) fn has_answers(path: &Path) -> bool {
    ANSWERS.contains(&extension(path))
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(OsStr::to_str).unwrap_or_default()
}

/// Reads a file: with the extension `json` it has answers by name of the read,
/// `{"GET /mgmt/tm/ltm/pool": {"items": []}, "vlan_brief": {"lines": ["…"]}}`, with `recording` it is a
/// recording, of which the first answers count; otherwise it is a configuration.
pub(crate) fn read_file(path: &Path) -> Result<Reads, SavedFileError> {
    let extension = path.extension().unwrap_or_default();
    if extension == RECORDING {
        return Ok(read_recording(path)?.reads());
    }
    if extension != "json" {
        let text = read_configuration(path)?;
        return Ok(Reads::from_iter([(
            CONFIG.to_owned(),
            text.replace("\r\n", "\n"),
        )]));
    }
    let text = read_text(path)?;
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

/// A configuration. Devices print the bytes that were typed, so that one that is not UTF-8 is read as Latin-1.
fn read_configuration(path: &Path) -> Result<String, SavedFileError> {
    let failed = |cause| SavedFileError::Read {
        path: path.to_owned(),
        cause,
    };
    let bytes = regular_file::read(path, regular_file::LARGEST).map_err(failed)?;
    if bytes.contains(&0) {
        return Err(failed(io::Error::new(
            io::ErrorKind::InvalidData,
            "the file is not text",
        )));
    }
    let text = String::from_utf8(bytes);
    Ok(text.unwrap_or_else(|error| {
        error
            .as_bytes()
            .iter()
            .map(|byte| char::from(*byte))
            .collect()
    }))
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
    for extension in ANSWERS.iter().chain(&CONFIGURATIONS) {
        match read_file(&directory.join(format!("{name}.{extension}"))) {
            Ok(answers) => reads.extend(answers),
            Err(error) if error.is_missing_file() => {
                let is_usual = *extension == CONFIGURATIONS[0];
                missing = if is_usual { Some(error) } else { missing };
            }
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

//! Files of secrets outside of an inventory: tokens, keys and hashes, which only their owner can read.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use switchtender_devices::regular_file;

use super::file_mode::readable_by_others;

/// Why a private file is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrivateFileError {
    #[error("cannot read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is readable by others (mode {mode:o})")]
    Mode { path: PathBuf, mode: u32 },
}

impl PrivateFileError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Read { path, source }
    }

    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Read { .. } => None,
            Self::Mode { path, .. } => Some(format!("run `chmod 600 {}`", path.display())),
        }
    }
}

/// Opens a private file.
///
/// # Errors
/// It cannot be opened, or others can read it.
pub(crate) fn open(path: &Path) -> Result<File, PrivateFileError> {
    let failed = |source| PrivateFileError::read(path, source);
    let file = regular_file::open(path, regular_file::LARGEST).map_err(failed)?;
    match readable_by_others(&file).map_err(failed)? {
        None => Ok(file),
        Some(mode) => {
            let path = path.to_owned();
            Err(PrivateFileError::Mode { path, mode })
        }
    }
}

/// The text of a private file.
///
/// # Errors
/// As [`open`], or it cannot be read.
pub(crate) fn read_text(path: &Path) -> Result<String, PrivateFileError> {
    let text = regular_file::read_open_text(open(path)?, regular_file::LARGEST);
    text.map_err(|source| PrivateFileError::read(path, source))
}

//! Reads, replaces and removes the files of a device.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use switchtender_devices::regular_file;

use crate::store::file::unfinished;

/// A file operation failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}", .path.display())]
pub struct FileError {
    pub(crate) action: &'static str,
    pub(crate) path: PathBuf,
    #[source]
    pub(crate) source: std::io::Error,
}

/// The permissions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMode {
    /// 0640, for keys: the group has services that share the certificate.
    GroupReadable,
    /// 0644
    WorldReadable,
}

/// The text of a file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>, FileError> {
    match regular_file::read_text(path, regular_file::LARGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError {
            action: "read",
            path: path.to_owned(),
            source,
        }),
    }
}

/// Replaces a file atomically.
pub(crate) fn write(path: &Path, text: &str, mode: FileMode) -> Result<(), FileError> {
    let failed = |source| FileError {
        action: "write",
        path: path.to_owned(),
        source,
    };
    let dir = path.parent().unwrap_or(Path::new("."));
    create_dir(dir)?;
    let mut file = tempfile::Builder::new()
        .prefix(&unfinished())
        .tempfile_in(dir)
        .map_err(failed)?;
    let mode = match mode {
        FileMode::GroupReadable => 0o640,
        FileMode::WorldReadable => 0o644,
    };
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
    file.as_file()
        .set_permissions(std::fs::Permissions::from_mode(mode))
        .and_then(|()| file.as_file().sync_all())
        .map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Removes a file; returns whether it existed.
pub(crate) fn remove(path: &Path) -> Result<bool, FileError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(FileError {
            action: "remove",
            path: path.to_owned(),
            source,
        }),
    }
}

pub(super) fn create_dir(dir: &Path) -> Result<(), FileError> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o750)
        .create(dir)
        .map_err(|source| FileError {
            action: "create the directory",
            path: dir.to_owned(),
            source,
        })
}

//! Atomic replacement of files, and JSON structures with a version.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Serialize};
use switchtender_devices::format_version::{FormatVersion, OtherVersion};

use super::state_key::{SealedError, StateKeyError};
use super::state_table::StateTableError;

/// The version of a file of the state.
pub(crate) const fn state_version(number: u32) -> FormatVersion {
    FormatVersion {
        number,
        advice: "use the version of switchtender that wrote it, or move the file away to go on without it",
    }
}

/// An error of reading or writing state.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("cannot {action} {path}")]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{path} is damaged; rename it to start again (the history and the secret digests are lost)"
    )]
    Damaged {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("cannot use {path}")]
    Version {
        path: PathBuf,
        #[source]
        version: OtherVersion,
    },
    #[error("cannot use {subject} in the store")]
    Table {
        subject: String,
        #[source]
        source: StateTableError,
    },
    #[error(transparent)]
    Sealed(#[from] SealedError),
    #[error(transparent)]
    Key(#[from] StateKeyError),
}

#[derive(Serialize)]
struct VersionedRef<'a, T> {
    version: u32,
    content: &'a T,
}

#[derive(Deserialize)]
struct VersionOnly {
    version: i64,
}

#[derive(Deserialize)]
struct ContentOnly<T> {
    content: T,
}

/// The version of a structure, whose other keys can be those of another version.
pub(crate) fn version_of(json: &str) -> serde_json::Result<i64> {
    serde_json::from_str(json).map(|VersionOnly { version }| version)
}

/// The bytes of a file; `None`: there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path)(error)),
    }
}

/// The structure in the bytes of a file.
pub(crate) fn decode<T: DeserializeOwned>(
    path: &Path,
    bytes: &[u8],
    version: FormatVersion,
) -> Result<T, StoreError> {
    let text = std::str::from_utf8(bytes).map_err(de::Error::custom);
    let text = text.map_err(damaged(path))?;
    let found = version_of(text).map_err(damaged(path))?;
    version.check(found).map_err(other_version(path))?;
    let content: ContentOnly<T> = serde_json::from_str(text).map_err(damaged(path))?;
    Ok(content.content)
}

/// The bytes of a structure with its version.
pub(crate) fn encode<T: Serialize>(
    path: &Path,
    version: FormatVersion,
    content: &T,
) -> Result<Vec<u8>, StoreError> {
    let version = version.number;
    serde_json::to_vec(&VersionedRef { version, content }).map_err(damaged(path))
}

/// Refuses to replace a structure of another version. A damaged one is replaced.
pub(crate) fn check_replaced(
    path: &Path,
    found: &[u8],
    version: FormatVersion,
) -> Result<(), StoreError> {
    let text = std::str::from_utf8(found).ok();
    match text.and_then(|text| version_of(text).ok()) {
        Some(found) => version.check(found).map_err(other_version(path)),
        None => Ok(()),
    }
}

fn damaged(path: &Path) -> impl Fn(serde_json::Error) -> StoreError {
    move |source| StoreError::Damaged {
        path: path.to_owned(),
        source,
    }
}

pub(crate) fn load<T: DeserializeOwned>(
    path: &Path,
    version: FormatVersion,
) -> Result<Option<T>, StoreError> {
    let bytes = read(path)?;
    let content = bytes.map(|bytes| decode(path, &bytes, version));
    content.transpose()
}

/// Writes a structure. A file of another version stays, and is an error.
pub(crate) fn save<T: Serialize>(
    path: &Path,
    version: FormatVersion,
    content: &T,
) -> Result<(), StoreError> {
    let bytes = encode(path, version, content)?;
    // What cannot be read is replaced.
    if let Ok(Some(found)) = read(path) {
        check_replaced(path, &found, version)?;
    }
    replace(path, &bytes, Durability::Disk)
}

fn other_version(path: &Path) -> impl FnOnce(OtherVersion) -> StoreError {
    move |version| StoreError::Version {
        path: path.to_owned(),
        version,
    }
}

/// The failures that a new version of a file survives; the old one is always replaced atomically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A crash of the process: for files that only report a run.
    Process,
    /// A power failure: for files that the next run depends on. Waits for the disk.
    Disk,
}

/// Replaces a file atomically: writes the new version to a temporary file in the same directory and
/// renames it. A file that has this content already is not touched. Only the owner can read a new
/// file, because state can contain values of attributes.
pub(crate) fn replace(
    path: &Path,
    content: &[u8],
    durability: Durability,
) -> Result<(), StoreError> {
    if has_content(path, content) {
        return Ok(());
    }
    let dir = path
        .parent()
        .filter(|dir| !dir.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let prefix = unfinished();
    let temporary = || tempfile::Builder::new().prefix(&prefix).tempfile_in(dir);
    let mut file = match temporary() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_dir(dir).map_err(failed("create the directory of", path))?;
            temporary()
        }
        created => created,
    }
    .map_err(failed("write", path))?;
    file.write_all(content).map_err(failed("write", path))?;
    if durability == Durability::Disk {
        file.as_file().sync_all().map_err(failed("write", path))?;
    }
    file.persist(path)
        .map_err(|error| failed("replace", path)(error.error))?;
    Ok(())
}

/// The names of the structures in a directory, without `.json`, sorted; none without the directory.
pub(crate) fn structures(dir: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed("read", dir))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed("read", dir))?.file_name();
        let name = name.to_str().and_then(|name| name.strip_suffix(".json"));
        names.extend(name.map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// The directories in a directory, sorted; none without the directory.
pub(crate) fn directories(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = entries(dir)?;
    found.retain(|path| path.is_dir());
    Ok(found)
}

/// Moves a file. The directory of the target is created.
pub(crate) fn move_to(path: &Path, target: &Path) -> Result<(), StoreError> {
    if let Some(parent) = target.parent() {
        create_dir(parent).map_err(failed("create the directory of", target))?;
    }
    std::fs::rename(path, target).map_err(failed("move", path))
}

/// Removes a directory with its files, if it exists.
pub(crate) fn remove_directory(dir: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", dir)(error)),
        _ => Ok(()),
    }
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed("read", dir))?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths
        .collect::<io::Result<_>>()
        .map_err(failed("read", dir))?;
    paths.sort();
    Ok(paths)
}

/// Removes a file, if it exists.
pub(crate) fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

/// Whether a file has this content. A file that cannot be read has not: writing it reports the cause.
fn has_content(path: &Path, content: &[u8]) -> bool {
    let size = std::fs::metadata(path).map(|meta| meta.len());
    size.is_ok_and(|size| size == content.len() as u64)
        && std::fs::read(path).is_ok_and(|found| found == content)
}

/// Prefix of all temporary files.
pub(crate) const UNFINISHED: &str = ".unfinished-";

/// Prefix of the temporary files of this process.
pub(crate) fn unfinished() -> String {
    unfinished_of(&std::process::id().to_string())
}

fn unfinished_of(process: &str) -> String {
    format!("{UNFINISHED}{process}-")
}

/// Removes the temporary files of a killed process below the directory of a device. Other processes may
/// write there.
pub(crate) fn remove_leftovers(dir: &Path, process: &str) -> io::Result<()> {
    let prefix = unfinished_of(process);
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_leftovers(&entry.path(), process)?;
        } else if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(prefix.as_bytes())
        {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Creates a directory and its parents with mode 0700.
pub(crate) fn create_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::error_chain::chain;

    #[test]
    fn save_writes_for_the_owner_only_and_load_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/state.json");
        assert_eq!(
            load::<BTreeMap<String, i64>>(&path, state_version(1)).unwrap(),
            None
        );
        let content = BTreeMap::from([("x".to_owned(), 1_i64)]);
        save(&path, state_version(1), &content).unwrap();
        assert_eq!(load(&path, state_version(1)).unwrap(), Some(content));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            path.parent()
                .unwrap()
                .metadata()
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o700
        );
    }

    #[test]
    fn other_versions_are_refused_and_stay_and_damaged_files_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        for other in [6, 8] {
            save(&path, state_version(other), &vec![1, 2]).unwrap();
            let before = std::fs::read(&path).unwrap();
            for error in [
                load::<Vec<i64>>(&path, state_version(7)).unwrap_err(),
                // Another layout.
                load::<String>(&path, state_version(7)).unwrap_err(),
                save(&path, state_version(7), &"new").unwrap_err(),
            ] {
                let error = chain(&error);
                let expected = format!(
                    "state.json: it has version {other}, and this program reads version 7: use "
                );
                assert!(error.contains(&expected), "{error}");
            }
            assert_eq!(std::fs::read(&path).unwrap(), before);
            std::fs::remove_file(&path).unwrap();
        }
        save(&path, state_version(7), &vec![1, 2]).unwrap();
        let error = load::<String>(&path, state_version(7))
            .unwrap_err()
            .to_string();
        assert!(error.contains("state.json is damaged"), "{error}");

        std::fs::write(&path, "{\"version\": 1, \"cont").unwrap();
        let error = load::<Vec<i64>>(&path, state_version(1))
            .unwrap_err()
            .to_string();
        assert!(error.contains("state.json is damaged"), "{error}");
    }

    #[test]
    fn replace_writes_only_a_new_content() {
        use std::os::unix::fs::MetadataExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/classes.txt");
        // A replaced file is another inode.
        let inode_after = |content: &str| {
            replace(&path, content.as_bytes(), Durability::Process).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
            path.metadata().unwrap().ino()
        };
        let first = inode_after("main\n");
        assert_eq!(inode_after("main\n"), first);
        assert_ne!(inode_after("mail\n"), first);
        let files = std::fs::read_dir(dir.path().join("state")).unwrap();
        assert_eq!(files.count(), 1, "no leftovers");
    }

    #[test]
    fn replace_does_not_follow_links_and_restores_permissions() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::write(&elsewhere, "precious").unwrap();
        let path = dir.path().join("state.json");
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        replace(&path, b"new", Durability::Disk).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "precious");

        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        replace(&path, b"newer", Durability::Process).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn save_that_fails_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        save(&path, state_version(1), &"old").unwrap();
        // A map with keys that JSON cannot hold fails while it is serialized.
        let bad = BTreeMap::from([(vec![1_u8], 1)]);
        assert!(save(&path, state_version(1), &bad).is_err());
        assert_eq!(
            load::<String>(&path, state_version(1)).unwrap().as_deref(),
            Some("old")
        );
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            1,
            "no leftovers"
        );
    }
}

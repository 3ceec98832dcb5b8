//! Files that are replaced as a whole, and structures with a version in them.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, RenameFlags};
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Serialize};

/// Why something could not be kept or found again.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot {action} {path}")]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{path} is damaged; move it away to start anew (history and remembered secrets are lost)"
    )]
    Damaged {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error(
        "{path} has version {found}, and this program knows up to {known}; it was written by a newer one"
    )]
    Newer {
        path: PathBuf,
        found: u32,
        known: u32,
    },
}

#[derive(Serialize)]
struct Written<'a, T> {
    version: u32,
    content: &'a T,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Deserialize)]
struct Read<T> {
    version: u32,
    content: T,
}

pub fn load<T: DeserializeOwned>(path: &Path, known: u32) -> Result<Option<T>, StoreError> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("read", path)(error)),
    };
    let damaged = |source| StoreError::Damaged {
        path: path.to_owned(),
        source,
    };
    let text = std::str::from_utf8(&text).map_err(|error| damaged(de::Error::custom(error)))?;
    let read = match serde_json::from_str(text) {
        Ok(Read { version, content }) if version <= known => return Ok(Some(content)),
        read => read,
    };
    // A newer structure need not be one that we can read, so the version is looked at alone.
    let Version { version: found } = serde_json::from_str(text).map_err(damaged)?;
    match read {
        Err(error) if found <= known => Err(damaged(error)),
        _ => Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            known,
        }),
    }
}

pub fn save<T: Serialize>(path: &Path, version: u32, content: &T) -> Result<(), StoreError> {
    let text = serde_json::to_vec(&Written { version, content }).map_err(|source| {
        StoreError::Damaged {
            path: path.to_owned(),
            source,
        }
    })?;
    take_turns(path, &text, Lasts::AfterPowerCut)
}

/// What a file must outlast whole, be it the old one or the new. Waiting for the disk costs a run of
/// many devices more than writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// However this process ends: for what only tells of a run.
    AfterProcess,
    /// When the machine fails, too: for what the next run relies on.
    AfterPowerCut,
}

/// Replaces a file in a directory where nobody else writes. Two files take turns: the new version
/// is written over the one before the last, `.NAME.spare`, and the two change names. However this
/// process ends, one of them is there whole. A file that has this content already is left alone.
///
/// Making a file anew and freeing the old one would cost the system more than all else that is
/// written at the end of a run (`docs/benchmarks.md`).
pub fn take_turns(path: &Path, content: &[u8], lasts: Lasts) -> Result<(), StoreError> {
    if has(path, content) {
        return Ok(());
    }
    let spare = spare(path);
    let write = || {
        let mut file = open_spare(&spare)?;
        file.write_all(content)?;
        let found = file.metadata()?;
        if found.len() != content.len() as u64 {
            file.set_len(content.len() as u64)?;
        }
        if found.permissions().mode() & 0o777 != OWNER_ONLY {
            file.set_permissions(Permissions::from_mode(OWNER_ONLY))?;
        }
        match lasts {
            Lasts::AfterProcess => Ok(()),
            Lasts::AfterPowerCut => file.sync_all(),
        }
    };
    write().map_err(failed("write", path))?;
    // There may be no file yet, and not every file system can exchange two.
    rustix::fs::renameat_with(CWD, &spare, CWD, path, RenameFlags::EXCHANGE)
        .or_else(|_| std::fs::rename(&spare, path))
        .map_err(failed("replace", path))
}

/// State may hold values of attributes.
const OWNER_ONLY: u32 = 0o600;

fn spare(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".spare");
    path.with_file_name(name)
}

fn open_spare(spare: &Path) -> io::Result<File> {
    let open = || {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(OWNER_ONLY)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(spare)
    };
    match (open(), spare.parent()) {
        (Err(error), Some(dir)) if error.kind() == io::ErrorKind::NotFound => {
            create_dir(dir)?;
            open()
        }
        // Whatever was put there, a link to somewhere else or another user's file, goes.
        (Err(error), _) => match std::fs::remove_file(spare) {
            Ok(()) => open(),
            Err(_) => Err(error),
        },
        (opened, _) => opened,
    }
}

/// Replaces a file in a directory that may be anybody's: writes a new version beside it, under a
/// name of its own, and moves it over the old one. A file that has this content already is left
/// alone.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    if has(path, content) {
        return Ok(());
    }
    let dir = path
        .parent()
        .filter(|dir| !dir.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // Made for the owner only.
    let beside = || tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(dir);
    let mut file = match beside() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_dir(dir).map_err(failed("make the directory of", path))?;
            beside()
        }
        made => made,
    }
    .map_err(failed("write", path))?;
    file.write_all(content).map_err(failed("write", path))?;
    file.persist(path)
        .map_err(|error| failed("replace", path)(error.error))?;
    Ok(())
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

/// Whether a file has this content. Whatever keeps us from knowing, writing it will tell.
fn has(path: &Path, content: &[u8]) -> bool {
    let size = std::fs::metadata(path).map(|meta| meta.len());
    size.is_ok_and(|size| size == content.len() as u64)
        && std::fs::read(path).is_ok_and(|known| known == content)
}

/// The beginning of the name of a file that is being written.
pub(crate) const UNFINISHED: &str = ".unfinished-";

/// Removes what killed runs did not finish writing, below the directory of a device that this
/// process has locked: nobody else writes there.
pub fn remove_leftovers(dir: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_leftovers(&entry.path())?;
        } else if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(UNFINISHED.as_bytes())
        {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Makes a directory and its parents, for the owner only.
pub fn create_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_is_saved_is_found_again_and_readable_by_the_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/state.json");
        assert_eq!(load::<BTreeMap<String, i64>>(&path, 1).unwrap(), None);
        let content = BTreeMap::from([("x".to_owned(), 1_i64)]);
        save(&path, 1, &content).unwrap();
        assert_eq!(load(&path, 1).unwrap(), Some(content));
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
    fn a_newer_version_and_a_damaged_file_are_refused_with_the_file_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        save(&path, 7, &vec![1, 2]).unwrap();
        let newer = [
            load::<Vec<i64>>(&path, 6).unwrap_err().to_string(),
            // Not one that we could read, either.
            load::<String>(&path, 6).unwrap_err().to_string(),
        ];
        for error in newer {
            assert!(
                error.contains("state.json has version 7") && error.contains("up to 6"),
                "{error}"
            );
        }
        let error = load::<String>(&path, 7).unwrap_err().to_string();
        assert!(error.contains("state.json is damaged"), "{error}");

        std::fs::write(&path, "{\"version\": 1, \"cont").unwrap();
        let error = load::<Vec<i64>>(&path, 1).unwrap_err().to_string();
        assert!(error.contains("state.json is damaged"), "{error}");
    }

    #[test]
    fn what_has_not_changed_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("graph.dot");
        let written = |content: &str| {
            replace(&path, content.as_bytes()).unwrap();
            inode_of(&path, content)
        };
        let first = written("main\n");
        assert_eq!(written("main\n"), first);
        assert_ne!(written("mail\n"), first);
    }

    #[test]
    fn two_files_take_turns_and_each_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/classes.txt");
        let written = |content: &str| {
            take_turns(&path, content.as_bytes(), Lasts::AfterProcess).unwrap();
            inode_of(&path, content)
        };
        let first = written("main\nfirewall\n");
        assert_eq!(written("main\nfirewall\n"), first);
        let second = written("main\n");
        assert_ne!(second, first);
        // Over a longer one, and over a shorter one.
        assert_eq!(written("mail\n"), first);
        assert_eq!(written("mail\nrouting\nfirewall\n"), second);
        assert_eq!(
            std::fs::read_dir(dir.path().join("state")).unwrap().count(),
            2
        );
    }

    #[test]
    fn nothing_is_written_through_what_stands_in_the_place_of_the_spare() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::write(&elsewhere, "precious").unwrap();
        let path = dir.path().join("state.json");
        std::os::unix::fs::symlink(&elsewhere, dir.path().join(".state.json.spare")).unwrap();
        take_turns(&path, b"new", Lasts::AfterPowerCut).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "precious");

        // A spare that others could read is not one that others can read when its turn comes.
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        for content in ["newer", "newest"] {
            take_turns(&path, content.as_bytes(), Lasts::AfterProcess).unwrap();
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    /// Which file this is; a file that is replaced is another one.
    fn inode_of(path: &Path, content: &str) -> u64 {
        use std::os::unix::fs::MetadataExt as _;
        assert_eq!(std::fs::read_to_string(path).unwrap(), content);
        path.metadata().unwrap().ino()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        save(&path, 1, &"old").unwrap();
        // A map with keys that JSON cannot hold fails while it is serialized.
        let bad = BTreeMap::from([(vec![1_u8], 1)]);
        assert!(save(&path, 1, &bad).is_err());
        assert_eq!(load::<String>(&path, 1).unwrap().as_deref(), Some("old"));
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            1,
            "no leftovers"
        );
    }
}

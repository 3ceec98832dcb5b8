//! Files that are replaced as a whole, and structures with a version in them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

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
        source: std::io::Error,
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
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(StoreError::Io {
                action: "read",
                path: path.to_owned(),
                source,
            });
        }
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
    replace(path, &text, Lasts::AfterPowerCut)
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

/// Writes a new version beside the file and moves it over the old one: however the process ends,
/// one of them is there. A file that has this content already is left alone.
pub fn replace(path: &Path, content: &[u8], lasts: Lasts) -> Result<(), StoreError> {
    if has(path, content) {
        return Ok(());
    }
    let failed = |action| {
        move |source| StoreError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    };
    let dir = path
        .parent()
        .filter(|dir| !dir.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // Made with mode 0600: state may hold values of attributes.
    let beside = || tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(dir);
    let mut file = match beside() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            create_dir(dir).map_err(failed("make the directory of"))?;
            beside()
        }
        made => made,
    }
    .map_err(failed("write"))?;
    file.write_all(content).map_err(failed("write"))?;
    if lasts == Lasts::AfterPowerCut {
        file.as_file().sync_all().map_err(failed("write"))?;
    }
    file.persist(path)
        .map_err(|error| failed("replace")(error.error))?;
    Ok(())
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
pub fn remove_leftovers(dir: &Path) -> std::io::Result<()> {
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
pub fn create_dir(dir: &Path) -> std::io::Result<()> {
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
        use std::os::unix::fs::PermissionsExt as _;
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
        use std::os::unix::fs::MetadataExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("classes.txt");
        let written = |content: &str| {
            replace(&path, content.as_bytes(), Lasts::AfterProcess).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
            // A file that is replaced is another one.
            path.metadata().unwrap().ino()
        };
        let first = written("main\n");
        assert_eq!(written("main\n"), first);
        assert_ne!(written("mail\n"), first);
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

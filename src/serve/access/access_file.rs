//! The file `access.toml`.
//!
//! `switchtender access` changes it, and the process reads it again when it changes. An invalid version
//! is logged once, and the previous one stays in effect.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::access_rules::{AccessRules, AccessRulesError};
use crate::inventory::private_file::{self, PrivateFileError};
use crate::store;

/// An error of `access.toml`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AccessError {
    #[error(transparent)]
    File(#[from] PrivateFileError),
    #[error(transparent)]
    Rules(#[from] AccessRulesError),
    #[error(transparent)]
    Write(#[from] store::StoreError),
    #[error(transparent)]
    Lock(#[from] store::FileLockError),
}

impl AccessError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::File(file) => file.hint(),
            Self::Rules(rules) => rules.hint(),
            _ => None,
        }
    }
}

/// The file, read again when it changes.
pub(crate) struct AccessFile {
    path: PathBuf,
    current: Mutex<LoadedRules>,
}

struct LoadedRules {
    rules: Arc<AccessRules>,
    version: FileVersion,
}

/// What changes when a file is replaced.
type FileVersion = Option<(SystemTime, u64)>;

impl AccessFile {
    /// Reads the file. A file that does not exist has no users.
    pub(crate) fn open(path: PathBuf) -> Result<Self, AccessError> {
        let version = file_version(&path);
        let rules = Arc::new(read(&path)?);
        rules.warn();
        let current = Mutex::new(LoadedRules { rules, version });
        Ok(Self { path, current })
    }

    /// The rules of the newest valid version.
    pub(crate) fn rules(&self) -> Arc<AccessRules> {
        let mut current = self.current.lock().expect("no panic with the lock");
        let version = file_version(&self.path);
        if version != current.version {
            current.version = version;
            match read(&self.path) {
                Ok(rules) => {
                    tracing::info!(file = %self.path.display(), "users and tokens are read again");
                    rules.warn();
                    current.rules = Arc::new(rules);
                }
                Err(error) => tracing::error!(
                    "{}; the previous users and tokens stay in effect",
                    crate::error_chain::chain(&error)
                ),
            }
        }
        Arc::clone(&current.rules)
    }

    /// Changes the file. Other processes wait, so that no change is lost.
    pub(crate) fn update(
        path: &Path,
        change: impl FnOnce(&mut AccessRules),
    ) -> Result<(), AccessError> {
        let _lock = store::FileLock::wait(&path.with_extension("lock"))?;
        let mut rules = read(path)?;
        change(&mut rules);
        rules.check_workers(path)?;
        let text = toml::to_string(&rules).expect("the rules are TOML");
        store::file::replace(path, text.as_bytes(), store::file::Durability::Disk)?;
        Ok(())
    }
}

fn file_version(path: &Path) -> FileVersion {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.ino()))
}

fn read(path: &Path) -> Result<AccessRules, AccessError> {
    match private_file::read_text(path) {
        Ok(text) => Ok(AccessRules::parse(path, &text)?),
        Err(PrivateFileError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(AccessRules::default())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::serve::access::{ApiToken, RESERVED_NAMES, Role, TokenText};

    fn token(role: Role, text: &str) -> ApiToken {
        ApiToken {
            role,
            devices: None,
            user: None,
            sha256: TokenText::received(text).digest(),
            expires: None,
        }
    }

    #[test]
    fn access_file_is_read_again_and_an_invalid_version_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access.toml");
        let file = AccessFile::open(path.clone()).unwrap();
        assert_eq!(*file.rules(), AccessRules::default());
        AccessFile::update(&path, |rules| {
            rules
                .tokens
                .insert("ci".to_owned(), token(Role::Plan, "one"));
        })
        .unwrap();
        let digest = TokenText::received("one").digest();
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let rules = file.rules();
        assert_eq!(rules.token(&digest, now).unwrap().0, "ci");
        assert_eq!(rules.token("", now), None);

        let broken = dir.path().join("broken");
        fs::write(&broken, "[users.alice]\nrole = \"root\"\n").unwrap();
        fs::set_permissions(&broken, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(&broken, &path).unwrap();
        assert_eq!(file.rules(), rules);
        let error = AccessFile::update(&path, |_| {}).unwrap_err();
        assert!(
            matches!(error, AccessError::Rules(AccessRulesError::Syntax { .. })),
            "{error}"
        );
    }

    #[test]
    fn access_file_keeps_changes_of_writers_at_the_same_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access.toml");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    let name = format!("ci{number}");
                    AccessFile::update(path, |rules| {
                        rules.tokens.insert(name, token(Role::Plan, "one"));
                    })
                    .unwrap();
                });
            }
        });
        assert_eq!(read(&path).unwrap().tokens.len(), 8);
    }

    #[test]
    fn access_file_errors_have_a_position_and_no_hash() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access.toml");
        let hash = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMa";
        for (text, line) in [
            (format!("[users.alice]\nrole = \"{hash}\"\n"), 2),
            (
                format!("[users.alice]\nrole = \"view\"\npasswort = \"{hash}\"\n"),
                3,
            ),
            (
                format!("[users.alice]\nrole = \"view\"\npassword = \"{hash}\n"),
                3,
            ),
            (
                format!("[users.alice]\nrole = \"view\"\npassword = [\"{hash}\"]\n"),
                3,
            ),
            (
                "[tokens.ci]\nrole = \"view\"\nsha256 = \"swt_s3cret\"\n".to_owned(),
                3,
            ),
            (
                "[workers.w]\nsites = [\"a\"]\nsha256 = \"swt_s3cret\"\n".to_owned(),
                3,
            ),
        ] {
            fs::write(&path, &text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let error = crate::error_chain::chain(&read(&path).unwrap_err());
            assert!(error.contains(&format!("access.toml:{line}:")), "{error}");
            assert!(!error.contains("argon2id$v"), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn access_file_has_no_names_of_the_program() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access.toml");
        for name in RESERVED_NAMES {
            for text in [
                format!("[users.{name}]\nrole = \"view\"\n"),
                format!(
                    "[tokens.{name}]\nrole = \"view\"\nsha256 = \"{}\"\n",
                    "0".repeat(64)
                ),
            ] {
                fs::write(&path, text).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
                let error = read(&path).unwrap_err();
                assert!(
                    matches!(error, AccessError::Rules(AccessRulesError::Reserved { .. })),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn access_file_that_others_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access.toml");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = AccessFile::open(path).err().unwrap();
        assert!(error.hint().unwrap().starts_with("run `chmod 600 "));
    }
}

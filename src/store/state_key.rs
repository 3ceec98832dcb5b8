//! The key of the state of devices in a store: a file of the host, without which nobody reads secrets' digests and
//! undo there.
//!
//! All hosts of a store have the same key. The store has its fingerprint, so a host with another key is refused before
//! it writes. A sealed structure is bound to its device and file: the key of each is derived from both.

use std::fmt;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hmac::{Hmac, KeyInit as _, Mac as _};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest as _, Sha256};

use super::state_table::{StateTable, StateTableError};

/// The file of the key in the state directory.
pub(crate) const FILE: &str = "state.key";
const KEY_LENGTH: usize = 32;
/// Bytes of a fingerprint.
const FINGERPRINT: usize = 8;
/// The first byte of a sealed body.
const SEALED: u8 = 1;

/// The key of the hosts of a store.
pub(crate) struct StateKey([u8; KEY_LENGTH]);

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateKey({})", self.fingerprint())
    }
}

/// The key of a host for a table, which can have none yet.
#[derive(Debug)]
pub(crate) struct SealingKey {
    root: PathBuf,
    key: OnceLock<StateKey>,
}

impl SealingKey {
    /// The key; the first host creates it.
    ///
    /// # Errors
    /// The table has another key.
    pub(crate) fn open(root: &Path, table: &dyn StateTable) -> Result<Self, StateKeyError> {
        let key = StateKey::open(root, table)?.into();
        let root = root.to_owned();
        Ok(Self { root, key })
    }

    /// The key, if the table has one: a command that seals nothing creates none.
    ///
    /// # Errors
    /// The table has another key.
    pub(crate) fn of_command(root: &Path, table: &dyn StateTable) -> Result<Self, StateKeyError> {
        match StateKey::check(root, table)? {
            Some(_) => Self::open(root, table),
            None => Ok(Self {
                root: root.to_owned(),
                key: OnceLock::new(),
            }),
        }
    }

    /// The key for a structure that is sealed.
    ///
    /// # Errors
    /// Another host has created the key meanwhile.
    pub(crate) fn get(&self, table: &dyn StateTable) -> Result<&StateKey, StateKeyError> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        let opened = StateKey::open(&self.root, table)?;
        Ok(self.key.get_or_init(|| opened))
    }
}

/// Why this host cannot use the state in a store.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateKeyError {
    #[error(
        "the state of devices in the store is sealed with the key {in_force}, and this host has no {}", .path.display()
    )]
    Missing { path: PathBuf, in_force: String },
    #[error(
        "the state of devices in the store is sealed with the key {in_force}, and {} is the key {own}", .path.display()
    )]
    Other {
        path: PathBuf,
        own: String,
        in_force: String,
    },
    #[error("other users can read {} (mode {mode:04o})", .path.display())]
    Readable { path: PathBuf, mode: u32 },
    #[error("{} belongs to another user ({owner}), who can read and replace it", .path.display())]
    OfOther { path: PathBuf, owner: u32 },
    #[error("{} is no key: it must have {} hexadecimal digits", .path.display(), 2 * KEY_LENGTH)]
    Damaged { path: PathBuf },
    #[error("cannot {action} {path}")]
    File {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot use the state of devices in the store")]
    Table(#[from] StateTableError),
}

impl StateKeyError {
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { path, .. } | Self::Other { path, .. } => Some(format!(
                "copy {FILE} from another host of the store to {} (mode 0600); if the key is lost, give up undo and \
                 the digests of secrets with `switchtender store new-key`",
                path.display()
            )),
            Self::Readable { path, .. } => Some(format!("run `chmod 600 {}`", path.display())),
            Self::OfOther { path, .. } => Some(format!(
                "run `chown --reference={} {}`",
                path.parent().unwrap_or(Path::new(".")).display(),
                path.display()
            )),
            Self::Damaged { .. } => Some(format!("copy {FILE} from a backup or another host")),
            Self::File { .. } | Self::Table(_) => None,
        }
    }
}

/// A structure that the key of this host does not open.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealedError {
    #[error("{file} of {device} is sealed with the key {sealed_with}, which is lost")]
    OtherKey {
        device: String,
        file: String,
        sealed_with: String,
    },
    #[error("{file} of {device} in the store was changed by somebody else")]
    Forged { device: String, file: String },
}

impl StateKey {
    /// The key of the host for a table. The first host creates it.
    ///
    /// # Errors
    /// The table has another key.
    pub(crate) fn open(root: &Path, table: &dyn StateTable) -> Result<Self, StateKeyError> {
        let path = root.join(FILE);
        match (Self::read(&path)?, table.key()?) {
            (own, Some(in_force)) => Self::verified(own, path, in_force),
            (own, None) => {
                let key = own.map_or_else(|| Self::create(&path), Ok)?;
                // Another host can have been faster.
                let in_force = table.use_key(&key.fingerprint())?;
                Self::verified(Some(key), path, in_force)
            }
        }
    }

    /// Checks that the host has the key of a table. Nothing is created. Returns the fingerprint; `None`: the table has
    /// no key yet.
    ///
    /// # Errors
    /// As [`StateKey::open`].
    pub(crate) fn check(
        root: &Path,
        table: &dyn StateTable,
    ) -> Result<Option<String>, StateKeyError> {
        let path = root.join(FILE);
        let own = Self::read(&path)?;
        let Some(in_force) = table.key()? else {
            return Ok(None);
        };
        Self::verified(own, path, in_force.clone())?;
        Ok(Some(in_force))
    }

    /// The key of the host, if it is the one of the table.
    fn verified(own: Option<Self>, path: PathBuf, in_force: String) -> Result<Self, StateKeyError> {
        let Some(key) = own else {
            return Err(StateKeyError::Missing { path, in_force });
        };
        let own = key.fingerprint();
        if own == in_force {
            Ok(key)
        } else {
            Err(StateKeyError::Other {
                path,
                own,
                in_force,
            })
        }
    }

    /// The key of the host; a new one is created if it has none.
    pub(crate) fn read_or_create(root: &Path) -> Result<Self, StateKeyError> {
        let path = root.join(FILE);
        Self::read(&path)?.map_or_else(|| Self::create(&path), Ok)
    }

    /// The beginning of the digest of the key.
    pub(crate) fn fingerprint(&self) -> String {
        hex::encode(self.fingerprint_bytes())
    }

    fn fingerprint_bytes(&self) -> [u8; FINGERPRINT] {
        let digest = Sha256::digest(self.0);
        std::array::from_fn(|index| digest[index])
    }

    /// A structure that only hosts with the key can read.
    pub(crate) fn seal(&self, device: &str, file: &str, plain: &[u8]) -> Vec<u8> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).expect("the operating system has random numbers");
        let mut sealed = plain.to_vec();
        self.derived(device, file)
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::empty(),
                &mut sealed,
            )
            .expect("a structure is shorter than the limit of the cipher");
        let mut body = vec![SEALED];
        body.extend(self.fingerprint_bytes());
        body.extend(nonce);
        body.extend(sealed);
        body
    }

    /// The structure in a sealed body. Another body is forged: who can write to the store could choose its content.
    pub(crate) fn unseal(
        &self,
        device: &str,
        file: &str,
        mut body: Vec<u8>,
    ) -> Result<Vec<u8>, SealedError> {
        let forged = || SealedError::Forged {
            device: device.to_owned(),
            file: file.to_owned(),
        };
        if body.first() != Some(&SEALED) {
            return Err(forged());
        }
        let begin = 1 + FINGERPRINT + NONCE_LEN;
        let head = body.get(1..begin).ok_or_else(forged)?;
        let (fingerprint, nonce) = head.split_at(FINGERPRINT);
        if fingerprint != self.fingerprint_bytes() {
            return Err(SealedError::OtherKey {
                device: device.to_owned(),
                file: file.to_owned(),
                sealed_with: hex::encode(fingerprint),
            });
        }
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| forged())?;
        let key = self.derived(device, file);
        let plain = key.open_within(nonce, Aad::empty(), &mut body, begin..);
        Ok(plain.map_err(|_| forged())?.to_vec())
    }

    /// The key of one structure.
    fn derived(&self, device: &str, file: &str) -> LessSafeKey {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        for part in [device, "\0", file] {
            mac.update(part.as_bytes());
        }
        let bytes = mac.finalize().into_bytes();
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes);
        LessSafeKey::new(key.expect("the digest has the length of a key"))
    }

    fn read(path: &Path) -> Result<Option<Self>, StateKeyError> {
        let failed = |source| StateKeyError::File {
            action: "read",
            path: path.to_owned(),
            source,
        };
        let found = match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found.map_err(failed)?,
        };
        let (mode, owner) = (found.mode() & 0o7777, found.uid());
        let path = path.to_owned();
        if mode & 0o077 != 0 {
            return Err(StateKeyError::Readable { path, mode });
        }
        // Root also runs commands of the directory of another user.
        let of_directory = path
            .parent()
            .and_then(|parent| std::fs::metadata(parent).ok());
        let users = [
            Some(rustix::process::geteuid().as_raw()),
            of_directory.map(|directory| directory.uid()),
        ];
        if !users.contains(&Some(owner)) {
            return Err(StateKeyError::OfOther { path, owner });
        }
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        let mut key = [0; KEY_LENGTH];
        match hex::decode_to_slice(text.trim(), &mut key) {
            Ok(()) => Ok(Some(Self(key))),
            Err(_) => Err(StateKeyError::Damaged { path }),
        }
    }

    /// Creates the file before anything is sealed with the key. Another process can do so at the same time.
    fn create(path: &Path) -> Result<Self, StateKeyError> {
        let failed = |source| StateKeyError::File {
            action: "create",
            path: path.to_owned(),
            source,
        };
        let mut key = [0; KEY_LENGTH];
        getrandom::fill(&mut key).expect("the operating system has random numbers");
        let directory = path.parent().unwrap_or(Path::new("."));
        super::create_dir(directory).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
        let written = file.write_all(format!("{}\n", hex::encode(key)).as_bytes());
        let written = written.and_then(|()| file.as_file().sync_all());
        written.map_err(failed)?;
        match file.persist_noclobber(path) {
            Ok(_) => Ok(Self(key)),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Self::read(path)?.ok_or_else(|| failed(error.error))
            }
            Err(error) => Err(failed(error.error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_structure_belongs_to_its_device_file_and_key() {
        let (key, other) = (StateKey([7; KEY_LENGTH]), StateKey([8; KEY_LENGTH]));
        let body = key.seal("sw1", "undo/1.json", b"{\"pl4nted\"}");
        let text = String::from_utf8_lossy(&body).into_owned();
        assert!(!text.contains("pl4nted"), "{text}");
        assert_ne!(key.seal("sw1", "undo/1.json", b"{\"pl4nted\"}"), body);
        let open = |key: &StateKey, device: &str, file: &str, body: &[u8]| {
            let plain = key.unseal(device, file, body.to_vec());
            plain.map_err(|error| error.to_string())
        };
        let plain = open(&key, "sw1", "undo/1.json", &body).unwrap();
        assert_eq!(plain, b"{\"pl4nted\"}");
        let forged = "was changed by somebody else";
        for (device, file) in [("sw2", "undo/1.json"), ("sw1", "undo/2.json")] {
            let error = open(&key, device, file, &body).unwrap_err();
            assert!(error.contains(forged), "{error}");
        }
        for length in [1, 5, 12, 21, body.len() - 1] {
            let error = open(&key, "sw1", "undo/1.json", &body[..length]).unwrap_err();
            assert!(error.contains(forged), "{error}");
        }
        let error = open(&other, "sw1", "undo/1.json", &body).unwrap_err();
        let expected = format!("sealed with the key {}, which is lost", key.fingerprint());
        assert!(error.contains(&expected), "{error}");
        let error = open(&key, "sw1", "undo/1.json", b"{}").unwrap_err();
        assert!(error.contains(forged), "{error}");
    }

    #[test]
    fn key_is_a_file_of_the_owner_and_stays() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let key = StateKey::read_or_create(root.path()).unwrap();
        let path = root.path().join(FILE);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let again = StateKey::read_or_create(root.path()).unwrap();
        assert_eq!(again.0, key.0);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let error = StateKey::read_or_create(root.path()).unwrap_err();
        assert!(
            matches!(error, StateKeyError::Readable { mode: 0o640, .. }),
            "{error}"
        );
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        if rustix::process::geteuid().is_root() {
            let chown =
                |path: &Path, user| std::os::unix::fs::chown(path, Some(user), None).unwrap();
            chown(&path, 1);
            let error = StateKey::read_or_create(root.path()).unwrap_err();
            assert!(
                matches!(error, StateKeyError::OfOther { owner: 1, .. }),
                "{error}"
            );
            // As for a unit with a user of its own.
            chown(root.path(), 1);
            StateKey::read_or_create(root.path()).unwrap();
            chown(root.path(), 0);
            chown(&path, 0);
        }
        std::fs::write(&path, "short\n").unwrap();
        let error = StateKey::read_or_create(root.path()).unwrap_err();
        assert!(matches!(error, StateKeyError::Damaged { .. }), "{error}");
    }
}

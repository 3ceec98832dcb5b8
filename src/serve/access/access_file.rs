//! `access.toml`: local users, API tokens and the trusted proxy. It has hashes and no secret.
//!
//! `switchtender access` changes it, and the process reads it again when it changes. An invalid version
//! is logged once, and the previous one stays in effect.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::SystemTime;

use jiff::Timestamp;
use regex::Regex;
use serde::{Deserialize, Serialize};
use switchtender_devices::diagnostic::Source;
use switchtender_devices::regular_file;
use switchtender_devices::secret::MASK;

use super::device_roles::{DeviceLimit, DeviceRoles};
use super::password::PasswordHash;
use super::role::{RESERVED_NAMES, Role};
use super::worker_entry::{WorkerEntry, WorkerIdentity};
use crate::inventory::file_mode;
use crate::store;

/// An error of `access.toml`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AccessError {
    #[error("cannot read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is readable by others (mode {mode:o})")]
    Mode { path: PathBuf, mode: u32 },
    #[error("{path}:{line}:{column} is invalid: {reason}")]
    Invalid {
        path: PathBuf,
        line: usize,
        column: usize,
        /// Without values, which can be secrets.
        reason: String,
    },
    #[error("{path} has a user or a token `{name}`, which is a name of the program itself")]
    Reserved { path: PathBuf, name: String },
    #[error("{path}: the worker `{name}` {problem}")]
    Worker {
        path: PathBuf,
        name: String,
        problem: String,
    },
    #[error(transparent)]
    Write(#[from] store::StoreError),
    #[error(transparent)]
    Lock(#[from] store::FileLockError),
}

impl AccessError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Mode { path, .. } => Some(format!("run `chmod 600 {}`", path.display())),
            Self::Reserved { .. } => Some("choose another name".to_owned()),
            _ => None,
        }
    }
}

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccessRules {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) users: BTreeMap<String, LocalUser>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tokens: BTreeMap<String, ApiToken>,
    /// The workers of the fleet by the names of their nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) workers: BTreeMap<String, WorkerEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) proxy: Option<TrustedProxy>,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LocalUser {
    pub(crate) role: Role,
    /// The devices of the role. `None`: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) devices: Option<DeviceLimit>,
    /// `None`: the user is identified by the trusted proxy only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) password: Option<PasswordHash>,
}

impl LocalUser {
    pub(super) fn roles(&self) -> DeviceRoles {
        DeviceRoles::one(self.role, self.devices.clone())
    }
}

/// A token of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiToken {
    pub(crate) role: Role,
    /// The devices of the role. `None`: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) devices: Option<DeviceLimit>,
    /// The user whose token it is, in [`AccessRules::users`]: no role of the token is wider. `None`: the token
    /// approves no plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    /// Digest of the token.
    #[serde(deserialize_with = "token_digest")]
    pub(crate) sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<Timestamp>,
}

/// A reverse proxy that names the addresses of its clients in `X-Forwarded-For`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrustedProxy {
    /// The header with the name of the user. `None`: the proxy does not identify users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) header: Option<String>,
    /// Addresses of the proxy. Both headers of other senders are ignored.
    pub(crate) addresses: Vec<IpAddr>,
    /// The role of users that are not in the file. `None`: they have no access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default_role: Option<Role>,
}

impl AccessRules {
    /// Logs what the owner may not expect.
    fn warn(&self) {
        let proxy = self.proxy.as_ref().filter(|proxy| proxy.header.is_some());
        if proxy.is_some_and(|proxy| proxy.addresses.iter().any(IpAddr::is_loopback)) {
            tracing::warn!(
                "access.toml trusts a proxy on this host: every local user can send its header and \
                 log in as any user"
            );
        }
    }

    /// The roles of a token: at most those of its user. `None`: there is no such user any more.
    pub(super) fn roles_of(&self, token: &ApiToken) -> Option<DeviceRoles> {
        let own = DeviceRoles::one(token.role, token.devices.clone());
        match &token.user {
            Some(user) => Some(own.at_most(self.users.get(user)?.roles())),
            None => Some(own),
        }
    }

    /// The token with this digest, unless it has expired.
    pub(super) fn token(&self, digest: &str, now: Timestamp) -> Option<(&String, &ApiToken)> {
        let is_valid = |token: &ApiToken| token.expires.is_none_or(|end| now < end);
        (self.tokens.iter()).find(|(_, token)| token.sha256 == digest && is_valid(token))
    }

    /// The worker with the token of this digest, unless its access has expired.
    pub(super) fn worker(&self, digest: &str, now: Timestamp) -> Option<WorkerIdentity> {
        self.find_worker(now, |worker| worker.sha256.as_deref() == Some(digest))
    }

    /// The worker with a certificate for one of these names, unless its access has expired.
    pub(super) fn worker_of_names(
        &self,
        names: &[String],
        now: Timestamp,
    ) -> Option<WorkerIdentity> {
        self.find_worker(now, |worker| worker.has_certificate_of(names))
    }

    fn find_worker(
        &self,
        now: Timestamp,
        is_it: impl Fn(&WorkerEntry) -> bool,
    ) -> Option<WorkerIdentity> {
        let mut workers = self.workers.iter();
        let found = workers.find(|(_, worker)| is_it(worker) && worker.is_valid(now));
        found.map(|(node, worker)| WorkerIdentity {
            node: node.clone(),
            sites: worker.sites.clone(),
        })
    }

    fn check_workers(&self, path: &Path) -> Result<(), AccessError> {
        let mut names = BTreeMap::new();
        let mut workers = self.workers.iter();
        let found = workers.find_map(|(node, worker)| {
            if let Some(problem) = worker.problem() {
                return Some((node, problem.to_owned()));
            }
            let name = worker.certificate.as_ref()?.to_ascii_lowercase();
            let other = names.insert(name, node)?;
            Some((node, format!("has the same certificate as `{other}`")))
        });
        found.map_or(Ok(()), |(name, problem)| {
            Err(AccessError::Worker {
                path: path.to_owned(),
                name: name.clone(),
                problem,
            })
        })
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
    let failed = |source| AccessError::Read {
        path: path.to_owned(),
        source,
    };
    let file = match regular_file::open(path, regular_file::LARGEST) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(AccessRules::default()),
        Err(error) => return Err(failed(error)),
    };
    if let Some(mode) = file_mode::readable_by_others(&file).map_err(failed)? {
        return Err(AccessError::Mode {
            path: path.to_owned(),
            mode,
        });
    }
    let text = regular_file::read_open_text(file, regular_file::LARGEST).map_err(failed)?;
    AccessRules::parse(path, &text)
}

impl AccessRules {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// It is invalid. The message has no secret.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, AccessError> {
        let rules: Self = toml::from_str(text).map_err(|error| {
            let source = Source::new("", text);
            let (line, column) = source.position(error.span().map_or(0, |span| span.start));
            AccessError::Invalid {
                path: path.to_owned(),
                line,
                column,
                reason: masked(error.message()),
            }
        })?;
        rules.check_workers(path)?;
        let mut names = rules.users.keys().chain(rules.tokens.keys());
        match names.find(|name| RESERVED_NAMES.contains(&name.as_str())) {
            Some(name) => Err(AccessError::Reserved {
                path: path.to_owned(),
                name: name.clone(),
            }),
            None => Ok(rules),
        }
    }
}

/// A digest of a token. A token in its place is an error that does not have it.
pub(super) fn token_digest<'de, D: serde::Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    let text = String::deserialize(value)?;
    let is_digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest {
        Ok(text)
    } else {
        let text = "`sha256` is no digest of a token: write the one of `switchtender access add-token` or `add-worker`";
        Err(serde::de::Error::custom(text))
    }
}

/// A message without hashes and digests: a value can be in it.
fn masked(message: &str) -> String {
    static HASH: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\$argon2[^\s`\x22']*|[0-9a-fA-F]{32,}|swt_[\w-]+")
            .expect("the pattern is a constant")
    });
    let message = HASH.replace_all(message, MASK);
    message.lines().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::serve::access::TokenText;

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
        assert!(matches!(error, AccessError::Invalid { .. }), "{error}");
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
                assert!(matches!(error, AccessError::Reserved { .. }), "{error}");
            }
        }
    }

    #[test]
    fn access_tokens_expire() {
        let mut rules = AccessRules::default();
        let expires = Some("2026-01-01T00:00:00Z".parse().unwrap());
        let token = ApiToken {
            expires,
            ..token(Role::View, "one")
        };
        let digest = token.sha256.clone();
        rules.tokens.insert("old".to_owned(), token);
        assert!(
            rules
                .token(&digest, "2025-12-31T23:59:59Z".parse().unwrap())
                .is_some()
        );
        assert!(
            rules
                .token(&digest, "2026-01-01T00:00:00Z".parse().unwrap())
                .is_none()
        );
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

//! The files of access control, in the directory `serve` of the state directory.

use std::path::{Path, PathBuf};

/// Users and tokens.
const ACCESS: &str = "access.toml";

/// The audit log.
const AUDIT: &str = "audit.jsonl";

/// The token for programs of the same user on the same host. It changes with each start.
const LOCAL_TOKEN: &str = "local.token";

/// The address of the process for programs on the same host, and in a second line that of `[web] url`.
const URL: &str = "url";

/// The place of the store of the process, for programs on the same host.
const STORE: &str = "store";

/// The results that the store has not taken yet.
const SPOOL: &str = "spool";

/// The lock of the process.
const LOCK: &str = "lock";

/// The directory of the process.
#[derive(Clone, Debug)]
pub(crate) struct AccessPaths {
    root: PathBuf,
    directory: PathBuf,
}

impl AccessPaths {
    pub(crate) fn in_state_directory(root: &Path) -> Self {
        Self {
            directory: root.join("serve"),
            root: root.to_owned(),
        }
    }

    pub(crate) fn state_directory(&self) -> &Path {
        &self.root
    }

    /// The lock of the process.
    pub(crate) fn lock(&self) -> PathBuf {
        self.directory.join(LOCK)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn access_file(&self) -> PathBuf {
        self.directory.join(ACCESS)
    }

    pub(crate) fn audit_log(&self) -> PathBuf {
        self.directory.join(AUDIT)
    }

    /// Results that the store has not taken yet.
    pub(crate) fn spool(&self) -> PathBuf {
        self.directory.join(SPOOL)
    }

    pub(crate) fn local_token(&self) -> PathBuf {
        self.directory.join(LOCAL_TOKEN)
    }

    pub(crate) fn url(&self) -> PathBuf {
        self.directory.join(URL)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.directory.join(STORE)
    }
}

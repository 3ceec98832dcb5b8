//! Commits the files of backups to Git: those files and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::git::{GitDirectory, GitError};
use crate::inventory::range;

/// The longest list of devices in the subject of a commit, in characters.
const SUBJECT: usize = 50;

/// Why a backup is not committed or pushed. Its files are there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupCommitError {
    #[error("{} is not in a Git work tree", .0.display())]
    NoWorkTree(PathBuf),
    #[error("cannot commit the backup")]
    Commit(#[source] GitError),
    #[error("cannot push the backup, which is committed")]
    Push(#[source] GitError),
}

impl BackupCommitError {
    /// What to do next.
    pub(crate) fn hint(&self) -> String {
        match self {
            BackupCommitError::NoWorkTree(path) => {
                format!("create one: `git init {}`", path.display())
            }
            BackupCommitError::Commit(_) => {
                "the files are written; correct the cause, and commit them by hand or with the next backup"
                    .to_owned()
            }
            BackupCommitError::Push(_) => {
                "the next backup with `push` tries again; no question is asked, so credentials must be stored"
                    .to_owned()
            }
        }
    }
}

/// The directory of backups in a work tree.
pub(crate) struct BackupRepository {
    directory: GitDirectory,
}

/// What the message of a commit names.
pub(crate) struct BackupCause {
    /// The run or runs that have read the configurations.
    pub(crate) run: String,
    pub(crate) user: String,
}

impl BackupRepository {
    /// # Errors
    /// The directory is not in a work tree.
    pub(crate) fn open(path: &Path) -> Result<Self, BackupCommitError> {
        let directory = GitDirectory::find(path);
        let directory = directory.ok_or_else(|| BackupCommitError::NoWorkTree(path.to_owned()))?;
        Ok(Self { directory })
    }

    /// Commits the files of devices, by the names of the files. Returns the number of files in the
    /// commit; 0: none has changed.
    ///
    /// # Errors
    /// Git cannot commit them.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn commit(
        &self,
        files: &BTreeMap<String, String>,
        cause: &BackupCause,
    ) -> Result<usize, BackupCommitError> {
        let names: BTreeSet<String> = files.keys().cloned().collect();
        let text = |changed: &[String]| {
            let devices = changed.iter().filter_map(|file| files.get(file));
            let devices: BTreeSet<&str> = devices.map(String::as_str).collect();
            message(&devices, cause)
        };
        let committed = self.directory.commit(&names, &cause.user, text).await;
        let committed = committed.map_err(BackupCommitError::Commit)?;
        Ok(committed.len())
    }

    /// Pushes the current branch, also with what an earlier backup could not push. What other nodes have pushed is
    /// merged before; `user` is the author of the merge.
    ///
    /// # Errors
    /// Git cannot push it.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn push(&self, user: &str) -> Result<(), BackupCommitError> {
        let pushed = self.directory.push(user).await;
        pushed.map_err(BackupCommitError::Push)
    }
}

fn message(devices: &BTreeSet<&str>, cause: &BackupCause) -> String {
    let list = range::of_names(devices.iter().copied()).join(", ");
    let subject = if list.chars().count() <= SUBJECT {
        format!("Configuration of {list}")
    } else {
        format!("Configurations of {} devices", devices.len())
    };
    let BackupCause { run, user } = cause;
    format!("{subject}\n\nDevices: {list}\nRun: {run}\nUser: {user}\n")
}

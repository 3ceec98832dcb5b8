//! Writes what was read of devices to the directory of `[backup]`, and commits the files.
//!
//! A commit and a push can take longer than a run. Runs that end meanwhile wait for the next commit, which has the
//! files of all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use switchtender_devices::driver::Backup;
use tokio_util::sync::CancellationToken;

use super::settings::BackupSettings;
use crate::error_chain::chain;
use crate::fleet::backup_commit::{BackupCause, BackupCommitError, BackupRepository};
use crate::history::RunId;
use crate::store::{self, StoreError, blocking_io};

/// The files that no commit has yet.
#[derive(Default)]
pub(super) struct BackupWriter {
    pending: Mutex<PendingFiles>,
    /// One commit at a time: Git locks the index.
    committing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct PendingFiles {
    /// The devices by file.
    files: BTreeMap<String, String>,
    runs: BTreeSet<RunId>,
    users: BTreeSet<String>,
}

/// What a run has read, and who requested it.
pub(super) struct RunBackup {
    pub(super) device: String,
    /// `None`: the store does not have it yet.
    pub(super) run: Option<RunId>,
    pub(super) user: String,
    pub(super) backup: Backup,
}

/// Why there is no backup of a run. What is written stays.
#[derive(Debug, thiserror::Error)]
pub(super) enum BackupWriterError {
    #[error("cannot write the backup")]
    Write(#[from] StoreError),
    #[error(transparent)]
    Commit(#[from] BackupCommitError),
}

impl BackupWriterError {
    /// The error for a log and for pages.
    pub(super) fn text(&self) -> String {
        match self {
            BackupWriterError::Write(_) => chain(self),
            BackupWriterError::Commit(error) => format!("{}; {}", chain(self), error.hint()),
        }
    }
}

impl BackupWriter {
    /// Writes the files of a device, and commits and pushes as the settings say.
    ///
    /// # Errors
    /// A file cannot be written, or Git fails.
    ///
    /// # Cancellation
    /// Must not be dropped midway. `stop` ends a push.
    pub(super) async fn write(
        &self,
        settings: &BackupSettings,
        read: RunBackup,
        stop: &CancellationToken,
    ) -> Result<(), BackupWriterError> {
        let name = store::directory_name(&read.device);
        let Backup {
            configuration,
            answers,
        } = read.backup;
        let files = [("cfg", configuration), ("json", answers)];
        let files: Vec<(String, String)> = files
            .into_iter()
            .filter_map(|(extension, text)| Some((format!("{name}.{extension}"), text?)))
            .collect();
        let names: Vec<String> = files.iter().map(|(file, _)| file.clone()).collect();
        let directory = settings.directory.clone();
        blocking_io::run(move || write_files(&directory, &files)).await?;
        if !settings.commit {
            return Ok(());
        }
        {
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            let device = &read.device;
            let names = names.into_iter().map(|file| (file, device.clone()));
            pending.files.extend(names);
            pending.runs.extend(read.run);
            pending.users.insert(read.user);
        }
        let _committing = self.committing.lock().await;
        let pending = {
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *pending)
        };
        // Another run has committed the files.
        if pending.files.is_empty() {
            return Ok(());
        }
        let repository = BackupRepository::open(&settings.directory)?;
        let cause = pending.cause();
        let committed = repository.commit(&pending.files, &cause).await;
        let committed = match committed {
            Ok(committed) => committed,
            Err(error) => {
                self.restore(pending);
                return Err(error.into());
            }
        };
        tracing::info!(files = committed, "the backup is committed");
        if settings.push {
            tokio::select! {
                pushed = repository.push(&cause.user) => pushed?,
                () = stop.cancelled() => {
                    tracing::warn!("the backup is not pushed: the process stops");
                }
            }
        }
        Ok(())
    }

    /// The next commit has the files of one that failed.
    fn restore(&self, failed: PendingFiles) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.files.extend(failed.files);
        pending.runs.extend(failed.runs);
        pending.users.extend(failed.users);
    }
}

impl PendingFiles {
    fn cause(&self) -> BackupCause {
        let runs: Vec<String> = self.runs.iter().map(ToString::to_string).collect();
        let users: Vec<&str> = self.users.iter().map(String::as_str).collect();
        BackupCause {
            run: if runs.is_empty() {
                "not stored yet".to_owned()
            } else {
                runs.join(", ")
            },
            user: users.join(", "),
        }
    }
}

fn write_files(directory: &Path, files: &[(String, String)]) -> Result<(), StoreError> {
    for (file, text) in files {
        store::write_file(&directory.join(file), text)?;
    }
    Ok(())
}

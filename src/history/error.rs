//! Errors of a history.

use std::io;
use std::path::PathBuf;

use switchtender_devices::format_version::OtherVersion;

/// Why a history cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    /// The disk is full, or the file has its maximum size.
    #[error("the store is full")]
    Full,
    #[error(transparent)]
    Version(#[from] OtherVersion),
    /// The file has other content than the program has written.
    #[error("the store is damaged")]
    Damaged(#[source] rusqlite::Error),
    #[error("invalid entry: {0}")]
    Invalid(String),
    #[error("{} exists", .0.display())]
    Exists(PathBuf),
    #[error("the writer of the store has stopped")]
    Stopped,
    #[error(transparent)]
    File(io::Error),
    #[error(transparent)]
    Database(rusqlite::Error),
}

impl HistoryError {
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, HistoryError::Full)
    }

    /// The error of a commit, for each write in it.
    pub(super) fn of_commit(error: &rusqlite::Error) -> Self {
        match error.sqlite_error() {
            Some(code) => rusqlite::Error::SqliteFailure(*code, Some(error.to_string())).into(),
            None => HistoryError::Invalid(error.to_string()),
        }
    }

    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            HistoryError::Full => Some(
                "free disk space, raise `max_size`, or shorten `keep` in serve.toml; then run \
                 `switchtender store vacuum`",
            ),
            HistoryError::Exists(_) => Some("name a new file"),
            HistoryError::Damaged(_) => Some(
                "run `switchtender store check`; stop the process and restore a copy of the file",
            ),
            _ => None,
        }
    }
}

impl From<rusqlite::Error> for HistoryError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::{Error, ErrorCode};
        match (&error, error.sqlite_error_code()) {
            (_, Some(ErrorCode::DiskFull)) => HistoryError::Full,
            (_, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
            | (
                Error::InvalidColumnType(..)
                | Error::FromSqlConversionFailure(..)
                | Error::IntegralValueOutOfRange(..),
                _,
            ) => HistoryError::Damaged(error),
            _ => HistoryError::Database(error),
        }
    }
}

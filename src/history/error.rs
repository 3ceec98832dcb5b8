//! Errors of a history.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use switchtender_devices::format_version::OtherVersion;
use tokio_postgres::error::SqlState;

use crate::error_chain::chain;

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
    /// The store cannot be used now, with the text of the error of the transaction.
    #[error("{0}")]
    Unusable(String),
    #[error("{} exists", .0.display())]
    Exists(PathBuf),
    #[error("the writer of the store has stopped")]
    Stopped,
    #[error(transparent)]
    File(io::Error),
    #[error(transparent)]
    Database(rusqlite::Error),
    /// The address of a server, or what it names, cannot be used.
    #[error("{0}")]
    Address(String),
    /// The server does not answer, or has ended the connection.
    #[error("the database cannot be reached")]
    Unreachable(#[source] Arc<tokio_postgres::Error>),
    /// The connection ended during a transaction.
    #[error("the connection to the database was lost")]
    Lost,
    /// The server is a standby, or its administrator permits no writes.
    #[error("the database permits no writes")]
    ReadOnly,
    /// All connections are in use.
    #[error("the database is busy")]
    Busy,
    #[error("the database refuses a statement")]
    Refused(#[source] Arc<tokio_postgres::Error>),
}

impl HistoryError {
    /// Whether the store refuses the data, and would refuse it again. Other errors can be repaired.
    pub(crate) fn is_of_the_data(&self) -> bool {
        /// Codes of values, of constraints, and of limits of the server such as that of an index.
        const OF_DATA: [&str; 3] = ["22", "23", "54"];
        match self {
            Self::Invalid(_) => true,
            Self::Database(error) => matches!(
                error.sqlite_error_code(),
                Some(
                    rusqlite::ErrorCode::ConstraintViolation
                        | rusqlite::ErrorCode::TooBig
                        | rusqlite::ErrorCode::TypeMismatch
                )
            ),
            Self::Refused(error) => error
                .code()
                .is_some_and(|code| OF_DATA.iter().any(|class| code.code().starts_with(class))),
            _ => false,
        }
    }

    /// Whether the store is away or full. What it says can be shown: it has no paths.
    pub(crate) fn is_of_the_store(&self) -> bool {
        matches!(
            self,
            Self::Full | Self::Unreachable(_) | Self::Lost | Self::ReadOnly | Self::Busy
        )
    }

    /// The error of a transaction, for each write in it.
    pub(super) fn of_commit(&self) -> Self {
        match self {
            Self::Full => Self::Full,
            Self::Lost => Self::Lost,
            Self::ReadOnly => Self::ReadOnly,
            Self::Busy => Self::Busy,
            Self::Unreachable(error) => Self::Unreachable(Arc::clone(error)),
            Self::Refused(error) => Self::Refused(Arc::clone(error)),
            Self::Database(error) if let Some(code) = error.sqlite_error() => {
                rusqlite::Error::SqliteFailure(*code, Some(error.to_string())).into()
            }
            other => Self::Unusable(chain(other)),
        }
    }

    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            HistoryError::Full => Some(
                "free disk space, raise `max_size`, or shorten `keep` in serve.toml; then run \
                 `switchtender store vacuum`",
            ),
            HistoryError::Unreachable(_) | HistoryError::Lost => Some(
                "start the database, or correct `store` in serve.toml and the permissions of its user",
            ),
            HistoryError::Refused(error)
                if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) =>
            {
                Some(
                    "connect as the owner of the tables to create, update or copy them; \
                     `switchtender store setup` has the rights of the roles",
                )
            }
            HistoryError::ReadOnly => Some("name the primary server in `store`, not a standby"),
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

impl From<tokio_postgres::Error> for HistoryError {
    fn from(error: tokio_postgres::Error) -> Self {
        /// The class of codes of an administrator's shutdown, and that of connections.
        const UNREACHABLE: [&str; 3] = ["57P", "08", "28"];
        let Some(code) = error.code() else {
            return Self::Unreachable(Arc::new(error));
        };
        let has_class = |class: &&str| code.code().starts_with(class);
        match *code {
            SqlState::DISK_FULL => Self::Full,
            SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly,
            SqlState::LOCK_NOT_AVAILABLE => Self::Busy,
            _ if UNREACHABLE.iter().any(has_class) => Self::Unreachable(Arc::new(error)),
            _ => Self::Refused(Arc::new(error)),
        }
    }
}

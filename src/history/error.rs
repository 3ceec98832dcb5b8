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
    /// It accepts bytes, and does not answer.
    #[error("the database does not answer")]
    Silent,
    /// The connection ended during a transaction.
    #[error("the connection to the database was lost")]
    Lost,
    /// The server is a standby, or its administrator permits no writes.
    #[error("the database permits no writes")]
    ReadOnly,
    /// All connections are in use.
    #[error("the database is busy")]
    Busy,
    /// Nobody has created them, or the address names another database.
    #[error("the database has no tables yet")]
    NoTables,
    /// A running hub of an earlier version needs what this program would remove.
    #[error(
        "cannot update the tables: the node {0} runs an earlier program that needs them as they are"
    )]
    OlderHub(String),
    #[error("only the owner of the tables can give their space back")]
    NotOwner,
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
            Self::Full
                | Self::Unreachable(_)
                | Self::Silent
                | Self::Lost
                | Self::ReadOnly
                | Self::Busy
        )
    }

    /// The error of a transaction, for each write in it.
    pub(super) fn of_commit(&self) -> Self {
        match self {
            Self::Full => Self::Full,
            Self::Lost => Self::Lost,
            Self::Silent => Self::Silent,
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
            HistoryError::Unreachable(error) => Some(unreachable_hint(error)),
            HistoryError::Lost | HistoryError::Silent => Some(START),
            HistoryError::NoTables => Some(
                "run `switchtender store vacuum` as the owner, or start `switchtender serve` as the owner",
            ),
            HistoryError::Refused(error)
                if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) =>
            {
                Some(
                    "connect as the owner of the tables to create, update or copy them; \
                     `switchtender store setup` has the rights of the roles",
                )
            }
            HistoryError::ReadOnly => Some(
                "name the primary server in `store`, not a standby; otherwise reset \
                 `default_transaction_read_only` of the server, database or role",
            ),
            HistoryError::NotOwner => Some(
                "connect as the owner, by default `switchtender_owner`; `autovacuum` does the rest",
            ),
            HistoryError::OlderHub(_) => Some("upgrade the node, or stop it, and start again"),
            HistoryError::Exists(_) => Some("name a new file"),
            HistoryError::Damaged(_) => Some(
                "run `switchtender store check`; stop the process and restore a copy of the file",
            ),
            _ => None,
        }
    }
}

const START: &str = "start the database, or correct host and port of `store` in serve.toml";

/// What to do about a connection that does not work.
fn unreachable_hint(error: &tokio_postgres::Error) -> &'static str {
    let code = error.code().map(SqlState::code);
    let has_class = |class| code.is_some_and(|code| code.starts_with(class));
    // Errors of the client have no code, but a text for each kind.
    let text = error.to_string();
    if has_class("28") {
        "correct the user of `store` in serve.toml, its line in `passfile`, or pg_hba.conf of the server"
    } else if code == Some(SqlState::INVALID_CATALOG_NAME.code()) {
        "create the database, or correct its name in `store` in serve.toml"
    } else if has_class("53") {
        "raise `max_connections` of the server, or the limit of the role: each process has at most 20 connections"
    } else if text.starts_with("invalid configuration") {
        "the server asks for a password: name its file in `store`, `postgresql://…?passfile=FILE`"
    } else if text.starts_with("error performing TLS handshake") {
        "set `ssl = on` on the server, with a certificate for its name in `store`; \
         `sslrootcert=FILE` names its authority"
    } else {
        START
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
        /// Classes of codes: the shutdown by an administrator, connections, logins, missing databases, and lack of
        /// resources such as connections.
        const UNREACHABLE: [&str; 5] = ["57P", "08", "28", "3D", "53"];
        /// The client cannot send a value: it is of another type than the column, or too long for a message.
        const OF_VALUES: [&str; 2] = ["error serializing parameter", "error encoding message"];
        let Some(code) = error.code() else {
            let text = error.to_string();
            return if OF_VALUES.iter().any(|begin| text.starts_with(begin)) {
                Self::Invalid(chain(&error))
            } else {
                Self::Unreachable(Arc::new(error))
            };
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

//! Opens connections to the file or the server of a history.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::OpenFlags;

use super::location::StoreLocation;
use super::sql::Connection;
use super::sql::postgres::PostgresServer;
use super::{HistoryError, maintenance, schema};
use crate::natural_order;

/// How long a write waits for one of another process.
pub(super) const BUSY_LIMIT: Duration = Duration::from_secs(30);

/// What opens connections.
#[derive(Clone)]
pub(super) enum Engine {
    Sqlite(PathBuf),
    Postgres(Arc<PostgresServer>),
}

impl Engine {
    pub(super) fn at(location: &StoreLocation) -> Result<Self, HistoryError> {
        Ok(match location {
            StoreLocation::File(path) => Self::Sqlite(path.clone()),
            StoreLocation::Server(address) => {
                Self::Postgres(PostgresServer::new((**address).clone())?)
            }
        })
    }

    /// A connection that writes. It creates or updates the tables.
    pub(super) fn connect_writer(&self, max_size: Option<u64>) -> Result<Connection, HistoryError> {
        let connection = match self {
            Self::Sqlite(path) => {
                let directory = path.parent().filter(|path| *path != Path::new(""));
                if let Some(directory) = directory {
                    crate::store::create_dir(directory).map_err(HistoryError::File)?;
                }
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
                    | OpenFlags::SQLITE_OPEN_CREATE
                    | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let connection = connect(path, flags)?;
                protect_file(path)?;
                Connection::Sqlite(connection)
            }
            Self::Postgres(server) => Connection::Postgres(server.connect()?),
        };
        schema::update(&connection)?;
        maintenance::limit_size(&connection, max_size)?;
        Ok(connection)
    }

    /// A connection that only reads.
    pub(super) fn connect_reader(&self) -> Result<Connection, HistoryError> {
        Ok(match self {
            Self::Sqlite(path) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Connection::Sqlite(connect(path, flags)?)
            }
            Self::Postgres(server) => Connection::Postgres(server.connect()?),
        })
    }
}

pub(super) fn connect(path: &Path, flags: OpenFlags) -> Result<rusqlite::Connection, HistoryError> {
    let connection = rusqlite::Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_LIMIT)?;
    // Pages of a large history are read through the cache of the system.
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.create_collation("natural_order", natural_order::compare)?;
    Ok(connection)
}

/// Makes the file readable by its owner only, as the state directory is.
fn protect_file(path: &Path) -> Result<(), HistoryError> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(HistoryError::File)
}

//! The history of devices in one SQLite file: runs with their resources, events, operations and logs,
//! facts, configurations, drift and plans.
//!
//! One thread writes ([`writer`]): it commits what waits together, and a caller continues after the
//! commit. Reads use connections of their own. Several processes may use a file at once.
//! Nothing in it is secret: what is written was masked by the run.

pub(crate) mod approvals;
mod configuration;
pub(crate) mod configuration_search;
pub(crate) mod counts;
pub(crate) mod device_state;
pub(crate) mod devices;
mod drift;
mod error;
pub(crate) mod idempotency;
mod maintenance;
mod open_runs;
pub(crate) mod puppetdb_commands;
mod record;
pub(crate) mod resource_search;
pub(crate) mod run;
pub(crate) mod runs;
mod schema;
#[cfg(test)]
mod tests;
mod text_delta;
mod time_column;
mod visible;
pub(crate) mod webhooks;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

pub(crate) use configuration::ConfigurationVersion;
pub(crate) use drift::{DriftEntry, DriftFilter};
pub(crate) use error::HistoryError;
pub(crate) use maintenance::{HistoryCheck, Retention, Space};
pub(crate) use record::AddedRequest;
pub(crate) use run::{
    CatalogOrigin, CompletedRun, ConnectionChange, NewRun, Requester, RequesterKind, RunEffect,
    RunId,
};

use crate::natural_order;
use crate::store::blocking_io;
use device_state::KnownDevice;
use writer::Writer;

/// How long a write waits for one of another process.
const BUSY_LIMIT: Duration = Duration::from_secs(30);

/// The file of a history and its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryOptions {
    pub(crate) path: PathBuf,
    /// Maximum size of the file in bytes. `None`: the disk is the limit.
    pub(crate) max_size: Option<u64>,
}

impl HistoryOptions {
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_size: None,
        }
    }
}

/// An open history. Clones share it.
#[derive(Clone)]
pub(crate) struct HistoryStore {
    inner: Arc<OpenHistory>,
}

struct OpenHistory {
    path: PathBuf,
    max_size: Mutex<Option<u64>>,
    writer: Writer,
    /// Connections for reads that are not in use.
    idle: Mutex<Vec<Connection>>,
    /// Connections on which only some devices are visible.
    limited: Mutex<Vec<Connection>>,
}

/// Reads from a history. Its methods are in the modules of what they read.
pub(crate) struct HistoryReader<'a> {
    connection: &'a Connection,
}

/// Writes to a history, within a transaction.
pub(crate) struct HistoryWriter<'a> {
    connection: &'a Connection,
}

impl HistoryStore {
    /// Opens a history; a missing file is created.
    ///
    /// # Errors
    /// The file cannot be opened, is no history, or has another version.
    pub(crate) fn open(options: HistoryOptions) -> Result<Self, HistoryError> {
        if let Some(directory) = options.path.parent().filter(|path| *path != Path::new("")) {
            crate::store::create_dir(directory).map_err(HistoryError::File)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = connect(&options.path, flags)?;
        protect_file(&options.path)?;
        schema::create(&mut connection)?;
        maintenance::limit_size(&connection, options.max_size)?;
        let inner = OpenHistory {
            writer: Writer::start(connection)?,
            idle: Mutex::default(),
            limited: Mutex::default(),
            path: options.path,
            max_size: Mutex::new(options.max_size),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.inner.path
    }

    pub(crate) fn max_size(&self) -> Option<u64> {
        *self.lock_max_size()
    }

    fn lock_max_size(&self) -> std::sync::MutexGuard<'_, Option<u64>> {
        let max_size = self.inner.max_size.lock();
        max_size.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads on this thread.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&HistoryReader<'_>) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        let connection = self.reading(&self.inner.idle, |_| Ok(()))?;
        let result = in_one_state(&connection, query);
        give_back(&self.inner.idle, connection);
        result
    }

    /// As [`HistoryStore::read`]: the tables have only what is of visible devices.
    ///
    /// # Errors
    /// As [`HistoryStore::read`].
    pub(crate) fn read_visible<T>(
        &self,
        is_visible: &dyn Fn(&KnownDevice) -> bool,
        query: impl FnOnce(&HistoryReader<'_>) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        let connection = self.reading(&self.inner.limited, visible::create_views)?;
        let result = in_one_state(&connection, |reader| {
            visible::select(reader.connection, is_visible)?;
            query(reader)
        });
        give_back(&self.inner.limited, connection);
        result
    }

    /// A connection for reads that is not in use. A new one is prepared.
    fn reading(
        &self,
        idle: &Mutex<Vec<Connection>>,
        prepare: impl FnOnce(&Connection) -> Result<(), HistoryError>,
    ) -> Result<Connection, HistoryError> {
        let found = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(connection) = found {
            return Ok(connection);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = connect(self.path(), flags)?;
        prepare(&connection)?;
        Ok(connection)
    }

    /// Reads on a thread for blocking work.
    ///
    /// # Errors
    /// As [`HistoryStore::read`].
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&HistoryReader<'_>) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        let history = self.clone();
        blocking_io::run(move || history.read(query)).await
    }

    /// As [`HistoryStore::read_visible`], on a thread for blocking work.
    ///
    /// # Errors
    /// As [`HistoryStore::read`].
    pub(crate) async fn query_visible<T: Send + 'static>(
        &self,
        is_visible: impl Fn(&KnownDevice) -> bool + Send + 'static,
        query: impl FnOnce(&HistoryReader<'_>) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        let history = self.clone();
        blocking_io::run(move || history.read_visible(&is_visible, query)).await
    }

    /// Writes and waits until it is durable.
    ///
    /// # Errors
    /// Nothing was written.
    ///
    /// # Cancellation
    /// May be dropped; a write that has begun is completed.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&HistoryWriter<'_>) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        self.inner.writer.write(write).await
    }

    /// As [`HistoryStore::write`], on a thread that may wait.
    ///
    /// # Errors
    /// Nothing was written.
    pub(crate) fn write_and_wait<T: Send + 'static>(
        &self,
        write: impl FnOnce(&HistoryWriter<'_>) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        self.inner.writer.write_and_wait(write)
    }
}

/// All queries of one read see the same state.
fn in_one_state<T>(
    connection: &Connection,
    query: impl FnOnce(&HistoryReader<'_>) -> Result<T, HistoryError>,
) -> Result<T, HistoryError> {
    connection.execute_batch("BEGIN")?;
    let result = query(&HistoryReader { connection });
    connection.execute_batch("COMMIT")?;
    result
}

fn give_back(idle: &Mutex<Vec<Connection>>, connection: Connection) {
    let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push(connection);
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, HistoryError> {
    let connection = Connection::open_with_flags(path, flags)?;
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

//! The history of devices in a SQLite file or a PostgreSQL database: runs with their resources, events, operations
//! and logs, facts, configurations, drift and plans.
//!
//! One thread writes ([`writer`]): it commits what waits together, and a caller continues after the
//! commit. Reads use connections of their own. Several processes may use a store at once.
//! Nothing in it is a secret of a device: what is written was masked by the run.

pub(crate) mod access_state;
pub(crate) mod approvals;
pub(crate) mod audit_copies;
mod check;
mod configuration;
pub(crate) mod configuration_search;
pub(crate) mod counts;
pub(crate) mod device_state;
pub(crate) mod devices;
mod drift;
mod engine;
mod error;
pub(crate) mod folded_runs;
mod gone_nodes;
mod host_locks;
pub(crate) mod idempotency;
mod lease_exchange;
pub(crate) mod leases;
mod live_events;
mod location;
mod maintenance;
pub(crate) mod notifications;
mod open_runs;
mod password_file;
mod pool;
pub(crate) mod puppetdb_commands;
mod record;
pub(crate) mod releases;
mod requested_runs;
pub(crate) mod resource_search;
pub(crate) mod roles;
pub(crate) mod run;
pub(crate) mod run_key;
mod run_uuid;
pub(crate) mod runs;
pub(crate) mod schema;
mod server_address;
pub(crate) mod server_check;
pub(crate) mod site_devices;
mod sql;
mod state_table;
pub(crate) mod store_copy;
mod tables;
#[cfg(test)]
mod tests;
mod text_delta;
mod time_column;
mod visible;
pub(crate) mod webhooks;
mod writer;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use check::HistoryCheck;
pub(crate) use configuration::ConfigurationVersion;
pub(crate) use drift::{DriftEntry, DriftFilter};
pub(crate) use error::HistoryError;
pub(crate) use lease_exchange::LEASE_TOPIC;
pub(crate) use location::StoreLocation;
pub(crate) use maintenance::{Retention, Space, free_space};
pub(crate) use record::AddedRequest;
pub(crate) use run::{
    CatalogOrigin, CompletedRun, ConnectionChange, NewRun, Requester, RequesterKind, RunEffect,
    RunId,
};
pub(crate) use run_uuid::RunUuid;
pub(crate) use server_address::ServerAddress;

use crate::store::blocking_io;
use device_state::KnownDevice;
use engine::Engine;
use notifications::Notifications;
use pool::Pool;
use sql::Connection;
use writer::Writer;

/// The place of a history and its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryOptions {
    pub(crate) location: StoreLocation,
    /// Maximum size in bytes. `None`: the disk is the limit.
    pub(crate) max_size: Option<u64>,
}

impl HistoryOptions {
    /// A file without a limit.
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        StoreLocation::File(path.into()).into()
    }
}

impl From<StoreLocation> for HistoryOptions {
    fn from(location: StoreLocation) -> Self {
        Self {
            location,
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
    location: StoreLocation,
    engine: Engine,
    max_size: Mutex<Option<u64>>,
    writer: Writer,
    notifications: Notifications,
    leases: lease_exchange::LeaseConnections,
    locks: host_locks::LockConnection,
    /// Connections on which all is visible.
    complete: Pool,
    /// Connections on which only some devices are visible.
    limited: Pool,
}

/// Reads from a history. Its methods are in the modules of what they read.
pub(crate) struct HistoryReader<'a> {
    connection: &'a Connection,
}

/// Writes to a history, within a transaction.
pub(crate) struct HistoryWriter<'a> {
    connection: &'a Connection,
}

impl HistoryWriter<'_> {
    /// Reads within the transaction.
    pub(crate) fn reader(&self) -> HistoryReader<'_> {
        HistoryReader {
            connection: self.connection,
        }
    }
}

impl HistoryStore {
    /// Opens a history; a missing file is created, and so are missing tables.
    ///
    /// # Errors
    /// The store cannot be opened, is no history, or has a later version.
    pub(crate) fn open(options: HistoryOptions) -> Result<Self, HistoryError> {
        let engine = Engine::at(&options.location)?;
        let inner = OpenHistory {
            writer: Writer::start(engine.clone(), options.max_size)?,
            notifications: Notifications::default(),
            leases: lease_exchange::LeaseConnections::default(),
            locks: host_locks::LockConnection::default(),
            complete: Pool::new(engine.clone(), |_| Ok(())),
            limited: Pool::new(engine.clone(), visible::create_views),
            engine,
            location: options.location,
            max_size: Mutex::new(options.max_size),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Where it is.
    pub(crate) fn location(&self) -> &StoreLocation {
        &self.inner.location
    }

    pub(crate) fn max_size(&self) -> Option<u64> {
        *self.lock_max_size()
    }

    fn lock_max_size(&self) -> std::sync::MutexGuard<'_, Option<u64>> {
        let max_size = self.inner.max_size.lock();
        max_size.unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether other processes can use the store at the same time.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.inner.engine, Engine::Postgres(_))
    }

    /// Reads on this thread.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&HistoryReader<'_>) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        let pool = &self.inner.complete;
        pool.with(|connection| query(&HistoryReader { connection }))
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
        self.inner.limited.with(|connection| {
            visible::select(connection, is_visible)?;
            query(&HistoryReader { connection })
        })
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

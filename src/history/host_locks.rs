//! Locks of devices for commands on several hosts: advisory locks of a database, on one connection of the process.
//!
//! They end with the connection. This process notices a lost one before the server does, and then writes no more.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::params;
use switchtender_devices::session::fence::{Fence, FenceError};

use super::sql::{Connection, OpenCheck, OptionalRow as _};
use super::{HistoryError, HistoryReader, HistoryStore};
use crate::report::RunStatus;
use crate::run_kind::RunKind;
use crate::store::host_locks::{HostLockError, HostLocks};

/// The server waits longer for a host that was lost than [`super::sql::postgres`] waits for the server.
const SETTINGS: &str = "SET tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 20;
    SET tcp_keepalives_count = 3;
    SELECT set_config(name, '0', FALSE) FROM pg_settings WHERE name = 'idle_session_timeout'";

/// The number of a device among all advisory locks of the database.
const KEY: &str = "hashtextextended(?1, 5391)";

/// The connection of the locks of a process. It is opened at the first one.
#[derive(Default)]
pub(super) struct LockConnection(Mutex<Option<LockSession>>);

struct LockSession {
    connection: Connection,
    is_open: OpenCheck,
}

/// A device that this process has locked.
struct DatabaseLock {
    history: HistoryStore,
    device: String,
    is_open: OpenCheck,
}

impl HistoryReader<'_> {
    /// The node that changes a device now, by a lease that it still has.
    pub(super) fn changing_node(&self, device: &str) -> Result<Option<String>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT coalesce(run.node, '') FROM run
                 JOIN lease ON lease.name = 'shard:' || run.shard AND lease.owner = run.node
                     AND lease.epoch = run.epoch
             WHERE run.device = (SELECT id FROM device WHERE name = ?1)
                 AND run.status = ?2 AND run.ended IS NULL AND run.kind = ?3",
        )?;
        let found = select.query_row(params![device, RunStatus::Running, RunKind::Apply], |row| {
            row.get(0)
        });
        found.optional()
    }

    /// Why no run of a node may change a device until the end of this transaction; `None`: it may.
    pub(super) fn changing_command(&self, device: &str) -> Result<Option<String>, HistoryError> {
        if let Connection::Sqlite(_) = self.connection {
            return Ok(None);
        }
        let attempt = format!("SELECT pg_try_advisory_xact_lock({KEY})");
        let mut attempt = self.connection.prepare_cached(&attempt)?;
        if attempt.query_row([device], |row| row.get(0))? {
            return Ok(None);
        }
        holder(self.connection, device).map(Some)
    }
}

/// The name of the connection that has locked a device.
fn holder(connection: &Connection, device: &str) -> Result<String, HistoryError> {
    let select = format!(
        "SELECT coalesce(nullif(application_name, ''), 'process ' || pid || ' of the database')
         FROM pg_locks JOIN pg_stat_activity USING (pid)
         WHERE locktype = 'advisory' AND objsubid = 1 AND granted
             AND (CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT) = {KEY}"
    );
    let mut select = connection.prepare_cached(&select)?;
    let found: Option<String> = select.query_row([device], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or_else(|| "it has just ended".to_owned()))
}

impl LockSession {
    fn open(history: &HistoryStore) -> Result<Self, HistoryError> {
        let connection = history.inner.engine.connect_reader()?;
        connection.execute_batch(SETTINGS)?;
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = format!("process {} on {}", std::process::id(), host.trim());
        let set = "SELECT set_config('application_name', ?1, FALSE)";
        let _: String = connection.query_row(set, [name], |row| row.get(0))?;
        Ok(Self {
            is_open: connection.open_check(),
            connection,
        })
    }

    fn lock(&self, device: &str) -> Result<(), HostLockFailure> {
        let attempt = format!("SELECT pg_try_advisory_lock({KEY})");
        let mut attempt = self.connection.prepare_cached(&attempt)?;
        let is_locked: bool = attempt.query_row([device], |row| row.get(0))?;
        if !is_locked {
            let holder = holder(&self.connection, device)?;
            return Err(HostLockFailure::Held(holder));
        }
        // Its begin has this lock, too: it is either in the database now, or sees the lock.
        let reader = HistoryReader {
            connection: &self.connection,
        };
        let found = reader.changing_node(device);
        if !matches!(found, Ok(None)) {
            self.unlock(device)?;
        }
        match found? {
            Some(node) => Err(HostLockFailure::Held(format!("on the node {node}"))),
            None => Ok(()),
        }
    }

    fn unlock(&self, device: &str) -> Result<(), HistoryError> {
        let release = format!("SELECT pg_advisory_unlock({KEY})");
        let mut release = self.connection.prepare_cached(&release)?;
        let _: bool = release.query_row([device], |row| row.get(0))?;
        Ok(())
    }
}

enum HostLockFailure {
    Held(String),
    Store(HistoryError),
}

impl From<HistoryError> for HostLockFailure {
    fn from(error: HistoryError) -> Self {
        Self::Store(error)
    }
}

impl HistoryStore {
    fn lock_session(&self) -> MutexGuard<'_, Option<LockSession>> {
        let session = self.inner.locks.0.lock();
        session.unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_device(&self, device: &str) -> Result<OpenCheck, HostLockFailure> {
        let mut session = self.lock_session();
        let earlier = session.take().filter(|session| session.is_open.is_open());
        let open = earlier.map_or_else(|| LockSession::open(self), Ok)?;
        let is_open = open.is_open.clone();
        let locked = open.lock(device);
        *session = Some(open);
        locked.map(|()| is_open)
    }
}

impl HostLocks for HistoryStore {
    fn lock(&self, device: &str) -> Result<Box<dyn Fence>, HostLockError> {
        match self.lock_device(device) {
            Ok(is_open) => Ok(Box::new(DatabaseLock {
                history: self.clone(),
                device: device.to_owned(),
                is_open,
            })),
            Err(HostLockFailure::Held(holder)) => Err(HostLockError::Held { holder }),
            Err(HostLockFailure::Store(error)) => Err(HostLockError::Store(error.into())),
        }
    }
}

impl std::fmt::Debug for DatabaseLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DatabaseLock({})", self.device)
    }
}

impl Fence for DatabaseLock {
    fn check(&self) -> Result<(), FenceError> {
        if self.is_open.is_open() {
            return Ok(());
        }
        Err(FenceError {
            reason: format!(
                "the connection to the database was lost, and with it the lock of {}",
                self.device
            ),
        })
    }
}

impl Drop for DatabaseLock {
    fn drop(&mut self) {
        let session = self.history.lock_session();
        if self.is_open.is_open()
            && let Some(session) = &*session
            && let Err(error) = session.unlock(&self.device)
        {
            // The lock ends with the process.
            tracing::debug!("cannot unlock {}: {error}", self.device);
        }
    }
}

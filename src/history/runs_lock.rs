//! The lock of a database: the process that has it runs devices, the others only read and pass requests on.
//!
//! The server ends it with its connection. A process that lost it takes it again, unless another one has it.

use super::engine::Engine;
use super::sql::Connection;
use super::sql::postgres::PostgresServer;
use super::{HistoryError, HistoryStore};

/// The lock, in PostgreSQL as the pair of numbers of `pg_try_advisory_lock`.
const TAKE: &str = "SELECT pg_try_advisory_lock(5391, 2)";

const HOLDER: &str = "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND classid = 5391 AND objid = 2 AND granted
        AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// A lost host is noticed by the server after these seconds.
const NOTICE: &str = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;
    SET tcp_keepalives_count = 3; SET tcp_user_timeout = '25s'";

/// The lock of this process. It ends when this is dropped.
pub(crate) struct RunsLock {
    /// `None`: the lock of a file is that of the process.
    connection: Option<Connection>,
}

/// Whether this process has the lock.
pub(crate) enum RunsLockState {
    Held(RunsLock),
    /// Another process has it: its host and number, as far as they are known.
    Other(String),
}

impl RunsLock {
    /// Whether the lock still holds.
    pub(crate) fn is_held(&self) -> bool {
        let connection = self.connection.as_ref();
        connection.is_none_or(|connection| connection.execute_batch("SELECT 1").is_ok())
    }
}

impl HistoryStore {
    /// Takes the lock, if no other process has it.
    ///
    /// # Errors
    /// The server cannot be used.
    pub(crate) fn take_runs_lock(&self) -> Result<RunsLockState, HistoryError> {
        let Engine::Postgres(server) = &self.inner.engine else {
            let connection = None;
            return Ok(RunsLockState::Held(RunsLock { connection }));
        };
        let connection = Connection::Postgres(PostgresServer::connect(server)?);
        let name = format!("switchtender on {}, process {}", host(), std::process::id());
        connection.execute_batch(NOTICE)?;
        let set = "SELECT set_config('application_name', CAST(?1 AS TEXT), FALSE)";
        connection.query_row(set, [name], |_| Ok(()))?;
        if connection.query_row(TAKE, [], |row| row.get(0))? {
            let connection = Some(connection);
            return Ok(RunsLockState::Held(RunsLock { connection }));
        }
        let mut select = connection.prepare_cached(HOLDER)?;
        let holders: Vec<Option<String>> = select.query_all([], |row| row.get(0))?;
        let holder = holders.into_iter().flatten().find(|name| !name.is_empty());
        let holder = holder.unwrap_or_else(|| "another process".to_owned());
        Ok(RunsLockState::Other(holder))
    }

    /// Whether other processes can add to the store at any time.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.inner.engine, Engine::Postgres(_))
    }
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map_or_else(|_| "unknown".to_owned(), |name| name.trim().to_owned())
}

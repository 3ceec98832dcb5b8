//! Connections for reads that are not in use.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::HistoryError;
use super::engine::{BUSY_LIMIT, Engine};
use super::sql::{ANSWER_LIMIT, Connection};

/// Connections to a server at once: each is a process there.
const MAX_SERVER_CONNECTIONS: usize = 8;

/// How long a server may take to begin a transaction that only reads: it waits for nothing.
const BEGIN_LIMIT: Duration = Duration::from_secs(10);

/// Prepares a new connection.
type Prepare = fn(&Connection) -> Result<(), HistoryError>;

/// Opens connections when all others are in use.
pub(super) struct Pool {
    engine: Engine,
    prepare: Prepare,
    max: usize,
    state: Mutex<PoolState>,
    returned: Condvar,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<Connection>,
    in_use: usize,
}

impl Pool {
    pub(super) fn new(engine: Engine, prepare: Prepare) -> Self {
        let max = match engine {
            Engine::Sqlite(_) => usize::MAX,
            Engine::Postgres(_) => MAX_SERVER_CONNECTIONS,
        };
        Self {
            engine,
            prepare,
            max,
            state: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Does work in one state of the tables, with a connection that nobody else uses.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        let mut permit = self.permit()?;
        let connection = self.begin(&mut permit)?;
        let result = work(&connection);
        let ended = connection.execute_batch("COMMIT");
        permit.idle = Some(connection);
        let result = result?;
        ended?;
        Ok(result)
    }

    /// Frees the space of removed rows of a server.
    ///
    /// # Errors
    /// The user does not own the tables: the server would leave them out without an error.
    pub(super) fn vacuum(&self) -> Result<(), HistoryError> {
        let connection = self.engine.connect_reader()?;
        let is_owner = "SELECT pg_has_role(current_user, nspowner, 'USAGE') FROM pg_namespace
             WHERE nspname = 'switchtender'";
        if !connection.query_row(is_owner, [], |row| row.get(0))? {
            return Err(HistoryError::NotOwner);
        }
        connection.execute_batch("VACUUM (ANALYZE)")
    }

    /// A connection in a transaction. The server can have closed those that were not in use.
    fn begin(&self, permit: &mut PoolPermit<'_>) -> Result<Connection, HistoryError> {
        const BEGIN: [&str; 2] = ["BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"];
        while let Some(connection) = permit.idle.take() {
            let [sqlite, postgres] = BEGIN;
            connection.limit_answers(BEGIN_LIMIT);
            match connection.execute_batch(connection.choose(sqlite, postgres)) {
                Ok(()) => {
                    connection.limit_answers(ANSWER_LIMIT);
                    return Ok(connection);
                }
                Err(error @ HistoryError::Silent) => return Err(error),
                Err(error) if connection.is_open() => return Err(error),
                Err(_) => permit.idle = self.lock().idle.pop(),
            }
        }
        let connection = self.engine.connect_reader()?;
        (self.prepare)(&connection)?;
        let [sqlite, postgres] = BEGIN;
        connection.execute_batch(connection.choose(sqlite, postgres))?;
        Ok(connection)
    }

    /// Waits until fewer connections than permitted are in use.
    fn permit(&self) -> Result<PoolPermit<'_>, HistoryError> {
        let is_full = |state: &mut PoolState| state.in_use >= self.max;
        let waited = (self.returned).wait_timeout_while(self.lock(), BUSY_LIMIT, is_full);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(HistoryError::Busy);
        }
        state.in_use += 1;
        let idle = state.idle.pop();
        Ok(PoolPermit { pool: self, idle })
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to use a connection. It ends when this is dropped, also if the work panics.
struct PoolPermit<'p> {
    pool: &'p Pool,
    /// A connection that can be used again.
    idle: Option<Connection>,
}

impl Drop for PoolPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.in_use -= 1;
        state
            .idle
            .extend(self.idle.take().filter(Connection::is_open));
        drop(state);
        self.pool.returned.notify_one();
    }
}

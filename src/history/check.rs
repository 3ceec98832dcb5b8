//! Checks a store, also one that is too damaged to be opened as a history.

use serde::Serialize;

use super::engine::{self, Engine};
use super::sql::{Connection, Row};
use super::{HistoryError, HistoryReader, StoreLocation, schema};
use crate::error_chain::chain;

/// A check of a store and its links.
pub(crate) struct HistoryCheck {
    connection: Connection,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HistoryCheckResult {
    /// Defects; none is good.
    pub(crate) defects: Vec<String>,
    pub(crate) devices: u64,
    pub(crate) runs: u64,
    /// Unchanged runs that are counted by day.
    pub(crate) folded_runs: u64,
    pub(crate) bytes: u64,
}

impl HistoryCheck {
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn begin(location: &StoreLocation) -> Result<Self, HistoryError> {
        let connection = match location {
            StoreLocation::File(path) => {
                let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
                let connection = rusqlite::Connection::open_with_flags(path, flags)?;
                connection.busy_timeout(engine::BUSY_LIMIT)?;
                Connection::Sqlite(connection)
            }
            StoreLocation::Server(_) => Engine::at(location)?.connect_reader()?,
        };
        if let Connection::Postgres(_) = connection
            && schema::is_empty(&connection)?
        {
            return Err(HistoryError::NoTables);
        }
        // A damaged file can have an unreadable version: that is a finding of the check.
        match schema::check(&connection) {
            Err(error @ HistoryError::Version(_)) => Err(error),
            _ => Ok(Self { connection }),
        }
    }

    /// Ends the check from another thread. That of a server is short.
    pub(crate) fn interrupt(&self) -> impl Fn() + Send + use<> {
        let handle = match &self.connection {
            Connection::Sqlite(connection) => Some(connection.get_interrupt_handle()),
            Connection::Postgres(_) => None,
        };
        move || {
            if let Some(handle) = &handle {
                handle.interrupt();
            }
        }
    }

    pub(crate) fn finish(self) -> HistoryCheckResult {
        let connection = &self.connection;
        HistoryReader { connection }.check()
    }
}

impl HistoryReader<'_> {
    /// What cannot be read of a damaged store is a defect, too.
    fn check(&self) -> HistoryCheckResult {
        let mut defects = Vec::new();
        match self.connection {
            Connection::Sqlite(_) => {
                self.find_defects(&mut defects, "PRAGMA integrity_check", |row| row.get(0));
                defects.retain(|defect| defect != "ok");
                self.find_defects(&mut defects, "PRAGMA foreign_key_check", |row| {
                    let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
                    Ok(format!("an entry of {table} has no entry of {parent}"))
                });
            }
            Connection::Postgres(_) => {
                let invalid =
                    "SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
                     JOIN pg_namespace ON pg_namespace.oid = relnamespace
                     WHERE nspname = 'switchtender' AND NOT indisvalid";
                self.find_defects(&mut defects, invalid, |row| {
                    let index: String = row.get(0)?;
                    Ok(format!("the index {index} is invalid; run `REINDEX`"))
                });
            }
        }
        let mut count = |table: &str| {
            let query = format!("SELECT count(*) FROM {table}");
            let count = self.connection.query_row(&query, [], |row| row.get(0));
            let count: i64 = count.unwrap_or_else(|error| {
                add_defect(&mut defects, &error);
                0
            });
            u64::try_from(count).unwrap_or_default()
        };
        HistoryCheckResult {
            devices: count("device"),
            runs: count("run"),
            folded_runs: self.folded_count().unwrap_or_default(),
            bytes: self.used().unwrap_or_default(),
            defects,
        }
    }

    /// Adds the rows of a check, and the error that ends it.
    fn find_defects(
        &self,
        defects: &mut Vec<String>,
        query: &str,
        text: impl Fn(&Row<'_>) -> rusqlite::Result<String>,
    ) {
        let found = self.connection.prepare_cached(query).and_then(|mut check| {
            check.query_each([], |row| {
                defects.push(text(row)?);
                Ok(())
            })
        });
        if let Err(error) = found {
            add_defect(defects, &error);
        }
    }
}

/// Adds an error once: a damaged page concerns several queries.
fn add_defect(defects: &mut Vec<String>, error: &HistoryError) {
    let text = chain(error);
    if !defects.contains(&text) {
        defects.push(text);
    }
}

//! One way to both engines: a statement has one text and the same values in SQLite and PostgreSQL.
//!
//! Values go in and out through `rusqlite`'s conversions for both. Words that only SQLite knows have a meaning in
//! PostgreSQL by functions of `schema_postgres.sql`. Callers block: see [`postgres`] for what waits there.

mod column;
pub(super) mod postgres;
mod value;

use std::time::Duration;

use rusqlite::types::{FromSql, ToSql};

pub(super) use column::ColumnIndex;
pub(super) use postgres::{ANSWER_LIMIT, OpenCheck};

use self::postgres::{PostgresConnection, PostgresStatement};
use super::HistoryError;

/// A connection to a history.
pub(super) enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(PostgresConnection),
}

/// A statement of a connection, prepared once.
pub(super) enum Statement<'c> {
    Sqlite(rusqlite::CachedStatement<'c>),
    Postgres(PostgresStatement<'c>),
}

/// A row of an answer.
pub(super) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl Connection {
    pub(super) fn prepare_cached(&self, text: &str) -> Result<Statement<'_>, HistoryError> {
        Ok(match self {
            Self::Sqlite(connection) => Statement::Sqlite(connection.prepare_cached(text)?),
            Self::Postgres(connection) => Statement::Postgres(connection.statement(text)),
        })
    }

    pub(super) fn execute(&self, text: &str, values: impl Values) -> Result<usize, HistoryError> {
        self.prepare_cached(text)?.execute(values)
    }

    pub(super) fn query_row<T>(
        &self,
        text: &str,
        values: impl Values,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, HistoryError> {
        self.prepare_cached(text)?.query_row(values, read)
    }

    /// Executes statements without values.
    pub(super) fn execute_batch(&self, text: &str) -> Result<(), HistoryError> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch(text)?),
            Self::Postgres(connection) => connection.execute_batch(text),
        }
    }

    /// The text for the engine.
    pub(super) fn choose<T>(&self, sqlite: T, postgres: T) -> T {
        match self {
            Self::Sqlite(_) => sqlite,
            Self::Postgres(_) => postgres,
        }
    }

    /// Why the transaction of the connection has ended by itself; `None`: it has not.
    pub(super) fn lost_transaction(&self) -> Option<HistoryError> {
        match self {
            // SQLite ends it when the disk is full.
            Self::Sqlite(connection) => connection.is_autocommit().then_some(HistoryError::Full),
            Self::Postgres(connection) => (!connection.is_open()).then_some(HistoryError::Lost),
        }
    }

    /// How long each of the next answers of a server may take.
    pub(super) fn limit_answers(&self, limit: Duration) {
        if let Self::Postgres(connection) = self {
            connection.limit_answers(limit);
        }
    }

    /// Tells elsewhere whether the connection is open.
    pub(super) fn open_check(&self) -> OpenCheck {
        match self {
            Self::Sqlite(_) => OpenCheck::default(),
            Self::Postgres(connection) => connection.open_check(),
        }
    }

    /// Whether the connection can be used again.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Sqlite(_) => true,
            Self::Postgres(connection) => connection.is_open(),
        }
    }
}

impl Statement<'_> {
    /// The number of rows that changed.
    pub(super) fn execute(&mut self, values: impl Values) -> Result<usize, HistoryError> {
        values.with(|values| match self {
            Self::Sqlite(statement) => Ok(statement.execute(values)?),
            Self::Postgres(statement) => statement.execute(values),
        })
    }

    /// Adds a row. Returns its number, in the column `id`.
    pub(super) fn insert(&mut self, values: impl Values) -> Result<i64, HistoryError> {
        values.with(|values| match self {
            Self::Sqlite(statement) => Ok(statement.insert(values)?),
            Self::Postgres(statement) => statement.insert(values),
        })
    }

    /// The first row.
    pub(super) fn query_row<T>(
        &mut self,
        values: impl Values,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, HistoryError> {
        values.with(|values| match self {
            Self::Sqlite(statement) => {
                Ok(statement.query_row(values, |row| read(&Row::Sqlite(row)))?)
            }
            Self::Postgres(statement) => {
                let rows = statement.query(values)?;
                let row = rows.first();
                let row = row.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
                Ok(read(&Row::Postgres(row))?)
            }
        })
    }

    /// All rows.
    pub(super) fn query_all<T, C: FromIterator<T>>(
        &mut self,
        values: impl Values,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C, HistoryError> {
        values.with(|values| match self {
            Self::Sqlite(statement) => {
                let rows = statement.query_map(values, |row| read(&Row::Sqlite(row)))?;
                Ok(rows.collect::<Result<_, _>>()?)
            }
            Self::Postgres(statement) => {
                let rows = statement.query(values)?;
                let rows = rows.iter().map(|row| read(&Row::Postgres(row)));
                Ok(rows.collect::<Result<_, _>>()?)
            }
        })
    }

    /// Calls a function with each row. SQLite reads the next one after it returns.
    pub(super) fn query_each(
        &mut self,
        values: impl Values,
        mut read: impl FnMut(&Row<'_>) -> Result<(), HistoryError>,
    ) -> Result<(), HistoryError> {
        values.with(|values| match self {
            Self::Sqlite(statement) => {
                let mut rows = statement.query(values)?;
                while let Some(row) = rows.next()? {
                    read(&Row::Sqlite(row))?;
                }
                Ok(())
            }
            Self::Postgres(statement) => {
                let rows = statement.query(values)?;
                rows.iter().try_for_each(|row| read(&Row::Postgres(row)))
            }
        })
    }
}

impl Row<'_> {
    pub(super) fn get<I: ColumnIndex, T: FromSql>(&self, index: I) -> rusqlite::Result<T> {
        match self {
            Self::Sqlite(row) => row.get(index),
            Self::Postgres(row) => column::get(row, index),
        }
    }
}

/// The row of a query that can have none.
pub(super) trait OptionalRow<T> {
    fn optional(self) -> Result<Option<T>, HistoryError>;
}

impl<T> OptionalRow<T> for Result<T, HistoryError> {
    fn optional(self) -> Result<Option<T>, HistoryError> {
        match self {
            Ok(row) => Ok(Some(row)),
            Err(HistoryError::Database(rusqlite::Error::QueryReturnedNoRows)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The values of a statement: those of `params!`, or an array.
pub(super) trait Values {
    fn with<T>(self, work: impl FnOnce(&[&dyn ToSql]) -> T) -> T;
}

impl Values for &[&dyn ToSql] {
    fn with<T>(self, work: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        work(self)
    }
}

impl Values for [i64; 0] {
    fn with<T>(self, work: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        work(&[])
    }
}

impl<V: ToSql> Values for [V; 1] {
    fn with<T>(self, work: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        work(&[&self[0]])
    }
}

impl<V: ToSql> Values for [V; 2] {
    fn with<T>(self, work: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        work(&[&self[0], &self[1]])
    }
}

//! The tables of a history.

use rusqlite::{Connection, TransactionBehavior};
use switchtender_devices::format_version::FormatVersion;

use super::HistoryError;
use crate::store::file::state_version;

/// The version of the tables.
const VERSION: FormatVersion = state_version(1);

/// Creates the tables in a new file. A file of another version stays as it is.
pub(super) fn create(connection: &mut Connection) -> Result<(), HistoryError> {
    let is_new = is_empty(connection)?;
    if !is_new {
        check(connection)?;
    }
    // Both are stored in the file; the first has an effect only before the first table.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit is on the disk when it ends.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if is_new {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process can have created them meanwhile.
        if is_empty(&transaction)? {
            transaction.execute_batch(include_str!("schema.sql"))?;
            transaction.pragma_update(None, "user_version", VERSION.number)?;
        }
        transaction.commit()?;
        check(connection)?;
    }
    Ok(())
}

/// Refuses a file of another version.
pub(super) fn check(connection: &Connection) -> Result<(), HistoryError> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(VERSION.check(found)?)
}

fn is_empty(connection: &Connection) -> Result<bool, HistoryError> {
    let count = "SELECT count(*) FROM sqlite_schema";
    let tables: u32 = connection.query_row(count, [], |row| row.get(0))?;
    Ok(tables == 0)
}

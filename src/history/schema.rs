//! The tables of a history and their versions.

use rusqlite::{Connection, TransactionBehavior};

use super::HistoryError;

/// The steps from one version to the next. A released step is never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/runs.sql"),
    include_str!("schema/web.sql"),
    include_str!("schema/limits.sql"),
    include_str!("schema/requests.sql"),
    include_str!("schema/drift.sql"),
];

/// Creates or migrates the tables.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), HistoryError> {
    // Both are stored in the file; the first has an effect only before the first table.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit is on the disk when it ends.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let supported = supported();
    if found > supported {
        return Err(HistoryError::Newer { found, supported });
    }
    for step in &MIGRATIONS[found as usize..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", supported)?;
    transaction.commit()?;
    Ok(())
}

fn supported() -> u32 {
    u32::try_from(MIGRATIONS.len()).expect("few migrations")
}

//! The tables of a history, and their changes from version to version.

use std::time::Duration;

use switchtender_devices::format_version::FormatVersion;

use super::HistoryError;
use super::roles::GRANTS;
use super::sql::postgres::SCHEMA;
use super::sql::{ANSWER_LIMIT, Connection};
use crate::store::file::state_version;

/// The statements that lead to a version from the one before.
struct Migration {
    version: u32,
    sqlite: &'static str,
    postgres: &'static str,
}

/// All of them, oldest first. A released one never changes: add another.
const MIGRATIONS: [Migration; 1] = [Migration {
    // Version 1 was that of builds before the first release.
    version: 2,
    sqlite: include_str!("schema.sql"),
    postgres: include_str!("schema_postgres.sql"),
}];

/// The version of the tables.
const VERSION: FormatVersion = state_version(MIGRATIONS[MIGRATIONS.len() - 1].version);

/// What to do about a database of another version.
const DATABASE_ADVICE: &str =
    "use the version of switchtender that wrote it, or name another database in `store`";

/// The lock of PostgreSQL for writes. A transaction that writes has it until its end: numbers become visible in
/// their order, and a process sees what another one has added.
pub(super) const WRITE_LOCK: &str = "SELECT pg_advisory_xact_lock(5391, 1)";

/// Creates the tables in a new store, and changes those of an earlier version. A store of a later version stays as
/// it is.
pub(super) fn update(connection: &Connection) -> Result<(), HistoryError> {
    if let Connection::Sqlite(sqlite) = connection {
        if !is_empty(connection)? {
            check(connection)?;
        }
        // Both are stored in the file; the first has an effect only before the first table.
        sqlite.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        sqlite.pragma_update(None, "journal_mode", "WAL")?;
        // A commit is on the disk when it ends.
        sqlite.pragma_update(None, "synchronous", "FULL")?;
        sqlite.pragma_update(None, "foreign_keys", true)?;
    } else {
        check_encoding(connection)?;
    }
    if !is_empty(connection)? && version(connection)? == i64::from(VERSION.number) {
        return Ok(());
    }
    begin_write(connection)?;
    let updated = migrate(connection);
    connection.execute_batch(if updated.is_ok() {
        "COMMIT"
    } else {
        "ROLLBACK"
    })?;
    updated
}

/// The other processes do not wait longer for one that is stopped while it writes.
const PAUSE_LIMIT: &str = "SET LOCAL idle_in_transaction_session_timeout = '10s'";

/// How long a server may take to begin a transaction that writes: it waits for those of others as long as
/// `lock_timeout` permits.
const BEGIN_LIMIT: Duration = Duration::from_secs(40);

/// Begins a transaction that writes.
pub(super) fn begin_write(connection: &Connection) -> Result<(), HistoryError> {
    match connection {
        Connection::Sqlite(_) => connection.execute_batch("BEGIN IMMEDIATE"),
        Connection::Postgres(_) => {
            connection.limit_answers(BEGIN_LIMIT);
            let began = connection.execute_batch(&format!("BEGIN; {PAUSE_LIMIT}; {WRITE_LOCK}"));
            connection.limit_answers(ANSWER_LIMIT);
            if began.is_err() && connection.is_open() {
                // Without the lock, the transaction has begun, and would refuse all that follows.
                let _ = connection.execute_batch("ROLLBACK");
            }
            began
        }
    }
}

/// Another process can have changed the tables meanwhile.
fn migrate(connection: &Connection) -> Result<(), HistoryError> {
    let found = if is_empty(connection)? {
        if let Connection::Postgres(_) = connection {
            // The roles of `store setup` have it already, and may not create one.
            let exists = format!("SELECT to_regnamespace('{SCHEMA}') IS NOT NULL");
            if !connection.query_row(&exists, [], |row| row.get(0))? {
                connection.execute_batch(&format!("CREATE SCHEMA {SCHEMA}"))?;
            }
            connection.execute_batch(&format!(
                "CREATE TABLE {SCHEMA}.schema_version (version BIGINT NOT NULL);
                 INSERT INTO {SCHEMA}.schema_version (version) VALUES (0)"
            ))?;
        }
        0
    } else {
        check(connection)?;
        version(connection)?
    };
    for migration in MIGRATIONS
        .iter()
        .filter(|one| i64::from(one.version) > found)
    {
        let number = migration.version;
        connection.execute_batch(connection.choose(migration.sqlite, migration.postgres))?;
        connection.execute_batch(&connection.choose(
            format!("PRAGMA user_version = {number}"),
            format!("UPDATE schema_version SET version = {number}"),
        ))?;
    }
    if let Connection::Postgres(_) = connection {
        connection.execute_batch(GRANTS)?;
    }
    Ok(())
}

/// Refuses a store of a later version, and one from before the first release.
pub(super) fn check(connection: &Connection) -> Result<(), HistoryError> {
    let found = version(connection)?;
    if MIGRATIONS.iter().any(|one| i64::from(one.version) == found) {
        return Ok(());
    }
    let advice = connection.choose(VERSION.advice, DATABASE_ADVICE);
    let expected = FormatVersion { advice, ..VERSION };
    Ok(expected.check(found)?)
}

fn version(connection: &Connection) -> Result<i64, HistoryError> {
    let query = connection.choose("PRAGMA user_version", "SELECT version FROM schema_version");
    connection.query_row(query, [], |row| row.get(0))
}

/// Whether nobody has created the tables.
pub(super) fn is_empty(connection: &Connection) -> Result<bool, HistoryError> {
    let query = connection.choose(
        "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)",
        "SELECT to_regclass('switchtender.schema_version') IS NULL",
    );
    connection.query_row(query, [], |row| row.get(0))
}

/// Other encodings cannot store what devices answer.
fn check_encoding(connection: &Connection) -> Result<(), HistoryError> {
    let query = "SELECT current_setting('server_encoding')";
    let encoding: String = connection.query_row(query, [], |row| row.get(0))?;
    if encoding == "UTF8" {
        return Ok(());
    }
    Err(HistoryError::Address(format!(
        "the database has the encoding {encoding}; create it with `createdb --encoding=UTF8 \
         --template=template0`"
    )))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The tables with their columns.
    fn columns(text: &str) -> BTreeSet<String> {
        let mut table = "";
        let mut found = BTreeSet::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
                table = rest.trim_end_matches(" (");
            } else if let Some(column) = line.strip_prefix("    ") {
                let name = column.split_whitespace().next().unwrap_or_default();
                if name.starts_with(|letter: char| letter.is_ascii_lowercase()) {
                    found.insert(format!("{table}.{name}"));
                }
            } else if line.starts_with(')') {
                table = "";
            }
        }
        found.retain(|name| !name.starts_with('.'));
        found
    }

    #[test]
    fn tables_of_both_engines_have_the_same_columns() {
        for migration in &MIGRATIONS {
            let sqlite = columns(migration.sqlite);
            assert!(sqlite.len() > 100, "{sqlite:?}");
            assert_eq!(sqlite, columns(migration.postgres));
        }
    }

    #[test]
    fn migrations_are_numbered_without_gaps() {
        let numbers = MIGRATIONS.iter().map(|one| one.version);
        let first = MIGRATIONS[0].version;
        assert!(numbers.eq(first..first + u32::try_from(MIGRATIONS.len()).unwrap()));
    }
}

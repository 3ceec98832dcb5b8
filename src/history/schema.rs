//! The tables of a history, and their changes from version to version.

use std::time::Duration;

use switchtender_devices::format_version::FormatVersion;

use super::HistoryError;
use super::leases::NodeRecord;
use super::roles::GRANTS;
use super::sql::postgres::SCHEMA;
use super::sql::{ANSWER_LIMIT, Connection};
use crate::store::file::state_version;

/// The statements that lead to a version from the one before.
struct Migration {
    version: u32,
    /// The programs of this version and later ones can use the tables on a server. What only adds to them keeps that of
    /// the migration before; what removes something comes one release after the programs that do without it.
    oldest: u32,
    sqlite: &'static str,
    postgres: &'static str,
}

/// All of them, oldest first. A released one never changes: add another.
const MIGRATIONS: [Migration; 1] = [Migration {
    // Version 1 was that of builds before the first release.
    version: 2,
    oldest: 2,
    sqlite: include_str!("schema.sql"),
    postgres: include_str!("schema_postgres.sql"),
}];

/// The version of the tables that this program writes.
pub(crate) const TABLES_VERSION: u32 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// What to do about a database of another version.
const DATABASE_ADVICE: &str =
    "use the version of switchtender that wrote it, or name another database in `store`";

/// The lock of PostgreSQL for writes. A transaction that writes has it until its end: numbers become visible in
/// their order, and a process sees what another one has added.
pub(super) const WRITE_LOCK: &str = "SELECT pg_advisory_xact_lock(5391, 1)";

/// Creates the tables in a new store, and changes those of an earlier version. A store of a later version stays as
/// it is.
pub(super) fn update(connection: &Connection) -> Result<(), HistoryError> {
    update_by(connection, &MIGRATIONS)
}

fn update_by(connection: &Connection, migrations: &[Migration]) -> Result<(), HistoryError> {
    if !is_empty(connection)? {
        check_by(connection, migrations)?;
    }
    if let Connection::Sqlite(sqlite) = connection {
        // Both are stored in the file; the first has an effect only before the first table.
        sqlite.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        sqlite.pragma_update(None, "journal_mode", "WAL")?;
        // A commit is on the disk when it ends.
        sqlite.pragma_update(None, "synchronous", "FULL")?;
        sqlite.pragma_update(None, "foreign_keys", true)?;
    } else {
        check_encoding(connection)?;
    }
    if !is_empty(connection)? && found(connection)?.version >= newest(migrations) {
        return Ok(());
    }
    begin_write(connection)?;
    let updated = migrate(connection, migrations);
    connection.execute_batch(if updated.is_ok() {
        "COMMIT"
    } else {
        "ROLLBACK"
    })?;
    updated
}

fn newest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |one| i64::from(one.version))
}

/// The other processes do not wait longer for one that is paused while it writes: much less than the begin of a run
/// waits for its answer.
pub(super) const PAUSE_LIMIT: &str = "SET LOCAL idle_in_transaction_session_timeout = '3s'";

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
fn migrate(connection: &Connection, migrations: &[Migration]) -> Result<(), HistoryError> {
    let known = if is_empty(connection)? {
        if let Connection::Postgres(_) = connection {
            // The roles of `store setup` have it already, and may not create one.
            let exists = format!("SELECT to_regnamespace('{SCHEMA}') IS NOT NULL");
            if !connection.query_row(&exists, [], |row| row.get(0))? {
                connection.execute_batch(&format!("CREATE SCHEMA {SCHEMA}"))?;
            }
            connection.execute_batch(&format!(
                "CREATE TABLE {SCHEMA}.schema_version (version BIGINT NOT NULL, oldest BIGINT NOT NULL);
                 INSERT INTO {SCHEMA}.schema_version (version, oldest) VALUES (0, 0)"
            ))?;
        }
        TableVersions::default()
    } else {
        check_by(connection, migrations)?;
        let known = found(connection)?;
        let oldest = migrations.last().map_or(0, |one| one.oldest);
        if let Connection::Postgres(_) = connection
            && i64::from(oldest) > known.oldest
        {
            refuse_beside_older_hubs(connection, oldest)?;
        }
        known
    };
    for migration in migrations
        .iter()
        .filter(|one| i64::from(one.version) > known.version)
    {
        let Migration {
            version, oldest, ..
        } = migration;
        connection.execute_batch(connection.choose(migration.sqlite, migration.postgres))?;
        connection.execute_batch(&connection.choose(
            format!("PRAGMA user_version = {version}"),
            format!("UPDATE schema_version SET version = {version}, oldest = {oldest}"),
        ))?;
    }
    if let Connection::Postgres(_) = connection {
        connection.execute_batch(GRANTS)?;
    }
    Ok(())
}

/// A hub of an earlier version could not go on with tables from which something is removed.
fn refuse_beside_older_hubs(connection: &Connection, oldest: u32) -> Result<(), HistoryError> {
    let mut select = connection.prepare_cached(
        "SELECT record,
             CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) - seen AS age_ms
         FROM node WHERE NOT is_evicted ORDER BY name",
    )?;
    let nodes: Vec<(String, i64)> = select.query_all([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (record, age_ms) in nodes {
        let Ok(node) = serde_json::from_str::<NodeRecord>(&record) else {
            continue;
        };
        let has_lease = age_ms.unsigned_abs() <= node.lease_ms;
        if node.is_hub && !node.is_stopped && has_lease && node.tables < oldest {
            return Err(HistoryError::OlderHub(node.name));
        }
    }
    Ok(())
}

/// The versions that tables have.
#[derive(Default)]
struct TableVersions {
    version: i64,
    /// The oldest program that can use them. A file has one program at a time: its own version.
    oldest: i64,
}

/// Refuses a store of a later version that this program cannot use, and one from before the first release.
pub(super) fn check(connection: &Connection) -> Result<(), HistoryError> {
    check_by(connection, &MIGRATIONS)
}

fn check_by(connection: &Connection, migrations: &[Migration]) -> Result<(), HistoryError> {
    let found = found(connection)?;
    let newest = newest(migrations);
    let is_known = (migrations.iter()).any(|one| i64::from(one.version) == found.version);
    if is_known || found.version > newest && found.oldest <= newest {
        return Ok(());
    }
    let expected = state_version(u32::try_from(newest).expect("it is a version of a migration"));
    let advice = connection.choose(expected.advice, DATABASE_ADVICE);
    Ok(FormatVersion { advice, ..expected }.check(found.version)?)
}

fn found(connection: &Connection) -> Result<TableVersions, HistoryError> {
    let query = connection.choose(
        "SELECT user_version AS version, user_version AS oldest FROM pragma_user_version",
        "SELECT version, oldest FROM schema_version",
    );
    connection.query_row(query, [], |row| {
        Ok(TableVersions {
            version: row.get(0)?,
            oldest: row.get(1)?,
        })
    })
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

    use test_support::postgresql::PostgreSql;

    use super::*;
    use crate::history::engine::Engine;
    use crate::history::location::StoreLocation;

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
        let oldest: Vec<u32> = MIGRATIONS.iter().map(|one| one.oldest).collect();
        assert!(oldest.is_sorted(), "{oldest:?}");
        assert!(MIGRATIONS.iter().all(|one| one.oldest <= one.version));
    }

    const ADDS: Migration = Migration {
        version: 3,
        oldest: 2,
        sqlite: "ALTER TABLE site ADD COLUMN note TEXT",
        postgres: "ALTER TABLE site ADD COLUMN note TEXT",
    };
    const REMOVES: Migration = Migration {
        version: 4,
        oldest: 3,
        sqlite: "ALTER TABLE site DROP COLUMN next_shards",
        postgres: "ALTER TABLE site DROP COLUMN next_shards",
    };

    fn of_version(number: u32) -> Vec<Migration> {
        let first = Migration { ..MIGRATIONS[0] };
        [first, ADDS, REMOVES]
            .into_iter()
            .filter(|one| one.version <= number)
            .collect()
    }

    #[test]
    fn program_of_the_version_before_goes_on_until_something_that_it_needs_is_removed() {
        let Some(server) = PostgreSql::shared() else {
            return;
        };
        let location =
            StoreLocation::parse(server.address(&server.new_database()).as_ref(), "".as_ref());
        let Engine::Postgres(server) = Engine::at(&location.unwrap()).unwrap() else {
            panic!("the address is that of a server");
        };
        let connection = Connection::Postgres(server.connect().unwrap());
        let update = |version: u32| update_by(&connection, &of_version(version));
        let is_usable = |by: u32| check_by(&connection, &of_version(by)).is_ok();
        update(2).unwrap();
        update(3).unwrap();
        assert!(is_usable(2) && is_usable(3));
        // It finds the tables of a later program, and leaves them as they are.
        update(2).unwrap();
        assert_eq!(found(&connection).unwrap().version, 3);

        let add_hub = |tables: u32, is_stopped: bool| {
            let record = NodeRecord {
                name: "ber-1".to_owned(),
                tables,
                is_hub: true,
                lease_ms: 120_000,
                is_stopped,
                ..NodeRecord::default()
            };
            let record = serde_json::to_string(&record).unwrap();
            connection
                .execute(
                    "INSERT INTO node (name, record, beat, seen)
                     VALUES ('ber-1', ?1, 1, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))
                     ON CONFLICT (name) DO UPDATE SET record = ?1",
                    [record],
                )
                .unwrap();
        };
        add_hub(2, false);
        let error = update(4).unwrap_err();
        assert!(
            matches!(&error, HistoryError::OlderHub(name) if name == "ber-1"),
            "{error}"
        );
        assert!(is_usable(2));
        add_hub(2, true);
        update(4).unwrap();
        assert!(!is_usable(2) && is_usable(3));
        assert!(matches!(update(2).unwrap_err(), HistoryError::Version(_)));
    }

    #[test]
    fn file_of_a_later_version_is_refused() {
        let connection = Connection::Sqlite(rusqlite::Connection::open_in_memory().unwrap());
        update_by(&connection, &of_version(3)).unwrap();
        let error = update_by(&connection, &of_version(2)).unwrap_err();
        assert!(matches!(error, HistoryError::Version(_)), "{error}");
    }
}

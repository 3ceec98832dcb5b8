//! The tables of a store as its engine knows them: columns, references, counters and triggers.

use std::collections::BTreeMap;

use rusqlite::params;

use super::HistoryError;
use super::sql::Connection;

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredTable {
    pub(super) name: String,
    /// Sorted by name: engines can have another order.
    pub(super) columns: Vec<String>,
    /// The other tables that it refers to.
    parents: Vec<String>,
}

/// The tables; one that others refer to comes before them.
pub(super) fn tables(connection: &Connection) -> Result<Vec<StoredTable>, HistoryError> {
    let names = texts(
        connection,
        connection.choose(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
            "SELECT CAST(relname AS TEXT) FROM pg_class
             WHERE relnamespace = to_regnamespace('switchtender') AND relkind = 'r'
                 AND relname <> 'schema_version'",
        ),
        None,
    )?;
    let mut waiting: BTreeMap<String, StoredTable> = BTreeMap::new();
    for name in names {
        let table = StoredTable {
            columns: columns(connection, &name)?,
            parents: parents(connection, &name)?,
            name: name.clone(),
        };
        waiting.insert(name, table);
    }
    let mut sorted = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let is_free = |table: &&StoredTable| {
            let mut parents = table.parents.iter();
            parents.all(|parent| !waiting.contains_key(parent))
        };
        let free: Vec<String> = (waiting.values().filter(is_free))
            .map(|table| table.name.clone())
            .collect();
        if free.is_empty() {
            let names: Vec<&str> = waiting.keys().map(String::as_str).collect();
            let text = format!("tables refer to each other: {}", names.join(", "));
            return Err(HistoryError::Invalid(text));
        }
        sorted.extend(free.iter().filter_map(|name| waiting.remove(name)));
    }
    Ok(sorted)
}

fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, HistoryError> {
    texts(
        connection,
        connection.choose(
            "SELECT name FROM pragma_table_info(?1)",
            "SELECT CAST(attname AS TEXT) FROM pg_attribute
             WHERE attrelid = to_regclass('switchtender.' || CAST(?1 AS TEXT))
                 AND attnum > 0 AND NOT attisdropped",
        ),
        Some(table),
    )
}

fn parents(connection: &Connection, table: &str) -> Result<Vec<String>, HistoryError> {
    let mut parents = texts(
        connection,
        connection.choose(
            "SELECT \"table\" FROM pragma_foreign_key_list(?1)",
            "SELECT CAST(relname AS TEXT) FROM pg_constraint
                 JOIN pg_class ON pg_class.oid = confrelid
             WHERE conrelid = to_regclass('switchtender.' || CAST(?1 AS TEXT)) AND contype = 'f'",
        ),
        Some(table),
    )?;
    parents.dedup();
    parents.retain(|parent| parent != table);
    Ok(parents)
}

/// The sorted texts of a query with at most one value.
fn texts(
    connection: &Connection,
    query: &str,
    value: Option<&str>,
) -> Result<Vec<String>, HistoryError> {
    let mut select = connection.prepare_cached(query)?;
    let mut found: Vec<String> = match value {
        Some(value) => select.query_all([value], |row| row.get(0))?,
        None => select.query_all([], |row| row.get(0))?,
    };
    found.sort();
    Ok(found)
}

/// The number of rows of a table.
pub(super) fn count(connection: &Connection, table: &str) -> Result<u64, HistoryError> {
    let query = format!("SELECT count(*) FROM \"{table}\"");
    let rows: i64 = connection.query_row(&query, [], |row| row.get(0))?;
    Ok(u64::try_from(rows).unwrap_or_default())
}

/// The last numbers that counters of the store gave, by `TABLE_COLUMN_seq`: a number is never used again.
pub(super) fn counters(connection: &Connection) -> Result<BTreeMap<String, i64>, HistoryError> {
    let mut counters = BTreeMap::new();
    if let Connection::Sqlite(_) = connection {
        let query = "SELECT sqlite_sequence.name || '_' ||
                 (SELECT name FROM pragma_table_info(sqlite_sequence.name) WHERE pk = 1) || '_seq',
                 seq FROM sqlite_sequence";
        let mut select = connection.prepare_cached(query)?;
        select.query_each([], |row| {
            counters.insert(row.get(0)?, row.get(1)?);
            Ok(())
        })?;
        return Ok(counters);
    }
    for sequence in texts(connection, SEQUENCES, None)? {
        let query = format!(
            "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM switchtender.\"{sequence}\""
        );
        let last = connection.query_row(&query, [], |row| row.get(0))?;
        counters.insert(sequence, last);
    }
    Ok(counters)
}

const SEQUENCES: &str = "SELECT CAST(relname AS TEXT) FROM pg_class
     WHERE relnamespace = to_regnamespace('switchtender') AND relkind = 'S'";

/// Sets the counters: the next numbers follow those of a store that was copied, and those of the rows.
pub(super) fn set_counters(
    connection: &Connection,
    counters: &BTreeMap<String, i64>,
) -> Result<(), HistoryError> {
    if let Connection::Sqlite(_) = connection {
        let query = "SELECT name, name || '_' ||
                 (SELECT name FROM pragma_table_info(sqlite_schema.name) WHERE pk = 1) || '_seq'
             FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'";
        let mut select = connection.prepare_cached(query)?;
        let tables: Vec<(String, String)> =
            select.query_all([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (table, counter) in tables {
            let own = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";
            let own: i64 = connection.query_row(own, [&table], |row| row.get(0))?;
            let last = counters.get(&counter).map_or(own, |last| own.max(*last));
            connection.execute("DELETE FROM sqlite_sequence WHERE name = ?1", [&table])?;
            let insert = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
            connection.execute(insert, params![table, last])?;
        }
        return Ok(());
    }
    for sequence in texts(connection, SEQUENCES, None)? {
        let column = "SELECT CAST(owner.relname AS TEXT), CAST(attname AS TEXT)
             FROM pg_depend JOIN pg_class AS owner ON owner.oid = refobjid
                 JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
             WHERE objid = to_regclass('switchtender.' || CAST(?1 AS TEXT)) AND refobjsubid > 0";
        let mut select = connection.prepare_cached(column)?;
        let column: Vec<(String, String)> =
            select.query_all([&sequence], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let largest = match column.first() {
            Some((table, column)) => {
                format!("SELECT coalesce(max(\"{column}\"), 0) FROM \"{table}\"")
            }
            // The epochs of leases: a file has no such counter, and no new lease may be older than a state.
            None => "SELECT coalesce(max(epoch), 0) FROM device_state".to_owned(),
        };
        let largest: i64 = connection.query_row(&largest, [], |row| row.get(0))?;
        let counted = counters.get(&sequence).copied().unwrap_or_default();
        let last = counted.max(largest);
        let set = format!(
            "SELECT setval('switchtender.\"{sequence}\"', {}, {})",
            last.max(1),
            last > 0
        );
        let _: i64 = connection.query_row(&set, [], |row| row.get(0))?;
    }
    Ok(())
}

/// Triggers that do nothing until they are restored.
pub(super) struct DisabledTriggers {
    /// The statements that restore them.
    restore: Vec<String>,
}

impl DisabledTriggers {
    /// Disables the triggers of all tables in this transaction.
    pub(super) fn of(
        connection: &Connection,
        tables: &[StoredTable],
    ) -> Result<Self, HistoryError> {
        let mut restore = Vec::new();
        if let Connection::Sqlite(_) = connection {
            let all = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'";
            let mut select = connection.prepare_cached(all)?;
            let triggers: Vec<(String, String)> =
                select.query_all([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            for (name, text) in triggers {
                connection.execute_batch(&format!("DROP TRIGGER \"{name}\""))?;
                restore.push(text);
            }
        } else {
            for table in tables {
                let alter = format!("ALTER TABLE switchtender.\"{}\"", table.name);
                connection.execute_batch(&format!("{alter} DISABLE TRIGGER USER"))?;
                restore.push(format!("{alter} ENABLE TRIGGER USER"));
            }
        }
        Ok(Self { restore })
    }

    pub(super) fn restore(self, connection: &Connection) -> Result<(), HistoryError> {
        let mut statements = self.restore.iter();
        statements.try_for_each(|statement| connection.execute_batch(statement))
    }
}

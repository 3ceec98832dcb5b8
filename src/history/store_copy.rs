//! Copies the tables of a store into an empty one, also of the other engine, in one transaction.
//!
//! The tables are those that the source has, so a new one needs nothing here. A copy that is interrupted leaves the
//! target empty; repeat it.

use std::path::Path;

use rusqlite::OpenFlags;
use rusqlite::types::{ToSql, Value};
use serde::Serialize;

use super::engine::{self, Engine};
use super::sql::{Connection, Row};
use super::tables::{self, DisabledTriggers, StoredTable};
use super::{HistoryError, HistoryStore, StoreLocation, schema};

/// Tables that an export leaves out: logins, secrets and the state of devices are for the processes of this store.
const PRIVATE_TABLES: [&str; 6] = [
    "access_key",
    "browser_session",
    "device_state",
    "live_event",
    "once_secret",
    "state_key",
];

/// Tables that are never copied: they are about the processes and the server of a store.
const SERVER_TABLES: [&str; 3] = ["fleet_server", "lease", "node"];

/// The most values and about the most bytes of one statement.
const MOST_VALUES: usize = 2000;
const MOST_BYTES: usize = 4 << 20;
/// Rows that a server sends at once.
const FETCHED_ROWS: usize = 500;

/// The rows of a table that was copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CopiedTable {
    pub(crate) table: String,
    pub(crate) rows: u64,
}

/// Which tables are copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copied {
    All,
    /// All but [`PRIVATE_TABLES`].
    Exported,
}

impl HistoryStore {
    /// Copies the history into a new file, also while it is in use. What only this store needs is left out.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub(crate) fn export(&self, to: &Path) -> Result<(), HistoryError> {
        if to.exists() {
            return Err(HistoryError::Exists(to.to_owned()));
        }
        let source = Engine::at(self.location())?.connect_reader()?;
        let target = StoreLocation::File(to.to_owned());
        let copied = copy_tables(&source, &target, Copied::Exported);
        if copied.is_err() {
            // The copy is not complete.
            let _ = std::fs::remove_file(to);
        }
        copied.map(drop)
    }
}

/// Copies all tables into an empty store. No process may use either of both.
///
/// # Errors
/// The source cannot be read, a process of a server uses one of them, or the target is not empty or cannot be written.
pub(crate) fn copy(
    from: &StoreLocation,
    to: &StoreLocation,
) -> Result<Vec<CopiedTable>, HistoryError> {
    let source = Engine::at(from)?.connect_reader()?;
    schema::check(&source)?;
    refuse_other_processes(&source, from)?;
    copy_tables(&source, to, Copied::All)
}

fn copy_tables(
    source: &Connection,
    to: &StoreLocation,
    copied: Copied,
) -> Result<Vec<CopiedTable>, HistoryError> {
    let target = Engine::at(to)?.connect_writer(None)?;
    refuse_other_processes(&target, to)?;
    source.execute_batch(
        source.choose("BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"),
    )?;
    schema::begin_write(&target)?;
    let result = StoreCopy {
        source,
        target: &target,
        copied,
    }
    .run(to);
    let end = if result.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = target.execute_batch(end);
    let _ = source.execute_batch("COMMIT");
    let tables = result?;
    ended?;
    Ok(tables)
}

/// A file has a lock of its own, which the caller holds.
fn refuse_other_processes(
    connection: &Connection,
    location: &StoreLocation,
) -> Result<(), HistoryError> {
    if let Connection::Sqlite(_) = connection {
        return Ok(());
    }
    let others = "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()
             AND application_name = current_setting('application_name')";
    let others: i64 = connection.query_row(others, [], |row| row.get(0))?;
    if others == 0 {
        return Ok(());
    }
    Err(HistoryError::Address(format!(
        "other processes use {location}: stop them first ({others} connections)"
    )))
}

struct StoreCopy<'c> {
    source: &'c Connection,
    target: &'c Connection,
    copied: Copied,
}

impl StoreCopy<'_> {
    fn run(&self, to: &StoreLocation) -> Result<Vec<CopiedTable>, HistoryError> {
        let (source, target) = (self.source, self.target);
        let mut all = tables::tables(target)?;
        compare(&tables::tables(source)?, &all)?;
        all.retain(|table| !SERVER_TABLES.contains(&table.name.as_str()));
        let fresh = fresh_store()?;
        for table in &all {
            let rows = tables::count(target, &table.name)?;
            if rows != tables::count(&fresh, &table.name)? {
                let name = &table.name;
                return Err(HistoryError::Address(format!(
                    "{to} is not empty (its table `{name}` has rows): name an empty database or a new file"
                )));
            }
        }
        let triggers = DisabledTriggers::of(target, &all)?;
        for table in all.iter().rev() {
            target.execute_batch(&format!("DELETE FROM \"{}\"", table.name))?;
        }
        let mut copied = Vec::new();
        for table in &all {
            if self.copied == Copied::Exported && PRIVATE_TABLES.contains(&table.name.as_str()) {
                continue;
            }
            copied.push(self.copy_table(table)?);
        }
        tables::set_counters(target, &tables::counters(source)?)?;
        triggers.restore(target)?;
        Ok(copied)
    }

    fn copy_table(&self, table: &StoredTable) -> Result<CopiedTable, HistoryError> {
        let mut batch = RowBatch {
            target: self.target,
            table,
            values: Vec::new(),
            bytes: 0,
        };
        self.each_row(table, &mut |row| batch.add(row))?;
        batch.write()?;
        let name = &table.name;
        let [read, written] = [self.source, self.target].map(|store| tables::count(store, name));
        let (read, written) = (read?, written?);
        if read != written {
            return Err(HistoryError::Invalid(format!(
                "the table `{name}` has {read} rows, and {written} were copied"
            )));
        }
        Ok(CopiedTable {
            table: name.clone(),
            rows: written,
        })
    }

    /// Calls a function with each row of the source. A server sends some at a time.
    fn each_row(
        &self,
        table: &StoredTable,
        read: &mut dyn FnMut(&Row<'_>) -> Result<(), HistoryError>,
    ) -> Result<(), HistoryError> {
        let name = &table.name;
        let select = format!("SELECT {} FROM \"{name}\"", quoted(&table.columns));
        if let Connection::Sqlite(_) = self.source {
            return self.source.prepare_cached(&select)?.query_each([], read);
        }
        let cursor = format!("copied_{name}");
        let declare = format!("DECLARE \"{cursor}\" NO SCROLL CURSOR FOR {select}");
        self.source.execute_batch(&declare)?;
        let fetch = format!("FETCH {FETCHED_ROWS} FROM \"{cursor}\"");
        loop {
            let mut rows = 0;
            self.source.prepare_cached(&fetch)?.query_each([], |row| {
                rows += 1;
                read(row)
            })?;
            if rows < FETCHED_ROWS {
                return self.source.execute_batch(&format!("CLOSE \"{cursor}\""));
            }
        }
    }
}

/// Rows that are written with one statement.
struct RowBatch<'c> {
    target: &'c Connection,
    table: &'c StoredTable,
    values: Vec<Value>,
    bytes: usize,
}

impl RowBatch<'_> {
    fn add(&mut self, row: &Row<'_>) -> Result<(), HistoryError> {
        let columns = self.table.columns.len();
        for column in 0..columns {
            let value: Value = row.get(column)?;
            self.bytes += match &value {
                Value::Text(text) => text.len(),
                Value::Blob(bytes) => bytes.len(),
                Value::Null | Value::Integer(_) | Value::Real(_) => 8,
            };
            self.values.push(value);
        }
        if self.values.len() + columns > MOST_VALUES || self.bytes > MOST_BYTES {
            return self.write();
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), HistoryError> {
        if self.values.is_empty() {
            return Ok(());
        }
        let columns = self.table.columns.len();
        let numbers: Vec<usize> = (1..=self.values.len()).collect();
        let rows: Vec<String> = (numbers.chunks(columns))
            .map(|row| {
                let places: Vec<String> = row.iter().map(|number| format!("?{number}")).collect();
                format!("({})", places.join(", "))
            })
            .collect();
        let insert = format!(
            "INSERT INTO \"{}\" ({}) VALUES {}",
            self.table.name,
            quoted(&self.table.columns),
            rows.join(", ")
        );
        let values: Vec<&dyn ToSql> = (self.values.iter())
            .map(|value| value as &dyn ToSql)
            .collect();
        self.target.execute(&insert, values.as_slice())?;
        self.values.clear();
        self.bytes = 0;
        Ok(())
    }
}

fn quoted(columns: &[String]) -> String {
    let columns = columns.iter().map(|column| format!("\"{column}\""));
    columns.collect::<Vec<_>>().join(", ")
}

/// Both stores have the same tables and columns.
fn compare(source: &[StoredTable], target: &[StoredTable]) -> Result<(), HistoryError> {
    let columns = |tables: &[StoredTable]| -> Vec<String> {
        let mut all: Vec<String> = (tables.iter())
            .flat_map(|table| {
                let name = &table.name;
                (table.columns.iter()).map(move |column| format!("{name}.{column}"))
            })
            .collect();
        all.sort();
        all
    };
    let (source, target) = (columns(source), columns(target));
    let differing = (source.iter().filter(|name| !target.contains(name)))
        .chain(target.iter().filter(|name| !source.contains(name)))
        .next();
    match differing {
        None => Ok(()),
        Some(name) => Err(HistoryError::Invalid(format!(
            "only one of both stores has `{name}`; open both with this program first"
        ))),
    }
}

/// A store that nothing was written to.
fn fresh_store() -> Result<Connection, HistoryError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = Connection::Sqlite(engine::connect(Path::new(":memory:"), flags)?);
    schema::update(&connection)?;
    Ok(connection)
}

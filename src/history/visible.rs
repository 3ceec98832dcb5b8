//! What a sender with limits sees of the history: connections on which each table has only the rows of visible
//! devices.
//!
//! A temporary view has the name of its table, and both engines find temporary names first. So the limit holds for
//! every query, and no query mentions it.

use super::HistoryError;
use super::device_state::{KnownDevice, known_device};
use super::sql::{Connection, postgres};

/// Tables with a view, and the rows of it. `{device}` is a set of the numbers of visible devices.
const VIEWS: [(&str, &str); 20] = [
    ("device", "id IN {device}"),
    ("schedule", "device IN {device}"),
    ("run", "device IN {device}"),
    ("folded_run", "device IN {device}"),
    ("approval", "device IN {device}"),
    ("resource", "device IN {device}"),
    ("fact", "device IN {device}"),
    ("configuration", "device IN {device}"),
    ("drift", "device IN {device}"),
    ("further_requester", RUN),
    ("resource_status", RUN),
    ("idempotency_key", RUN),
    ("ended_run", RUN),
    // They are for PuppetDB, and name all devices.
    ("puppetdb_command", "FALSE"),
    // They are for runs and nodes.
    ("device_state", "FALSE"),
    ("node", "FALSE"),
    ("live_event", "FALSE"),
    ("audit_entry", "FALSE"),
    ("run_count", ""),
    ("run_total", ""),
];

/// A row of a run.
const RUN: &str =
    "EXISTS (SELECT 1 FROM main.run AS own WHERE own.id = run AND own.device IN {device})";

/// Counts that are stored for all devices; those of visible devices are counted.
const COUNTS: [(&str, &str); 2] = [
    (
        "run_count",
        "SELECT hour, status, CAST(sum(runs) AS BIGINT) AS runs FROM (
             SELECT ended / 3600000 * 3600000 AS hour,
                 CASE WHEN is_unreachable THEN 'unreachable' ELSE status END AS status,
                 count(*) AS runs
             FROM main.run
             WHERE ended IS NOT NULL AND device IN {device} GROUP BY 1, 2
             UNION ALL
             SELECT day + CAST(value AS BIGINT) * 3600000, 'unchanged', count(*)
             FROM main.folded_run, json_each(hours)
             WHERE device IN {device} GROUP BY 1) AS counted
         GROUP BY 1, 2",
    ),
    (
        "run_total",
        "SELECT status, CAST(sum(runs) AS BIGINT) AS runs FROM (
             SELECT status, count(*) AS runs FROM main.run
             WHERE ended IS NOT NULL AND device IN {device} GROUP BY 1
             UNION ALL
             SELECT 'unchanged', runs FROM main.folded_run WHERE device IN {device}) AS counted
         GROUP BY 1",
    ),
];

const VISIBLE: &str = "(SELECT id FROM visible_device)";

/// Puts the views over the tables of a connection. It sees no device until [`select`].
pub(super) fn create_views(connection: &Connection) -> Result<(), HistoryError> {
    let mut batch = connection
        .choose("PRAGMA temp_store = MEMORY;", "")
        .to_owned();
    batch.push_str("CREATE TEMP TABLE visible_device (id BIGINT PRIMARY KEY);");
    for (table, rows) in VIEWS {
        let counts = COUNTS.iter().find(|(name, _)| *name == table);
        let select = match counts {
            Some((_, select)) => (*select).to_owned(),
            None => format!("SELECT * FROM main.{table} WHERE {rows}"),
        };
        let select = select.replace("{device}", VISIBLE);
        batch.push_str(&format!("CREATE TEMP VIEW {table} AS {select};"));
    }
    connection.execute_batch(&in_schema(connection, &batch))
}

/// Selects the devices that the views of a connection have.
pub(super) fn select(
    connection: &Connection,
    is_visible: &dyn Fn(&KnownDevice) -> bool,
) -> Result<(), HistoryError> {
    connection.execute("DELETE FROM visible_device", [])?;
    let all = "SELECT id, name, platform, site, labels, address, guarantee FROM main.device";
    let mut devices = connection.prepare_cached(&in_schema(connection, all))?;
    let mut visible: Vec<i64> = Vec::new();
    devices.query_each([], |row| {
        if is_visible(&known_device(row)?) {
            visible.push(row.get("id")?);
        }
        Ok(())
    })?;
    let visible = serde_json::to_string(&visible).expect("numbers are JSON");
    connection.execute(
        "INSERT INTO visible_device (id)
         SELECT CAST(value AS BIGINT) FROM json_each(CAST(?1 AS TEXT))",
        [visible],
    )?;
    Ok(())
}

/// A text that names the tables under the views; `main` is the schema of SQLite.
fn in_schema(connection: &Connection, text: &str) -> String {
    let schema = format!("{}.", connection.choose("main", postgres::SCHEMA));
    text.replace("main.", &schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{HistoryOptions, HistoryStore};

    /// Tables without a device: each other one must have a view.
    const OF_NO_DEVICE: [&str; 14] = [
        "requester",
        "puppetdb_queue",
        "puppetdb_lost",
        "webhook",
        "release",
        "release_file",
        "blob",
        "state_key",
        "lease",
        "site",
        "fleet_server",
        "access_key",
        "browser_session",
        "once_secret",
    ];

    #[test]
    fn each_table_of_devices_has_a_view() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.db");
        let history = HistoryStore::open(HistoryOptions::at(&path)).unwrap();
        let tables: Vec<String> = history
            .read(|reader| {
                let mut select = reader.connection.prepare_cached(
                    "SELECT name FROM main.sqlite_schema
                     WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
                )?;
                select.query_all([], |row| row.get(0))
            })
            .unwrap();
        for table in &tables {
            let has_view = VIEWS.iter().any(|(name, _)| name == table);
            let is_free = OF_NO_DEVICE.contains(&table.as_str());
            assert!(has_view != is_free, "{table} is in one of both lists");
        }
    }
}

//! What a sender with limits sees of the history: connections on which each table has only the rows of visible
//! devices.
//!
//! A temporary view has the name of its table, and SQLite finds temporary names first. So the limit holds for every
//! query, and no query mentions it.

use rusqlite::{Connection, params};

use super::HistoryError;
use super::device_state::{KnownDevice, known_device};

/// Tables with a view, and the rows of it. `{device}` is a set of the numbers of visible devices.
const VIEWS: [(&str, &str); 15] = [
    ("device", "id IN {device}"),
    ("schedule", "device IN {device}"),
    ("run", "device IN {device}"),
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
    ("puppetdb_command", "0"),
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
        "SELECT ended / 3600000 * 3600000 AS hour,
             CASE WHEN is_unreachable THEN 'unreachable' ELSE status END AS status, count(*) AS runs
         FROM main.run
         WHERE ended IS NOT NULL AND device IN {device} GROUP BY 1, 2",
    ),
    (
        "run_total",
        "SELECT status, count(*) AS runs FROM main.run
         WHERE ended IS NOT NULL AND device IN {device} GROUP BY 1",
    ),
];

const VISIBLE: &str = "(SELECT id FROM temp.visible_device)";

/// Puts the views over the tables of a connection. It sees no device until [`select`].
pub(super) fn create_views(connection: &Connection) -> Result<(), HistoryError> {
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    let mut batch = "CREATE TEMP TABLE visible_device (id INTEGER PRIMARY KEY);".to_owned();
    for (table, rows) in VIEWS {
        let counts = COUNTS.iter().find(|(name, _)| *name == table);
        let select = match counts {
            Some((_, select)) => (*select).to_owned(),
            None => format!("SELECT * FROM main.{table} WHERE {rows}"),
        };
        let select = select.replace("{device}", VISIBLE);
        batch.push_str(&format!("CREATE TEMP VIEW {table} AS {select};"));
    }
    Ok(connection.execute_batch(&batch)?)
}

/// Selects the devices that the views of a connection have.
pub(super) fn select(
    connection: &Connection,
    is_visible: &dyn Fn(&KnownDevice) -> bool,
) -> Result<(), HistoryError> {
    connection.execute("DELETE FROM temp.visible_device", [])?;
    let mut devices = connection
        .prepare_cached("SELECT id, name, platform, site, labels, address FROM main.device")?;
    let mut insert =
        connection.prepare_cached("INSERT INTO temp.visible_device (id) VALUES (?1)")?;
    let mut rows = devices.query([])?;
    while let Some(row) = rows.next()? {
        if is_visible(&known_device(row)?) {
            insert.execute(params![row.get::<_, i64>("id")?])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{HistoryOptions, HistoryStore};

    /// Tables without a device: each other one must have a view.
    const OF_NO_DEVICE: [&str; 4] = ["requester", "puppetdb_queue", "puppetdb_lost", "webhook"];

    #[test]
    fn each_table_of_devices_has_a_view() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.db");
        let history = HistoryStore::open(HistoryOptions::at(&path)).unwrap();
        let tables: Vec<String> = history
            .read(|reader| {
                let mut select = reader.connection.prepare(
                    "SELECT name FROM main.sqlite_schema
                     WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
                )?;
                let names = select.query_map([], |row| row.get(0))?;
                Ok(names.collect::<Result<_, _>>()?)
            })
            .unwrap();
        for table in &tables {
            let has_view = VIEWS.iter().any(|(name, _)| name == table);
            let is_free = OF_NO_DEVICE.contains(&table.as_str());
            assert!(has_view != is_free, "{table} is in one of both lists");
        }
    }

    #[test]
    fn connections_with_limits_see_only_visible_devices() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.db");
        let history = HistoryStore::open(HistoryOptions::at(&path)).unwrap();
        let device = |name: &str, site: &str| KnownDevice {
            name: name.to_owned(),
            platform: "cisco_ios".to_owned(),
            site: Some(site.to_owned()),
            labels: [("role".to_owned(), "core".to_owned())].into(),
            address: String::new(),
        };
        let devices = [device("sw1", "berlin"), device("sw2", "paris")];
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        history
            .write_and_wait(move |writer| writer.update_devices(&devices, true, now))
            .unwrap();
        for (site, expected) in [("berlin", "sw1"), ("paris", "sw2"), ("berlin", "sw1")] {
            let read =
                history.read_visible(&|device| device.site.as_deref() == Some(site), |reader| {
                    reader.fleet(&crate::history::devices::FleetFilter {
                        limit: 9,
                        ..Default::default()
                    })
                });
            let names: Vec<String> = read.unwrap().into_iter().map(|found| found.name).collect();
            assert_eq!(names, [expected]);
        }
        let all = history.read(|reader| reader.fleet_counts()).unwrap();
        assert_eq!(all.devices, 2);
    }
}

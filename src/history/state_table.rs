//! The structures of devices in a database, for several hosts.

use rusqlite::params;

use super::sql::OptionalRow as _;
use super::{HistoryError, HistoryReader, HistoryStore, HistoryWriter};
use crate::error_chain::chain;
use crate::store::state_table::{StateChange, StateRow, StateTable, StateTableError};

impl HistoryReader<'_> {
    fn state(&self, device: &str, file: &str) -> Result<Option<StateRow>, HistoryError> {
        let select = "SELECT body, epoch FROM device_state WHERE device = ?1 AND file = ?2";
        let found = self.connection.query_row(select, [device, file], |row| {
            Ok(StateRow {
                body: row.get("body")?,
                epoch: row.get("epoch")?,
            })
        });
        found.optional()
    }

    fn state_files(&self, device: &str) -> Result<Vec<String>, HistoryError> {
        let select = "SELECT file FROM device_state WHERE device = ?1";
        let mut select = self.connection.prepare_cached(select)?;
        let mut files: Vec<String> = select.query_all([device], |row| row.get(0))?;
        files.sort();
        Ok(files)
    }

    fn state_devices(&self) -> Result<Vec<String>, HistoryError> {
        let select = "SELECT DISTINCT device FROM device_state";
        let mut select = self.connection.prepare_cached(select)?;
        let mut devices: Vec<String> = select.query_all([], |row| row.get(0))?;
        devices.sort();
        Ok(devices)
    }

    fn state_key(&self) -> Result<Option<String>, HistoryError> {
        let select = "SELECT fingerprint FROM state_key WHERE id = 1";
        let found = self.connection.query_row(select, [], |row| row.get(0));
        found.optional()
    }
}

impl HistoryWriter<'_> {
    /// Changes a structure, unless one of the device has a higher epoch: then that epoch is returned.
    fn change_state(&self, change: &StateChange) -> Result<Option<i64>, HistoryError> {
        let newest = "SELECT coalesce(max(epoch), 0) FROM device_state WHERE device = ?1";
        let newest = (self.connection).query_row(newest, [&change.device], |row| row.get(0))?;
        let epoch = change.epoch.unwrap_or(newest);
        if epoch < newest {
            return Ok(Some(newest));
        }
        let StateChange { device, file, .. } = change;
        if let Some(body) = &change.body {
            let insert = "INSERT INTO device_state (device, file, body, epoch) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (device, file) DO UPDATE SET body = excluded.body, epoch = excluded.epoch";
            let values = params![device, file, body, epoch];
            self.connection.execute(insert, values)?;
        } else {
            let delete = "DELETE FROM device_state WHERE device = ?1 AND file = ?2";
            self.connection.execute(delete, [device, file])?;
        }
        Ok(None)
    }

    fn use_state_key(&self, fingerprint: &str) -> Result<String, HistoryError> {
        let insert =
            "INSERT INTO state_key (id, fingerprint) VALUES (1, ?1) ON CONFLICT DO NOTHING";
        self.connection.execute(insert, [fingerprint])?;
        let select = "SELECT fingerprint FROM state_key WHERE id = 1";
        self.connection.query_row(select, [], |row| row.get(0))
    }

    /// Gives up the key of the hosts: what it sealed stays, and nobody can read it.
    pub(crate) fn replace_state_key(&self, fingerprint: &str) -> Result<(), HistoryError> {
        let insert = "INSERT INTO state_key (id, fingerprint) VALUES (1, ?1)
            ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint";
        self.connection.execute(insert, [fingerprint])?;
        Ok(())
    }
}

impl std::fmt::Debug for HistoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HistoryStore({})", self.location())
    }
}

impl StateTable for HistoryStore {
    fn get(&self, device: &str, file: &str) -> Result<Option<StateRow>, StateTableError> {
        Ok(self.read(|reader| reader.state(device, file))?)
    }

    fn change(&self, change: &StateChange) -> Result<(), StateTableError> {
        let owned = change.clone();
        match self.write_and_wait(move |writer| writer.change_state(&owned))? {
            None => Ok(()),
            Some(newest) => Err(StateTableError::Stale {
                epoch: change.epoch.unwrap_or_default(),
                newest,
            }),
        }
    }

    fn files(&self, device: &str) -> Result<Vec<String>, StateTableError> {
        Ok(self.read(|reader| reader.state_files(device))?)
    }

    fn devices(&self) -> Result<Vec<String>, StateTableError> {
        Ok(self.read(|reader| reader.state_devices())?)
    }

    fn key(&self) -> Result<Option<String>, StateTableError> {
        Ok(self.read(|reader| reader.state_key())?)
    }

    fn use_key(&self, fingerprint: &str) -> Result<String, StateTableError> {
        let fingerprint = fingerprint.to_owned();
        Ok(self.write_and_wait(move |writer| writer.use_state_key(&fingerprint))?)
    }
}

impl From<HistoryError> for StateTableError {
    fn from(error: HistoryError) -> Self {
        let reason = chain(&error);
        match error {
            HistoryError::Full
            | HistoryError::Unreachable(_)
            | HistoryError::Silent
            | HistoryError::Lost
            | HistoryError::ReadOnly
            | HistoryError::Busy => Self::Unreachable { reason },
            _ => Self::Failed { reason },
        }
    }
}

//! Commands for PuppetDB, until it has accepted them.

use rusqlite::params;

use super::{HistoryError, HistoryReader, HistoryWriter};

/// Commands that wait at most: a PuppetDB that is gone must not fill the store.
const MAX_WAITING: i64 = 100_000;

/// A command in the form of PuppetDB's commands API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PuppetDbCommand {
    /// `replace_facts` or `store_report`.
    pub(crate) command: &'static str,
    /// The version of the command.
    pub(crate) version: u8,
    pub(crate) certname: String,
    /// The time at which its data was made.
    pub(crate) produced: String,
    /// JSON.
    pub(crate) body: String,
}

/// A command that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitingCommand {
    pub(crate) id: i64,
    pub(crate) command: String,
    pub(crate) version: u8,
    pub(crate) certname: String,
    pub(crate) produced: String,
    pub(crate) body: String,
}

impl HistoryWriter<'_> {
    /// Adds commands; the oldest are removed if too many wait.
    pub(crate) fn add_puppetdb_commands(
        &self,
        commands: &[PuppetDbCommand],
    ) -> Result<(), HistoryError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO puppetdb_command (command, version, certname, produced, body)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        let mut last = 0;
        for command in commands {
            last = insert.insert(params![
                command.command,
                command.version,
                command.certname,
                command.produced,
                command.body
            ])?;
        }
        let mut remove = self
            .connection
            .prepare_cached("DELETE FROM puppetdb_command WHERE id <= ?1")?;
        remove.execute([last - MAX_WAITING])?;
        Ok(())
    }

    pub(crate) fn remove_puppetdb_command(&self, id: i64) -> Result<(), HistoryError> {
        let mut remove = self
            .connection
            .prepare_cached("DELETE FROM puppetdb_command WHERE id = ?1")?;
        remove.execute([id])?;
        Ok(())
    }
}

impl HistoryReader<'_> {
    /// The oldest commands.
    pub(crate) fn puppetdb_commands(
        &self,
        limit: u32,
    ) -> Result<Vec<WaitingCommand>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT id, command, version, certname, produced, body FROM puppetdb_command
             ORDER BY id LIMIT ?1",
        )?;
        let rows = select.query_map([limit], |row| {
            Ok(WaitingCommand {
                id: row.get(0)?,
                command: row.get(1)?,
                version: row.get(2)?,
                certname: row.get(3)?,
                produced: row.get(4)?,
                body: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

//! Commands for PuppetDB, until it has accepted them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{HistoryError, HistoryReader, HistoryWriter};
use crate::clock::puppet_time;

/// Commands that wait at most, in number, bytes and age: a PuppetDB that is gone must not fill the store.
const MAX_WAITING: i64 = 100_000;
const MAX_BYTES: u64 = 1 << 30;
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The part of the maximum size of the store for commands, in percent.
const PART: u64 = 10;
/// Commands that are removed at once.
const STEP: i64 = 20;

/// Why PuppetDB never received a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostCommand {
    /// It was older than a week.
    Old,
    /// Too many waited.
    Full,
    /// PuppetDB rejected it.
    Rejected,
    /// A worker sent it, and the hub does not know the certname of the device.
    Unknown,
}

impl LostCommand {
    pub(crate) const ALL: [Self; 4] = [Self::Old, Self::Full, Self::Rejected, Self::Unknown];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::Full => "full",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
        }
    }
}

/// The commands that wait, and those that are lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandQueue {
    pub(crate) waiting: u64,
    pub(crate) bytes: u64,
    /// By reason, since the store began.
    pub(crate) lost: BTreeMap<String, u64>,
}

/// A command in the form of PuppetDB's commands API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PuppetDbCommand {
    /// `replace_facts` or `store_report`.
    pub(crate) command: Cow<'static, str>,
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
    /// Adds commands, and removes the oldest beyond the limits. Returns the number of removed ones.
    pub(crate) fn add_puppetdb_commands(
        &self,
        commands: &[PuppetDbCommand],
        max_size: Option<u64>,
        now: Timestamp,
    ) -> Result<usize, HistoryError> {
        if commands.is_empty() {
            return Ok(0);
        }
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
        let mut removed = self.remove_old_commands(now)?;
        let mut remove = self
            .connection
            .prepare_cached("DELETE FROM puppetdb_command WHERE id <= ?1")?;
        let mut full = remove.execute([last - MAX_WAITING])?;
        let limit = max_size.map_or(MAX_BYTES, |size| (size / 100 * PART).min(MAX_BYTES));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut bytes = self
            .connection
            .prepare_cached("SELECT bytes FROM puppetdb_queue")?;
        let mut remove_oldest = self.connection.prepare_cached(
            "DELETE FROM puppetdb_command WHERE id IN
                 (SELECT id FROM puppetdb_command ORDER BY id LIMIT ?1)",
        )?;
        let mut waiting = || bytes.query_row([], |row| row.get::<_, i64>(0));
        while waiting()? > limit {
            match remove_oldest.execute([STEP])? {
                0 => break,
                count => full += count,
            }
        }
        self.count_lost(LostCommand::Full, full)?;
        removed += full;
        Ok(removed)
    }

    /// Removes commands beyond the age limit. Returns their number.
    pub(super) fn remove_old_commands(&self, now: Timestamp) -> Result<usize, HistoryError> {
        let connection = self.connection;
        let oldest = HistoryReader { connection }.oldest_stored(MAX_AGE, now)?;
        // Commands are in the order of their times.
        let mut remove = self.connection.prepare_cached(
            "DELETE FROM puppetdb_command WHERE id < coalesce(
                 (SELECT id FROM puppetdb_command WHERE produced >= ?1 ORDER BY id LIMIT 1),
                 9223372036854775807)",
        )?;
        let removed = remove.execute([puppet_time(oldest)])?;
        self.count_lost(LostCommand::Old, removed)?;
        Ok(removed)
    }

    /// Removes a command that PuppetDB rejected.
    pub(crate) fn reject_puppetdb_command(&self, id: i64) -> Result<(), HistoryError> {
        self.remove_puppetdb_command(id)?;
        self.count_lost(LostCommand::Rejected, 1)
    }

    pub(crate) fn count_lost(
        &self,
        reason: LostCommand,
        commands: usize,
    ) -> Result<(), HistoryError> {
        if commands == 0 {
            return Ok(());
        }
        let mut count = self.connection.prepare_cached(
            "INSERT INTO puppetdb_lost (reason, commands) VALUES (?1, ?2)
             ON CONFLICT (reason) DO UPDATE SET commands = puppetdb_lost.commands + ?2",
        )?;
        let commands = i64::try_from(commands).unwrap_or(i64::MAX);
        count.execute(params![reason.word(), commands])?;
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
    /// The size of the queue.
    pub(crate) fn puppetdb_queue(&self) -> Result<CommandQueue, HistoryError> {
        let number = |query: &str| -> Result<u64, HistoryError> {
            let count: i64 = self.connection.query_row(query, [], |row| row.get(0))?;
            Ok(u64::try_from(count).unwrap_or_default())
        };
        let mut select = self
            .connection
            .prepare_cached("SELECT reason, commands FROM puppetdb_lost")?;
        let lost = select.query_all([], |row| {
            let commands: i64 = row.get(1)?;
            Ok((row.get(0)?, u64::try_from(commands).unwrap_or_default()))
        })?;
        Ok(CommandQueue {
            waiting: number("SELECT count(*) FROM puppetdb_command")?,
            bytes: number("SELECT bytes FROM puppetdb_queue")?,
            lost,
        })
    }

    /// The oldest commands.
    pub(crate) fn puppetdb_commands(
        &self,
        limit: u32,
    ) -> Result<Vec<WaitingCommand>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT id, command, version, certname, produced, body FROM puppetdb_command
             ORDER BY id LIMIT ?1",
        )?;
        select.query_all([limit], |row| {
            Ok(WaitingCommand {
                id: row.get(0)?,
                command: row.get(1)?,
                version: row.get(2)?,
                certname: row.get(3)?,
                produced: row.get(4)?,
                body: row.get(5)?,
            })
        })
    }
}

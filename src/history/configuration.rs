//! Running configurations as a chain of differences, with a complete text now and then.

use jiff::Timestamp;
use rusqlite::params;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use similar::TextDiff;

use super::sql::{OptionalRow as _, Row};
use super::text_delta::{self, TextDelta};
use super::time_column::{milliseconds, time};
use super::{HistoryError, HistoryReader, HistoryWriter, RunId};
use crate::coverage::counts::ClassCounts;
use crate::coverage::line_classes::LineClasses;

/// Number of differences after a complete text.
const CHAIN: i64 = 32;
/// Unchanged lines before and after a difference.
const CONTEXT: usize = 3;

/// A version of the configuration of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct ConfigurationVersion {
    pub(crate) id: i64,
    /// The run that read it first.
    pub(crate) run: RunId,
    pub(crate) time: Timestamp,
    pub(crate) lines_added: u32,
    pub(crate) lines_removed: u32,
}

impl HistoryWriter<'_> {
    /// Adds the configuration of a device if it changed.
    pub(super) fn add_configuration(
        &self,
        device: i64,
        run: RunId,
        now: Timestamp,
        text: &str,
    ) -> Result<(), HistoryError> {
        let digest = Sha256::digest(text)[..16].to_vec();
        let mut select = self.connection.prepare_cached(
            "SELECT id, digest FROM configuration WHERE device = ?1 ORDER BY id DESC LIMIT 1",
        )?;
        let last = select.query_row([device], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        });
        let last = last.optional()?;
        if last.as_ref().is_some_and(|(_, last)| *last == digest) {
            return Ok(());
        }
        let reader = HistoryReader {
            connection: self.connection,
        };
        let mut chain = 0_i64;
        let mut body = text.to_owned();
        let (mut added, mut removed) = (text.lines().count(), 0);
        if let Some((last, _)) = last {
            let (old, length) = reader.text_of(device, last)?;
            let delta = TextDelta::between(&old, text);
            (added, removed) = (delta.added, delta.removed);
            if length < CHAIN && delta.body.len() < text.len() / 2 {
                body = delta.body;
                chain = length + 1;
            }
        }
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO configuration
                 (device, run, time, is_complete, body, lines_added, lines_removed, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        insert.execute(params![
            device,
            run.0,
            milliseconds(now),
            chain == 0,
            body.as_bytes(),
            i64::try_from(added).unwrap_or(i64::MAX),
            i64::try_from(removed).unwrap_or(i64::MAX),
            digest
        ])?;
        Ok(())
    }

    /// Stores the classes of the lines of the newest configuration.
    pub(super) fn set_line_classes(
        &self,
        device: i64,
        classes: Option<&LineClasses>,
    ) -> Result<(), HistoryError> {
        let text = classes.map(ToString::to_string).unwrap_or_default();
        let update = "UPDATE device SET line_classes = ?2 WHERE id = ?1";
        let mut update = self.connection.prepare_cached(update)?;
        update.execute(params![device, text])?;
        Ok(())
    }

    /// Removes the versions of a device before a time; the one of that time stays, as a complete text.
    pub(super) fn remove_configurations(
        &self,
        device: i64,
        before: Timestamp,
    ) -> Result<usize, HistoryError> {
        let oldest: Option<i64> = self.connection.query_row(
            "SELECT max(id) FROM configuration WHERE device = ?1 AND time <= ?2",
            params![device, milliseconds(before)],
            |row| row.get(0),
        )?;
        let Some(oldest) = oldest else { return Ok(0) };
        let reader = HistoryReader {
            connection: self.connection,
        };
        let (text, _) = reader.text_of(device, oldest)?;
        self.connection.execute(
            "UPDATE configuration SET is_complete = TRUE, body = ?2
             WHERE id = ?1 AND NOT is_complete",
            params![oldest, text.as_bytes()],
        )?;
        let removed = self.connection.execute(
            "DELETE FROM configuration WHERE device = ?1 AND id < ?2",
            params![device, oldest],
        )?;
        Ok(removed)
    }
}

impl HistoryReader<'_> {
    /// The versions of a device's configuration, newest first.
    pub(crate) fn configurations(
        &self,
        device: &str,
        limit: u32,
        offset: u32,
    ) -> Result<Vec<ConfigurationVersion>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT id, run, time, lines_added, lines_removed FROM configuration
             WHERE device = (SELECT id FROM device WHERE name = ?1)
             ORDER BY id DESC LIMIT ?2 OFFSET ?3",
        )?;
        select.query_all(params![device, limit, offset], version)
    }

    /// The configuration of a device at a time; `None`: none was read until then.
    pub(crate) fn configuration_at(
        &self,
        device: &str,
        at: Timestamp,
    ) -> Result<Option<(ConfigurationVersion, String)>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT id, run, time, lines_added, lines_removed, device FROM configuration
             WHERE device = (SELECT id FROM device WHERE name = ?1) AND time <= ?2
             ORDER BY id DESC LIMIT 1",
        )?;
        let found = select.query_row(params![device, milliseconds(at)], |row| {
            Ok((version(row)?, row.get::<_, i64>("device")?))
        });
        let Some((version, device)) = found.optional()? else {
            return Ok(None);
        };
        let (text, _) = self.text_of(device, version.id)?;
        Ok(Some((version, text)))
    }

    /// The classes of the lines of a device's newest configuration.
    pub(crate) fn line_classes(&self, device: &str) -> Result<LineClasses, HistoryError> {
        let select = "SELECT line_classes FROM device WHERE name = ?1";
        let mut select = self.connection.prepare_cached(select)?;
        let text: Option<String> = select.query_row([device], |row| row.get(0)).optional()?;
        Ok(LineClasses::parse(&text.unwrap_or_default()))
    }

    /// The lines of all configurations of the inventory by class.
    pub(crate) fn config_lines(&self) -> Result<ClassCounts, HistoryError> {
        let select = "SELECT line_classes FROM device WHERE is_current AND line_classes <> ''";
        let mut select = self.connection.prepare_cached(select)?;
        let all: Vec<ClassCounts> = select.query_all([], |row| {
            let text: String = row.get(0)?;
            Ok(LineClasses::parse(&text).counts())
        })?;
        Ok(all.iter().sum())
    }

    /// The unified difference between the configurations at two times. A time before the first read
    /// has no lines.
    pub(crate) fn configuration_difference(
        &self,
        device: &str,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<String, HistoryError> {
        let text = |at| -> Result<String, HistoryError> {
            let found = self.configuration_at(device, at)?;
            Ok(found.map(|(_, text)| text).unwrap_or_default())
        };
        let (old, new) = (text(from)?, text(to)?);
        let diff = TextDiff::from_lines(&old, &new);
        let mut unified = diff.unified_diff();
        Ok(unified.context_radius(CONTEXT).to_string())
    }

    /// The unified difference between the newest configurations of two devices.
    pub(crate) fn device_difference(&self, from: &str, to: &str) -> Result<String, HistoryError> {
        let text = |device: &str| -> Result<String, HistoryError> {
            let found = self.configuration_at(device, Timestamp::MAX)?;
            Ok(found.map(|(_, text)| text).unwrap_or_default())
        };
        let (old, new) = (text(from)?, text(to)?);
        let diff = TextDiff::from_lines(&old, &new);
        let mut unified = diff.unified_diff();
        Ok(unified.context_radius(CONTEXT).to_string())
    }

    /// The text of a version, and the number of differences since the last complete text.
    pub(super) fn text_of(&self, device: i64, id: i64) -> Result<(String, i64), HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT body FROM configuration
             WHERE device = ?1 AND id <= ?2 AND id >=
                 (SELECT max(id) FROM configuration
                  WHERE device = ?1 AND id <= ?2 AND is_complete)
             ORDER BY id",
        )?;
        let bodies: Vec<Vec<u8>> = select.query_all(params![device, id], |row| row.get(0))?;
        let mut text: Option<String> = None;
        let mut length = 0;
        for body in bodies {
            let invalid = || HistoryError::Invalid(format!("configuration {id}"));
            let body = String::from_utf8(body).map_err(|_| invalid())?;
            text = Some(match text {
                None => body,
                Some(old) => {
                    length += 1;
                    text_delta::apply(&old, &body).ok_or_else(invalid)?
                }
            });
        }
        let text = text.ok_or_else(|| HistoryError::Invalid(format!("configuration {id}")))?;
        Ok((text, length))
    }
}

fn version(row: &Row<'_>) -> rusqlite::Result<ConfigurationVersion> {
    Ok(ConfigurationVersion {
        id: row.get("id")?,
        run: RunId(row.get("run")?),
        time: time(row, "time")?,
        lines_added: row.get("lines_added")?,
        lines_removed: row.get("lines_removed")?,
    })
}

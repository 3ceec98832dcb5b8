//! Searches the resources of a device's catalog.

use jiff::Timestamp;
use rusqlite::params;

use super::time_column::optional_time;
use super::{HistoryError, HistoryReader, RunId};
use crate::transaction::{ResourceResult, ResourceStatus};

/// A resource with its last status.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResourceRow {
    pub(crate) resource: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) status: ResourceResult,
    /// The run of this status, and its end.
    pub(crate) run: RunId,
    pub(crate) ended: Option<Timestamp>,
    /// The declared attributes with their values. Empty: unknown.
    pub(crate) declared: Vec<(String, String)>,
    /// What that run found, if the resource was not unchanged.
    pub(crate) found: Option<ResourceStatus>,
}

const SELECTED: &str = "resource.device = (SELECT id FROM device WHERE name = ?1)
    AND removed IS NULL AND (?2 = '' OR instr(lower(reference), lower(?2)) > 0)";

impl HistoryReader<'_> {
    /// The resources whose references contain a text; those that are not unchanged come first.
    pub(crate) fn search_resources(
        &self,
        device: &str,
        text: &str,
        limit: u32,
        offset: u32,
    ) -> Result<Vec<ResourceRow>, HistoryError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT reference, file, line, last_status, last_run, run.ended AS ended, declared,
                 CASE WHEN last_status <> 'unchanged' THEN resource_status.record END AS found
             FROM resource LEFT JOIN run ON run.id = last_run
             LEFT JOIN resource_status
                 ON resource_status.resource = resource.id AND resource_status.run = last_run
             WHERE {SELECTED}
             ORDER BY last_status = 'unchanged', reference COLLATE natural_order LIMIT ?3 OFFSET ?4"
        ))?;
        select.query_all(params![device, text, limit, offset], |row| {
            let line: Option<i64> = row.get("line")?;
            Ok(ResourceRow {
                resource: row.get("reference")?,
                file: row.get("file")?,
                line: line.and_then(|line| u64::try_from(line).ok()),
                status: row.get("last_status")?,
                run: RunId(row.get("last_run")?),
                ended: optional_time(row, "ended")?,
                declared: parse(row.get("declared")?).unwrap_or_default(),
                found: parse(row.get("found")?),
            })
        })
    }

    /// The number of resources whose references contain a text.
    pub(crate) fn count_resources(&self, device: &str, text: &str) -> Result<u32, HistoryError> {
        let query = format!("SELECT count(*) FROM resource WHERE {SELECTED}");
        let mut select = self.connection.prepare_cached(&query)?;
        select.query_row(params![device, text], |row| row.get(0))
    }
}

/// What a column has as JSON.
fn parse<T: serde::de::DeserializeOwned>(text: Option<String>) -> Option<T> {
    serde_json::from_str(&text?).ok()
}

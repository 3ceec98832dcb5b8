//! Counts over time, for charts and metrics.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::time_column::{milliseconds, of_milliseconds};
use super::{HistoryError, HistoryReader};

/// The runs that ended in a period, also those that are folded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct PeriodCounts {
    pub(crate) start: Timestamp,
    /// By status, and `unreachable` for those that could not connect.
    pub(crate) runs: BTreeMap<String, u32>,
    /// Devices with drift at the end of the period.
    pub(crate) devices_with_drift: u32,
}

impl HistoryReader<'_> {
    /// The counts from a time on in periods of some hours; the last one can be incomplete.
    pub(crate) fn period_counts(
        &self,
        from: Timestamp,
        to: Timestamp,
        hours: u32,
    ) -> Result<Vec<PeriodCounts>, HistoryError> {
        let length = i64::from(hours.max(1)) * 3_600_000;
        let first = milliseconds(from).div_euclid(length) * length;
        let last = milliseconds(to);
        let mut runs = self.runs_by_period(first, length)?;
        let mut counts = Vec::new();
        let mut drift = self.connection.prepare_cached(
            "SELECT count(DISTINCT device) FROM drift
             WHERE since < ?1 AND (ended IS NULL OR ended >= ?1)",
        )?;
        let mut start = first;
        while start < last {
            let end = start + length;
            counts.push(PeriodCounts {
                start: of_milliseconds(start),
                runs: runs.remove(&start).unwrap_or_default(),
                devices_with_drift: drift.query_row([end.min(last)], |row| row.get(0))?,
            });
            start = end;
        }
        Ok(counts)
    }

    /// The runs by status of each period from a time on.
    fn runs_by_period(
        &self,
        first: i64,
        length: i64,
    ) -> Result<BTreeMap<i64, BTreeMap<String, u32>>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT hour / ?2 * ?2 AS start, status, CAST(sum(runs) AS BIGINT) FROM run_count
             WHERE hour >= ?1 GROUP BY 1, 2",
        )?;
        let mut runs: BTreeMap<i64, BTreeMap<String, u32>> = BTreeMap::new();
        select.query_each([first, length], |row| {
            let period = runs.entry(row.get(0)?).or_default();
            period.insert(row.get(1)?, row.get(2)?);
            Ok(())
        })?;
        Ok(runs)
    }

    /// All ended runs by status, since the history began.
    pub(crate) fn total_counts(&self) -> Result<BTreeMap<String, u64>, HistoryError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT status, runs FROM run_total")?;
        select.query_all([], |row| {
            let runs: i64 = row.get(1)?;
            Ok((row.get(0)?, u64::try_from(runs).unwrap_or_default()))
        })
    }
}

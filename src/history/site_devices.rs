//! The devices of each site: how many, how late, and what their platforms promise about late writes.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::leases::DEFAULT_SITE;
use super::time_column::{milliseconds, optional_time};
use super::{HistoryError, HistoryReader};

/// The devices of a site that the inventory has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SiteDevices {
    /// The number of devices by the class of the guarantee; `unknown`, if their platform is.
    pub(crate) guarantees: BTreeMap<String, u32>,
    /// How late the scheduled run is that has waited longest.
    pub(crate) lateness_seconds: i64,
}

impl HistoryReader<'_> {
    /// The devices by site.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn site_devices(
        &self,
        now: Timestamp,
    ) -> Result<BTreeMap<String, SiteDevices>, HistoryError> {
        // The time of a run in progress has been replaced when it ends.
        let mut select = self.connection.prepare_cached(
            "SELECT coalesce(site, ?1) AS name, coalesce(guarantee, 'unknown') AS class,
                 count(*) AS devices,
                 min(CASE WHEN paused_since IS NULL AND NOT EXISTS (
                     SELECT 1 FROM run WHERE run.device = device.id AND run.status = 'running'
                         AND run.ended IS NULL) THEN next_due END) AS oldest
             FROM device LEFT JOIN schedule ON schedule.device = device.id
             WHERE is_current GROUP BY 1, 2",
        )?;
        let mut sites: BTreeMap<String, SiteDevices> = BTreeMap::new();
        select.query_each([DEFAULT_SITE], |row| {
            let found = sites.entry(row.get("name")?).or_default();
            found
                .guarantees
                .insert(row.get("class")?, row.get("devices")?);
            if let Some(oldest) = optional_time(row, "oldest")? {
                let late = (milliseconds(now) - milliseconds(oldest)) / 1000;
                found.lateness_seconds = found.lateness_seconds.max(late);
            }
            Ok(())
        })?;
        Ok(sites)
    }
}

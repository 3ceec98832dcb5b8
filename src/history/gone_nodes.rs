//! Removes nodes and sites that are gone: each exchange of leases has all of them.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::params;

use super::lease_exchange::EXCHANGE_LOCK;
use super::leases::DEFAULT_SITE;
use super::time_column::milliseconds;
use super::{HistoryError, HistoryWriter};

/// A node that ended in order and starts again within this time is shown meanwhile.
const STOPPED_AGE: Duration = Duration::from_secs(24 * 60 * 60);

impl HistoryWriter<'_> {
    /// Removes nodes that have ended in order, unless they name sites: these are never run from elsewhere. Removes sites
    /// without devices, with their free leases; a site that gets devices again is added again.
    pub(crate) fn remove_gone_nodes(&self, now: Timestamp) -> Result<(), HistoryError> {
        let connection = self.connection;
        // An exchange waits for no row of this transaction.
        connection.execute_batch(connection.choose("", EXCHANGE_LOCK))?;
        let stopped = now.saturating_sub(STOPPED_AGE).unwrap_or(now);
        connection.execute(
            "DELETE FROM node WHERE seen < ?1
                 AND CAST(json_extract(record, '$.is_stopped') AS TEXT) IN ('1', 'true')
                 AND CAST(json_extract(record, '$.sites') AS TEXT) = '[]'",
            params![milliseconds(stopped)],
        )?;
        connection.execute(
            "DELETE FROM site WHERE NOT EXISTS (
                 SELECT 1 FROM device
                 WHERE device.is_current AND coalesce(device.site, ?1) = site.name)",
            params![DEFAULT_SITE],
        )?;
        // Leases that have an owner are free later.
        connection.execute(
            "DELETE FROM lease WHERE owner IS NULL AND instr(name, 'shard:') = 1
                 AND NOT EXISTS (SELECT 1 FROM site
                     WHERE instr(lease.name, 'shard:' || site.name || '/') = 1)",
            [],
        )?;
        Ok(())
    }
}

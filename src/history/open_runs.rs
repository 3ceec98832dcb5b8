//! Runs that have not ended.

use std::collections::BTreeSet;

use super::{HistoryError, HistoryReader};

impl HistoryReader<'_> {
    /// The devices that run now.
    pub(crate) fn running_devices(&self) -> Result<BTreeSet<String>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT device.name FROM run JOIN device ON device.id = run.device
             WHERE run.status = 'running' AND run.ended IS NULL",
        )?;
        select.query_all([], |row| row.get(0))
    }
}

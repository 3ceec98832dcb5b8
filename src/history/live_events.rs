//! Events of watched runs that are too long for a notification, for a minute.

use jiff::{SignedDuration, Timestamp};
use rusqlite::params;

use super::sql::OptionalRow as _;
use super::time_column::milliseconds;
use super::{HistoryError, HistoryReader, HistoryWriter};

/// Who watches has read them after this time.
const VALID: SignedDuration = SignedDuration::from_mins(1);

impl HistoryWriter<'_> {
    /// Stores events until a viewer has read them. Returns their number.
    pub(crate) fn add_live_events(&self, body: &str, now: Timestamp) -> Result<i64, HistoryError> {
        let mut remove =
            (self.connection).prepare_cached("DELETE FROM live_event WHERE time < ?1")?;
        remove.execute([milliseconds(now.saturating_sub(VALID).unwrap_or(now))])?;
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO live_event (body, time) VALUES (?1, ?2)")?;
        insert.insert(params![body, milliseconds(now)])
    }
}

impl HistoryReader<'_> {
    /// Events of a number. `None`: they were removed.
    pub(crate) fn live_events(&self, id: i64) -> Result<Option<String>, HistoryError> {
        let mut select =
            (self.connection).prepare_cached("SELECT body FROM live_event WHERE id = ?1")?;
        select.query_row([id], |row| row.get(0)).optional()
    }
}

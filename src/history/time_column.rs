//! Times in columns: milliseconds since 1970, in UTC.

use jiff::Timestamp;

use super::sql::Row;

/// A time as it is stored.
pub(crate) fn milliseconds(time: Timestamp) -> i64 {
    time.as_millisecond()
}

/// A stored time.
pub(crate) fn of_milliseconds(time: i64) -> Timestamp {
    Timestamp::from_millisecond(time).unwrap_or_default()
}

/// The time in a column that has one in every row.
pub(crate) fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Timestamp> {
    row.get(column).map(of_milliseconds)
}

/// The time in a column that can be empty.
pub(crate) fn optional_time(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Timestamp>> {
    let time: Option<i64> = row.get(column)?;
    Ok(time.map(of_milliseconds))
}

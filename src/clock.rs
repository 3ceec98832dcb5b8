//! The clock: the only module that reads the time, and the text form of a time.
//!
//! Other modules take the time as an argument, so that a run can be repeated.

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::{Offset, TimeZone};
use tokio::time::Instant;

/// The current time.
#[expect(clippy::disallowed_methods, reason = "the clock of the package")]
pub fn timestamp() -> Timestamp {
    Timestamp::now()
}

/// The current time for durations.
#[expect(clippy::disallowed_methods, reason = "the clock of the package")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// The time zone of the machine: schedules use local time.
pub(crate) fn zone() -> TimeZone {
    TimeZone::system()
}

/// A time in Puppet's format: ISO 8601 with nine decimals and a numeric offset.
pub(crate) fn puppet_time(time: Timestamp) -> String {
    const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(9));
    PRINTER.timestamp_with_offset_to_string(&time, Offset::UTC)
}

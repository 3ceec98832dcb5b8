//! The clock: the only module that reads the time, and the text form of a time.
//!
//! Other modules take the time as an argument, so that a run can be repeated.

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::{Offset, TimeZone};

/// The current time.
#[allow(clippy::disallowed_methods, reason = "the only place")]
pub fn timestamp() -> Timestamp {
    Timestamp::now()
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

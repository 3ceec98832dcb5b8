//! The one place that asks what time it is.
//!
//! Everything that needs the time is given it, so that runs can be repeated.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The present instant.
#[allow(clippy::disallowed_methods, reason = "the one place")]
pub fn timestamp() -> Timestamp {
    Timestamp::now()
}

/// The zone of the machine: schedules are told in local time.
pub fn zone() -> TimeZone {
    TimeZone::system()
}

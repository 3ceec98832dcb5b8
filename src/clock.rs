//! The one place that asks what time it is.
//!
//! Everything that needs the time is given it, so that runs can be repeated.

use jiff::{Timestamp, Zoned};

/// The present, in the zone of the machine: schedules are told in local time.
#[allow(clippy::disallowed_methods, reason = "the one place")]
pub fn now() -> Zoned {
    Zoned::now()
}

/// The present instant.
pub fn timestamp() -> Timestamp {
    now().timestamp()
}

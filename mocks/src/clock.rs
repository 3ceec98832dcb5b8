//! The clock: the only module that reads the time.

use std::time::{Instant, SystemTime};

/// The current time for durations.
#[expect(clippy::disallowed_methods, reason = "the clock of the package")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// The time of day that a mock device prints.
#[expect(clippy::disallowed_methods, reason = "the clock of the package")]
pub(crate) fn system_time() -> SystemTime {
    SystemTime::now()
}

//! The clock: the only module that reads the time.

use tokio::time::Instant;

/// The current time for durations.
#[expect(clippy::disallowed_methods, reason = "the clock of the package")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

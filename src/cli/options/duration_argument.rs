//! Durations on the command line.

use std::time::Duration;

use switchtender_devices::duration;

/// Reads a duration.
///
/// # Errors
/// The text is no duration, or zero.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    duration::parse(text)
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| "write a number with its unit: 30s, 10m, 8h".to_owned())
}

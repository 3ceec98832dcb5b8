//! When to repeat a request to an overloaded server.
//!
//! A response 429 or 503 with `Retry-After` is retried, at most [`ATTEMPTS`] times. Without the
//! header it is final. Jitter spreads the retries of many devices. The server dictates the delay,
//! so a crate for exponential backoff does not fit.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// Maximum number of retries of one request.
pub(crate) const ATTEMPTS: usize = 100;

/// The delay before the retry; `None`: no retry.
///
/// `jitter` between 0 and 1 extends the delay by up to a quarter.
pub(crate) fn wait(
    status: u16,
    retry_after: Option<&str>,
    attempt: usize,
    now: Timestamp,
    longest: Duration,
    jitter: f64,
) -> Option<Duration> {
    if !matches!(status, 429 | 503) || attempt >= ATTEMPTS {
        return None;
    }
    let delay = parse(retry_after?, now)?;
    Some(
        delay
            .mul_f64(1.0 + jitter.clamp(0.0, 1.0) / 4.0)
            .min(longest),
    )
}

/// Reads seconds or an HTTP date.
fn parse(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    static DATES: DateTimeParser = DateTimeParser::new();
    let then = DATES.parse_timestamp(text).ok()?;
    Some(Duration::try_from(then.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_requires_a_retry_after_header() {
        let now: Timestamp = "2026-11-21T08:00:00Z".parse().unwrap();
        let longest = Duration::from_secs(1800);
        let cases = [
            (503, Some("10"), 0, Some(10)),
            (429, Some("10"), 99, Some(10)),
            (503, Some("10"), 100, None),
            (503, None, 0, None),
            (503, Some("soon"), 0, None),
            (500, Some("10"), 0, None),
            (503, Some("90000"), 0, Some(1800)),
            (503, Some("Sat, 21 Nov 2026 08:00:30 GMT"), 0, Some(30)),
            (503, Some("Sat, 21 Nov 2026 07:00:00 GMT"), 0, Some(0)),
        ];
        for (status, header, attempt, expected) in cases {
            assert_eq!(
                wait(status, header, attempt, now, longest, 0.0),
                expected.map(Duration::from_secs),
                "{status} {header:?} {attempt}"
            );
        }
    }

    #[test]
    fn wait_grows_by_a_quarter_at_most() {
        let wait = |jitter| {
            wait(
                503,
                Some("8"),
                0,
                Timestamp::UNIX_EPOCH,
                Duration::MAX,
                jitter,
            )
        };
        assert_eq!(wait(0.0), Some(Duration::from_secs(8)));
        assert_eq!(wait(1.0), Some(Duration::from_secs(10)));
    }
}

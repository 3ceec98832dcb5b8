//! When to ask again a server that is too busy.
//!
//! 429 and 503 with `Retry-After` are asked again, at most [`ATTEMPTS`] times; without the header
//! the answer is final. Devices that were sent away together must not come back together, so each
//! waits a little longer than it was told, by a share of its own.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// How often a request is repeated at most.
pub const ATTEMPTS: usize = 100;

/// How long to wait before the request is repeated, if it is.
///
/// `share` is between 0 and 1 and differs from device to device.
pub fn wait(
    status: u16,
    retry_after: Option<&str>,
    attempt: usize,
    now: Timestamp,
    longest: Duration,
    share: f64,
) -> Option<Duration> {
    if !matches!(status, 429 | 503) || attempt >= ATTEMPTS {
        return None;
    }
    let told = parse(retry_after?, now)?;
    Some(told.mul_f64(1.0 + share.clamp(0.0, 1.0) / 4.0).min(longest))
}

/// Seconds, or a date.
fn parse(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    static DATES: DateTimeParser = DateTimeParser::new();
    let then = DATES.parse_timestamp(text).ok()?;
    Some(Duration::try_from(then.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// The share of a device: the same for the same name, spread over all names.
pub fn share(name: &str) -> f64 {
    // FNV-1a: spread matters here, secrecy does not.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    #[allow(
        clippy::cast_precision_loss,
        reason = "a share needs no more than 16 bits"
    )]
    {
        ((hash >> 48) as f64) / 65_536.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_that_says_when_is_asked_again() {
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
    fn devices_that_are_sent_away_together_come_back_apart() {
        let shares: Vec<f64> = (0..20).map(|n| share(&format!("sw{n}.lab.test"))).collect();
        let low = shares.iter().filter(|share| **share < 0.5).count();
        assert!((3..=17).contains(&low), "{shares:?}");
        let now = Timestamp::UNIX_EPOCH;
        let waited = wait(503, Some("8"), 0, now, Duration::MAX, 1.0);
        assert_eq!(waited, Some(Duration::from_secs(10)));
    }
}

//! The clock: the only module that reads the time, and the text form of a time.
//!
//! Other modules take the time as an argument, so that a run can be repeated.

use std::ops::Add;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::{Offset, TimeZone};
use tokio::time::Instant;

/// The start of the year 9000.
const LATEST: Timestamp = Timestamp::constant(221_845_392_000, 0);

/// The current time. A clock that is set to a later time than a timestamp can have must not end the
/// process, so the year 9000 is the last one: sums with durations are possible after it.
#[expect(clippy::disallowed_methods, reason = "the clock of the package")]
pub fn timestamp() -> Timestamp {
    timestamp_of(SystemTime::now())
}

fn timestamp_of(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).map_or(LATEST, |time| time.min(LATEST))
}

/// The current time for durations.
#[expect(clippy::disallowed_methods, reason = "the clock of the package")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// The time since the start of the machine, with the times of its suspension: the one clock of leases. Nobody can set
/// it, and it goes on while a process or the machine is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BootTime(Duration);

impl BootTime {
    pub(crate) const fn after_boot(duration: Duration) -> Self {
        Self(duration)
    }

    pub(crate) const fn since_boot(self) -> Duration {
        self.0
    }

    /// The time since an earlier one; zero if it is later.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for BootTime {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }
}

/// The current time for leases.
pub(crate) fn boot_time() -> BootTime {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    BootTime(Duration::new(seconds, nanoseconds))
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

/// [`puppet_time`] in JSON.
pub(crate) mod puppet_times {
    use jiff::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(
        time: &Timestamp,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::puppet_time(*time))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// A time for people, in the zone of this host with its offset: `2026-11-24 13:00:00 +01:00`.
pub(crate) fn local_text(time: Timestamp) -> String {
    let local = time.to_zoned(jiff::tz::TimeZone::system());
    local.strftime("%F %T %:z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_a_latest_year() {
        let after = |seconds| timestamp_of(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(after(1_000_000_000).to_string(), "2001-09-09T01:46:40Z");
        // The year 12000.
        assert_eq!(after(316_516_000_000).to_string(), "9000-01-01T00:00:00Z");
    }
}

//! When a device runs, and what the run does. A function of the time.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};

use super::window::ChangeWindow;
use crate::run_kind::RunKind;

/// The schedule of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceSchedule {
    pub(crate) interval: Duration,
    /// The runs of devices with the same interval start within this time.
    pub(crate) splay: Duration,
    /// Runs outside are plans. Empty: runs may always change the device.
    pub(crate) windows: Vec<ChangeWindow>,
    pub(crate) zone: TimeZone,
    /// Whether runs change the device at all.
    pub(crate) applies: bool,
    /// Runs change the device only as a person approved.
    pub(crate) needs_approval: bool,
    /// Higher numbers run first.
    pub(crate) priority: i32,
}

/// Intervals that a failing device is delayed by at most.
const MAX_DELAY: u32 = 7;
/// The delay ends here even if the interval is long.
const DELAY_LIMIT: Duration = Duration::from_secs(6 * 60 * 60);
/// Missed runs start within this time.
const CATCH_UP_MILLISECONDS: u64 = 60 * 60 * 1000;

impl DeviceSchedule {
    /// The next time after `time` at which the device is due. The times of a device depend only on its
    /// name and interval: a restart does not move them.
    pub(crate) fn next_due(&self, device: &str, time: Timestamp) -> Timestamp {
        let interval = milliseconds(self.interval).max(1000);
        let splay = milliseconds(self.splay.min(self.interval)).max(1);
        let phase = i64::try_from(hash(device) % splay.unsigned_abs()).unwrap_or_default();
        let now = time.as_millisecond();
        let periods = (now - phase).div_euclid(interval) + 1;
        Timestamp::from_millisecond(periods * interval + phase).unwrap_or(Timestamp::MAX)
    }

    /// The time of the next run after `failures` failed runs in succession.
    pub(crate) fn next_after_failures(
        &self,
        device: &str,
        time: Timestamp,
        failures: u32,
    ) -> Timestamp {
        let delay = self.interval * self.delay(failures);
        let limit = DELAY_LIMIT.max(self.interval);
        let from = time.saturating_add(delay.min(limit)).unwrap_or(time);
        self.next_due(device, from)
    }

    /// When a device runs whose last run was missed: at its next time, within an hour at the latest. The
    /// missed runs of many devices are spread.
    pub(crate) fn catch_up(&self, device: &str, time: Timestamp) -> Timestamp {
        let delay = Duration::from_millis(hash(device) % CATCH_UP_MILLISECONDS);
        let soon = time.saturating_add(delay).unwrap_or(time);
        self.next_due(device, time).min(soon)
    }

    /// What a run at this time does that nobody approved.
    pub(crate) fn kind_at(&self, time: Timestamp) -> RunKind {
        if self.applies && !self.needs_approval && self.is_in_window(time) {
            RunKind::Apply
        } else {
            RunKind::Plan
        }
    }

    /// Why a run at this time only plans, although runs change the device at other times.
    pub(crate) fn plans_because(&self, time: Timestamp) -> Option<&'static str> {
        let may_apply = self.applies && !self.needs_approval;
        (may_apply && !self.is_in_window(time)).then_some("no change window of the device is open")
    }

    /// Whether the device may be changed at this time.
    pub(crate) fn is_in_window(&self, time: Timestamp) -> bool {
        let mut windows = self.windows.iter();
        self.windows.is_empty() || windows.any(|window| window.includes(time, &self.zone))
    }

    /// The intervals that are left out: 0, 1, 3, 7.
    fn delay(&self, failures: u32) -> u32 {
        let doubled = 1_u32.checked_shl(failures.saturating_sub(1));
        doubled.map_or(MAX_DELAY, |periods| (periods - 1).min(MAX_DELAY))
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4)
}

/// A number that is the same in every process.
fn hash(device: &str) -> u64 {
    let digest = Sha256::digest(device);
    let bytes: [u8; 8] = digest[..8].try_into().expect("a digest is longer");
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(interval: u64, splay: u64) -> DeviceSchedule {
        DeviceSchedule {
            interval: Duration::from_secs(interval),
            splay: Duration::from_secs(splay),
            windows: Vec::new(),
            zone: TimeZone::UTC,
            applies: true,
            needs_approval: false,
            priority: 0,
        }
    }

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn runs_are_one_interval_apart_and_independent_of_restarts() {
        let schedule = schedule(1800, 1800);
        let first = schedule.next_due("sw1", time("2026-11-24T12:00:00Z"));
        let second = schedule.next_due("sw1", first);
        assert_eq!(second.duration_since(first).as_secs(), 1800);
        let restarted = schedule.next_due("sw1", time("2026-11-24T12:00:01Z"));
        assert!(restarted == first || restarted == second);
    }

    #[test]
    fn runs_of_many_devices_are_spread_over_the_splay() {
        let schedule = schedule(1800, 600);
        let start = time("2026-11-24T12:00:00Z");
        let mut minutes = [0_u32; 30];
        for number in 0..3000 {
            let due = schedule.next_due(&format!("sw{number}"), start);
            let minute = due.duration_since(start).as_secs() / 60;
            minutes[usize::try_from(minute).unwrap()] += 1;
        }
        let (early, late) = minutes.split_at(10);
        assert!(
            early.iter().all(|count| (200..400).contains(count)),
            "{minutes:?}"
        );
        assert!(late.iter().all(|count| *count == 0), "{minutes:?}");
    }

    #[test]
    fn failing_devices_are_delayed_more_and_more_up_to_a_limit() {
        let schedule = schedule(1800, 1800);
        let now = time("2026-11-24T12:00:00Z");
        let first = schedule.next_due("sw1", now);
        let periods = |failures| {
            let due = schedule.next_after_failures("sw1", now, failures);
            due.duration_since(first).as_secs() / 1800
        };
        let delays: Vec<i64> = [0, 1, 2, 3, 4, 5, 40].map(periods).to_vec();
        assert_eq!(delays, [0, 0, 1, 3, 7, 7, 7]);
    }

    #[test]
    fn runs_outside_the_windows_are_plans() {
        let mut schedule = schedule(1800, 1800);
        schedule.windows = vec!["Tue 22:00-23:00".parse().unwrap()];
        assert_eq!(
            schedule.kind_at(time("2026-11-24T22:30:00Z")),
            RunKind::Apply
        );
        assert_eq!(
            schedule.kind_at(time("2026-11-24T23:30:00Z")),
            RunKind::Plan
        );
        let reason = |schedule: &DeviceSchedule| {
            [22, 23].map(|hour| schedule.plans_because(time(&format!("2026-11-24T{hour}:30:00Z"))))
        };
        let closed = Some("no change window of the device is open");
        assert_eq!(reason(&schedule), [None, closed]);
        schedule.needs_approval = true;
        assert_eq!(reason(&schedule), [None, None]);
        assert_eq!(
            schedule.kind_at(time("2026-11-24T22:30:00Z")),
            RunKind::Plan
        );
        schedule.applies = false;
        assert_eq!(
            schedule.kind_at(time("2026-11-24T22:30:00Z")),
            RunKind::Plan
        );
    }
}

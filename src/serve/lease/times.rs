//! The times of a lease: when its owner renews it and stops, and when another node may take it.

use std::time::Duration;

use switchtender_devices::session::fence::UNACKNOWLEDGED_LIMIT;

use crate::fleet::device_run::STOP_GRACE;

/// Nodes learn within this time what the operator wants, also with long leases.
const LONGEST_BEAT: Duration = Duration::from_secs(10);

/// The times of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseTimes {
    pub(crate) lease: Duration,
}

impl LeaseTimes {
    /// Interval between renewals.
    pub(crate) fn beat(self) -> Duration {
        (self.lease / 12).min(LONGEST_BEAT)
    }

    /// After this time without a renewal, runs end in order.
    pub(crate) fn stop(self) -> Duration {
        self.lease * 17 / 24
    }

    /// After this time without a renewal, nothing is written.
    pub(crate) fn fence(self) -> Duration {
        self.lease * 9 / 10
    }

    /// The time that runs have after the stop: they end before the fence, which would cut a change. The stop can be
    /// a beat late.
    pub(crate) fn stop_grace(self) -> Duration {
        (self.lease / 12).min(STOP_GRACE)
    }

    /// How long the kernel repeats bytes that a device does not acknowledge: the last ones are sent before the takeover.
    pub(crate) fn unacknowledged_limit(self) -> Duration {
        (self.lease / 10).min(UNACKNOWLEDGED_LIMIT)
    }

    /// After this time without a change of the beat, another node may take the lease: clocks differ by at most 10 %.
    pub(crate) fn takeover(self) -> Duration {
        self.lease * 11 / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_their_bytes_end_before_the_takeover_with_each_lease() {
        for seconds in [2, 10, 30, 52, 100, 120, 600, 3600] {
            let lease = Duration::from_secs(seconds);
            let times = LeaseTimes { lease };
            let ended = times.stop() + times.beat() + times.stop_grace();
            assert!(ended <= times.fence(), "{seconds}: {ended:?}");
            // The clock of the owner is slow by a tenth.
            let last_byte = (times.fence() + times.unacknowledged_limit()) * 11 / 10;
            assert!(last_byte <= times.takeover(), "{seconds}: {last_byte:?}");
            // Zero is no limit.
            assert!(times.unacknowledged_limit() >= Duration::from_millis(200));
        }
    }
}

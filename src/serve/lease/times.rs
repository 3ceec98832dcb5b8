//! The times of a lease: when its owner renews it and stops, and when another node may take it.

use std::time::Duration;

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

    /// After this time without a change of the beat, another node may take the lease: clocks differ by at most 10 %.
    pub(crate) fn takeover(self) -> Duration {
        self.lease * 11 / 10
    }
}

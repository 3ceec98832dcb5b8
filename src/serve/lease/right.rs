//! The right of a run to change its device: the lease of the shard, as the last renewal left it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchtender_devices::session::fence::{Fence, FenceError};
use tokio_util::sync::CancellationToken;

use super::times::LeaseTimes;
use crate::clock::{self, BootTime};
use crate::history::leases::LeaseSubject;
use crate::history::run::RunRight;

/// A lease of this process. Who has it works: it is released after the last one dropped it.
#[derive(Debug)]
pub(crate) struct LeaseRight {
    pub(crate) subject: LeaseSubject,
    /// What runs store about it.
    pub(crate) run: RunRight,
    times: LeaseTimes,
    /// When the last renewal was sent, in milliseconds since the boot.
    sent: AtomicU64,
    is_lost: AtomicBool,
    is_ending: AtomicBool,
    runs: Mutex<LeaseRuns>,
    smallest_margin: Arc<AtomicU64>,
}

/// The runs of a lease.
#[derive(Debug)]
struct LeaseRuns {
    /// Ends those that change a device, before the lease expires.
    stop: CancellationToken,
    /// Devices that were changed since the acquisition.
    changed: BTreeSet<String>,
}

impl LeaseRight {
    pub(super) fn new(
        (subject, run): (LeaseSubject, RunRight),
        times: LeaseTimes,
        stop: &CancellationToken,
        smallest_margin: &Arc<AtomicU64>,
    ) -> Self {
        Self {
            subject,
            run,
            times,
            sent: AtomicU64::new(0),
            is_lost: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            runs: Mutex::new(LeaseRuns {
                stop: stop.child_token(),
                changed: BTreeSet::new(),
            }),
            smallest_margin: Arc::clone(smallest_margin),
        }
    }

    /// The lease was renewed with a request of this time.
    pub(super) fn renew(&self, sent: BootTime, is_ending: bool, stop: &CancellationToken) {
        self.sent
            .store(milliseconds(sent.since_boot()), Ordering::SeqCst);
        self.is_ending.store(is_ending, Ordering::SeqCst);
        let mut runs = self.runs();
        if runs.stop.is_cancelled() {
            // Runs that begin now are not those that were stopped.
            runs.stop = stop.child_token();
        }
    }

    /// Another node may have the lease: nothing is written any more.
    pub(super) fn mark_lost(&self) {
        self.is_lost.store(true, Ordering::SeqCst);
        self.runs().stop.cancel();
    }

    /// Ends the runs in order, if the lease was not renewed for a long time.
    pub(super) fn stop_if_old(&self, now: BootTime) {
        if self.age(now) >= self.times.stop() {
            self.runs().stop.cancel();
        }
    }

    /// No work begins any more. Returns whether it could before.
    pub(super) fn end(&self) -> bool {
        !self.is_ending.swap(true, Ordering::SeqCst)
    }

    /// Whether work may begin.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_lost.load(Ordering::SeqCst) && !self.is_ending.load(Ordering::SeqCst)
    }

    /// Ends runs that change the device before the lease expires.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.runs().stop.clone()
    }

    /// The time that its runs have after the stop.
    pub(crate) fn stop_grace(&self) -> Duration {
        self.times.stop_grace()
    }

    /// Whether this process has changed a device since it acquired the lease.
    pub(crate) fn has_changed(&self, device: &str) -> bool {
        self.runs().changed.contains(device)
    }

    pub(crate) fn set_changed(&self, device: &str) {
        self.runs().changed.insert(device.to_owned());
    }

    fn age(&self, now: BootTime) -> Duration {
        let sent = Duration::from_millis(self.sent.load(Ordering::SeqCst));
        now.since(BootTime::after_boot(sent))
    }

    fn runs(&self) -> MutexGuard<'_, LeaseRuns> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fence for LeaseRight {
    fn check(&self) -> Result<(), FenceError> {
        self.check_at(clock::boot_time())
    }

    fn unacknowledged_limit(&self) -> Duration {
        self.times.unacknowledged_limit()
    }
}

impl LeaseRight {
    /// Whether a write is permitted at a time.
    pub(super) fn check_at(&self, now: BootTime) -> Result<(), FenceError> {
        let age = self.age(now);
        let subject = &self.subject;
        if self.is_lost.load(Ordering::SeqCst) {
            let reason =
                format!("another node has the lease `{subject}` and may change the device");
            return Err(FenceError { reason });
        }
        let Some(margin) = self.times.fence().checked_sub(age) else {
            return Err(FenceError {
                reason: format!(
                    "the lease `{subject}` was last renewed {} s ago, so another node may change the device",
                    age.as_secs()
                ),
            });
        };
        self.smallest_margin
            .fetch_min(milliseconds(margin), Ordering::Relaxed);
        Ok(())
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

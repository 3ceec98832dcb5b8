//! Decides which device runs next: the schedules, the queue and their state. The time is an argument.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::lease::leases::SiteShare;
use super::queue::{QueueLimits, RunQueue, WaitReason, Waiting};
use super::schedule::DeviceSchedule;
use crate::fleet::limits::Membership;
use crate::history::RunId;
use crate::history::device_state::StoredSchedule;
use crate::run_kind::RunKind;

/// A device with its schedule.
#[derive(Clone, Debug)]
pub(crate) struct ScheduledDevice {
    pub(crate) name: Arc<str>,
    pub(crate) schedule: Arc<DeviceSchedule>,
    pub(crate) member: Membership,
}

/// Why a run starts.
#[derive(Clone, Debug)]
pub(crate) enum RunCause {
    Schedule,
    /// A stored request.
    Request {
        run: RunId,
        /// `None`: as a scheduled run.
        kind: Option<RunKind>,
    },
}

/// Why a scheduled run only plans while results are spooled.
pub(super) const WITHOUT_STORE: &str = "the store cannot be used";

/// A run that starts now.
#[derive(Clone, Debug)]
pub(crate) struct RunToStart {
    pub(crate) device: Arc<str>,
    pub(crate) kind: RunKind,
    /// Why it is a plan, although runs change the device at other times.
    pub(crate) plans_because: Option<&'static str>,
    pub(crate) cause: RunCause,
    pub(crate) priority: i32,
    /// When it was due, or requested.
    pub(crate) due: Timestamp,
}

/// The runs that may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PermittedRuns {
    All,
    /// The store is away: scheduled runs are plans, and requests wait.
    ScheduledPlans,
}

struct Entry {
    device: ScheduledDevice,
    /// `None`: its run waits or is in progress, or it is paused.
    next_due: Option<Timestamp>,
    failures: u32,
    is_paused: bool,
}

/// The scheduler.
pub(crate) struct Dispatcher {
    devices: HashMap<Arc<str>, Entry>,
    due: BTreeSet<(Timestamp, Arc<str>)>,
    queue: RunQueue,
    /// The latest time from which a device became due, since the clock was set back.
    now: Timestamp,
}

impl Dispatcher {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            devices: HashMap::new(),
            due: BTreeSet::new(),
            queue: RunQueue::new(limits),
            now: Timestamp::MIN,
        }
    }

    /// Replaces the devices. What is stored about a device, or known already, stays.
    pub(crate) fn set_devices(
        &mut self,
        devices: Vec<ScheduledDevice>,
        limits: QueueLimits,
        stored: &BTreeMap<String, StoredSchedule>,
        now: Timestamp,
    ) {
        self.now = self.now.max(now);
        self.queue.set_limits(limits);
        let mut earlier = std::mem::take(&mut self.devices);
        self.due.clear();
        for device in devices {
            let known = earlier.remove(&device.name);
            let is_same = known
                .as_ref()
                .is_some_and(|known| known.device.schedule == device.schedule);
            let stored = stored.get(&*device.name);
            let is_paused = match &known {
                Some(known) => known.is_paused,
                None => stored.is_some_and(|stored| stored.pause.is_some()),
            };
            let is_active =
                self.queue.is_running(&device.name) || self.queue.has_scheduled(&device.name);
            let next_due = match &known {
                _ if is_active => None,
                Some(known) if is_same => known.next_due,
                Some(_) => None,
                None => stored.and_then(|stored| stored.next_due),
            };
            let next_due = if is_active || is_paused {
                None
            } else {
                let schedule = &device.schedule;
                let regular = schedule.next_due(&device.name, now);
                let latest = schedule.next_after_failures(&device.name, now, u32::MAX);
                Some(match next_due {
                    // A run was missed while the process did not run.
                    Some(due) if due <= now => schedule.catch_up(&device.name, now),
                    // The interval can be shorter than that of the stored time.
                    Some(due) if due <= latest => due,
                    _ => regular,
                })
            };
            let failures = match &known {
                Some(known) => known.failures,
                None => stored.map_or(0, |stored| stored.failures),
            };
            if let Some(due) = next_due {
                self.due.insert((due, Arc::clone(&device.name)));
            }
            let name = Arc::clone(&device.name);
            let entry = Entry {
                device,
                next_due,
                failures,
                is_paused,
            };
            self.devices.insert(name, entry);
        }
        let known: BTreeSet<Arc<str>> = self.devices.keys().cloned().collect();
        self.queue.remove(|waiting| {
            !known.contains(&waiting.device) && matches!(waiting.cause, RunCause::Schedule)
        });
    }

    /// The part of the limits of each site that this process has.
    pub(crate) fn set_shares(&mut self, shares: BTreeMap<String, SiteShare>) {
        self.queue.set_shares(shares);
    }

    /// Forgets the requests of devices that another process runs: they wait in the store.
    pub(crate) fn forget_requests(&mut self) {
        let known: BTreeSet<Arc<str>> = self.devices.keys().cloned().collect();
        self.queue.remove(|waiting| {
            !known.contains(&waiting.device) && matches!(waiting.cause, RunCause::Request { .. })
        });
    }

    /// When each device is due, and its failures in succession.
    pub(crate) fn all_due(&self) -> Vec<(Arc<str>, Option<Timestamp>, u32)> {
        let entries = self.devices.iter();
        entries
            .map(|(name, entry)| (Arc::clone(name), entry.next_due, entry.failures))
            .collect()
    }

    /// When a device is due, and its failures in succession.
    pub(crate) fn due(&self, device: &str) -> Option<(Option<Timestamp>, u32)> {
        let entry = self.devices.get(device)?;
        Some((entry.next_due, entry.failures))
    }

    pub(crate) fn has_device(&self, device: &str) -> bool {
        self.devices.contains_key(device)
    }

    pub(crate) fn schedule(&self, device: &str) -> Option<&Arc<DeviceSchedule>> {
        Some(&self.devices.get(device)?.device.schedule)
    }

    /// Adds a requested run.
    pub(crate) fn request(&mut self, device: &str, cause: RunCause, priority: i32, now: Timestamp) {
        let waiting = Waiting {
            device: device.into(),
            cause,
            due: now,
        };
        self.queue.add(waiting, priority);
    }

    /// Whether a requested run waits.
    pub(crate) fn has_request(&self, run: RunId) -> bool {
        self.queue.has_request(run)
    }

    /// Why a requested run has not started. `None`: it is not in the queue of this process.
    pub(crate) fn wait_reason(&self, run: RunId) -> Option<WaitReason> {
        let member = |device: &str| member_of(&self.devices, device);
        self.queue.wait_reason(run, member)
    }

    /// Pauses these devices and resumes all others.
    pub(crate) fn set_all_paused(&mut self, paused: &BTreeSet<String>, now: Timestamp) {
        let entries = self.devices.iter();
        let changed = entries
            .filter(|(name, entry)| entry.is_paused != paused.contains(&***name))
            .map(|(name, entry)| (Arc::clone(name), !entry.is_paused));
        let changed: Vec<(Arc<str>, bool)> = changed.collect();
        for (device, is_paused) in changed {
            self.set_paused(&device, is_paused, now);
        }
    }

    /// Whether a device of the settings is paused.
    #[cfg(test)]
    pub(crate) fn is_paused(&self, device: &str) -> Option<bool> {
        Some(self.devices.get(device)?.is_paused)
    }

    /// Withdraws a request that waits.
    pub(crate) fn cancel(&mut self, run: RunId) -> bool {
        let is_canceled = |waiting: &Waiting| match &waiting.cause {
            RunCause::Request { run: waiting, .. } => *waiting == run,
            RunCause::Schedule => false,
        };
        !self.queue.remove(is_canceled).is_empty()
    }

    /// Removes the requests that have waited since this time or longer.
    pub(crate) fn take_expired(&mut self, oldest: Timestamp) -> Vec<RunId> {
        let expired = self.queue.remove(|waiting| {
            waiting.due <= oldest && matches!(waiting.cause, RunCause::Request { .. })
        });
        let runs = expired
            .into_iter()
            .filter_map(|waiting| match waiting.cause {
                RunCause::Request { run, .. } => Some(run),
                RunCause::Schedule => None,
            });
        runs.collect()
    }

    /// Pauses the scheduled runs of a device, or resumes them.
    pub(crate) fn set_paused(&mut self, device: &str, is_paused: bool, now: Timestamp) {
        let Some(entry) = self.devices.get_mut(device) else {
            return;
        };
        entry.is_paused = is_paused;
        if let Some(due) = entry.next_due.take() {
            self.due.remove(&(due, Arc::clone(&entry.device.name)));
        }
        if is_paused {
            self.queue.remove(|waiting| {
                &*waiting.device == device && matches!(waiting.cause, RunCause::Schedule)
            });
        } else if !self.queue.is_running(device) {
            self.now = self.now.max(now);
            let due = entry.device.schedule.next_due(device, now);
            entry.next_due = Some(due);
            self.due.insert((due, Arc::clone(&entry.device.name)));
        }
    }

    /// After the clock was set back, no device waits until it is again as late as before.
    fn follow_clock(&mut self, now: Timestamp) {
        let is_set_back = now < self.now;
        self.now = now;
        if !is_set_back {
            return;
        }
        for (name, entry) in &mut self.devices {
            let Some(due) = entry.next_due else {
                continue;
            };
            let schedule = &entry.device.schedule;
            let latest = schedule.next_after_failures(name, now, entry.failures);
            if latest < due {
                self.due.remove(&(due, Arc::clone(name)));
                self.due.insert((latest, Arc::clone(name)));
                entry.next_due = Some(latest);
            }
        }
    }

    /// The next run that starts now.
    pub(crate) fn next_start(
        &mut self,
        now: Timestamp,
        permitted: PermittedRuns,
    ) -> Option<RunToStart> {
        self.follow_clock(now);
        while let Some((due, _)) = self.due.first()
            && *due <= now
        {
            let Some((due, device)) = self.due.pop_first() else {
                break;
            };
            if let Some(entry) = self.devices.get_mut(&device) {
                entry.next_due = None;
                let priority = entry.device.schedule.priority;
                let waiting = Waiting {
                    device,
                    cause: RunCause::Schedule,
                    due,
                };
                self.queue.add(waiting, priority);
            }
        }
        let devices = &self.devices;
        let member = |device: &str| member_of(devices, device);
        let waiting = self.queue.take(member, permitted)?;
        let schedule = self.schedule(&waiting.device);
        let scheduled = schedule.map_or(RunKind::Plan, |schedule| schedule.kind_at(now));
        let (kind, plans_because) = match &waiting.cause {
            // The mode can have changed since the request.
            RunCause::Request {
                kind: Some(kind), ..
            } if *kind != RunKind::Apply || schedule.is_some_and(|one| one.applies) => {
                (*kind, None)
            }
            _ if scheduled == RunKind::Apply && permitted == PermittedRuns::ScheduledPlans => {
                (RunKind::Plan, Some(WITHOUT_STORE))
            }
            _ => (
                scheduled,
                schedule.and_then(|schedule| schedule.plans_because(now)),
            ),
        };
        Some(RunToStart {
            kind,
            plans_because,
            priority: schedule.map_or(0, |schedule| schedule.priority),
            device: waiting.device,
            cause: waiting.cause,
            due: waiting.due,
        })
    }

    /// When the device of a run that ends now is due again, and its failures in succession.
    pub(crate) fn after_run(
        &self,
        device: &str,
        is_failure: bool,
        now: Timestamp,
    ) -> (Option<Timestamp>, u32) {
        let Some(entry) = self.devices.get(device) else {
            return (None, 0);
        };
        let failures = if is_failure {
            entry.failures.saturating_add(1)
        } else {
            0
        };
        let schedule = &entry.device.schedule;
        let due = schedule.next_after_failures(device, now, failures);
        ((!entry.is_paused).then_some(due), failures)
    }

    /// Ends a run, as [`Dispatcher::after_run`] says. Its result can have been stored after the clock was set back.
    pub(crate) fn finish(&mut self, device: &str, is_failure: bool, now: Timestamp) {
        self.now = self.now.max(now);
        self.queue.finish(device);
        let (due, failures) = self.after_run(device, is_failure, now);
        let Some(entry) = self.devices.get_mut(device) else {
            return;
        };
        entry.failures = failures;
        let earlier = std::mem::replace(&mut entry.next_due, due);
        let name = Arc::clone(&entry.device.name);
        if let Some(earlier) = earlier {
            self.due.remove(&(earlier, Arc::clone(&name)));
        }
        if let Some(due) = due {
            self.due.insert((due, name));
        }
    }

    /// When [`Dispatcher::next_start`] may have a run that it has not now.
    pub(crate) fn wake_at(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }

    pub(crate) fn running(&self) -> usize {
        self.queue.running()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// How late the scheduled run is that has waited longest.
    pub(crate) fn lateness(&self, now: Timestamp) -> SignedDuration {
        // While no run starts, due devices are not in the queue.
        let waiting = self.queue.oldest_scheduled();
        let due = self.due.first().map(|(due, _)| *due);
        let oldest = waiting.into_iter().chain(due).min();
        oldest.map_or(SignedDuration::ZERO, |oldest| {
            now.duration_since(oldest).max(SignedDuration::ZERO)
        })
    }
}

fn member_of(devices: &HashMap<Arc<str>, Entry>, device: &str) -> Membership {
    let entry = devices.get(device);
    entry.map_or_else(Membership::default, |entry| entry.device.member.clone())
}

#[cfg(test)]
mod tests;

//! Runs that wait for their start, and the limits of those that run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;

use super::dispatcher::{PermittedRuns, RunCause};
use super::lease::leases::SiteShare;
use crate::fleet::limits::Membership;
use crate::history::RunId;
use crate::history::leases::DEFAULT_SITE;

/// Maximum numbers of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueLimits {
    pub(crate) all: usize,
    pub(crate) per_site: Option<usize>,
    pub(crate) per_jump_host: Option<usize>,
}

/// The order of the queue: requests before schedules, then by priority, then by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct QueuePosition {
    is_scheduled: bool,
    priority: Reverse<i32>,
    due: Timestamp,
    number: u64,
}

/// A run that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) device: Arc<str>,
    pub(super) cause: RunCause,
    pub(super) due: Timestamp,
}

impl Waiting {
    fn is_request(&self, run: RunId) -> bool {
        matches!(self.cause, RunCause::Request { run: waiting, .. } if waiting == run)
    }
}

/// Why a requested run has not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitReason {
    DeviceRuns,
    /// The limit by its key.
    Limit(&'static str),
    /// Nothing prevents it.
    Soon,
}

impl std::fmt::Display for WaitReason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WaitReason::DeviceRuns => formatter.write_str("device runs"),
            WaitReason::Limit(key) => write!(formatter, "limit {key}"),
            WaitReason::Soon => formatter.write_str("starts soon"),
        }
    }
}

/// The queue of runs. A device has at most one run at a time.
pub(super) struct RunQueue {
    limits: QueueLimits,
    /// The part of the limits of each site that this process has; a site that is missing: all.
    shares: BTreeMap<String, SiteShare>,
    waiting: BTreeMap<QueuePosition, Waiting>,
    running: HashMap<Arc<str>, Membership>,
    /// Devices with a scheduled run that waits.
    scheduled: BTreeSet<Arc<str>>,
    sites: HashMap<String, usize>,
    jump_hosts: HashMap<String, usize>,
    number: u64,
}

impl RunQueue {
    pub(super) fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            shares: BTreeMap::new(),
            waiting: BTreeMap::new(),
            running: HashMap::new(),
            scheduled: BTreeSet::new(),
            sites: HashMap::new(),
            jump_hosts: HashMap::new(),
            number: 0,
        }
    }

    pub(super) fn set_limits(&mut self, limits: QueueLimits) {
        self.limits = limits;
    }

    pub(super) fn set_shares(&mut self, shares: BTreeMap<String, SiteShare>) {
        self.shares = shares;
    }

    /// Adds a run. A device has at most one scheduled run that waits.
    pub(super) fn add(&mut self, waiting: Waiting, priority: i32) {
        let is_scheduled = matches!(waiting.cause, RunCause::Schedule);
        if is_scheduled && !self.scheduled.insert(Arc::clone(&waiting.device)) {
            return;
        }
        self.number += 1;
        let position = QueuePosition {
            is_scheduled,
            priority: Reverse(priority),
            due: waiting.due,
            number: self.number,
        };
        self.waiting.insert(position, waiting);
    }

    /// Takes the first run whose limits permit it.
    pub(super) fn take(
        &mut self,
        membership: impl Fn(&str) -> Membership,
        permitted: PermittedRuns,
    ) -> Option<Waiting> {
        let mut found = None;
        for (position, waiting) in &self.waiting {
            if self.running.len() >= self.capacity(position.is_scheduled) {
                // Only scheduled runs follow, whose capacity is not larger.
                if position.is_scheduled {
                    break;
                }
                continue;
            }
            let is_permitted = position.is_scheduled || permitted == PermittedRuns::All;
            if !is_permitted || self.running.contains_key(&waiting.device) {
                continue;
            }
            let member = membership(&waiting.device);
            if self.permits(&member) {
                found = Some((position.clone(), member));
                break;
            }
        }
        let (position, member) = found?;
        let waiting = self.waiting.remove(&position)?;
        if position.is_scheduled {
            self.scheduled.remove(&waiting.device);
        }
        for (counts, name) in [
            (&mut self.sites, &member.site),
            (&mut self.jump_hosts, &member.jump_host),
        ] {
            if let Some(name) = name {
                *counts.entry(name.clone()).or_default() += 1;
            }
        }
        self.running.insert(Arc::clone(&waiting.device), member);
        Some(waiting)
    }

    /// Releases the permits of a device.
    pub(super) fn finish(&mut self, device: &str) {
        let Some(member) = self.running.remove(device) else {
            return;
        };
        for (counts, name) in [
            (&mut self.sites, &member.site),
            (&mut self.jump_hosts, &member.jump_host),
        ] {
            if let Some(count) = name.as_ref().and_then(|name| counts.get_mut(name)) {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Whether a requested run waits.
    pub(super) fn has_request(&self, run: RunId) -> bool {
        let mut waiting = self.waiting.values();
        waiting.any(|waiting| waiting.is_request(run))
    }

    /// Why a requested run waits. `None`: it is not in this queue.
    pub(super) fn wait_reason(
        &self,
        run: RunId,
        membership: impl Fn(&str) -> Membership,
    ) -> Option<WaitReason> {
        let mut waiting = self.waiting.values();
        let waiting = waiting.find(|waiting| waiting.is_request(run))?;
        if self.running.contains_key(&waiting.device) {
            return Some(WaitReason::DeviceRuns);
        }
        if self.running.len() >= self.capacity(false) {
            return Some(WaitReason::Limit("concurrency"));
        }
        let member = membership(&waiting.device);
        let of_site = Membership {
            jump_host: None,
            ..member.clone()
        };
        Some(if !self.permits(&of_site) {
            WaitReason::Limit("per_site")
        } else if !self.permits(&member) {
            WaitReason::Limit("per_jump")
        } else {
            WaitReason::Soon
        })
    }

    /// Removes runs that wait.
    pub(super) fn remove(&mut self, is_removed: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        let removed = self
            .waiting
            .extract_if(.., |_, waiting| is_removed(waiting));
        let removed: Vec<Waiting> = removed.map(|(_, waiting)| waiting).collect();
        for waiting in &removed {
            if matches!(waiting.cause, RunCause::Schedule) {
                self.scheduled.remove(&waiting.device);
            }
        }
        removed
    }

    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    pub(super) fn is_running(&self, device: &str) -> bool {
        self.running.contains_key(device)
    }

    /// Whether a scheduled run of the device waits.
    pub(super) fn has_scheduled(&self, device: &str) -> bool {
        self.scheduled.contains(device)
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The due time of the scheduled run that has waited longest.
    pub(super) fn oldest_scheduled(&self) -> Option<Timestamp> {
        let scheduled = self.waiting.iter();
        let scheduled = scheduled.filter(|(position, _)| position.is_scheduled);
        scheduled.map(|(_, waiting)| waiting.due).min()
    }

    /// Scheduled runs leave a part free, so that requests start at once.
    fn capacity(&self, is_scheduled: bool) -> usize {
        let all = self.limits.all.max(1);
        if is_scheduled {
            (all - all / 10).max(1)
        } else {
            all
        }
    }

    fn permits(&self, member: &Membership) -> bool {
        let site = member.site.as_deref().unwrap_or(DEFAULT_SITE);
        let share = self.shares.get(site);
        let is_free = |counts: &HashMap<String, usize>, name: &Option<String>, limit| {
            let used = name.as_ref().and_then(|name| counts.get(name));
            match (used, limit) {
                (Some(used), Some(limit)) => {
                    let limit = usize::max(limit, 1);
                    *used < share.map_or(limit, |share| share.of(limit))
                }
                _ => true,
            }
        };
        is_free(&self.sites, &member.site, self.limits.per_site)
            && is_free(
                &self.jump_hosts,
                &member.jump_host,
                self.limits.per_jump_host,
            )
    }
}

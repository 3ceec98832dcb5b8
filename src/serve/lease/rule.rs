//! The rule of leases: what a node asks for, and what an answer means. It is pure: times are arguments, and all of them
//! are of the node's own clock.
//!
//! The owner of a lease changes its beat. Another node may take it after it has seen the same beat for the time of a
//! takeover. The owner stops before: its deadline begins when the last renewal was *sent*. After another start of the
//! database nobody acquires for the time of a takeover, since the new one can have lost what the old one confirmed.

mod fleet_view;
mod name_claim;
mod observed;
mod observed_server;
mod problems;
mod situation;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fleet_view::FleetView;
use name_claim::NameClaim;
use observed::{Observed, observe};
use observed_server::ObservedServer;
pub(crate) use problems::ShardProblem;
pub(crate) use situation::NodeSituation;

use super::shard;
use super::times::LeaseTimes;
use crate::clock::BootTime;
use crate::history::leases::{
    FleetTask, LeaseAnswer, LeaseClaim, LeaseRequest, LeaseRow, LeaseSubject, NodeRecord, Shard,
    SiteRow,
};

/// The time in which at most a twentieth of the shards moves to other nodes, but at least one of each node.
const MOVE_TIME: Duration = Duration::from_secs(60);
const MOVED_PART: usize = 20;

/// A lease of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldLease {
    pub(crate) epoch: i64,
    /// When the last renewal was sent.
    pub(crate) sent: BootTime,
    /// No run begins: it is released when its runs have ended.
    pub(crate) is_ending: bool,
}

/// What changed with an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeaseChanges {
    pub(crate) acquired: BTreeSet<LeaseSubject>,
    /// Leases of another owner that were acquired.
    pub(crate) taken_over: usize,
    pub(crate) lost: BTreeSet<LeaseSubject>,
}

/// The leases as a node sees them.
#[derive(Debug)]
pub(crate) struct LeaseRule {
    view: FleetView,
    name: NameClaim,
    server: ObservedServer,
    leases: BTreeMap<LeaseSubject, Observed<LeaseRow>>,
    held: BTreeMap<LeaseSubject, HeldLease>,
    /// Leases that this process had, with their epochs: its runs can be in progress.
    former: BTreeMap<LeaseSubject, i64>,
    /// Shards that were ended for another node, with the time.
    moves: Vec<(BootTime, LeaseSubject)>,
    /// Leases that were released with a request without an answer yet: each request releases them until one has an
    /// answer, and none acquires them.
    releasing: BTreeSet<LeaseSubject>,
}

impl LeaseRule {
    pub(crate) fn new(times: LeaseTimes, node: NodeRecord) -> Self {
        Self {
            view: FleetView::new(times, node),
            name: NameClaim::default(),
            server: ObservedServer::default(),
            leases: BTreeMap::new(),
            held: BTreeMap::new(),
            former: BTreeMap::new(),
            moves: Vec::new(),
            releasing: BTreeSet::new(),
        }
    }

    pub(crate) fn node(&self) -> &NodeRecord {
        &self.view.node
    }

    /// Whether this process is the node of its name.
    pub(crate) fn has_name(&self) -> bool {
        self.name.is_accepted
    }

    pub(crate) fn held(&self) -> &BTreeMap<LeaseSubject, HeldLease> {
        &self.held
    }

    pub(crate) fn sites(&self) -> &BTreeMap<String, SiteRow> {
        &self.view.sites
    }

    /// The shard of a device. `None`: the site is not known yet.
    pub(crate) fn shard_of(&self, device: &str, site: &str) -> Option<Shard> {
        let row = self.view.sites.get(site)?;
        Some(shard::shard_of(device, site, row.shards))
    }

    /// The next request. Leases in its `release` end with it, whatever its answer is.
    pub(crate) fn request(
        &mut self,
        now: BootTime,
        beat: i64,
        situation: &NodeSituation,
    ) -> LeaseRequest {
        self.view.node = situation.record(&self.view.node);
        self.end_leases(now, situation.is_stopping);
        let ended = self.held.iter().filter(|(subject, held)| {
            situation.is_stopped || (held.is_ending && !situation.busy.contains(*subject))
        });
        let ended: Vec<LeaseSubject> = ended.map(|(subject, _)| subject.clone()).collect();
        self.held.retain(|subject, _| !ended.contains(subject));
        self.releasing.extend(ended);
        let acquire = if situation.is_stopping {
            Vec::new()
        } else {
            self.acquirable(now)
        };
        let rival = self.name.rival(&self.view, now);
        let replaced = rival.filter(|(_, wait)| wait.is_zero());
        let mut beats = self.name.beats.clone();
        beats.extend(replaced.map(|(row, _)| row.beat));
        LeaseRequest {
            node: self.view.node.clone(),
            is_start: !self.name.was_accepted,
            beats,
            beat,
            renew: self.renewable(now),
            acquire,
            release: self.releasing.iter().cloned().collect(),
            server: self.server.identity().cloned(),
            // The database is that of the hubs.
            confirms_server: self.view.node.is_hub && self.amnesty(now) == Some(Duration::ZERO),
            sites: situation.sites.clone(),
        }
    }

    /// The leases that have not expired. An expired one is acquired again, as any other: a store that fails over can have
    /// forgotten who took it.
    fn renewable(&self, now: BootTime) -> Vec<LeaseSubject> {
        let fence = self.view.times.fence();
        let held = self.held.iter();
        held.filter(|(_, held)| now.since(held.sent) < fence)
            .map(|(subject, _)| subject.clone())
            .collect()
    }

    /// Marks the leases that this node should not have any more.
    fn end_leases(&mut self, now: BootTime, is_stopping: bool) {
        self.moves.retain(|(time, _)| now.since(*time) < MOVE_TIME);
        let subjects: Vec<LeaseSubject> = self.held.keys().cloned().collect();
        let budget = self.move_budget();
        for subject in subjects {
            let preferred = self.view.preferred(&subject, now);
            let is_own = preferred
                .first()
                .is_some_and(|first| *first == self.view.node.name);
            let may_have = !is_stopping && self.may_hold(&subject, &preferred);
            let is_ending = !may_have || (!is_own && self.begin_move(&subject, budget, now));
            if let Some(held) = self.held.get_mut(&subject) {
                held.is_ending = is_ending;
            }
        }
    }

    /// Whether a lease that another node should have ends now: a few move at a time.
    fn begin_move(&mut self, subject: &LeaseSubject, budget: usize, now: BootTime) -> bool {
        if self.moves.iter().any(|(_, moved)| moved == subject) {
            return true;
        }
        let may_move = self.moves.len() < budget;
        if may_move {
            self.moves.push((now, subject.clone()));
        }
        may_move
    }

    /// How many shards of this node may move: the other nodes with shards move theirs at the same time.
    fn move_budget(&self) -> usize {
        let rows = self.leases.values().map(|observed| &observed.row);
        let shards = rows.filter(|row| matches!(row.subject, LeaseSubject::Shard(_)));
        let owners: BTreeSet<&String> = shards.filter_map(|row| row.owner.as_ref()).collect();
        let moved = self.view.shards().count() / MOVED_PART;
        (moved / owners.len().max(1)).max(1)
    }

    /// Whether this node may keep a lease that these nodes may have.
    fn may_hold(&self, subject: &LeaseSubject, preferred: &[&str]) -> bool {
        self.view.is_desired(subject) && preferred.contains(&self.view.node.name.as_str())
    }

    /// The leases to acquire now.
    fn acquirable(&self, now: BootTime) -> Vec<LeaseClaim> {
        if !self.name.is_accepted || self.server.identity().is_none() || self.amnesty(now).is_some()
        {
            return Vec::new();
        }
        let observed = self.leases.values();
        let found = observed.filter(|observed| {
            self.acquirable_after(observed, now)
                .is_some_and(|wait| wait.is_zero())
        });
        found
            .map(|observed| LeaseClaim {
                subject: observed.row.subject.clone(),
                epoch: observed.row.epoch,
                beat: observed.row.beat,
                is_continued: self.view.is_own(&observed.row)
                    && self.former.get(&observed.row.subject) == Some(&observed.row.epoch),
            })
            .collect()
    }

    /// The time after which this node may acquire a lease, if nothing changes. `None`: never.
    fn acquirable_after(&self, observed: &Observed<LeaseRow>, now: BootTime) -> Option<Duration> {
        let LeaseRow { subject, owner, .. } = &observed.row;
        // The row of a released lease is that of this node until the answer.
        if self.held.contains_key(subject) || self.releasing.contains(subject) {
            return None;
        }
        // The dead owner of a lease that nobody needs is replaced, to end its runs and to release the lease.
        if !self.view.is_desired(subject) && owner.is_none() {
            return None;
        }
        let preferred = self.view.preferred(subject, now);
        let rank = preferred
            .iter()
            .position(|node| *node == self.view.node.name)?;
        if self.view.is_own(&observed.row) {
            return Some(Duration::ZERO);
        }
        // The others have the same view sooner or later; if a preferred one does not acquire it, the next one does.
        let ranks = u32::try_from(rank).unwrap_or(u32::MAX);
        let others = self.view.takeover_of_live(now).saturating_mul(ranks);
        let wait = self.view.row_times(&observed.row).map(LeaseTimes::takeover);
        let wait = wait.unwrap_or_default().saturating_add(others);
        Some(wait.saturating_sub(now.since(observed.since)))
    }

    /// The time for which nobody may acquire. `None`: they may. Zero: this node may confirm the server.
    fn amnesty(&self, now: BootTime) -> Option<Duration> {
        // The server can have forgotten renewals: a node that seems to be silent can have a lease still.
        let takeover = self.view.longest_times().takeover();
        self.server.amnesty(takeover, now)
    }

    /// Learns from an answer to a request that was sent at a time.
    pub(crate) fn answer(
        &mut self,
        (sent, now): (BootTime, BootTime),
        request: &LeaseRequest,
        answer: LeaseAnswer,
    ) -> LeaseChanges {
        let mut changes = LeaseChanges::default();
        for subject in &request.release {
            self.releasing.remove(subject);
        }
        self.server.observe(request, &answer, now);
        if answer.is_name_taken {
            for (subject, held) in std::mem::take(&mut self.held) {
                self.former.insert(subject.clone(), held.epoch);
                changes.lost.insert(subject);
            }
            self.name.refuse();
        } else {
            self.name.accept(request.beat);
            self.observe_held(sent, request, &answer, &mut changes);
        }
        let sites = answer.sites.into_iter();
        self.view.sites = sites.map(|site| (site.name.clone(), site)).collect();
        let leases = self.with_missing(answer.leases);
        observe(&mut self.leases, leases, now, |row| row.subject.clone());
        observe(&mut self.view.nodes, answer.nodes, now, |row| {
            row.node.name.clone()
        });
        changes
    }

    fn observe_held(
        &mut self,
        sent: BootTime,
        request: &LeaseRequest,
        answer: &LeaseAnswer,
        changes: &mut LeaseChanges,
    ) {
        let leases = answer.leases.iter();
        let own = leases.filter(|row| self.view.is_own(row));
        let own: BTreeMap<&LeaseSubject, &LeaseRow> = own.map(|row| (&row.subject, row)).collect();
        self.held.retain(|subject, held| {
            let row = own.get(subject).filter(|row| row.epoch == held.epoch);
            let stays = request.renew.contains(subject)
                && row.is_some_and(|row| row.beat == request.beat || self.server.is_new);
            if !stays {
                self.former.insert(subject.clone(), held.epoch);
                changes.lost.insert(subject.clone());
            } else if !self.server.is_new {
                held.sent = sent;
            }
            stays
        });
        for LeaseClaim { subject, .. } in &request.acquire {
            let acquired = own.get(subject).filter(|row| row.beat == request.beat);
            let Some(epoch) = acquired.map(|row| row.epoch) else {
                continue;
            };
            let earlier = self.leases.get(subject);
            let owner = earlier.and_then(|earlier| earlier.row.owner.as_ref());
            changes.taken_over +=
                usize::from(owner.is_some_and(|owner| *owner != self.view.node.name));
            let held = HeldLease {
                epoch,
                sent,
                is_ending: !self.view.is_desired(subject),
            };
            self.held.insert(subject.clone(), held);
            self.former.remove(subject);
            changes.acquired.insert(subject.clone());
        }
    }

    /// Leases that nobody has had yet are free.
    fn with_missing(&self, mut rows: Vec<LeaseRow>) -> Vec<LeaseRow> {
        let known: BTreeSet<LeaseSubject> = rows.iter().map(|row| row.subject.clone()).collect();
        let tasks = FleetTask::ALL.iter().copied().map(LeaseSubject::Task);
        let desired = self.view.shards().map(LeaseSubject::Shard).chain(tasks);
        let missing = desired.filter(|subject| !known.contains(subject));
        rows.extend(missing.map(|subject| LeaseRow {
            subject,
            owner: None,
            boot: String::new(),
            epoch: 0,
            beat: 0,
        }));
        rows
    }

    /// The answer of a request is missing: what it asked for can have happened.
    pub(crate) fn no_answer(&mut self, request: &LeaseRequest) {
        self.name.no_answer(request.beat);
    }

    /// The time after which the next request is useful: the next renewal, or something to acquire or to release.
    pub(crate) fn next_request(&self, now: BootTime) -> Duration {
        if self.server.is_new {
            return Duration::ZERO;
        }
        // A drain or another number of shards: others wait for these leases.
        let mut held = self.held.iter();
        if held.any(|(subject, held)| {
            !held.is_ending && !self.may_hold(subject, &self.view.preferred(subject, now))
        }) {
            return Duration::ZERO;
        }
        let mut next = self.view.times.beat();
        if let Some(amnesty) = self.amnesty(now) {
            if self.view.node.is_hub {
                next = next.min(amnesty);
            }
        } else if self.name.is_accepted {
            let waits = self
                .leases
                .values()
                .filter_map(|one| self.acquirable_after(one, now));
            next = waits.fold(next, Duration::min);
        }
        let rival = self.name.rival(&self.view, now);
        rival.map_or(next, |(_, wait)| next.min(wait))
    }
}

//! The rule of leases: what a node asks for, and what an answer means. It is pure: times are arguments, and all of them
//! are of the node's own clock.
//!
//! The owner of a lease changes its beat. Another node may take it after it has seen the same beat for the time of a
//! takeover. The owner stops before: its deadline begins when the last renewal was *sent*. After another start of the
//! database nobody acquires for the time of a takeover, since the new one can have lost what the old one confirmed.

mod problems;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(crate) use problems::ShardProblem;

use super::protocol::share_a_fleet;
use super::shard;
use crate::clock::BootTime;
use crate::history::leases::{
    FleetTask, LeaseAnswer, LeaseClaim, LeaseRequest, LeaseRow, LeaseSubject, NodeRecord, NodeRow,
    Shard, SiteRow,
};

/// Nodes learn within this time what the operator wants, also with long leases.
const LONGEST_BEAT: Duration = Duration::from_secs(10);
/// Beats that rows of the node can have after a failover that lost the newest ones.
const OLD_BEATS: usize = 4;
/// Beats of requests without an answer.
const UNANSWERED_BEATS: usize = 64;
/// The time in which at most a twentieth of the shards moves to other nodes.
const MOVE_TIME: Duration = Duration::from_secs(60);
const MOVED_PART: usize = 20;
/// A node with more load, or later runs, gets fewer shards.
const HIGH_LOAD: i64 = 90;
const LATE: i64 = 60;
const LOADED_WEIGHT: f64 = 0.5;

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

/// What the process knows that sends a request.
#[derive(Debug, Default)]
pub(crate) struct NodeSituation {
    pub(crate) lateness_seconds: i64,
    pub(crate) load_percent: i64,
    pub(crate) running: u32,
    pub(crate) release: Option<i64>,
    pub(crate) rejected_release: Option<String>,
    /// Why no run begins now.
    pub(crate) no_runs: Option<String>,
    pub(crate) has_puppetdb: bool,
    pub(crate) webhooks: Vec<String>,
    /// No run begins any more.
    pub(crate) is_stopping: bool,
    /// All runs have ended, and this is the last exchange.
    pub(crate) is_stopped: bool,
    /// Leases with work in progress.
    pub(crate) busy: BTreeSet<LeaseSubject>,
    /// The sites of the devices, with the number of shards for a new one.
    pub(crate) sites: BTreeMap<String, u32>,
}

/// A row, and since when it is as it is.
#[derive(Clone, Debug)]
struct Observed<T> {
    row: T,
    since: BootTime,
}

/// The leases as a node sees them.
#[derive(Debug)]
pub(crate) struct LeaseRule {
    times: LeaseTimes,
    node: NodeRecord,
    leases: BTreeMap<LeaseSubject, Observed<LeaseRow>>,
    nodes: BTreeMap<String, Observed<NodeRow>>,
    sites: BTreeMap<String, SiteRow>,
    held: BTreeMap<LeaseSubject, HeldLease>,
    /// Leases that this process had, with their epochs: its runs can be in progress.
    former: BTreeMap<LeaseSubject, i64>,
    /// The beats of this process, the newest last.
    beats: Vec<i64>,
    /// The store has accepted the name of the node.
    is_named: bool,
    /// It had accepted it before: who has the name since is another process, also with the same boot.
    was_named: bool,
    server: Option<String>,
    /// The last request was about another server, so this one did not renew the leases.
    is_new_server: bool,
    /// Since when the server is seen without the confirmation that earlier leases have expired.
    unconfirmed: Option<BootTime>,
    /// Shards that were ended for another node, with the time.
    moves: Vec<(BootTime, LeaseSubject)>,
    /// Leases that were released with a request without an answer yet: each request releases them until one has an
    /// answer, and none acquires them.
    releasing: BTreeSet<LeaseSubject>,
}

impl LeaseRule {
    pub(crate) fn new(times: LeaseTimes, node: NodeRecord) -> Self {
        let lease_ms = u64::try_from(times.lease.as_millis()).unwrap_or(u64::MAX);
        Self {
            times,
            node: NodeRecord { lease_ms, ..node },
            leases: BTreeMap::new(),
            nodes: BTreeMap::new(),
            sites: BTreeMap::new(),
            held: BTreeMap::new(),
            former: BTreeMap::new(),
            beats: Vec::new(),
            is_named: false,
            was_named: false,
            server: None,
            is_new_server: false,
            unconfirmed: None,
            moves: Vec::new(),
            releasing: BTreeSet::new(),
        }
    }

    pub(crate) fn node(&self) -> &NodeRecord {
        &self.node
    }

    /// Whether this process is the node of its name.
    pub(crate) fn has_name(&self) -> bool {
        self.is_named
    }

    pub(crate) fn held(&self) -> &BTreeMap<LeaseSubject, HeldLease> {
        &self.held
    }

    pub(crate) fn sites(&self) -> &BTreeMap<String, SiteRow> {
        &self.sites
    }

    /// The shard of a device. `None`: the site is not known yet.
    pub(crate) fn shard_of(&self, device: &str, site: &str) -> Option<Shard> {
        let row = self.sites.get(site)?;
        Some(shard::shard_of(device, site, row.shards))
    }

    /// The next request. Leases in its `release` end with it, whatever its answer is.
    pub(crate) fn request(
        &mut self,
        now: BootTime,
        beat: i64,
        situation: &NodeSituation,
    ) -> LeaseRequest {
        self.node = NodeRecord {
            lateness_seconds: situation.lateness_seconds,
            load_percent: situation.load_percent,
            running: situation.running,
            release: situation.release,
            rejected_release: situation.rejected_release.clone(),
            no_runs: situation.no_runs.clone().filter(|_| self.node.runs),
            has_puppetdb: situation.has_puppetdb,
            webhooks: situation.webhooks.clone(),
            is_stopping: situation.is_stopping,
            is_stopped: situation.is_stopped,
            ..self.node.clone()
        };
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
        let takes_name = self
            .nodes
            .get(&self.node.name)
            .filter(|found| !self.is_named && self.may_take_name(found, now));
        let mut beats = self.beats.clone();
        beats.extend(takes_name.map(|found| found.row.beat));
        LeaseRequest {
            node: self.node.clone(),
            is_start: !self.was_named,
            beats,
            beat,
            renew: self.renewable(now),
            acquire,
            release: self.releasing.iter().cloned().collect(),
            server: self.server.clone(),
            // The database is that of the hubs.
            confirms_server: self.node.is_hub && self.amnesty(now) == Some(Duration::ZERO),
            sites: situation.sites.clone(),
        }
    }

    /// The leases that have not expired. An expired one is acquired again, as any other: a store that fails over can have
    /// forgotten who took it.
    fn renewable(&self, now: BootTime) -> Vec<LeaseSubject> {
        let fence = self.times.fence();
        let held = self.held.iter();
        held.filter(|(_, held)| now.since(held.sent) < fence)
            .map(|(subject, _)| subject.clone())
            .collect()
    }

    /// Marks the leases that this node should not have any more.
    fn end_leases(&mut self, now: BootTime, is_stopping: bool) {
        self.moves.retain(|(time, _)| now.since(*time) < MOVE_TIME);
        let subjects: Vec<LeaseSubject> = self.held.keys().cloned().collect();
        let budget = (self.shards().count() / MOVED_PART).max(1);
        for subject in subjects {
            let preferred = self.preferred(&subject, now);
            let is_own = preferred
                .first()
                .is_some_and(|first| *first == self.node.name);
            let may_have = !is_stopping && self.may_hold(&subject, &preferred);
            let is_moved = self.moves.iter().any(|(_, moved)| *moved == subject);
            let is_ending = if !may_have {
                true
            } else if is_own {
                false
            } else if is_moved || self.moves.len() < budget {
                if !is_moved {
                    self.moves.push((now, subject.clone()));
                }
                true
            } else {
                false
            };
            if let Some(held) = self.held.get_mut(&subject) {
                held.is_ending = is_ending;
            }
        }
    }

    /// Whether this node may keep a lease that these nodes may have.
    fn may_hold(&self, subject: &LeaseSubject, preferred: &[&str]) -> bool {
        self.is_desired(subject) && preferred.contains(&self.node.name.as_str())
    }

    /// The leases to acquire now.
    fn acquirable(&self, now: BootTime) -> Vec<LeaseClaim> {
        if !self.is_named || self.server.is_none() || self.amnesty(now).is_some() {
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
                is_continued: self.is_former_self(&observed.row)
                    && self.former.get(&observed.row.subject) == Some(&observed.row.epoch),
            })
            .collect()
    }

    /// Whether this process, or one before it on the host, is the owner of a lease.
    fn is_former_self(&self, row: &LeaseRow) -> bool {
        row.owner.as_ref() == Some(&self.node.name) && row.boot == self.node.boot
    }

    /// The time after which this node may acquire a lease, if nothing changes. `None`: never.
    fn acquirable_after(&self, observed: &Observed<LeaseRow>, now: BootTime) -> Option<Duration> {
        let LeaseRow { subject, owner, .. } = &observed.row;
        // The row of a released lease is that of this node until the answer.
        if self.held.contains_key(subject) || self.releasing.contains(subject) {
            return None;
        }
        // A dead owner of a site whose number of shards changes is replaced, to release.
        let is_desired =
            self.is_desired(subject) || (owner.is_some() && self.is_resharded(subject));
        let preferred = self.preferred(subject, now);
        let rank = preferred.iter().position(|node| *node == self.node.name)?;
        if !is_desired {
            return None;
        }
        if self.is_former_self(&observed.row) {
            return Some(Duration::ZERO);
        }
        // The others have the same view sooner or later; if a preferred one does not acquire it, the next one does.
        let ranks = u32::try_from(rank).unwrap_or(u32::MAX);
        let others = self.takeover_of_live(now).saturating_mul(ranks);
        let wait = self.row_times(&observed.row).map(LeaseTimes::takeover);
        let wait = wait.unwrap_or_default().saturating_add(others);
        Some(wait.saturating_sub(now.since(observed.since)))
    }

    /// The times of the owner of a lease, as this node waits for them. `None`: the lease is free.
    fn row_times(&self, row: &LeaseRow) -> Option<LeaseTimes> {
        let owner = self.nodes.get(row.owner.as_ref()?);
        let owner = owner.filter(|found| found.row.node.boot == row.boot);
        // Who is not known has the longest lease.
        Some(owner.map_or_else(
            || self.longest_times(),
            |found| self.node_times(&found.row.node),
        ))
    }

    /// The times of a node, as this one waits for them. Its lease can be longer than that of this node.
    fn node_times(&self, node: &NodeRecord) -> LeaseTimes {
        let lease = self.times.lease.max(Duration::from_millis(node.lease_ms));
        LeaseTimes { lease }
    }

    /// The times of the longest lease that a process can have, also of one that does not answer.
    fn longest_times(&self) -> LeaseTimes {
        // A node that has ended in order has no lease, nor one whose host is off.
        let nodes = self.nodes.values();
        self.longest_of(nodes.filter(|found| !found.row.node.is_stopped && !found.row.is_evicted))
    }

    /// The time after which nodes that answer act on what they see.
    fn takeover_of_live(&self, now: BootTime) -> Duration {
        let nodes = self.nodes.values();
        let live = nodes.filter(|found| self.is_live(found, now));
        self.longest_of(live).takeover()
    }

    fn longest_of<'a>(&self, nodes: impl Iterator<Item = &'a Observed<NodeRow>>) -> LeaseTimes {
        let leases = nodes.map(|found| self.node_times(&found.row.node).lease);
        let lease = leases.fold(self.times.lease, Duration::max);
        LeaseTimes { lease }
    }

    /// The time for which nobody may acquire. `None`: they may. Zero: this node may confirm the server.
    fn amnesty(&self, now: BootTime) -> Option<Duration> {
        let since = self.unconfirmed?;
        // The server can have forgotten renewals: a node that seems to be silent can have a lease still.
        let takeover = self.longest_times().takeover();
        Some(takeover.saturating_sub(now.since(since)))
    }

    fn may_take_name(&self, found: &Observed<NodeRow>, now: BootTime) -> bool {
        let NodeRow {
            node, is_evicted, ..
        } = &found.row;
        (node.boot == self.node.boot && !self.was_named)
            || node.is_stopped
            || *is_evicted
            || now.since(found.since) >= self.node_times(node).takeover()
    }

    fn shards(&self) -> impl Iterator<Item = Shard> {
        self.sites.values().flat_map(|site| {
            let numbers = 0..site.shards;
            numbers.map(|number| Shard {
                site: site.name.clone(),
                number,
            })
        })
    }

    fn is_desired(&self, subject: &LeaseSubject) -> bool {
        match subject {
            LeaseSubject::Task(_) => true,
            LeaseSubject::Shard(shard) => self
                .sites
                .get(&shard.site)
                .is_some_and(|site| site.next_shards.is_none() && shard.number < site.shards),
        }
    }

    fn is_resharded(&self, subject: &LeaseSubject) -> bool {
        match subject {
            LeaseSubject::Task(_) => false,
            LeaseSubject::Shard(shard) => {
                let site = self.sites.get(&shard.site);
                site.is_some_and(|site| site.next_shards.is_some())
            }
        }
    }

    /// Whether a node answers, as far as this one has seen.
    fn is_live(&self, found: &Observed<NodeRow>, now: BootTime) -> bool {
        let row = &found.row;
        row.node.name == self.node.name
            || (!row.node.is_stopped
                && !row.is_evicted
                && now.since(found.since) < self.node_times(&row.node).takeover())
    }

    /// The nodes that may have a lease, the preferred one first.
    fn preferred(&self, subject: &LeaseSubject, now: BootTime) -> Vec<&str> {
        let live = self.nodes.values().filter(|found| {
            self.is_live(found, now)
                && !found.row.is_draining
                && !found.row.is_evicted
                && !found.row.node.is_stopping
                && !found.row.node.is_stopped
                && self.is_compatible(&found.row, now)
                && self.may_have(&found.row.node, subject)
        });
        let weighted = live.map(|found| {
            let node = &found.row.node;
            let is_loaded = node.load_percent > HIGH_LOAD || node.lateness_seconds > LATE;
            (
                node.name.as_str(),
                if is_loaded { LOADED_WEIGHT } else { 1.0 },
            )
        });
        shard::rank(&subject.to_string(), weighted)
    }

    /// Whether a node is of the newest protocol of the fleet, or of the one before.
    fn is_compatible(&self, row: &NodeRow, now: BootTime) -> bool {
        share_a_fleet(row.node.protocol, self.newest_protocol(now))
    }

    fn newest_protocol(&self, now: BootTime) -> u32 {
        let live = self.nodes.values().filter(|found| self.is_live(found, now));
        let newest = live.map(|found| found.row.node.protocol).max();
        newest.unwrap_or_default().max(self.node.protocol)
    }

    fn may_have(&self, node: &NodeRecord, subject: &LeaseSubject) -> bool {
        match subject {
            LeaseSubject::Task(task) => {
                node.is_hub
                    && match task {
                        FleetTask::Retention => true,
                        FleetTask::PuppetDb => node.has_puppetdb,
                        FleetTask::Webhooks => !node.webhooks.is_empty(),
                    }
            }
            LeaseSubject::Shard(shard) => {
                node.no_runs.is_none() && self.is_for_site(node, &shard.site)
            }
        }
    }

    /// Whether a node runs the devices of a site.
    fn is_for_site(&self, node: &NodeRecord, site: &str) -> bool {
        let is_named = node.sites.iter().any(|own| own == site);
        let is_general = node.sites.is_empty() && !self.has_own_node(site);
        node.runs && (is_named || is_general)
    }

    /// Whether a node names the site, also one that does not answer: its devices are never run from elsewhere.
    fn has_own_node(&self, site: &str) -> bool {
        let mut nodes = self.nodes.values();
        nodes.any(|found| found.row.node.sites.iter().any(|own| own == site))
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
        self.is_new_server = request.server.as_ref() != Some(&answer.server);
        self.observe_server(&answer, now);
        if answer.is_name_taken {
            for (subject, held) in std::mem::take(&mut self.held) {
                self.former.insert(subject.clone(), held.epoch);
                changes.lost.insert(subject);
            }
            self.is_named = false;
            self.beats.clear();
        } else {
            self.is_named = true;
            self.was_named = true;
            self.beats.push(request.beat);
            let old = self.beats.len().saturating_sub(OLD_BEATS);
            self.beats.drain(..old);
            self.observe_held(sent, request, &answer, &mut changes);
        }
        let sites = answer.sites.into_iter();
        self.sites = sites.map(|site| (site.name.clone(), site)).collect();
        let leases = self.with_missing(answer.leases);
        observe(&mut self.leases, leases, now, |row| row.subject.clone());
        observe(&mut self.nodes, answer.nodes, now, |row| {
            row.node.name.clone()
        });
        changes
    }

    fn observe_server(&mut self, answer: &LeaseAnswer, now: BootTime) {
        let is_same = self.server.as_ref() == Some(&answer.server);
        if answer.confirmed.as_ref() == Some(&answer.server) {
            self.unconfirmed = None;
        } else if !is_same || self.unconfirmed.is_none() {
            self.unconfirmed = Some(now);
        }
        self.server = Some(answer.server.clone());
    }

    fn observe_held(
        &mut self,
        sent: BootTime,
        request: &LeaseRequest,
        answer: &LeaseAnswer,
        changes: &mut LeaseChanges,
    ) {
        let own = answer.leases.iter().filter(|row| {
            row.owner.as_ref() == Some(&self.node.name) && row.boot == self.node.boot
        });
        let own: BTreeMap<&LeaseSubject, &LeaseRow> = own.map(|row| (&row.subject, row)).collect();
        self.held.retain(|subject, held| {
            let row = own.get(subject).filter(|row| row.epoch == held.epoch);
            let stays = request.renew.contains(subject)
                && row.is_some_and(|row| row.beat == request.beat || self.is_new_server);
            if !stays {
                self.former.insert(subject.clone(), held.epoch);
                changes.lost.insert(subject.clone());
            } else if !self.is_new_server {
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
            changes.taken_over += usize::from(owner.is_some_and(|owner| *owner != self.node.name));
            let held = HeldLease {
                epoch,
                sent,
                is_ending: false,
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
        let desired = self.shards().map(LeaseSubject::Shard).chain(tasks);
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
        if self.is_named {
            self.beats.push(request.beat);
            // The first are those of the last answers: the store has one of them if no request has arrived since.
            if self.beats.len() > UNANSWERED_BEATS {
                self.beats.remove(OLD_BEATS);
            }
        }
    }

    /// The time after which the next request is useful: the next renewal, or something to acquire or to release.
    pub(crate) fn next_request(&self, now: BootTime) -> Duration {
        if self.is_new_server {
            return Duration::ZERO;
        }
        // A drain or another number of shards: others wait for these leases.
        let mut held = self.held.iter();
        if held.any(|(subject, held)| {
            !held.is_ending && !self.may_hold(subject, &self.preferred(subject, now))
        }) {
            return Duration::ZERO;
        }
        let mut next = self.times.beat();
        if let Some(amnesty) = self.amnesty(now) {
            if self.node.is_hub {
                next = next.min(amnesty);
            }
        } else if self.is_named {
            let waits = self
                .leases
                .values()
                .filter_map(|one| self.acquirable_after(one, now));
            next = waits.fold(next, Duration::min);
        }
        if !self.is_named
            && let Some(found) = self.nodes.get(&self.node.name)
        {
            next = if self.may_take_name(found, now) {
                Duration::ZERO
            } else {
                let takeover = self.node_times(&found.row.node).takeover();
                next.min(takeover.saturating_sub(now.since(found.since)))
            };
        }
        next
    }
}

/// A row that its owner changes.
trait Beating {
    /// Whether the owner has not changed it since.
    fn is_unchanged(&self, earlier: &Self) -> bool;
}

impl Beating for LeaseRow {
    fn is_unchanged(&self, earlier: &Self) -> bool {
        self == earlier
    }
}

impl Beating for NodeRow {
    /// The wishes of an operator are no sign of life.
    fn is_unchanged(&self, earlier: &Self) -> bool {
        self.beat == earlier.beat && self.node.boot == earlier.node.boot
    }
}

/// Replaces rows. One that is unchanged stays observed since then.
fn observe<K: Ord, T: Beating>(
    observed: &mut BTreeMap<K, Observed<T>>,
    rows: Vec<T>,
    now: BootTime,
    key: impl Fn(&T) -> K,
) {
    let mut earlier = std::mem::take(observed);
    for row in rows {
        let key = key(&row);
        let since = match earlier.remove(&key) {
            Some(known) if row.is_unchanged(&known.row) => known.since,
            _ => now,
        };
        observed.insert(key, Observed { row, since });
    }
}

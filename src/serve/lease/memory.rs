//! Leases in memory, with the semantics of the database: for tests and the simulation.

use std::collections::BTreeMap;

use crate::history::leases::{LeaseAnswer, LeaseRequest, LeaseRow, LeaseSubject, NodeRow, SiteRow};

/// The tables of leases.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryLeases {
    pub(super) leases: BTreeMap<LeaseSubject, LeaseRow>,
    pub(super) nodes: BTreeMap<String, NodeRow>,
    pub(super) sites: BTreeMap<String, SiteRow>,
    pub(super) server: String,
    pub(super) confirmed: Option<String>,
    /// The last owners, and their first acquisitions since which nobody else has had the lease.
    holders: BTreeMap<LeaseSubject, (String, i64)>,
    epoch: i64,
}

impl MemoryLeases {
    /// The tables of a new store: its first server has nothing to wait for.
    pub(super) fn new() -> Self {
        Self {
            server: "first".to_owned(),
            confirmed: Some("first".to_owned()),
            ..Self::default()
        }
    }

    /// Whether nobody else has had a lease since this acquisition of its last owner.
    pub(super) fn is_held_since(&self, subject: &LeaseSubject, epoch: i64) -> bool {
        let holder = self.holders.get(subject);
        holder.is_some_and(|(_, since)| *since <= epoch)
    }

    pub(super) fn exchange(&mut self, request: &LeaseRequest) -> LeaseAnswer {
        let is_name_taken = !self.beat(request);
        if !is_name_taken {
            self.change(request);
        }
        LeaseAnswer {
            is_name_taken,
            leases: self.leases.values().cloned().collect(),
            nodes: self.nodes.values().cloned().collect(),
            sites: self.sites.values().cloned().collect(),
            server: self.server.clone(),
            confirmed: self.confirmed.clone(),
            interrupted: 0,
        }
    }

    fn beat(&mut self, request: &LeaseRequest) -> bool {
        let name = &request.node.name;
        let earlier = self.nodes.get(name);
        if earlier.is_some_and(|earlier| !request.beats.contains(&earlier.beat)) {
            return false;
        }
        let wish = |flag: fn(&NodeRow) -> bool| !request.is_start && earlier.is_some_and(flag);
        let row = NodeRow {
            node: request.node.clone(),
            beat: request.beat,
            is_draining: wish(|row| row.is_draining),
            is_evicted: wish(|row| row.is_evicted),
            age_seconds: 0,
        };
        self.nodes.insert(name.clone(), row);
        true
    }

    fn change(&mut self, request: &LeaseRequest) {
        let node = &request.node;
        let is_own = |row: &LeaseRow| {
            row.owner.as_ref() == Some(&node.name)
                && row.boot == node.boot
                && request.beats.contains(&row.beat)
        };
        for (site, shards) in &request.sites {
            self.sites.entry(site.clone()).or_insert_with(|| SiteRow {
                name: site.clone(),
                shards: *shards,
                next_shards: None,
            });
        }
        for subject in &request.release {
            if let Some(row) = self.leases.get_mut(subject).filter(|row| is_own(row)) {
                row.owner = None;
            }
        }
        if request.server.as_ref() == Some(&self.server) {
            for subject in &request.renew {
                if let Some(row) = self.leases.get_mut(subject).filter(|row| is_own(row)) {
                    row.beat = request.beat;
                }
            }
            if request.confirms_server {
                self.confirmed = Some(self.server.clone());
            }
            if self.confirmed.as_ref() == Some(&self.server) {
                self.acquire(request);
            }
        }
        let leases = &self.leases;
        for site in self.sites.values_mut() {
            let is_held = leases.values().any(|row| {
                matches!(&row.subject, LeaseSubject::Shard(shard) if shard.site == site.name)
                    && row.owner.is_some()
            });
            if !is_held && let Some(next) = site.next_shards.take() {
                site.shards = next;
            }
        }
    }

    fn acquire(&mut self, request: &LeaseRequest) {
        for claim in &request.acquire {
            let found = self.leases.get(&claim.subject);
            let seen = found.map_or((0, 0), |row| (row.epoch, row.beat));
            if seen != (claim.epoch, claim.beat) {
                continue;
            }
            self.epoch += 1;
            let (name, boot) = (&request.node.name, &request.node.boot);
            let holder = self.holders.get(&claim.subject);
            let is_same = holder.is_some_and(|(holder, _)| holder == name)
                && found.is_some_and(|row| row.boot == *boot);
            if !is_same {
                let holder = (name.clone(), self.epoch);
                self.holders.insert(claim.subject.clone(), holder);
            }
            let row = LeaseRow {
                subject: claim.subject.clone(),
                owner: Some(request.node.name.clone()),
                boot: request.node.boot.clone(),
                epoch: self.epoch,
                beat: request.beat,
            };
            self.leases.insert(claim.subject.clone(), row);
        }
    }
}

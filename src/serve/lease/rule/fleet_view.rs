//! The fleet as one node sees it: the sites with their shards, the nodes that answer, and who may have a lease.

use std::collections::BTreeMap;
use std::time::Duration;

use super::observed::Observed;
use crate::clock::BootTime;
use crate::history::leases::{
    FleetTask, LeaseRow, LeaseSubject, NodeRecord, NodeRow, Shard, SiteRow,
};
use crate::serve::lease::protocol::share_a_fleet;
use crate::serve::lease::shard;
use crate::serve::lease::times::LeaseTimes;

/// A node with more load, or later runs, gets fewer shards.
const HIGH_LOAD: i64 = 90;
const LATE: i64 = 60;
const LOADED_WEIGHT: f64 = 0.5;

/// This node, and what it has seen of the fleet.
#[derive(Debug)]
pub(super) struct FleetView {
    /// The times of the leases of this node.
    pub(super) times: LeaseTimes,
    /// This node.
    pub(super) node: NodeRecord,
    pub(super) nodes: BTreeMap<String, Observed<NodeRow>>,
    pub(super) sites: BTreeMap<String, SiteRow>,
}

impl FleetView {
    pub(super) fn new(times: LeaseTimes, node: NodeRecord) -> Self {
        let lease_ms = u64::try_from(times.lease.as_millis()).unwrap_or(u64::MAX);
        Self {
            times,
            node: NodeRecord { lease_ms, ..node },
            nodes: BTreeMap::new(),
            sites: BTreeMap::new(),
        }
    }

    /// The row of the node with the name of this one.
    pub(super) fn own(&self) -> Option<&Observed<NodeRow>> {
        self.nodes.get(&self.node.name)
    }

    /// Whether this process, or one before it on the host, is the owner of a lease.
    pub(super) fn is_own(&self, row: &LeaseRow) -> bool {
        row.owner.as_ref() == Some(&self.node.name) && row.boot == self.node.boot
    }

    /// The nodes that may have a lease, the preferred one first.
    pub(super) fn preferred(&self, subject: &LeaseSubject, now: BootTime) -> Vec<&str> {
        let live = self.live(now).filter(|found| {
            !found.row.is_draining
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
            // It is only released, which needs no route to devices.
            LeaseSubject::Shard(shard) if self.is_gone(shard) => node.is_hub,
            LeaseSubject::Shard(shard) => {
                node.no_runs.is_none() && self.is_for_site(node, &shard.site)
            }
        }
    }

    /// Whether a node runs the devices of a site.
    pub(super) fn is_for_site(&self, node: &NodeRecord, site: &str) -> bool {
        let is_named = node.sites.iter().any(|own| own == site);
        let is_general = node.sites.is_empty() && !self.has_own_node(site);
        node.runs && (is_named || is_general)
    }

    /// Whether a node names the site, also one that does not answer: its devices are never run from elsewhere.
    fn has_own_node(&self, site: &str) -> bool {
        let mut nodes = self.nodes.values();
        nodes.any(|found| found.row.node.sites.iter().any(|own| own == site))
    }

    /// Whether a node is of the newest protocol of the fleet, or of the one before.
    fn is_compatible(&self, row: &NodeRow, now: BootTime) -> bool {
        share_a_fleet(row.node.protocol, self.newest_protocol(now))
    }

    pub(super) fn newest_protocol(&self, now: BootTime) -> u32 {
        let newest = self.live(now).map(|found| found.row.node.protocol).max();
        newest.unwrap_or_default().max(self.node.protocol)
    }

    /// The nodes that answer, as far as this one has seen.
    pub(super) fn live(&self, now: BootTime) -> impl Iterator<Item = &Observed<NodeRow>> {
        let nodes = self.nodes.values();
        nodes.filter(move |found| self.is_live(found, now))
    }

    fn is_live(&self, found: &Observed<NodeRow>, now: BootTime) -> bool {
        let row = &found.row;
        row.node.name == self.node.name
            || (!row.node.is_stopped
                && !row.is_evicted
                && now.since(found.since) < self.node_times(&row.node).takeover())
    }

    pub(super) fn shards(&self) -> impl Iterator<Item = Shard> {
        self.sites.values().flat_map(|site| {
            let numbers = 0..site.shards;
            numbers.map(|number| Shard {
                site: site.name.clone(),
                number,
            })
        })
    }

    pub(super) fn is_desired(&self, subject: &LeaseSubject) -> bool {
        match subject {
            LeaseSubject::Task(_) => true,
            LeaseSubject::Shard(shard) => self
                .sites
                .get(&shard.site)
                .is_some_and(|site| site.next_shards.is_none() && shard.number < site.shards),
        }
    }

    pub(super) fn is_resharded(&self, subject: &LeaseSubject) -> bool {
        match subject {
            LeaseSubject::Task(_) => false,
            LeaseSubject::Shard(shard) => {
                let site = self.sites.get(&shard.site);
                site.is_some_and(|site| site.next_shards.is_some())
            }
        }
    }

    /// Whether no device can have a shard: its site has no devices, or fewer shards.
    fn is_gone(&self, shard: &Shard) -> bool {
        let site = self.sites.get(&shard.site);
        site.is_none_or(|site| site.next_shards.is_none() && shard.number >= site.shards)
    }

    /// The times of the owner of a lease, as this node waits for them. `None`: the lease is free.
    pub(super) fn row_times(&self, row: &LeaseRow) -> Option<LeaseTimes> {
        let owner = self.nodes.get(row.owner.as_ref()?);
        let owner = owner.filter(|found| found.row.node.boot == row.boot);
        // Who is not known has the longest lease.
        Some(owner.map_or_else(
            || self.longest_times(),
            |found| self.node_times(&found.row.node),
        ))
    }

    /// The times of a node, as this one waits for them. Its lease can be longer than that of this node.
    pub(super) fn node_times(&self, node: &NodeRecord) -> LeaseTimes {
        let lease = self.times.lease.max(Duration::from_millis(node.lease_ms));
        LeaseTimes { lease }
    }

    /// The times of the longest lease that a process can have, also of one that does not answer.
    pub(super) fn longest_times(&self) -> LeaseTimes {
        // A node that has ended in order has no lease, nor one whose host is off.
        let nodes = self.nodes.values();
        self.longest_of(nodes.filter(|found| !found.row.node.is_stopped && !found.row.is_evicted))
    }

    /// The time after which nodes that answer act on what they see.
    pub(super) fn takeover_of_live(&self, now: BootTime) -> Duration {
        self.longest_of(self.live(now)).takeover()
    }

    fn longest_of<'a>(&self, nodes: impl Iterator<Item = &'a Observed<NodeRow>>) -> LeaseTimes {
        let leases = nodes.map(|found| self.node_times(&found.row.node).lease);
        let lease = leases.fold(self.times.lease, Duration::max);
        LeaseTimes { lease }
    }
}

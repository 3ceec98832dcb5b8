//! Why this node has no lease, and why nobody runs a shard.

use std::time::Duration;

use super::super::protocol::share_a_fleet;
use super::LeaseRule;
use crate::clock::BootTime;
use crate::history::leases::{LeaseSubject, Shard};

/// Why a device is not run by this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShardProblem {
    /// No node may run the devices of the site.
    NoNode,
    /// It has an owner that does not answer. Another node takes it after this time.
    Takeover(Duration),
    /// The database was started again: nobody acquires for this time.
    Amnesty(Duration),
    /// A node is about to acquire it.
    Free,
    /// The number of shards of the site changes.
    Reshard,
    /// This node has it.
    Owner(String),
}

impl LeaseRule {
    /// Why this node may have no lease.
    pub(crate) fn refusal(&self, now: BootTime) -> Option<String> {
        let node = &self.view.node;
        // A process that was restarted has the name with its next request.
        let rival = self.name.rival(&self.view, now);
        if rival.is_some_and(|(_, wait)| !wait.is_zero()) {
            return Some(format!(
                "another process is the node `{}`; name this one with `node` in [fleet], or wait until that one is gone",
                node.name
            ));
        }
        let newest = self.view.newest_protocol(now);
        if !share_a_fleet(node.protocol, newest) {
            return Some(format!(
                "this program ({}) is too old for the fleet: its protocol is {}, that of other nodes is {newest}; \
                 upgrade it",
                node.program, node.protocol
            ));
        }
        let own = self.view.own()?;
        own.row.is_evicted.then(|| {
            format!(
                "the node `{}` was evicted; restart it to let it take part again",
                node.name
            )
        })
    }

    /// Who runs a shard, or why nobody does.
    pub(crate) fn shard_problem(&self, shard: &Shard, now: BootTime) -> ShardProblem {
        let subject = LeaseSubject::Shard(shard.clone());
        if self.held.contains_key(&subject) {
            return ShardProblem::Owner(self.view.node.name.clone());
        }
        let observed = self.leases.get(&subject);
        let owner = observed.and_then(|observed| observed.row.owner.as_ref());
        let of_owner = observed.and_then(|observed| self.view.row_times(&observed.row));
        if let (Some(owner), Some(observed), Some(times)) = (owner, observed, of_owner)
            && now.since(observed.since) < times.beat().saturating_mul(3)
        {
            return ShardProblem::Owner(owner.clone());
        }
        if self.view.is_resharded(&subject) {
            return ShardProblem::Reshard;
        }
        if self.view.preferred(&subject, now).is_empty() {
            return ShardProblem::NoNode;
        }
        if let Some(amnesty) = self.amnesty(now) {
            return ShardProblem::Amnesty(amnesty);
        }
        match (of_owner, observed) {
            (Some(times), Some(observed)) => {
                let waited = now.since(observed.since);
                ShardProblem::Takeover(times.takeover().saturating_sub(waited))
            }
            _ => ShardProblem::Free,
        }
    }

    /// Why no run changes a device on a node.
    pub(crate) fn no_applies(&self, node: &str) -> Option<String> {
        self.view.nodes.get(node)?.row.node.no_applies.clone()
    }

    /// The sites that no node may run.
    pub(crate) fn sites_without_node(&self, now: BootTime) -> Vec<String> {
        let sites = self.view.sites.keys().filter(|site| {
            let shard = Shard {
                site: (*site).clone(),
                number: 0,
            };
            self.view
                .preferred(&LeaseSubject::Shard(shard), now)
                .is_empty()
        });
        sites.cloned().collect()
    }

    /// The nodes that could run a site, and why no run begins on them.
    pub(crate) fn idle_nodes(&self, site: &str, now: BootTime) -> Vec<String> {
        let idle = self.view.live(now).filter_map(|found| {
            let node = &found.row.node;
            let reason = node.no_runs.as_ref()?;
            let is_idle = self.view.is_for_site(node, site);
            is_idle.then(|| format!("no run begins on the node {}: {reason}", node.name))
        });
        idle.collect()
    }
}

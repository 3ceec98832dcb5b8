//! What the process knows that sends a request.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::leases::{LeaseSubject, NodeRecord};

/// The situation of the process, for its next request.
#[derive(Debug, Default)]
pub(crate) struct NodeSituation {
    pub(crate) lateness_seconds: i64,
    pub(crate) load_percent: i64,
    pub(crate) running: u32,
    pub(crate) release: Option<i64>,
    pub(crate) rejected_release: Option<String>,
    /// Why no run begins now.
    pub(crate) no_runs: Option<String>,
    /// Why no run changes a device, and requests wait.
    pub(crate) no_applies: Option<String>,
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

impl NodeSituation {
    /// The record of a node in this situation.
    pub(super) fn record(&self, node: &NodeRecord) -> NodeRecord {
        NodeRecord {
            lateness_seconds: self.lateness_seconds,
            load_percent: self.load_percent,
            running: self.running,
            release: self.release,
            rejected_release: self.rejected_release.clone(),
            no_runs: self.no_runs.clone().filter(|_| node.runs),
            no_applies: self.no_applies.clone(),
            has_puppetdb: self.has_puppetdb,
            webhooks: self.webhooks.clone(),
            is_stopping: self.is_stopping,
            is_stopped: self.is_stopped,
            ..node.clone()
        }
    }
}

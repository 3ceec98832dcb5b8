//! The state of a fleet for people and programs, as the store has it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::node_problems;
use super::protocol::share_a_fleet;
use super::shard;
use crate::history::leases::{FleetTask, LeaseAnswer, LeaseSubject, NodeRow, Shard};
use crate::history::site_devices::SiteDevices;
use crate::history::{HistoryError, HistoryReader};

/// The nodes, sites and shards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct FleetStatus {
    pub(crate) nodes: Vec<NodeStatus>,
    pub(crate) sites: Vec<SiteStatus>,
    pub(crate) tasks: Vec<TaskStatus>,
    /// Results that came after another node had acquired the shard.
    pub(crate) late_runs: u64,
    /// What an operator must correct.
    pub(crate) problems: Vec<String>,
    /// What an operator should change: the devices are run nevertheless.
    pub(crate) warnings: Vec<String>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct NodeStatus {
    pub(crate) name: String,
    /// `running`, `pages only`, `draining`, `silent`, `stopped` or `evicted`.
    pub(crate) state: &'static str,
    pub(crate) program: String,
    pub(crate) protocol: u32,
    pub(crate) sites: Vec<String>,
    pub(crate) is_hub: bool,
    pub(crate) release: Option<i64>,
    pub(crate) shards: usize,
    pub(crate) running: u32,
    pub(crate) lateness_seconds: i64,
    pub(crate) load_percent: i64,
    /// The age of the last beat by the clock of the database.
    pub(crate) age_seconds: i64,
}

/// A site with its shards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct SiteStatus {
    pub(crate) name: String,
    pub(crate) shards: u32,
    pub(crate) next_shards: Option<u32>,
    /// The number of devices by the class of their guarantee: `locked`, `session`, `timing` or `unknown`.
    pub(crate) guarantees: BTreeMap<String, u32>,
    /// How late the scheduled run is that has waited longest.
    pub(crate) lateness_seconds: i64,
    pub(crate) owners: Vec<ShardStatus>,
}

/// A shard and its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct ShardStatus {
    #[schema(value_type = String)]
    pub(crate) shard: Shard,
    pub(crate) owner: Option<String>,
    pub(crate) epoch: i64,
}

/// A task of the fleet and its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct TaskStatus {
    pub(crate) task: FleetTask,
    pub(crate) owner: Option<String>,
}

impl FleetStatus {
    /// Reads it from the store.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn read(reader: &HistoryReader<'_>, now: Timestamp) -> Result<Self, HistoryError> {
        let (rows, devices) = (reader.fleet_rows()?, reader.site_devices(now)?);
        Ok(Self::new(rows, devices, reader.late_runs()?))
    }

    pub(super) fn new(
        rows: LeaseAnswer,
        mut devices: BTreeMap<String, SiteDevices>,
        late_runs: u64,
    ) -> Self {
        let owner = |subject: &LeaseSubject| {
            let row = rows.leases.iter().find(|row| row.subject == *subject);
            (
                row.and_then(|row| row.owner.clone()),
                row.map_or(0, |row| row.epoch),
            )
        };
        let sites = rows.sites.iter().map(|site| {
            let numbers = 0..site.shards;
            let owners = numbers.map(|number| {
                let shard = Shard {
                    site: site.name.clone(),
                    number,
                };
                let (owner, epoch) = owner(&LeaseSubject::Shard(shard.clone()));
                ShardStatus {
                    shard,
                    owner,
                    epoch,
                }
            });
            let found = devices.remove(&site.name).unwrap_or_default();
            SiteStatus {
                name: site.name.clone(),
                shards: site.shards,
                next_shards: site.next_shards,
                guarantees: found.guarantees,
                lateness_seconds: found.lateness_seconds,
                owners: owners.collect(),
            }
        });
        let tasks = FleetTask::ALL.iter().map(|task| TaskStatus {
            task: *task,
            owner: owner(&LeaseSubject::Task(*task)).0,
        });
        let nodes = rows.nodes.iter().map(|row| {
            let owned = rows.leases.iter().filter(|lease| {
                lease.owner.as_ref() == Some(&row.node.name)
                    && matches!(lease.subject, LeaseSubject::Shard(_))
            });
            node_status(row, owned.count())
        });
        let nodes: Vec<NodeStatus> = nodes.collect();
        let sites: Vec<SiteStatus> = sites.collect();
        Self {
            problems: problems(&rows, &nodes),
            warnings: sites.iter().filter_map(SiteStatus::size_warning).collect(),
            tasks: tasks.collect(),
            nodes,
            sites,
            late_runs,
        }
    }
}

impl SiteStatus {
    /// A site that has grown has its first number of shards still.
    fn size_warning(&self) -> Option<String> {
        let (name, shards) = (&self.name, self.shards);
        let devices: u32 = self.guarantees.values().sum();
        let devices = usize::try_from(devices).unwrap_or(usize::MAX);
        let more = shard::more_shards(devices, shards).filter(|_| self.next_shards.is_none())?;
        Some(format!(
            "the site {name} has {devices} devices in {shards} shards: run `switchtender fleet reshard {name} {more}`"
        ))
    }

    /// The devices by the class of their guarantee, such as `2 locked, 1 timing`.
    pub(crate) fn guarantee_counts(&self) -> String {
        let counts = self.guarantees.iter();
        let counts: Vec<String> = counts
            .map(|(class, count)| format!("{count} {class}"))
            .collect();
        if counts.is_empty() {
            "no devices".to_owned()
        } else {
            counts.join(", ")
        }
    }
}

fn node_status(row: &NodeRow, shards: usize) -> NodeStatus {
    let node = row.node.clone();
    let state = if row.is_evicted {
        "evicted"
    } else if node.is_stopped {
        "stopped"
    } else if row.age_seconds > node_problems::silent_seconds(&node) {
        "silent"
    } else if row.is_draining {
        "draining"
    } else if node.runs {
        "running"
    } else {
        "pages only"
    };
    NodeStatus {
        name: node.name,
        state,
        program: node.program,
        protocol: node.protocol,
        sites: node.sites,
        is_hub: node.is_hub,
        release: node.release,
        shards,
        // Others have ended the runs of a node that is gone.
        running: if state == "silent" && shards == 0 {
            0
        } else {
            node.running
        },
        lateness_seconds: node.lateness_seconds,
        load_percent: node.load_percent,
        age_seconds: row.age_seconds,
    }
}

/// Sites without a node, nodes that do not answer, and nodes of an old protocol.
fn problems(rows: &LeaseAnswer, nodes: &[NodeStatus]) -> Vec<String> {
    let mut found = Vec::new();
    for site in &rows.sites {
        let names = |row: &&NodeRow| row.node.sites.contains(&site.name);
        let own: Vec<&NodeRow> = rows.nodes.iter().filter(names).collect();
        let eligible = rows.nodes.iter().zip(nodes).filter(|(row, node)| {
            let is_for_site = if own.is_empty() {
                row.node.sites.is_empty()
            } else {
                names(row)
            };
            is_for_site && node.state == "running" && row.node.no_runs.is_none()
        });
        if eligible.count() == 0 {
            let own: Vec<&str> = own.iter().map(|row| row.node.name.as_str()).collect();
            let of = if own.is_empty() {
                String::new()
            } else {
                format!(" (its nodes: {})", own.join(", "))
            };
            let fix = match own.as_slice() {
                [] => "start one with it in `sites`, or one without `sites`".to_owned(),
                [first, ..] => format!(
                    "start one of them; if it never comes back, run `switchtender fleet evict {first} --forget`"
                ),
            };
            found.push(format!(
                "no node for site {}{of}: its devices are not run; {fix}",
                site.name
            ));
        }
    }
    let running = nodes
        .iter()
        .filter(|node| !["stopped", "evicted"].contains(&node.state));
    let newest = running
        .clone()
        .map(|node| node.protocol)
        .max()
        .unwrap_or_default();
    for node in running {
        if node.state == "silent" {
            found.push(node_problems::silence(node));
        }
        if !share_a_fleet(node.protocol, newest) {
            let (name, protocol) = (&node.name, node.protocol);
            found.push(format!(
                "the node {name} is too old for the fleet and runs no device: its protocol is {protocol}, that of \
                 other nodes is {newest}; upgrade it"
            ));
        }
    }
    found.extend(node_problems::of_records(rows, nodes));
    found
}

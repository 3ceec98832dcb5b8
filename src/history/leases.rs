//! What nodes of a fleet tell a store, and what it answers: leases, nodes, and sites with their shards.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::words::words;

/// The site of devices that have none.
pub(crate) const DEFAULT_SITE: &str = "default";

/// A part of the devices of a site. One node runs it at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct Shard {
    pub(crate) site: String,
    pub(crate) number: u32,
}

words! {
    /// Work that one node does for all.
    FleetTask {
        Retention = "retention",
        PuppetDb = "puppetdb",
        Webhooks = "webhooks",
    }
}

/// What a lease is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) enum LeaseSubject {
    Shard(Shard),
    Task(FleetTask),
}

/// A text that is no subject of a lease.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no lease")]
pub(crate) struct UnknownSubject(String);

impl std::fmt::Display for Shard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.site, self.number)
    }
}

impl FromStr for Shard {
    type Err = UnknownSubject;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.rsplit_once('/');
        let shard = parts.and_then(|(site, number)| {
            let number = number.parse().ok()?;
            let site = site.to_owned();
            Some(Self { site, number })
        });
        shard.ok_or_else(|| UnknownSubject(text.to_owned()))
    }
}

impl std::fmt::Display for LeaseSubject {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shard(shard) => write!(formatter, "shard:{shard}"),
            Self::Task(task) => write!(formatter, "task:{task}"),
        }
    }
}

impl LeaseSubject {
    /// The name of the shard or the task.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Shard(shard) => shard.to_string(),
            Self::Task(task) => task.to_string(),
        }
    }
}

impl FromStr for LeaseSubject {
    type Err = UnknownSubject;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownSubject(text.to_owned());
        match text.split_once(':') {
            Some(("shard", shard)) => Ok(Self::Shard(shard.parse()?)),
            Some(("task", task)) => Ok(Self::Task(task.parse().map_err(|_| unknown())?)),
            _ => Err(unknown()),
        }
    }
}

macro_rules! as_text {
    ($($name:ty)+) => {
        $(
            impl From<$name> for String {
                fn from(value: $name) -> Self {
                    value.to_string()
                }
            }

            impl TryFrom<String> for $name {
                type Error = UnknownSubject;

                fn try_from(text: String) -> Result<Self, Self::Error> {
                    text.parse()
                }
            }
        )+
    };
}

as_text! { Shard LeaseSubject }

/// A lease as the store has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaseRow {
    pub(crate) subject: LeaseSubject,
    /// `None`: it is free.
    pub(crate) owner: Option<String>,
    /// The boot of the owner.
    pub(crate) boot: String,
    /// The number of the acquisition. All leases of a store share a sequence.
    pub(crate) epoch: i64,
    /// The owner changes it with each renewal.
    pub(crate) beat: i64,
}

/// What a node says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub(crate) struct NodeRecord {
    pub(crate) name: String,
    /// The boot of its machine, with its state directory: an equal one is this machine with the same files.
    pub(crate) boot: String,
    /// The version of the program.
    pub(crate) program: String,
    /// The number of what nodes say to each other through the store.
    pub(crate) protocol: u32,
    /// The version of the tables that its program writes.
    pub(crate) tables: u32,
    /// The sites whose devices it runs. Empty: those that no node names.
    pub(crate) sites: Vec<String>,
    /// It runs devices.
    pub(crate) runs: bool,
    /// It has the database, and can do the tasks of the fleet.
    pub(crate) is_hub: bool,
    /// It can send to PuppetDB.
    pub(crate) has_puppetdb: bool,
    /// The webhooks that it can send to.
    pub(crate) webhooks: Vec<String>,
    /// The release that it has loaded.
    pub(crate) release: Option<i64>,
    /// Why it does not use the newest release.
    pub(crate) rejected_release: Option<String>,
    /// Why no run begins. Then it has no shards.
    pub(crate) no_runs: Option<String>,
    /// Why no run changes a device, and requests wait.
    pub(crate) no_applies: Option<String>,
    /// How late the scheduled run is that has waited longest.
    pub(crate) lateness_seconds: i64,
    /// The load of its processors in percent.
    pub(crate) load_percent: i64,
    pub(crate) running: u32,
    /// Its lease in milliseconds: others wait so long, also if theirs is shorter.
    pub(crate) lease_ms: u64,
    /// It ends: no run begins.
    pub(crate) is_stopping: bool,
    /// It has ended in order.
    pub(crate) is_stopped: bool,
}

/// A node as the store has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct NodeRow {
    #[serde(flatten)]
    pub(crate) node: NodeRecord,
    pub(crate) beat: i64,
    /// The operator wants it to end its runs and to begin no other ones.
    pub(crate) is_draining: bool,
    /// The operator confirmed that its host is off.
    pub(crate) is_evicted: bool,
    /// The age of its last beat by the clock of the database: for people, not for decisions.
    pub(crate) age_seconds: i64,
}

/// A site and the number of its shards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct SiteRow {
    pub(crate) name: String,
    pub(crate) shards: u32,
    /// The number that it gets when all of its shards are free.
    pub(crate) next_shards: Option<u32>,
}

/// A lease to acquire, as it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaseClaim {
    pub(crate) subject: LeaseSubject,
    pub(crate) epoch: i64,
    pub(crate) beat: i64,
    /// This process had it with this epoch, and its runs can be in progress.
    #[serde(default)]
    pub(crate) is_continued: bool,
}

/// What a node sends in one exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LeaseRequest {
    pub(crate) node: NodeRecord,
    /// The first exchange of a process: an earlier wish of the operator about the node ends.
    pub(crate) is_start: bool,
    /// The beats that the rows of the node can have. Another one is that of another process.
    pub(crate) beats: Vec<i64>,
    /// The beat that they get.
    pub(crate) beat: i64,
    pub(crate) renew: Vec<LeaseSubject>,
    pub(crate) acquire: Vec<LeaseClaim>,
    pub(crate) release: Vec<LeaseSubject>,
    /// The server that the decisions are about. On another one, nothing is acquired.
    pub(crate) server: Option<String>,
    /// All leases of before the start of this server have expired.
    pub(crate) confirms_server: bool,
    /// Sites of the devices with the number of shards that a new one gets.
    pub(crate) sites: BTreeMap<String, u32>,
}

/// What the store answers, after it has done what the node asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LeaseAnswer {
    /// Another process has the name of the node. Nothing was done.
    pub(crate) is_name_taken: bool,
    pub(crate) leases: Vec<LeaseRow>,
    pub(crate) nodes: Vec<NodeRow>,
    pub(crate) sites: Vec<SiteRow>,
    /// The start of the server and its timeline.
    pub(crate) server: String,
    /// The server whose earlier leases have expired.
    pub(crate) confirmed: Option<String>,
    /// Runs that a former owner began, and that ended with the acquisitions.
    pub(crate) interrupted: usize,
}

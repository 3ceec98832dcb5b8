//! Plans in files: what a plan would change on each device, and whether a later run would do exactly this.
//!
//! A plan has no secret: texts are masked, and each secret has a digest with the key of the device in the
//! state directory. Only a plan with such digests needs this key, and so this state directory.

mod collector;
mod differences;
#[cfg(test)]
mod example;
mod plan_file;
mod plan_record;
mod plan_use;
mod source_digests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::catalog::rich_data;
use crate::report::command_lines;
use crate::store::identity::DeviceIdentity;
use crate::transaction::CommandRecord;

pub(crate) use collector::PlanCollector;
pub(crate) use plan_use::{PlanUse, PlannedDevices};
pub(crate) use source_digests::{catalog_digest, definitions_digest};

/// A plan of several devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredPlan {
    /// Distinguishes plans with equal changes: a run is the run of one plan.
    pub(crate) id: String,
    /// When it was made, in RFC 3339.
    pub(crate) created: String,
    /// User and host.
    pub(crate) author: String,
    /// Version of the program.
    pub(crate) program: String,
    pub(crate) sources: PlanSources,
    pub(crate) devices: BTreeMap<String, PlannedDevice>,
}

/// What the plan was made from. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlanSources {
    pub(crate) catalog: Option<PathBuf>,
    pub(crate) state: Option<PathBuf>,
    pub(crate) definitions: Option<PathBuf>,
    /// The selected tags, and those that are skipped.
    pub(crate) tags: Vec<String>,
    pub(crate) skip_tags: Vec<String>,
}

/// What a run would change on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedDevice {
    pub(crate) platform: String,
    /// The device that answered.
    #[serde(default)]
    pub(crate) identity: DeviceIdentity,
    /// Stands for the key of the digests of secrets; `None`: there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// Digest of resources and relations, with the key if they have secrets.
    pub(crate) catalog: String,
    /// Digest of models and drivers.
    pub(crate) definitions: String,
    /// The resources with changes, in the order of their evaluation.
    pub(crate) resources: Vec<PlannedResource>,
    /// The difference to the configuration that the operations make, secrets masked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) difference: String,
    /// Secrets have digests.
    #[serde(skip)]
    pub(crate) has_secrets: bool,
    /// Why resources failed. A device with failures is not in a plan.
    #[serde(skip)]
    pub(crate) failures: BTreeMap<String, String>,
}

/// The changes of a resource and the operations that make them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedResource {
    pub(crate) resource: String,
    /// Where it is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u64>,
    /// Everything that was read for the resource. Secrets have digests.
    pub(crate) read: BTreeMap<String, String>,
    pub(crate) changes: Vec<PlannedChange>,
    /// Commands and requests in the order of sending.
    pub(crate) operations: Vec<PlannedOperation>,
    /// What a later undo does not restore, with reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_restored: Vec<String>,
}

/// A property with the value that was read and the desired one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedChange {
    pub(crate) property: String,
    /// Plain values, secrets masked.
    pub(crate) from: Json,
    pub(crate) to: Json,
}

/// A command or request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedOperation {
    #[serde(flatten)]
    pub(crate) command: CommandRecord,
    /// Digests of its secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<String>,
}

impl fmt::Display for PlannedChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |json: &Json| rich_data::read_plain(json.clone()).display();
        let (from, to) = (text(&self.from), text(&self.to));
        write!(f, "{} from {from} to {to}", self.property)
    }
}

impl fmt::Display for PlannedOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = command_lines::lines(std::slice::from_ref(&self.command));
        write!(f, "`{}`", lines.join("; "))
    }
}

//! Plans in files: what a plan would change on each device, and whether a later run would do exactly this.
//!
//! A plan has no secret: texts are masked, and each secret has a digest with the key of the device in the
//! state directory. Only a plan with such digests needs this key, and so this state directory.

mod collector;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use switchtender_devices::definitions::{DefinitionFile, shipped_texts};
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::format_version::{FormatVersion, OtherVersion};
use switchtender_devices::names::DeviceName;
use switchtender_devices::regular_file;

use crate::catalog::{ResourceRef, rich_data};
use crate::report::{ResourceUndo, RunRecord, UndoPlan, command_lines};
use crate::store::identity::DeviceIdentity;
use crate::store::{StoreError, file, write_file};
use crate::transaction::{CommandRecord, Event, EventStatus, ResourceStatus, RunEvent};

pub(crate) use collector::PlanCollector;

/// The largest file in bytes: a plan has all devices of a fleet.
const LARGEST: u64 = 1 << 30;
const VERSION: FormatVersion = FormatVersion {
    number: 1,
    advice: "make a new plan",
};

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

/// How a run uses plans in files.
#[derive(Clone, Debug, Default)]
pub(crate) enum PlanUse {
    #[default]
    None,
    /// What the run would change is collected.
    Save(Arc<PlannedDevices>),
    /// The run is refused unless it would do what was planned.
    Check {
        plan: Arc<StoredPlan>,
        /// Digest of the plan.
        digest: String,
        /// Digest of models and drivers.
        definitions: String,
    },
}

/// The devices of a new plan.
#[derive(Debug)]
pub(crate) struct PlannedDevices {
    /// The name of the plan.
    pub(crate) id: String,
    /// Digest of models and drivers.
    pub(crate) definitions: String,
    pub(crate) devices: Mutex<BTreeMap<String, PlannedDevice>>,
}

impl PlanUse {
    /// The digest of the plan that is applied.
    pub(crate) fn applied(&self) -> Option<&str> {
        match self {
            PlanUse::Check { digest, .. } => Some(digest),
            PlanUse::None | PlanUse::Save(_) => None,
        }
    }

    /// The name of the plan.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            PlanUse::None => None,
            PlanUse::Save(planned) => Some(&planned.id),
            PlanUse::Check { plan, .. } => Some(&plan.id),
        }
    }

    /// Uses what a run would change on a device. `is_complete`: no resource failed, and
    /// a run would not refuse the device.
    ///
    /// # Errors
    /// The run would not do what was planned.
    pub(crate) fn check(
        &self,
        device: &DeviceName,
        is_complete: bool,
        now: impl FnOnce(&str) -> PlannedDevice,
    ) -> Result<(), Vec<Diagnostic>> {
        let of_device = |mut finding: Diagnostic| {
            finding.message = format!("{device}: {}", finding.message);
            finding
        };
        match self {
            PlanUse::None => Ok(()),
            PlanUse::Save(all) => {
                if is_complete {
                    let mut planned = now(&all.definitions);
                    planned.key = planned.key.filter(|_| planned.has_secrets);
                    let mut devices = all.devices.lock().unwrap_or_else(PoisonError::into_inner);
                    devices.insert(device.to_string(), planned);
                }
                Ok(())
            }
            PlanUse::Check {
                plan, definitions, ..
            } => {
                let findings = match plan.devices.get(device.as_str()) {
                    Some(planned) => planned.differences(&now(definitions)),
                    None => vec![Diagnostic::error(
                        "plan-changed",
                        "the plan does not have the device",
                    )],
                };
                if findings.is_empty() {
                    Ok(())
                } else {
                    Err(findings.into_iter().map(of_device).collect())
                }
            }
        }
    }
}

impl PlanUse {
    /// Adds the difference to the configuration of a device to a new plan.
    pub(crate) fn set_difference(&self, device: &DeviceName, difference: &str) {
        if let PlanUse::Save(all) = self {
            let mut devices = all.devices.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(planned) = devices.get_mut(device.as_str()) {
                difference.clone_into(&mut planned.difference);
            }
        }
    }
}

impl PlannedResource {
    /// Whether the same is read, changed and sent. Positions in files do not count.
    fn is_same(&self, other: &Self) -> bool {
        let without_position = |resource: &Self| Self {
            file: None,
            line: None,
            ..resource.clone()
        };
        without_position(self) == without_position(other)
    }

    /// The resource as the plan of a run has it.
    fn status(&self, time: Timestamp) -> Option<ResourceStatus> {
        let mut status = ResourceStatus::of(ResourceRef::parse(&self.resource).ok()?);
        for change in &self.changes {
            status.add(change.event(time));
        }
        let operations = self.operations.iter();
        Some(ResourceStatus {
            file: self.file.as_deref().map(Into::into),
            line: self.line,
            operations: operations
                .map(|operation| operation.command.clone())
                .collect(),
            ..status
        })
    }
}

impl PlannedChange {
    fn event(&self, time: Timestamp) -> Event {
        let value = |json: &Json| Some(rich_data::read_plain(json.clone()));
        Event {
            name: format!("{}_changed", self.property),
            property: Some(self.property.as_str().into()),
            status: EventStatus::Noop,
            previous_value: value(&self.from),
            desired_value: value(&self.to),
            message: None,
            corrective_change: false,
            time,
            historical_value: None,
            audited: false,
            redacted: None,
            invalidates_refreshes: false,
        }
    }
}

impl std::fmt::Display for PlannedChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |json: &Json| rich_data::read_plain(json.clone()).display();
        let (from, to) = (text(&self.from), text(&self.to));
        write!(f, "{} from {from} to {to}", self.property)
    }
}

impl std::fmt::Display for PlannedOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines = command_lines::lines(std::slice::from_ref(&self.command));
        write!(f, "`{}`", lines.join("; "))
    }
}

impl PlannedDevice {
    /// The record of the run that made the plan, as far as the plan has it.
    pub(crate) fn record(&self, created: &str) -> RunRecord {
        let time = created.parse().unwrap_or_default();
        let mut record = RunRecord::planned(time);
        for status in self
            .resources
            .iter()
            .filter_map(|planned| planned.status(time))
        {
            record.fold(&RunEvent::Resource(Arc::new(status)));
        }
        let undo = self
            .resources
            .iter()
            .filter(|planned| !planned.not_restored.is_empty());
        let undo = undo.map(|planned| ResourceUndo {
            resource: planned.resource.clone(),
            operations: Vec::new(),
            not_restored: planned.not_restored.clone(),
        });
        RunRecord {
            difference: self.difference.clone(),
            undo: Some(UndoPlan {
                resources: undo.collect(),
                not_restored: String::new(),
            }),
            ..record
        }
    }
}

/// The digest of models and drivers, the built-in ones and own ones.
pub(crate) fn definitions_digest(own: &[DefinitionFile]) -> String {
    let mut files: BTreeMap<&str, &str> = shipped_texts().iter().copied().collect();
    for file in own {
        files.insert(&file.path, &file.source.text);
    }
    let mut digest = Sha256::new();
    for (path, text) in files {
        digest.update(format!("{path} {}\n{text}\n", text.len()));
    }
    hex::encode(digest.finalize())
}

/// The digest of the resources and relations of a catalog. Times of its compilation and positions in its
/// sources are not in it.
pub(crate) fn catalog_digest(text: &str) -> String {
    let mut catalog: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let resources = catalog["resources"].as_array_mut().into_iter().flatten();
    for resource in resources.filter_map(serde_json::Value::as_object_mut) {
        resource.retain(|name, _| !matches!(name.as_str(), "file" | "line"));
    }
    let parts = ["resources", "edges"].map(|name| catalog[name].to_string());
    hex::encode(Sha256::digest(parts.join("\n")))
}

/// A plan in a file. The digest of the content finds edits.
#[derive(Serialize, Deserialize)]
struct PlanFile<T> {
    version: u32,
    digest: String,
    plan: T,
}

/// A file is no plan, or another one than was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadPlanError {
    #[error("cannot read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} is no plan")]
    NoPlan {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("cannot use {path}")]
    Version {
        path: PathBuf,
        #[source]
        version: OtherVersion,
    },
    #[error("{path} was edited: its content does not have the digest of the plan")]
    Edited { path: PathBuf },
}

impl StoredPlan {
    /// Writes the plan. Only the owner can read the file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), StoreError> {
        let plan = serde_json::to_value(self).expect("a plan is JSON");
        let file = PlanFile {
            version: VERSION.number,
            digest: digest_of(&plan),
            plan,
        };
        let text = serde_json::to_string_pretty(&file).expect("a plan is JSON") + "\n";
        write_file(path, &text)
    }

    /// The digest of the plan.
    pub(crate) fn digest(&self) -> String {
        digest_of(&serde_json::to_value(self).expect("a plan is JSON"))
    }

    /// Reads a plan.
    pub(crate) fn load(path: &Path) -> Result<Self, LoadPlanError> {
        let text =
            regular_file::read_text(path, LARGEST).map_err(|source| LoadPlanError::Read {
                path: path.to_owned(),
                source,
            })?;
        let no_plan = |source| LoadPlanError::NoPlan {
            path: path.to_owned(),
            source,
        };
        let found = file::version_of(&text).map_err(no_plan)?;
        let checked = VERSION.check(found);
        checked.map_err(|version| LoadPlanError::Version {
            path: path.to_owned(),
            version,
        })?;
        let file: PlanFile<serde_json::Value> = serde_json::from_str(&text).map_err(no_plan)?;
        if file.digest != digest_of(&file.plan) {
            return Err(LoadPlanError::Edited {
                path: path.to_owned(),
            });
        }
        serde_json::from_value(file.plan).map_err(no_plan)
    }
}

fn digest_of(plan: &serde_json::Value) -> String {
    hex::encode(Sha256::digest(plan.to_string()))
}

impl PlannedDevice {
    /// The differences of what a run would do now to what was planned, as errors.
    pub(crate) fn differences(&self, now: &Self) -> Vec<Diagnostic> {
        let changed = |what: &str| {
            let message = format!("the {what} changed since the plan");
            Diagnostic::error("plan-changed", message).help("make a new plan")
        };
        if self.identity.is_other(&now.identity) {
            let message = format!(
                "the plan was made for another device, {}; the device that answers has {}",
                self.identity, now.identity
            );
            return vec![Diagnostic::error("plan-changed", message).help("make a new plan")];
        }
        if self.key.is_some() && self.key != now.key {
            let message =
                "the plan was made with another state directory, and compares secrets by its key";
            let help = "pass the same --state-dir; with --mock, pass one to both commands";
            return vec![Diagnostic::error("plan-changed", message).help(help)];
        }
        let mut findings = Vec::new();
        if self.catalog != now.catalog {
            findings.push(changed("catalog"));
        }
        if self.definitions != now.definitions {
            findings.push(changed("definitions"));
        }
        for planned in &self.resources {
            let found = now
                .resources
                .iter()
                .find(|other| other.resource == planned.resource);
            if found.is_some_and(|found| found.is_same(planned)) {
                continue;
            }
            findings.push(match now.failures.get(&planned.resource) {
                Some(reason) => {
                    let message = format!("{}: {reason}", planned.resource);
                    Diagnostic::error("plan-changed", message)
                }
                None => resource_changed(Some(planned), found),
            });
        }
        for found in &now.resources {
            let is_planned = |other: &PlannedResource| other.resource == found.resource;
            if !self.resources.iter().any(is_planned) {
                findings.push(resource_changed(None, Some(found)));
            }
        }
        let names = |device: &Self| -> Vec<String> {
            let names = device.resources.iter();
            names.map(|planned| planned.resource.clone()).collect()
        };
        if findings.is_empty() && names(self) != names(now) {
            findings.push(changed("order of the resources"));
        }
        findings
    }
}

/// What was planned for a resource and what a run would do now.
fn resource_changed(
    planned: Option<&PlannedResource>,
    now: Option<&PlannedResource>,
) -> Diagnostic {
    let name = planned.or(now).map_or("", |found| found.resource.as_str());
    let texts = |found: Option<&PlannedResource>| -> Vec<String> {
        let changes = found.iter().flat_map(|found| &found.changes);
        let changes = changes.map(ToString::to_string);
        let operations = found.iter().flat_map(|found| &found.operations);
        let operations = operations.map(ToString::to_string);
        changes.chain(operations).collect()
    };
    let (of_plan, of_now) = (texts(planned), texts(now));
    // What both have says nothing, unless their order differs.
    let others = |own: &[String], other: &[String]| {
        let own_only: Vec<&str> = own
            .iter()
            .filter(|text| !other.contains(text))
            .map(String::as_str)
            .collect();
        match (own_only.is_empty(), own.is_empty()) {
            (false, _) => own_only.join(", "),
            (true, true) => "no change".to_owned(),
            (true, false) if other.len() > own.len() => "nothing else".to_owned(),
            (true, false) => own.join(", "),
        }
    };
    let (before, after) = (others(&of_plan, &of_now), others(&of_now, &of_plan));
    let read = planned.zip(now).and_then(|(planned, now)| {
        let names = planned.read.keys().chain(now.read.keys());
        let mut names = names.filter(|name| planned.read.get(*name) != now.read.get(*name));
        names.next().cloned()
    });
    let difference = match (of_plan == of_now, read) {
        (false, _) => format!("planned: {before}; now: {after}"),
        (true, Some(name)) => format!("{name} changed on the device"),
        (true, None) => "a secret changed".to_owned(),
    };
    Diagnostic::error("plan-changed", format!("{name}: {difference}"))
        .help("the device changed since the plan: make a new plan")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_chain::chain;

    /// The last line is the command, the others are its modes.
    fn command(lines: &[&str]) -> CommandRecord {
        let (text, mode) = lines.split_last().unwrap();
        CommandRecord {
            mode: mode.iter().map(|line| (*line).to_owned()).collect(),
            text: Some((*text).to_owned()),
            ..CommandRecord::default()
        }
    }

    fn device(operations: &[(&str, &[&str])]) -> PlannedDevice {
        let resource = |(name, lines): &(&str, &[&str])| PlannedResource {
            resource: (*name).to_owned(),
            file: Some("state/sw1.yaml".to_owned()),
            line: Some(7),
            read: [("mtu".to_owned(), "1500".to_owned())].into(),
            changes: Vec::new(),
            not_restored: Vec::new(),
            operations: vec![PlannedOperation {
                command: command(lines),
                secrets: vec!["1f".to_owned()],
            }],
        };
        PlannedDevice {
            platform: "cisco_ios".to_owned(),
            identity: DeviceIdentity::parse("FCW1"),
            key: Some("k".to_owned()),
            catalog: "a".to_owned(),
            definitions: "b".to_owned(),
            resources: operations.iter().map(resource).collect(),
            difference: "+vlan 10".to_owned(),
            has_secrets: false,
            failures: BTreeMap::new(),
        }
    }

    fn messages(planned: &PlannedDevice, now: &PlannedDevice) -> Vec<String> {
        let findings = planned.differences(now).into_iter();
        findings.map(|finding| finding.message).collect()
    }

    #[test]
    fn differences_name_what_changed() {
        let planned = device(&[("A[1]", &["vlan 10", "name a"]), ("B[2]", &["x"])]);
        assert_eq!(messages(&planned, &planned), [""; 0]);
        let other = device(&[("A[1]", &["vlan 10", "name b"]), ("C[3]", &["y"])]);
        assert_eq!(
            messages(&planned, &other),
            [
                "A[1]: planned: `vlan 10;  name a`; now: `vlan 10;  name b`",
                "B[2]: planned: `x`; now: no change",
                "C[3]: planned: no change; now: `y`",
            ]
        );
        let mut failed = other;
        let reason = "cannot change it";
        failed.failures = [("B[2]".to_owned(), reason.to_owned())].into();
        let messages_of_failed = messages(&planned, &failed);
        assert_eq!(messages_of_failed[1], "B[2]: cannot change it");
        let mut secret = planned.clone();
        secret.resources[0].operations[0].secrets = vec!["2e".to_owned()];
        assert_eq!(messages(&planned, &secret), ["A[1]: a secret changed"]);
        let mut read = planned.clone();
        let mtu = read.resources[1].read.get_mut("mtu").unwrap();
        "9000".clone_into(mtu);
        assert_eq!(
            messages(&planned, &read),
            ["B[2]: mtu changed on the device"]
        );
        let mut sources = planned.clone();
        sources.catalog = "c".to_owned();
        sources.definitions = "d".to_owned();
        assert_eq!(
            messages(&planned, &sources),
            [
                "the catalog changed since the plan",
                "the definitions changed since the plan"
            ]
        );
        let mut moved = planned.clone();
        moved.resources[0].line = Some(9);
        moved.difference.clear();
        assert_eq!(messages(&planned, &moved), [""; 0]);
        let other_device = PlannedDevice {
            identity: DeviceIdentity::parse("FCW2"),
            ..planned.clone()
        };
        assert_eq!(
            messages(&planned, &other_device),
            [
                "the plan was made for another device, serial number FCW1; the device that answers has serial number FCW2"
            ]
        );
        let other_key = PlannedDevice {
            key: Some("l".to_owned()),
            ..planned.clone()
        };
        assert_eq!(
            messages(&planned, &other_key),
            ["the plan was made with another state directory, and compares secrets by its key"]
        );
        let without_secrets = PlannedDevice {
            key: None,
            ..planned.clone()
        };
        assert_eq!(messages(&without_secrets, &other_key), [""; 0]);
        let mut order = planned.clone();
        order.resources.reverse();
        assert_eq!(
            messages(&planned, &order),
            ["the order of the resources changed since the plan"]
        );
    }

    #[test]
    fn plan_is_read_as_it_was_written_and_edits_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("plan.json");
        let plan = StoredPlan {
            id: "1".to_owned(),
            created: "2026-11-23T18:00:00Z".to_owned(),
            author: "ops@proxy1".to_owned(),
            program: "1.0.0".to_owned(),
            sources: PlanSources::default(),
            devices: [("sw1".to_owned(), device(&[("A[1]", &["vlan 10"])]))].into(),
        };
        plan.write(&path).unwrap();
        assert_eq!(StoredPlan::load(&path).unwrap(), plan);
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to, expected) in [
            ("vlan 10", "vlan 11", "was edited"),
            ("\"version\": 1", "\"version\": 3", "has version 3"),
            ("{", "", "is no plan"),
        ] {
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let error = chain(&StoredPlan::load(&path).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }
}

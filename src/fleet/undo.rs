//! The undo of runs: what each run changed on a device, and the catalog that restores what was before.
//!
//! A record has no secret. Values that are secrets have digests with the key of the device, and are not
//! restored.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use switchtender_devices::change::Desired;
use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::{ConfigurationChange, Undo};
use switchtender_devices::format_version::FormatVersion;
use switchtender_devices::names::{Certname, DeviceName};
use switchtender_devices::provider::state::{DeviceState, LeftResource, LeftState};
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::value::{Attributes, Value};

use crate::catalog::{ResourceRef, rich_data};
use crate::store::file::state_version;
use crate::store::identity::Owner;
use crate::store::secret_digests::SecretDigests;
use crate::store::{DeviceStore, RECORDS, Store, StoreError};

const VERSION: FormatVersion = state_version(1);
/// Number of runs of a device whose changes can be undone.
const MAX_RUNS: usize = 10;

/// What a run changed on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UndoRecord {
    /// The name of the run; empty before it is stored.
    #[serde(skip)]
    run: String,
    /// The directory of the state that has the record.
    #[serde(skip)]
    dir: PathBuf,
    /// The device that was changed.
    #[serde(skip)]
    pub(crate) owner: Owner,
    /// The run that this run has undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undo_of: Option<String>,
    /// The digest of the stored plan that was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<String>,
    /// Last change first.
    pub(crate) resources: Vec<ChangedResource>,
    /// The names of the reads at the end of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reads: Vec<String>,
    /// Lines of the configuration that the undo does not restore, with `-` or `+`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lost_lines: Vec<String>,
    /// Lines that the run added before those of its resources, and that the undo leaves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stays: Vec<String>,
    /// Lines of the configuration that the run has added, with their blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    added_lines: Vec<String>,
}

/// A resource that a run changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangedResource {
    pub(crate) resource: String,
    /// The desired state that restores what was before; `None` if nothing can be restored.
    before: Option<Map<String, Json>>,
    /// What the run left. Secrets have digests. `None`: the device had no such instance.
    left: Option<BTreeMap<String, String>>,
    /// The device did not have the instance before the run.
    #[serde(default)]
    was_absent: bool,
    /// What cannot be restored, with reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_restored: Vec<String>,
}

/// What is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UndoChoice {
    /// The run with this name.
    Run(String),
    /// The newest run.
    Last,
    /// The newest run of the plan with this digest.
    Plan(String),
}

/// The records of the devices of one run.
#[derive(Clone, Debug)]
pub(crate) struct UndoCatalogs {
    pub(crate) run: String,
    pub(crate) records: BTreeMap<DeviceName, Arc<UndoRecord>>,
}

impl UndoRecord {
    /// What a run changed, as is known at its end.
    pub(crate) fn new(
        plan: Option<&str>,
        device: &DeviceState,
        mask: &SecretMask,
        digests: &SecretDigests,
    ) -> Self {
        let undo = device.run_undo();
        let lost_lines = undo.lost_lines().into_iter();
        let lost_lines = lost_lines.map(|line| mask.apply(line)).collect();
        let added_lines = device.run_change().added.into_iter();
        let added_lines = added_lines.map(|line| mask.apply(&line)).collect();
        let mut resources: Vec<ChangedResource> = Vec::new();
        // The state before the first change of a resource comes last, and replaces later ones.
        let mut add = |mut changed: ChangedResource| {
            let mut others = resources.iter();
            if let Some(at) = others.position(|other| other.resource == changed.resource) {
                changed.complete(resources.remove(at));
            }
            resources.push(changed);
        };
        for (reference, undo) in undo.resources {
            let Undo {
                not_restored,
                restored,
                ..
            } = undo;
            let is_own = |desired: &Arc<Desired>| desired.reference == reference;
            if !restored.iter().any(is_own) && !not_restored.is_empty() {
                add(ChangedResource {
                    resource: reference.to_string(),
                    before: None,
                    left: None,
                    was_absent: false,
                    not_restored: not_restored.clone(),
                });
            }
            for desired in &restored {
                let mut reasons = if is_own(desired) {
                    not_restored.clone()
                } else {
                    Vec::new()
                };
                let left = device.attributes_now(desired);
                add(ChangedResource {
                    resource: desired.reference.to_string(),
                    before: parameters(desired, mask, &mut reasons),
                    left: left.map(|left| texts(&left, mask, digests)),
                    was_absent: !device.was_present(desired),
                    not_restored: reasons,
                });
            }
        }
        Self {
            run: String::new(),
            dir: PathBuf::new(),
            owner: Owner::default(),
            undo_of: None,
            plan: plan.map(str::to_owned),
            resources,
            reads: device.last_reads(),
            lost_lines,
            stays: undo.stays.iter().map(|line| mask.apply(line)).collect(),
            added_lines,
        }
    }

    /// What the undo does not restore, as the run has predicted it.
    pub(crate) fn losses(&self) -> Vec<String> {
        let of_resource = |changed: &ChangedResource| -> Vec<String> {
            let reasons = changed.not_restored.iter();
            let texts =
                reasons.map(|reason| format!("{}: not restored: {reason}", changed.resource));
            texts.collect()
        };
        let resources = self.resources.iter().flat_map(of_resource);
        let lines = self.lost_lines.iter();
        let lines = lines.map(|line| format!("not restored in the configuration: {line}"));
        resources.chain(lines).collect()
    }

    /// The lines of the run that a device has after the undo, and that the plan of the undo did not name.
    pub(crate) fn left_lines(&self, state: &DeviceState) -> Vec<String> {
        let is_lost = |line: &str| {
            let mut lost = self
                .lost_lines
                .iter()
                .filter_map(|one| one.strip_prefix('+'));
            lost.any(|one| one.trim() == ConfigurationChange::innermost(line))
        };
        let is_named = |line: &str| self.stays.iter().any(|one| one == line) || is_lost(line);
        let added = self.added_lines.iter().map(String::as_str);
        let left = state.present_lines(added.filter(|line| !is_named(line)));
        left.into_iter().map(str::to_owned).collect()
    }

    /// Which of the lines that the undo would remove the run did not add, as messages.
    pub(crate) fn removals_beyond_run(&self, removed: &[String]) -> Vec<String> {
        let change = ConfigurationChange {
            added: self.added_lines.clone(),
            ..ConfigurationChange::default()
        };
        let others = removed.iter().filter(|line| !change.has_added(line));
        let texts =
            others.map(|line| format!("the undo would remove `{line}`, which the run did not add"));
        texts.collect()
    }

    /// The record of a run that undoes another one, if it does.
    #[must_use]
    pub(crate) fn undoing(self, undone: Option<&Self>) -> Self {
        Self {
            undo_of: undone.map(|undone| undone.run.clone()),
            ..self
        }
    }

    /// Stores the record, and removes the oldest one if there are too many.
    pub(crate) fn write(&self, store: &DeviceStore, run: &str) -> Result<(), StoreError> {
        store.save(&file(run), VERSION, self)?;
        let runs = store.structures(RECORDS)?;
        for old in runs.iter().rev().skip(MAX_RUNS) {
            store.remove(&file(old))?;
        }
        Ok(())
    }

    /// The names of the stored runs of a device, oldest first.
    pub(crate) fn runs(store: &DeviceStore) -> Result<Vec<String>, StoreError> {
        store.structures(RECORDS)
    }

    /// The record of a run; `None` if there is none.
    pub(crate) fn load(store: &DeviceStore, run: &str) -> Result<Option<Self>, StoreError> {
        if !Self::runs(store)?.iter().any(|known| known == run) {
            return Ok(None);
        }
        let record: Option<Self> = store.load(&file(run), VERSION)?;
        let owner = store.owner()?.unwrap_or_default();
        Ok(record.map(|record| Self {
            run: run.to_owned(),
            dir: store.dir().to_owned(),
            owner,
            ..record
        }))
    }

    /// Whether the state of a device has the record.
    pub(crate) fn is_in(&self, store: &DeviceStore) -> bool {
        self.dir == store.dir()
    }

    /// The catalog that restores what was before. Its resources are in the order of the undo.
    pub(crate) fn catalog(&self, device: &DeviceName, certname: &Certname) -> Arc<Source> {
        let resources = self.resources.iter().filter_map(|changed| {
            let reference = changed.reference()?;
            Some(json!({
                "type": reference.model_name(),
                "kind": "compilable_type",
                "title": reference.title(),
                "parameters": changed.before.as_ref()?,
            }))
        });
        let resources: Vec<Json> = resources.collect();
        let text = json!({ "name": certname.as_str(), "resources": resources }).to_string();
        Source::new(format!("undo of {device}"), text)
    }

    /// What the run left.
    pub(crate) fn left(&self, digests: &Arc<SecretDigests>) -> LeftState {
        let resources = self.resources.iter().map(|changed| {
            let left = LeftResource {
                attributes: changed.left.clone(),
                was_absent: changed.was_absent,
            };
            (changed.resource.clone(), left)
        });
        let digests = Arc::clone(digests);
        LeftState {
            reads: self.reads.clone(),
            resources: resources.collect(),
            digest: Box::new(move |text| digests.of_text(text)),
        }
    }
}

impl ChangedResource {
    /// Adds what a later change of the resource has to restore, and the first one has not.
    fn complete(&mut self, later: Self) {
        let is_absent = |before: &Map<String, Json>| before.get("ensure") == Some(&json!("absent"));
        if let (Some(before), Some(later)) = (&mut self.before, later.before)
            && !is_absent(before)
            && !is_absent(&later)
        {
            for (name, value) in later {
                before.entry(name).or_insert(value);
            }
        }
    }

    fn reference(&self) -> Option<ResourceRef> {
        ResourceRef::parse(&self.resource).ok()
    }
}

impl UndoCatalogs {
    /// The records of the devices that a run changed.
    pub(crate) fn load(
        store: &Store,
        devices: &[DeviceName],
        choice: &UndoChoice,
    ) -> Result<Self, StoreError> {
        let mut found = Self {
            run: String::new(),
            records: BTreeMap::new(),
        };
        for name in devices {
            let of_name = store.device(name);
            of_name.synchronize()?;
            for store in of_name.states()? {
                found.add_newest(name, &store, choice)?;
            }
        }
        Ok(found)
    }

    /// Adds the newest record of a state that is chosen, unless another device has a newer one.
    fn add_newest(
        &mut self,
        name: &DeviceName,
        store: &DeviceStore,
        choice: &UndoChoice,
    ) -> Result<(), StoreError> {
        for run in UndoRecord::runs(store)?.into_iter().rev() {
            let is_candidate = match choice {
                UndoChoice::Run(name) => run == *name,
                UndoChoice::Last | UndoChoice::Plan(_) => run >= self.run,
            };
            if !is_candidate {
                continue;
            }
            let record = match UndoRecord::load(store, &run) {
                Err(StoreError::Sealed(error)) if !matches!(choice, UndoChoice::Run(_)) => {
                    tracing::warn!("the run {run} of {name} cannot be undone: {error}");
                    continue;
                }
                loaded => loaded?,
            };
            let Some(record) = record else {
                continue;
            };
            if let UndoChoice::Plan(plan) = choice
                && record.plan.as_ref() != Some(plan)
            {
                continue;
            }
            if run != self.run {
                self.records.clear();
                self.run = run;
            }
            self.records.insert(name.clone(), Arc::new(record));
            break;
        }
        Ok(())
    }
}

/// The values that a catalog has for a desired state.
fn parameters(
    desired: &Desired,
    mask: &SecretMask,
    not_restored: &mut Vec<String>,
) -> Option<Map<String, Json>> {
    let title = ResourceRef::parse(&desired.reference).ok()?;
    let names = desired.model.names(title.title());
    let mut parameters = Map::new();
    for (name, value) in desired.attributes.iter() {
        let is_secret = value.contains_secret() || mask.apply_to_value(value) != *value;
        if !is_secret {
            let value = match value {
                Value::Symbol(word) => json!(word),
                value => rich_data::write(value),
            };
            parameters.insert(name.to_string(), value);
            continue;
        }
        let is_in_title = names
            .get(name)
            .is_some_and(|named| named.ruby_to_s() == value.unwrap_sensitive().ruby_to_s());
        if !is_in_title {
            not_restored.push(format!("{name}: its value is a secret and is not stored"));
            if desired.model.namevars().any(|namevar| *namevar == **name) {
                return None;
            }
        }
    }
    Some(parameters)
}

/// The texts of attributes. Secrets have digests.
fn texts(
    attributes: &Attributes,
    mask: &SecretMask,
    digests: &SecretDigests,
) -> BTreeMap<String, String> {
    let texts = attributes.iter().map(|(name, value)| {
        let text = match value {
            Value::Sensitive(secret) => digests.of_text(&secret.display()),
            value if mask.apply_to_value(value) != *value => digests.of_text(&value.display()),
            value => value.display(),
        };
        (name.to_string(), text)
    });
    texts.collect()
}

/// The file of a run, below the directory of a device.
fn file(run: &str) -> String {
    format!("{RECORDS}/{run}.json")
}

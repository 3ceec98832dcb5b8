//! A second import: files take what has changed on devices, and everything else in them stays as it is.

mod shared_additions;
mod shared_changes;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use switchtender_devices::map::IndexMap;
use switchtender_devices::names::TypeName;
use switchtender_devices::value::{Name, Value};

use super::draft::{DeviceProblem, ImportDraft, ImportSource, MOST_ROUNDS, write_temporary};
use super::read::ReadDevice;
use crate::catalog::ResourceRef;
use crate::cli::exit::CommandError;
use crate::desired_state::declared::{DeclaredFile, DeclaredValue};
use crate::desired_state::{SecretValues, StateDirectory};
use crate::fleet::offline_plan::{OfflinePlan, PlanDifference};
use crate::import::drift::{DriftBase, DriftDecision};
use crate::import::yaml_text::YamlText;
use shared_changes::SharedChanges;

/// A difference between a device and its files.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Drift {
    pub(super) device: String,
    pub(super) type_name: String,
    pub(super) title: String,
    /// `None`: the resource itself.
    pub(super) attribute: Option<String>,
    pub(super) decision: DriftDecision,
    /// The value of the device; `None`: it has none, or not the resource.
    #[serde(skip)]
    value: Option<DeclaredValue>,
}

impl Drift {
    fn key(&self) -> DriftKey {
        (
            self.device.clone(),
            self.type_name.clone(),
            self.title.clone(),
            self.attribute.clone(),
        )
    }

    fn is_removal(&self) -> bool {
        self.attribute.is_none() && self.value.is_none()
    }
}

/// Device, type, title and attribute.
type DriftKey = (String, String, String, Option<String>);

/// The files of a directory by their paths in it.
pub(super) fn state_files(directory: &Path) -> Result<BTreeMap<String, String>, CommandError> {
    let mut files = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(directory.join(&folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = folder.join(entry.file_name());
            let complete = directory.join(&path);
            if complete.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "yaml")
            {
                let text = fs::read_to_string(&complete).map_err(|error| {
                    let text = format!("cannot read {}", complete.display());
                    CommandError::new(text).with_source(error)
                })?;
                files.insert(path.display().to_string(), text);
            }
        }
    }
    Ok(files)
}

/// The secrets of the existing files, by device.
pub(super) type ReadSecrets = HashMap<String, SecretValues>;

/// Makes the changes of files.
pub(super) struct Patching<'a> {
    pub(super) source: &'a ImportSource<'a>,
    pub(super) before: BTreeMap<String, String>,
    pub(super) secrets: &'a ReadSecrets,
    /// Devices that had no file of their own before this import.
    pub(super) new_devices: BTreeSet<String>,
}

impl<'a> Patching<'a> {
    /// The changes of these files.
    ///
    /// # Errors
    /// The files cannot be written to a temporary directory.
    pub(super) fn new(
        source: &'a ImportSource<'a>,
        before: BTreeMap<String, String>,
        secrets: &'a ReadSecrets,
    ) -> Result<Self, CommandError> {
        let devices = source.fleet.devices.iter();
        let names = devices.map(|device| device.name.to_string());
        let new_devices = names.filter(|name| !before.contains_key(&own_file(name)));
        let mut patching = Self {
            source,
            new_devices: new_devices.collect(),
            before,
            secrets,
        };
        patching.add_required()?;
        Ok(patching)
    }

    /// Gives new devices files with the resources that common files declare in part: without its personal attributes,
    /// a resource can be refused.
    fn add_required(&mut self) -> Result<(), CommandError> {
        if self.new_devices.is_empty() {
            return Ok(());
        }
        for _ in 0..MOST_ROUNDS {
            let scratch = write_temporary(&self.before)?;
            let plans = self.plans(&self.directory(scratch.path()));
            let mut taken = Vec::new();
            for (device, plan) in self.source.fleet.devices.iter().zip(plans) {
                let is_new = self.new_devices.contains(&*device.name);
                if let Some(Err(DeviceProblem::Differences(refused))) = plan
                    && is_new
                {
                    let resources = refused.iter();
                    taken.extend(resources.flat_map(|one| all_of(device, one)));
                }
            }
            if taken.is_empty() {
                break;
            }
            for one in taken {
                let own = own_file(&one.device);
                let mut file = YamlText::new(self.before.get(&own).map_or("", String::as_str));
                self.edit(&mut file, &one, true);
                self.before.insert(own, file.as_str().to_owned());
            }
        }
        Ok(())
    }

    /// The files with what has changed on devices.
    ///
    /// # Errors
    /// The files cannot be written to a temporary directory.
    pub(super) fn patch(&self) -> Result<ImportDraft, CommandError> {
        let mut patched = ImportDraft::default();
        let scratch = write_temporary(&self.before)?;
        let directory = self.directory(scratch.path());
        let plans = self.plans(&directory);
        let mut drift = Vec::new();
        for (device, plan) in self.source.fleet.devices.iter().zip(plans) {
            match plan {
                Some(Err(problem)) => {
                    let name = device.name.to_string();
                    patched.failed.push((name, problem.reason()));
                }
                plan => {
                    let plan = plan.and_then(Result::ok);
                    drift.extend(self.drift(device, plan.as_ref(), &directory));
                    let resources = device.declared.state.types.values();
                    patched.resources += resources.map(IndexMap::len).sum::<usize>();
                }
            }
        }
        let is_taken = |one: &&Drift| one.decision == DriftDecision::Taken;
        let taken: Vec<Drift> = drift.iter().filter(is_taken).cloned().collect();
        let mut files = self.edited(&taken, &BTreeSet::new(), &directory);
        let rest = self.rest(&files, &taken)?;
        // What an earlier file or a profile declares must be removed expressly.
        let mut refused = BTreeSet::new();
        if !rest.is_empty() {
            files = self.edited(&taken, &rest, &directory);
            refused = self.rest(&files, &taken)?;
        }
        if !refused.is_empty() {
            let possible = taken.iter().filter(|one| !refused.contains(&one.key()));
            let possible: Vec<Drift> = possible.cloned().collect();
            files = self.edited(&possible, &rest, &directory);
        }
        for one in &mut drift {
            if refused.contains(&one.key()) {
                one.decision = DriftDecision::Refused;
            }
        }
        patched.plans = self.final_plans(&files, &drift)?;
        patched.files = files;
        patched.drift = drift;
        Ok(patched)
    }

    /// The plans of devices about which nothing is open: their values are those that a later import compares with.
    fn final_plans(
        &self,
        files: &BTreeMap<String, String>,
        drift: &[Drift],
    ) -> Result<BTreeMap<String, OfflinePlan>, CommandError> {
        let scratch = write_temporary(files)?;
        let plans = self.plans(&self.directory(scratch.path()));
        let devices = self.source.fleet.devices.iter().zip(plans);
        let closed = devices.filter_map(|(device, plan)| {
            let is_closed = |one: &Drift| {
                !matches!(
                    one.decision,
                    DriftDecision::Conflict | DriftDecision::NoBase
                )
            };
            let mut own = drift.iter().filter(|one| one.device == *device.name);
            let plan = plan?.ok()?;
            own.all(is_closed).then(|| (device.name.to_string(), plan))
        });
        Ok(closed.collect())
    }

    fn directory(&self, path: &Path) -> StateDirectory {
        StateDirectory::new(path, &self.source.inventory.inventory)
    }

    fn plans(&self, directory: &StateDirectory) -> Vec<Option<Result<OfflinePlan, DeviceProblem>>> {
        let secrets = |device: &ReadDevice| {
            let known = self.secrets.get(&*device.name).cloned();
            Ok(known.unwrap_or_else(|| SecretValues::known(&directory.path, [])))
        };
        self.source.plans(directory, &secrets)
    }

    /// The differences of a device and what happens to them.
    fn drift(
        &self,
        device: &ReadDevice,
        plan: Option<&OfflinePlan>,
        directory: &StateDirectory,
    ) -> Vec<Drift> {
        let args = self.source.args;
        let none = crate::transaction::Memory::default();
        let memory = plan.map_or(&none, |plan| &plan.before);
        let is_new = self.new_devices.contains(&*device.name);
        let base = DriftBase::new(memory, is_new, args.take);
        let mut found = Vec::new();
        for difference in plan.iter().flat_map(|plan| &plan.differences) {
            let (type_name, title) = (&difference.type_name, &difference.title);
            let reference = ResourceRef::new(type_name, title);
            let of = |attribute: Option<&str>, value, decision| Drift {
                device: device.name.to_string(),
                type_name: type_name.clone(),
                title: title.clone(),
                attribute: attribute.map(str::to_owned),
                decision,
                value,
            };
            let declared = device.attributes(type_name, title);
            for one in &difference.attributes {
                let value = |value: &Option<Value>| value.clone().unwrap_or(Value::Absent);
                let values = (&value(&one.current), &value(&one.desired));
                let decision = base.attribute(reference.as_str(), &one.name, values);
                if one.name == "ensure" {
                    // Only a resource that the device lacks can be taken.
                    let decision = if declared.is_none() {
                        decision
                    } else {
                        DriftDecision::Pending
                    };
                    found.push(of(None, None, decision));
                    continue;
                }
                let current = declared.and_then(|declared| declared.get(one.name.as_str()));
                let current = current.cloned().flatten();
                let is_secret = self.is_secret(type_name, &one.name);
                // The value of a secret stands in no file.
                let decision = if is_secret {
                    DriftDecision::Pending
                } else {
                    decision
                };
                found.push(of(Some(&one.name), current, decision));
            }
        }
        found.extend(self.undeclared(device, &base, directory));
        found
    }

    fn is_secret(&self, type_name: &str, attribute: &str) -> bool {
        let model = self.source.fleet.registry.model(type_name);
        let attribute = model.and_then(|model| model.attributes.get(attribute));
        attribute.is_some_and(|attribute| attribute.sensitive)
    }

    /// The resources that only the device has.
    fn undeclared(
        &self,
        device: &ReadDevice,
        base: &DriftBase<'_>,
        directory: &StateDirectory,
    ) -> Vec<Drift> {
        let registry = &self.source.fleet.registry;
        let entry = &self.source.inventory.inventory.devices[&device.name];
        let merged = directory.merged(entry, registry).ok();
        let mut found = Vec::new();
        for (type_name, resources) in &device.declared.state.types {
            if !self.source.is_selected(type_name) {
                continue;
            }
            let known = merged
                .as_ref()
                .map(|merged| device.declared_titles(merged, type_name, registry));
            for (title, attributes) in resources {
                let is_declared = known.as_ref().is_some_and(|known| {
                    known.contains(&device.canonical_title(type_name, title, registry))
                });
                let is_excluded = merged
                    .as_ref()
                    .is_some_and(|merged| merged.unmanaged.excludes(type_name, title, None));
                if is_declared || is_excluded {
                    continue;
                }
                let reference = ResourceRef::new(type_name, title);
                let decision = base.undeclared(reference.as_str());
                let of = |attribute: Option<&Name>, value| Drift {
                    device: device.name.to_string(),
                    type_name: type_name.to_string(),
                    title: title.clone(),
                    attribute: attribute.map(ToString::to_string),
                    decision,
                    value,
                };
                let is_open = |value: &DeclaredValue| match value {
                    DeclaredValue::Value(value) => !value.contains_secret(),
                    _ => true,
                };
                let set = attributes.iter().filter_map(|(name, value)| {
                    let value = value.clone().filter(is_open)?;
                    Some(of(Some(name), Some(value)))
                });
                let before = found.len();
                found.extend(set);
                if found.len() == before {
                    found.push(of(None, Some(DeclaredValue::Value(Value::Undef))));
                }
            }
        }
        found
    }

    /// Taken differences that files do not resolve.
    fn rest(
        &self,
        files: &BTreeMap<String, String>,
        taken: &[Drift],
    ) -> Result<BTreeSet<DriftKey>, CommandError> {
        let scratch = write_temporary(files)?;
        let directory = self.directory(scratch.path());
        let plans = self.plans(&directory);
        let mut rest = BTreeSet::new();
        for (device, plan) in self.source.fleet.devices.iter().zip(plans) {
            let own = || taken.iter().filter(|one| one.device == *device.name);
            let differences = match plan {
                None => continue,
                Some(Err(_)) => {
                    rest.extend(own().map(Drift::key));
                    continue;
                }
                Some(Ok(plan)) => plan.differences,
            };
            for one in own() {
                let same = differences.iter().find(|difference| {
                    difference.type_name == one.type_name && difference.title == one.title
                });
                let is_open = same.is_some_and(|difference| match &one.attribute {
                    None => true,
                    Some(name) => {
                        let mut attributes = difference.attributes.iter();
                        difference.attributes.is_empty()
                            || attributes.any(|other| other.name == *name || other.name == "ensure")
                    }
                });
                if is_open {
                    rest.insert(one.key());
                }
            }
        }
        Ok(rest)
    }

    /// All files with changes. Those of `expressly` stand in the file of the device in any case.
    fn edited(
        &self,
        taken: &[Drift],
        expressly: &BTreeSet<DriftKey>,
        directory: &StateDirectory,
    ) -> BTreeMap<String, String> {
        let shared = SharedChanges::find(self, taken, expressly, directory);
        let mut files: BTreeMap<String, YamlText> = BTreeMap::new();
        for (path, text) in &self.before {
            files.insert(path.clone(), YamlText::new(&shared.replaced(path, text)));
        }
        for one in taken {
            if shared.done.contains(&one.key()) {
                continue;
            }
            let file = files
                .entry(own_file(&one.device))
                .or_insert_with(|| YamlText::new(""));
            self.edit(file, one, expressly.contains(&one.key()));
        }
        for ((device, type_name, title, attribute), text) in &shared.exceptions {
            let file = files
                .entry(own_file(device))
                .or_insert_with(|| YamlText::new(""));
            let mut path = self.path(file, type_name, title);
            path.extend(attribute.clone());
            if !file.has(&path) {
                file.set(&path, text);
            }
        }
        let files = files.into_iter();
        files
            .map(|(path, file)| (path, file.as_str().to_owned()))
            .collect()
    }

    /// Changes the file of a device.
    fn edit(&self, file: &mut YamlText, drift: &Drift, is_express: bool) {
        let mut path = self.path(file, &drift.type_name, &drift.title);
        let Some(attribute) = &drift.attribute else {
            if !drift.is_removal() {
                if !file.has(&path) {
                    file.set(&path, "{}");
                }
            } else if is_express {
                file.set(&path, "~");
            } else {
                file.remove(&path);
            }
            return;
        };
        path.push(attribute.clone());
        match &drift.value {
            Some(value) => {
                if let Some(text) = self.value_text(drift, attribute, value) {
                    file.set(&path, &text);
                }
            }
            None if is_express || !file.has(&path) => file.set(&path, "~"),
            None => file.remove(&path),
        }
    }

    /// The keys of a resource in a file: below its type if it stands there, else below its view.
    fn path(&self, file: &YamlText, type_name: &str, title: &str) -> Vec<String> {
        let own = vec![type_name.to_owned(), title.to_owned()];
        let model = self.source.fleet.registry.model(type_name);
        let location = model.and_then(|model| model.location.as_ref());
        let Some(location) = location.filter(|_| !file.has(&own)) else {
            return own;
        };
        let mut path = vec![location.view.to_string(), title.to_owned()];
        path.extend(location.section.as_ref().map(ToString::to_string));
        path
    }

    /// The keys of a title in a file, below its type or its view.
    fn keys_of(&self, path: &str, type_name: &str, title: &str) -> Option<Vec<String>> {
        let file = YamlText::new(&self.before[path]);
        let title = title.trim_matches(['"', '\'']);
        let keys = self.path(&file, type_name, title);
        file.has(&keys).then_some(keys)
    }

    /// A value as the writer forms it.
    fn value_text(&self, drift: &Drift, attribute: &str, value: &DeclaredValue) -> Option<String> {
        let type_name = TypeName::from(drift.type_name.as_str());
        let mut file = DeclaredFile::default();
        let resources = file.state.types.entry(type_name).or_default();
        let attributes = resources.entry(drift.title.clone()).or_default();
        attributes.insert(attribute.into(), Some(value.clone()));
        let text = self.source.writer().text(&file);
        let text = YamlText::new(&text);
        // A type of a view can stand below the view.
        let path = text.path_of(attribute)?;
        text.value(&path).map(str::to_owned)
    }
}

/// A resource of a device with all of its attributes, or its removal.
fn all_of(device: &ReadDevice, refused: &PlanDifference) -> Vec<Drift> {
    let of = |attribute: Option<&Name>, value| Drift {
        device: device.name.to_string(),
        type_name: refused.type_name.clone(),
        title: refused.title.clone(),
        attribute: attribute.map(ToString::to_string),
        decision: DriftDecision::Taken,
        value,
    };
    let Some(attributes) = device.attributes(&refused.type_name, &refused.title) else {
        return vec![of(None, None)];
    };
    let attributes = attributes.iter();
    attributes
        .map(|(name, value)| of(Some(name), value.clone()))
        .collect()
}

/// The file of a device.
pub(super) fn own_file(device: &str) -> String {
    format!("device/{device}.yaml")
}

//! The files of an import, without what would not be in sync: they are read back, and planned against the answers of
//! the devices, until the plan is empty.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::FutureExt as _;
use secrecy::SecretString;
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::Platform;
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::TypeModel;
use switchtender_devices::names::TypeName;

use super::ImportArgs;
use super::inventory_text::ImportInventory;
use super::patch::{Drift, ReadSecrets};
use super::read::{ReadDevice, ReadFleet};
use crate::catalog::{CachedStatus, Loading};
use crate::cli::exit::CommandError;
use crate::cli::options::desired_state;
use crate::desired_state::declared::{DeclaredCompletion, DeclaredFile, DeclaredState};
use crate::desired_state::writer::StateWriter;
use crate::desired_state::{SecretValues, StateCatalog, StateDevice, StateDirectory, StateError};
use crate::error_chain::chain;
use crate::fleet::catalog_source::CatalogText;
use crate::fleet::coverage::LinePolicy;
use crate::fleet::offline_plan::{self, OfflinePlan, OfflinePlanError, PlanDifference};
use crate::import::factor::{FactorSettings, factor};
use crate::import::secret_references::{self, SECRET_DIRECTORY, SecretReferences};
use crate::import::{FactoredFile, FileScope, ImportedDevice, ScopeLevels, TypeGroups};
use crate::inventory::Secrets;
use crate::inventory::secret_source::SecretSource;
use crate::parallel;
use crate::store::{self, Store};
use crate::validate::CatalogTarget;

/// How often resources are left out before a device is.
pub(super) const MOST_ROUNDS: usize = 6;

/// Titles of one type; with more, an attribute is unmanaged for all of them.
const FEW_TITLES: usize = 3;

/// The files of an import.
#[derive(Default)]
pub(super) struct ImportDraft {
    /// By path in the directory of the state.
    pub(super) files: BTreeMap<String, String>,
    pub(super) profiles: IndexMap<(String, String), usize>,
    pub(super) secrets: SecretReferences,
    pub(super) exclusions: BTreeMap<String, DraftExclusions>,
    /// Devices without a file, with the reason.
    pub(super) failed: Vec<(String, String)>,
    pub(super) resources: usize,
    /// By device: the state that a later import compares with.
    pub(super) plans: BTreeMap<String, OfflinePlan>,
    /// Differences between devices and files that existed.
    pub(super) drift: Vec<Drift>,
}

/// What is not declared for a device.
#[derive(Clone, Debug, Default)]
pub(super) struct DraftExclusions {
    /// Resources by type and title, with the reason.
    pub(super) resources: BTreeMap<(TypeName, String), String>,
    /// Attributes without a value in the files, by type and name, with their titles.
    pub(super) attributes: BTreeMap<(TypeName, String), BTreeSet<String>>,
    /// Resources that stay without attributes and are unmanaged, because others stand below their titles.
    emptied: BTreeSet<(TypeName, String)>,
}

impl DraftExclusions {
    /// The entries of `unmanaged`.
    fn unmanaged(&self) -> Vec<String> {
        let mut entries = Vec::new();
        for ((type_name, attribute), titles) in &self.attributes {
            if titles.len() > FEW_TITLES {
                entries.push(format!("{type_name}.{attribute}"));
            } else {
                let titles = titles.iter();
                entries.extend(titles.map(|title| format!("{type_name}[{title}].{attribute}")));
            }
        }
        let emptied = self.emptied.iter();
        entries.extend(emptied.map(|(type_name, title)| format!("{type_name}[{title}]")));
        entries
    }
}

/// What an import is made of.
pub(super) struct ImportSource<'a> {
    pub(super) args: &'a ImportArgs,
    /// New names of profiles.
    pub(super) renamed: Vec<(String, String)>,
    pub(super) fleet: &'a ReadFleet,
    pub(super) inventory: &'a ImportInventory,
    pub(super) store: &'a Store,
}

impl ImportSource<'_> {
    /// Files whose plan is empty.
    ///
    /// # Errors
    /// The files cannot be written to a temporary directory, or would change a device that is left out.
    pub(super) fn draft(&self) -> Result<ImportDraft, CommandError> {
        let mut exclusions: BTreeMap<String, DraftExclusions> = BTreeMap::new();
        let mut failed: BTreeMap<String, String> = BTreeMap::new();
        let mut rounds: BTreeMap<String, usize> = BTreeMap::new();
        loop {
            let mut draft = self.factored(&exclusions, &failed);
            let verified = self.verify(&draft)?;
            if verified.problems.is_empty() {
                draft.exclusions = exclusions;
                draft.plans = verified.plans;
                draft.plans.retain(|device, _| !failed.contains_key(device));
                draft.failed = failed.into_iter().collect();
                return Ok(draft);
            }
            for (device, problem) in verified.problems {
                if failed.contains_key(&device) {
                    let reason = problem.reason();
                    let text = format!("cannot leave out {device}: {reason}");
                    return Err(CommandError::new(text));
                }
                let round = rounds.entry(device.clone()).or_default();
                *round += 1;
                match problem {
                    DeviceProblem::Differences(found) if *round < MOST_ROUNDS => {
                        let own = exclusions.entry(device.clone()).or_default();
                        for difference in found {
                            self.exclude(own, &device, difference);
                        }
                    }
                    problem => {
                        failed.insert(device, problem.reason());
                    }
                }
            }
        }
    }

    /// The secrets of the files that exist, by device. Attributes whose variable is not set are not managed.
    ///
    /// # Errors
    /// A secret cannot be read.
    pub(super) async fn secrets(&self) -> Result<ReadSecrets, CommandError> {
        let inventory = &self.inventory.inventory;
        let directory = StateDirectory::new(&self.args.directory, inventory);
        let secrets = Secrets::of_inventory(inventory);
        let mut found = ReadSecrets::new();
        for device in &self.fleet.devices {
            let entry = &inventory.devices[&device.name];
            let Ok(merged) = directory.merged(entry, &self.fleet.registry) else {
                continue;
            };
            let read = SecretValues::read(&merged, &directory.path, &secrets).await;
            let read = read.map_err(desired_state::error)?;
            found.insert(device.name.to_string(), read);
        }
        Ok(found)
    }

    /// The files of all devices without what is excluded.
    fn factored(
        &self,
        exclusions: &BTreeMap<String, DraftExclusions>,
        failed: &BTreeMap<String, String>,
    ) -> ImportDraft {
        let none = DraftExclusions::default();
        let mut devices: Vec<ImportedDevice> = Vec::new();
        for device in &self.fleet.devices {
            let own = exclusions.get(&*device.name).unwrap_or(&none);
            let mut imported = self.imported(device, own);
            if failed.contains_key(&*device.name) {
                imported.is_left_out = true;
                imported.state = DeclaredState::default();
            }
            devices.push(imported);
        }
        let resources = devices
            .iter()
            .flat_map(|device| device.state.types.values());
        let resources = resources.map(IndexMap::len).sum();
        let secrets = secret_references::replace(&mut devices, self.args.secrets);
        let groups = TypeGroups::of(self.models());
        let levels = ScopeLevels::new(&devices, &self.inventory.label_order);
        let writer = self.writer();
        let lines = |file: &FactoredFile| writer.text(&file.declared(&groups)).lines().count();
        let settings = FactorSettings {
            groups: &groups,
            levels: &levels,
            share: self.args.share,
            has_profiles: !self.args.no_profiles,
            renamed: &self.renamed,
            lines: &lines,
        };
        let factored = factor(&devices, &settings);
        let mut files: IndexMap<FileScope, DeclaredFile> = factored
            .files
            .iter()
            .map(|(scope, file)| (scope.clone(), file.declared(&groups)))
            .collect();
        for device in devices.iter().filter(|device| !device.is_left_out) {
            let Some(top) = levels.top(device) else {
                continue;
            };
            let file = files.entry(top).or_default();
            complete(file, device.state.types.keys());
            let own = exclusions.get(&device.name).unwrap_or(&none);
            let read = self
                .fleet
                .devices
                .iter()
                .find(|read| *read.name == *device.name);
            let unmanaged = read.map_or(&[][..], |read| &read.declared.unmanaged);
            let unmanaged: Vec<String> = unmanaged.iter().cloned().chain(own.unmanaged()).collect();
            if !unmanaged.is_empty() {
                let own = FileScope::Device(device.name.clone());
                files.entry(own).or_default().unmanaged = unmanaged;
            }
        }
        let files = files.iter();
        let files = files.map(|(scope, file)| (scope.path(), writer.text(file)));
        ImportDraft {
            files: files.collect(),
            profiles: factored.profiles,
            secrets,
            resources,
            ..ImportDraft::default()
        }
    }

    /// Whether a type is imported.
    pub(super) fn is_selected(&self, type_name: &str) -> bool {
        let types = &self.args.types;
        types.is_empty() || types.iter().any(|one| **one == *type_name)
    }

    /// The writer for the types of all devices.
    pub(super) fn writer(&self) -> StateWriter {
        StateWriter::new(self.models())
    }

    /// The types of all platforms.
    fn models(&self) -> impl Iterator<Item = &Arc<TypeModel>> {
        let platforms = self.fleet.devices.iter().map(|device| &device.platform);
        let platforms: BTreeMap<&str, &Arc<Platform>> = platforms
            .map(|platform| (platform.name.as_str(), platform))
            .collect();
        let types = platforms
            .into_values()
            .flat_map(|platform| platform.type_drivers());
        types.map(|definition| &definition.model)
    }

    /// A device with its labels, without what is excluded.
    fn imported(&self, device: &ReadDevice, exclusions: &DraftExclusions) -> ImportedDevice {
        let entry = self.inventory.inventory.devices.get(&device.name);
        let labels = entry.into_iter().flat_map(|entry| &entry.settings.labels);
        let mut state = device.declared.state.clone();
        state.types.retain(|name, resources| {
            resources.retain(|title, attributes| {
                let key = (name.clone(), title.clone());
                if exclusions.emptied.contains(&key) {
                    attributes.clear();
                }
                !exclusions.resources.contains_key(&key) || exclusions.emptied.contains(&key)
            });
            self.is_selected(name) && !resources.is_empty()
        });
        ImportedDevice {
            name: device.name.to_string(),
            platform: device.platform.name.to_string(),
            labels: labels
                .map(|(key, label)| (key.clone(), label.value.clone()))
                .collect(),
            is_left_out: false,
            state,
        }
    }

    /// Why devices would not be in sync with files, and the plans of the others.
    fn verify(&self, draft: &ImportDraft) -> Result<VerifiedFiles, CommandError> {
        let scratch = write_temporary(&draft.files)?;
        let directory = StateDirectory::new(scratch.path(), &self.inventory.inventory);
        let secrets = |_: &ReadDevice| Ok(known_secrets(&directory, &draft.secrets));
        let plans = self.plans(&directory, &secrets);
        let mut verified = VerifiedFiles::default();
        for (device, plan) in self.fleet.devices.iter().zip(plans) {
            let name = device.name.to_string();
            match plan {
                None => {}
                Some(Ok(plan)) if plan.differences.is_empty() => {
                    verified.plans.insert(name, plan);
                }
                Some(Ok(plan)) => {
                    let problem = DeviceProblem::Differences(plan.differences);
                    verified.problems.push((name, problem));
                }
                Some(Err(problem)) => verified.problems.push((name, problem)),
            }
        }
        Ok(verified)
    }

    /// The plan of each device against its answers; `None`: no file applies to it.
    pub(super) fn plans(
        &self,
        directory: &StateDirectory,
        secrets: &(dyn Fn(&ReadDevice) -> Result<SecretValues, StateError> + Sync),
    ) -> Vec<Option<Result<OfflinePlan, DeviceProblem>>> {
        parallel::map(&self.fleet.devices, |device| {
            let entry = self.inventory.inventory.devices.get(&device.name)?;
            let is_managed = directory.manages(entry);
            is_managed.then(|| self.plan(device, directory, secrets))
        })
    }

    fn plan(
        &self,
        device: &ReadDevice,
        directory: &StateDirectory,
        secrets: &(dyn Fn(&ReadDevice) -> Result<SecretValues, StateError> + Sync),
    ) -> Result<OfflinePlan, DeviceProblem> {
        let registry = &self.fleet.registry;
        let entry = &self.inventory.inventory.devices[&device.name];
        let of = StateDevice {
            device: entry,
            facts: Some(&device.facts),
            registry,
        };
        let catalog = directory.merged(entry, registry).and_then(|merged| {
            let secrets = secrets(device)?;
            merged.catalog(&of, &secrets)
        });
        let catalog = catalog.map_err(|error| DeviceProblem::of(&error))?;
        let text = CatalogText {
            cached: CachedStatus::NotUsed,
            source: Arc::clone(&catalog.source),
            loading: Loading::default(),
            origins: None,
            line_policy: LinePolicy::default(),
            registry: Arc::clone(registry),
            platform: Arc::clone(&device.platform),
            target: CatalogTarget::for_device(entry, registry, &device.facts),
            undo: None,
        };
        let store = self.store.device(&device.name);
        let inventory = &self.inventory.inventory.source.name;
        let plan = offline_plan::plan(device.connector(), text, &store, inventory);
        match plan.now_or_never().expect("saved answers do not wait") {
            Ok(plan) => Ok(plan),
            Err(OfflinePlanError::Refused(findings)) => Err(refused(&catalog, findings)),
            Err(error) => Err(DeviceProblem::Failed(chain(&error))),
        }
    }

    /// Leaves out what would change.
    fn exclude(&self, own: &mut DraftExclusions, device: &str, difference: PlanDifference) {
        let mut devices = self.fleet.devices.iter();
        let read = devices.find(|read| *read.name == *device);
        let type_name = TypeName::from(difference.type_name.as_str());
        let resources = read.and_then(|read| read.declared.state.types.get(&type_name));
        let declared = resources.and_then(|resources| resources.get(&difference.title));
        let is_declared =
            |name: &String| declared.is_some_and(|declared| declared.contains_key(name.as_str()));
        // A default that the device does not have is no value of a file.
        let mut names = difference.attributes.iter().map(|one| &one.name);
        if !difference.attributes.is_empty() && !names.any(is_declared) {
            for attribute in difference.attributes {
                let key = (type_name.clone(), attribute.name);
                let titles = own.attributes.entry(key).or_default();
                titles.insert(difference.title.clone());
            }
            return;
        }
        let key = (type_name, difference.title);
        if read.is_some_and(|read| self.has_sections(&read.declared.state, &key)) {
            own.emptied.insert(key.clone());
        }
        own.resources.insert(key, difference.reason);
    }

    /// Whether sections of a view stand below the title of a resource.
    fn has_sections(&self, state: &DeclaredState, (name, title): &(TypeName, String)) -> bool {
        let registry = &self.fleet.registry;
        let location = |name: &str| {
            registry
                .model(name)
                .and_then(|model| model.location.as_ref())
        };
        let Some(own) = location(name).filter(|own| own.section.is_none()) else {
            return false;
        };
        let mut types = state.types.iter();
        types.any(|(other, resources)| {
            let is_section = location(other)
                .is_some_and(|location| location.view == own.view && location.section.is_some());
            is_section && resources.contains_key(title)
        })
    }
}

/// The result of planning files.
#[derive(Default)]
struct VerifiedFiles {
    problems: Vec<(String, DeviceProblem)>,
    /// By device, if nothing would change.
    plans: BTreeMap<String, OfflinePlan>,
}

/// A temporary directory with these files.
pub(super) fn write_temporary(
    files: &BTreeMap<String, String>,
) -> Result<tempfile::TempDir, CommandError> {
    let directory = tempfile::tempdir().map_err(|error| {
        CommandError::new("cannot create a temporary directory").with_source(error)
    })?;
    for (path, text) in files {
        store::write_file(&directory.path().join(path), text).map_err(|error| {
            CommandError::new("cannot write the files that are verified").with_source(error)
        })?;
    }
    Ok(directory)
}

/// The secrets that were read from devices.
pub(super) fn known_secrets(
    directory: &StateDirectory,
    references: &SecretReferences,
) -> SecretValues {
    let secrets = references.secrets.iter().flat_map(|(name, secret)| {
        let file = directory.path.join(SECRET_DIRECTORY).join(name);
        let sources = [SecretSource::Env(name.clone()), SecretSource::File(file)];
        sources.map(|source| (source, SecretString::from(secret.text())))
    });
    SecretValues::known(&directory.path, secrets)
}

/// Why a device would not be in sync with the files.
pub(super) enum DeviceProblem {
    Differences(Vec<PlanDifference>),
    Failed(String),
}

impl DeviceProblem {
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Failed(reason) => reason.clone(),
            Self::Differences(found) => {
                let reasons = found.iter().map(|one| one.reason.as_str());
                let reasons: Vec<&str> = reasons.take(FEW_TITLES).collect();
                reasons.join("; ")
            }
        }
    }

    fn of(error: &StateError) -> Self {
        let mut findings = error.findings().iter();
        let first = findings.next().map(|found| found.message.clone());
        Self::Failed(first.unwrap_or_else(|| chain(error)))
    }
}

/// The resources of findings about a catalog.
fn refused(catalog: &StateCatalog, findings: Vec<Diagnostic>) -> DeviceProblem {
    let mut differences = Vec::new();
    for finding in findings {
        let at = finding.labels.first().map(|label| label.span.start);
        let Some((type_name, title)) = at.and_then(|at| catalog.resource_at(at)) else {
            return DeviceProblem::Failed(finding.message);
        };
        differences.push(PlanDifference {
            type_name: type_name.to_owned(),
            title: title.to_owned(),
            attributes: Vec::new(),
            reason: finding.message,
        });
    }
    if differences.is_empty() {
        DeviceProblem::Failed("the files are refused".to_owned())
    } else {
        DeviceProblem::Differences(differences)
    }
}

/// Adds types to those whose undeclared attributes are at their defaults.
fn complete<'a>(file: &mut DeclaredFile, types: impl Iterator<Item = &'a TypeName>) {
    let complete = file.complete.take();
    let mut all = complete.map_or_else(Vec::new, |complete| complete.types);
    all.extend(types.cloned());
    all.sort();
    all.dedup();
    file.complete = Some(DeclaredCompletion::of(all));
}

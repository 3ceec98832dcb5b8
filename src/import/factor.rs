//! Decides which file declares what: values of most devices of a file's scope go up, exceptions stay below.

use std::collections::HashMap;

use switchtender_devices::map::IndexMap;

use super::files::{FactoredEntry, FactoredFile};
use super::numbered_text;
use super::parts::{
    ImportedDevice, PartValue, Parts, ResourcePart, Subject, TypeGroups, subjects, types,
};
use super::profiles::{self, FoundProfiles};
use super::scopes::{FileScope, ScopeLevels};

/// How a fleet is factored.
pub(crate) struct FactorSettings<'a> {
    pub(crate) groups: &'a TypeGroups,
    pub(crate) levels: &'a ScopeLevels,
    /// The percentage of the devices of a file that must have a value.
    pub(crate) share: u8,
    pub(crate) has_profiles: bool,
    /// New names of profiles.
    pub(crate) renamed: &'a [(String, String)],
    /// The lines of a file.
    pub(crate) lines: &'a dyn Fn(&FactoredFile) -> usize,
}

impl FactorSettings<'_> {
    /// Whether so many of all are enough.
    pub(super) fn is_enough(&self, count: usize, all: usize) -> bool {
        count * 100 >= all * usize::from(self.share) && count > 0
    }
}

/// The files of a fleet.
#[derive(Debug, Default)]
pub(crate) struct FactoredState {
    pub(crate) files: IndexMap<FileScope, FactoredFile>,
    /// View or type and name of each profile, with the number of its uses.
    pub(crate) profiles: IndexMap<(String, String), usize>,
}

/// A profile with more uses saves lines in any case.
const MANY_USES: usize = 500;

/// The files of a fleet. Together they declare the state of each device.
pub(crate) fn factor(devices: &[ImportedDevice], settings: &FactorSettings<'_>) -> FactoredState {
    let mut targets: Vec<IndexMap<Subject, Parts>> = devices
        .iter()
        .map(|device| subjects(&device.state, settings.groups))
        .collect();
    numbered_text::replace(&mut targets);
    let fleet = Fleet {
        devices,
        targets: &targets,
        settings,
    };
    let without = || fleet.files(&FoundProfiles::none(devices.len()));
    if !settings.has_profiles {
        return without();
    }
    let mut profiles = profiles::find(devices, &targets, settings);
    let mut best = fleet.files(&profiles);
    let lines = |state: &FactoredState| -> usize { state.files.values().map(settings.lines).sum() };
    let mut best_lines = lines(&best);
    for (profile, uses) in profiles.uses().into_iter().rev() {
        if uses > MANY_USES {
            break;
        }
        let rest = profiles.without(&profile);
        let files = fleet.files(&rest);
        let count = lines(&files);
        if count <= best_lines {
            (profiles, best, best_lines) = (rest, files, count);
        }
    }
    if !settings.renamed.is_empty() {
        for (old, new) in settings.renamed {
            profiles.rename(old, new);
        }
        best = fleet.files(&profiles);
    }
    best
}

struct Fleet<'a> {
    devices: &'a [ImportedDevice],
    targets: &'a [IndexMap<Subject, Parts>],
    settings: &'a FactorSettings<'a>,
}

impl Fleet<'_> {
    fn files(&self, profiles: &FoundProfiles) -> FactoredState {
        let mut files: IndexMap<FileScope, FactoredFile> = IndexMap::default();
        let mut bases: Vec<MergedEntries> = vec![MergedEntries::default(); self.devices.len()];
        for scope in self.settings.levels.levels.iter().flatten() {
            let mut file = FactoredFile {
                profiles: profiles.definitions.get(scope).cloned().unwrap_or_default(),
                entries: IndexMap::default(),
            };
            let members: Vec<usize> = (0..self.devices.len())
                .filter(|index| scope.includes(&self.devices[*index]))
                .collect();
            if scope.is_shared() {
                let counted = members.iter().copied();
                let counted: Vec<usize> = counted
                    .filter(|index| !self.devices[*index].is_left_out)
                    .collect();
                file.entries = self.common_entries(profiles, &bases, &counted);
                for index in members {
                    bases[index].apply(&file.entries);
                }
            } else {
                for index in members {
                    file.entries = self.own_entries(profiles, &bases[index], index);
                }
            }
            if !file.is_empty() {
                files.insert(scope.clone(), file);
            }
        }
        FactoredState {
            files,
            profiles: profiles.uses(),
        }
    }

    /// All that a device still needs.
    fn own_entries(
        &self,
        profiles: &FoundProfiles,
        base: &MergedEntries,
        device: usize,
    ) -> IndexMap<Subject, FactoredEntry> {
        let target = &self.targets[device];
        let removed = base.entries.keys().filter(|one| !target.contains_key(*one));
        let all = target.keys().chain(removed);
        let entries = all.filter_map(|subject| {
            let merged = base.entries.get(subject);
            let profile = profiles.of(device, subject);
            let before = merged.and_then(|merged| merged.profile.as_ref());
            let entry = FactoredEntry {
                profile: (target.contains_key(subject) && before != profile)
                    .then(|| profile.cloned()),
                parts: self.differences(profiles, merged, (device, subject)),
            };
            (!entry.is_empty()).then(|| (subject.clone(), entry))
        });
        entries.collect()
    }

    /// What must be declared so that a device has its parts of a subject, with its profile.
    fn differences(
        &self,
        profiles: &FoundProfiles,
        merged: Option<&MergedEntry>,
        (device, subject): (usize, &Subject),
    ) -> Parts {
        let none = Parts::default();
        let target = self.targets[device].get(subject).unwrap_or(&none);
        // Without the subject, the device has the profile of shared files until they are removed.
        let profile = if target.is_empty() {
            merged.and_then(|merged| merged.profile.as_ref())
        } else {
            profiles.of(device, subject)
        };
        let profile = profiles.parts(device, &subject.group, profile.map(String::as_str));
        let current = MergedEntry::resolve(merged, profile);
        let mut found = Parts::default();
        for (part, value) in target {
            if current.get(part) != Some(value) {
                found.insert(part.clone(), value.clone());
            }
        }
        for part in current.keys() {
            if target.contains_key(part) {
                continue;
            }
            let resource = ResourcePart::resource(&part.type_name);
            let removed = if target.contains_key(&resource) {
                part.clone()
            } else {
                resource
            };
            found.insert(removed, PartValue::Removed);
        }
        found
    }

    /// What enough of the devices of a file need.
    fn common_entries(
        &self,
        profiles: &FoundProfiles,
        bases: &[MergedEntries],
        members: &[usize],
    ) -> IndexMap<Subject, FactoredEntry> {
        // A file for one device would be one file more.
        if members.len() < 2 {
            return IndexMap::default();
        }
        let mut devices: IndexMap<&Subject, Vec<usize>> = IndexMap::default();
        for index in members {
            let target = &self.targets[*index];
            let base = bases[*index].entries.keys();
            let all = target
                .keys()
                .chain(base.filter(|one| !target.contains_key(*one)));
            for subject in all {
                devices.entry(subject).or_default().push(*index);
            }
        }
        let mut entries = IndexMap::default();
        for (subject, devices) in devices {
            if !self.settings.is_enough(devices.len(), members.len()) {
                continue;
            }
            let merged = |index: usize| bases[index].entries.get(subject);
            let before = |index: usize| merged(index).and_then(|merged| merged.profile.as_ref());
            let mut uses: UseCounts<Option<&String>> = UseCounts::default();
            for index in &devices {
                let profile = profiles.of(*index, subject);
                if self.targets[*index].contains_key(subject) && before(*index) != profile {
                    uses.add(format!("{profile:?}"), profile);
                }
            }
            let profile = uses
                .most()
                .filter(|(_, count)| self.is_enough(*count, members));
            let profile = profile.map(|(profile, _)| profile.cloned());
            let mut parts: UseCounts<(ResourcePart, PartValue)> = UseCounts::default();
            for index in &devices {
                let after = match &profile {
                    Some(profile) => profile.as_ref(),
                    None => before(*index),
                };
                let has_profile = after == profiles.of(*index, subject);
                let differences = self.differences(profiles, merged(*index), (*index, subject));
                for (part, value) in differences {
                    // With another profile, other attributes would be missing.
                    if has_profile || part.attribute.is_none() {
                        parts.add(format!("{part:?}{value:?}"), (part, value));
                    }
                }
            }
            let parts = parts.counts.into_values();
            let parts = parts.filter(|(_, count)| self.is_enough(*count, members));
            let entry = FactoredEntry {
                profile,
                parts: parts.map(|(part, _)| part).collect(),
            };
            if !entry.is_empty() {
                entries.insert(subject.clone(), entry);
            }
        }
        entries
    }

    fn is_enough(&self, count: usize, members: &[usize]) -> bool {
        self.settings.is_enough(count, members.len())
    }
}

/// How often values occur, by a text that differs for different values.
struct UseCounts<T> {
    counts: IndexMap<String, (T, usize)>,
}

impl<T> Default for UseCounts<T> {
    fn default() -> Self {
        Self {
            counts: IndexMap::default(),
        }
    }
}

impl<T> UseCounts<T> {
    fn add(&mut self, key: String, value: T) {
        self.counts.entry(key).or_insert((value, 0)).1 += 1;
    }

    fn most(self) -> Option<(T, usize)> {
        self.counts.into_values().max_by_key(|(_, count)| *count)
    }
}

/// What the files so far declare for a device.
#[derive(Clone, Debug, Default)]
struct MergedEntries {
    entries: HashMap<Subject, MergedEntry>,
}

/// What the files so far declare of a subject. Removals stay, because they hide parts of a profile.
#[derive(Clone, Debug, Default)]
struct MergedEntry {
    profile: Option<String>,
    parts: Parts,
}

impl MergedEntries {
    fn apply(&mut self, entries: &IndexMap<Subject, FactoredEntry>) {
        for (subject, entry) in entries {
            let merged = self.entries.entry(subject.clone()).or_default();
            if let Some(profile) = &entry.profile {
                merged.profile.clone_from(profile);
            }
            for (part, value) in &entry.parts {
                let resource = ResourcePart::resource(&part.type_name);
                if part.attribute.is_none() && *value == PartValue::Removed {
                    merged
                        .parts
                        .retain(|one, _| one.type_name != part.type_name);
                } else if merged.parts.get(&resource) == Some(&PartValue::Removed) {
                    merged.parts.shift_remove(&resource);
                }
                merged.parts.insert(part.clone(), value.clone());
            }
        }
    }
}

impl MergedEntry {
    /// The parts with those of the profile, without removed ones.
    fn resolve(merged: Option<&Self>, profile: Option<&Parts>) -> Parts {
        let none = Parts::default();
        let own = merged.map_or(&none, |merged| &merged.parts);
        let mut parts = Parts::default();
        let is_hidden = |part: &ResourcePart| {
            own.get(&ResourcePart::resource(&part.type_name)) == Some(&PartValue::Removed)
        };
        for (part, value) in profile.into_iter().flatten() {
            if !is_hidden(part) {
                parts.insert(ResourcePart::resource(&part.type_name), PartValue::Exists);
                parts.insert(part.clone(), value.clone());
            }
        }
        for (part, value) in own {
            if *value == PartValue::Removed {
                parts.shift_remove(part);
            } else {
                parts.insert(part.clone(), value.clone());
            }
        }
        for type_name in types(&parts) {
            parts
                .entry(ResourcePart::resource(&type_name))
                .or_insert(PartValue::Exists);
        }
        parts
    }
}

//! Profiles: what many resources of a view or type have in common.
//!
//! The most used body is a profile. Bodies within half of its attributes use it with their own values. An attribute
//! whose values differ by label leaves the profile of all files, and each label file sets it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use switchtender_devices::map::IndexMap;

use super::parts::{ImportedDevice, PartValue, Parts, ResourcePart, Subject};
use super::personal::PersonalParts;
use super::profile_name;
use super::scopes::{FileScope, ScopeLevels};
use super::{FactorSettings, TypeGroups};

/// Resources that a profile must have.
const LEAST_USES: usize = 3;
/// Attributes that a profile must have.
const LEAST_ATTRIBUTES: usize = 2;

/// The profiles of a fleet, and who uses them.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundProfiles {
    /// By file, then by view or type and name.
    pub(super) definitions: IndexMap<FileScope, IndexMap<(String, String), Parts>>,
    /// By device: the name of each subject's profile.
    used: Vec<HashMap<Subject, String>>,
    /// By device, then by view or type and name: the attributes of all its files.
    resolved: Vec<HashMap<(String, String), Parts>>,
}

impl FoundProfiles {
    /// No profiles for so many devices.
    pub(super) fn none(devices: usize) -> Self {
        Self {
            definitions: IndexMap::default(),
            used: vec![HashMap::new(); devices],
            resolved: vec![HashMap::new(); devices],
        }
    }

    /// The profile of a subject.
    pub(super) fn of(&self, device: usize, subject: &Subject) -> Option<&String> {
        self.used[device].get(subject)
    }

    /// The attributes of a profile for a device.
    pub(super) fn parts(&self, device: usize, group: &str, name: Option<&str>) -> Option<&Parts> {
        let key = (group.to_owned(), name?.to_owned());
        self.resolved[device].get(&key)
    }

    /// The names with the number of their uses, the most used first.
    pub(super) fn uses(&self) -> IndexMap<(String, String), usize> {
        let mut uses: IndexMap<(String, String), usize> = IndexMap::default();
        for (subject, name) in self.used.iter().flatten() {
            let key = (subject.group.clone(), name.clone());
            *uses.entry(key).or_default() += 1;
        }
        uses.sort_by(|a, count, b, other| other.cmp(count).then_with(|| a.cmp(b)));
        uses
    }

    /// The profiles without one of them.
    pub(super) fn without(&self, profile: &(String, String)) -> Self {
        let mut rest = self.clone();
        for definitions in rest.definitions.values_mut() {
            definitions.shift_remove(profile);
        }
        rest.definitions
            .retain(|_, definitions| !definitions.is_empty());
        let (group, name) = profile;
        for used in &mut rest.used {
            used.retain(|subject, used| subject.group != *group || used != name);
        }
        for resolved in &mut rest.resolved {
            resolved.remove(profile);
        }
        rest
    }

    /// Changes the name of a profile in all views and types.
    pub(super) fn rename(&mut self, old: &str, new: &str) {
        let renamed = |(group, name): (String, String)| {
            let name = if name == old { new.to_owned() } else { name };
            (group, name)
        };
        for definitions in self.definitions.values_mut() {
            let all = std::mem::take(definitions).into_iter();
            *definitions = all.map(|(key, parts)| (renamed(key), parts)).collect();
        }
        for resolved in &mut self.resolved {
            let all = std::mem::take(resolved).into_iter();
            *resolved = all.map(|(key, parts)| (renamed(key), parts)).collect();
        }
        for name in self.used.iter_mut().flat_map(HashMap::values_mut) {
            if name == old {
                new.clone_into(name);
            }
        }
    }
}

/// A resource that can use a profile.
struct ProfileUser<'a> {
    device: usize,
    subject: &'a Subject,
    /// Without personal attributes.
    body: Parts,
}

/// Finds the profiles of a fleet.
pub(super) fn find(
    devices: &[ImportedDevice],
    targets: &[IndexMap<Subject, Parts>],
    settings: &FactorSettings<'_>,
) -> FoundProfiles {
    let mut profiles = FoundProfiles::none(devices.len());
    // Devices of several platforms have no file in common.
    type Users<'a> = Vec<(usize, &'a Subject, &'a Parts)>;
    let mut groups: IndexMap<(&FileScope, &str), Users<'_>> = IndexMap::default();
    for (index, (device, subjects)) in devices.iter().zip(targets).enumerate() {
        let Some(scope) = settings.levels.of_device(device).next() else {
            continue;
        };
        for (subject, parts) in subjects {
            let users = groups.entry((scope, subject.group.as_str())).or_default();
            users.push((index, subject, parts));
        }
    }
    let mut finder = ProfileFinder {
        devices,
        settings,
        profiles: &mut profiles,
        names: BTreeSet::new(),
    };
    for ((scope, _), resources) in groups {
        let personal = PersonalParts::of(resources.iter().map(|(_, _, parts)| *parts));
        let users = resources.into_iter().map(|(device, subject, parts)| {
            let own = parts.iter();
            let own = own.filter(|(part, _)| part.attribute.is_some() && !personal.contains(part));
            ProfileUser {
                device,
                subject,
                body: own
                    .map(|(part, value)| (part.clone(), value.clone()))
                    .collect(),
            }
        });
        let users: Vec<ProfileUser<'_>> = users.collect();
        for cluster in clusters(&users) {
            finder.add(scope, &cluster);
        }
    }
    resolve(&mut profiles, devices, settings.levels);
    profiles
}

/// The attributes of each profile for each device.
fn resolve(profiles: &mut FoundProfiles, devices: &[ImportedDevice], levels: &ScopeLevels) {
    for (index, device) in devices.iter().enumerate() {
        for scope in levels.of_device(device) {
            for (key, parts) in profiles.definitions.get(scope).into_iter().flatten() {
                let resolved = profiles.resolved[index].entry(key.clone()).or_default();
                let parts = parts.iter();
                resolved.extend(parts.map(|(part, value)| (part.clone(), value.clone())));
            }
        }
    }
}

/// Groups of resources that use one profile, the most used first.
fn clusters<'a, 'b>(users: &'b [ProfileUser<'a>]) -> Vec<Vec<&'b ProfileUser<'a>>> {
    let mut bodies: IndexMap<String, Vec<&ProfileUser<'_>>> = IndexMap::default();
    for user in users {
        if user.body.is_empty() {
            continue;
        }
        let mut keys: Vec<String> = user.body.iter().map(|one| format!("{one:?}")).collect();
        keys.sort_unstable();
        bodies.entry(keys.concat()).or_default().push(user);
    }
    let mut rest: Vec<Vec<&ProfileUser<'_>>> = bodies.into_values().collect();
    rest.sort_by_key(|users| Reverse((users.len(), users[0].body.len())));
    let mut found = Vec::new();
    while !rest.is_empty() {
        let center = rest.remove(0);
        let body = &center[0].body;
        if body.len() < LEAST_ATTRIBUTES {
            continue;
        }
        let is_near = |users: &mut Vec<&ProfileUser<'_>>| {
            let distance = distance(body, &users[0].body);
            distance * 2 <= body.len() && distance < users[0].body.len()
        };
        let near = rest.extract_if(.., is_near).flatten();
        let cluster: Vec<&ProfileUser<'_>> = center.iter().copied().chain(near).collect();
        if cluster.len() >= LEAST_USES {
            found.push(cluster);
        }
    }
    found
}

/// The number of attributes that differ.
fn distance(body: &Parts, other: &Parts) -> usize {
    let differs = |(part, value): &(&ResourcePart, &PartValue)| other.get(*part) != Some(*value);
    let missing = other.keys().filter(|part| !body.contains_key(*part));
    body.iter().filter(differs).count() + missing.count()
}

struct ProfileFinder<'a> {
    devices: &'a [ImportedDevice],
    settings: &'a FactorSettings<'a>,
    profiles: &'a mut FoundProfiles,
    names: BTreeSet<String>,
}

impl ProfileFinder<'_> {
    /// Makes a profile of a cluster, if enough attributes are common.
    fn add(&mut self, top: &FileScope, cluster: &[&ProfileUser<'_>]) {
        let device = cluster[0].device;
        let is_of_one = cluster.iter().all(|user| user.device == device);
        let top = if is_of_one {
            FileScope::Device(self.devices[device].name.clone())
        } else {
            top.clone()
        };
        let mut all: IndexMap<&ResourcePart, ()> = IndexMap::default();
        for user in cluster {
            all.extend(user.body.keys().map(|part| (part, ())));
        }
        let mut common = Parts::default();
        let mut by_scope: IndexMap<FileScope, Parts> = IndexMap::default();
        for part in all.into_keys() {
            if let Some(value) = self.majority(cluster, part) {
                common.insert(part.clone(), value);
            } else if !is_of_one {
                for (scope, value) in self.by_label(cluster, part) {
                    let parts = by_scope.entry(scope.clone()).or_default();
                    parts.insert(part.clone(), value);
                }
            }
        }
        // An attribute that most of the resources do not have is no part of it.
        common.retain(|_, value| *value != PartValue::Removed);
        if common.len() < LEAST_ATTRIBUTES {
            return;
        }
        let groups: &TypeGroups = self.settings.groups;
        let name = profile_name::name(&common, groups, &self.names);
        self.names.insert(name.clone());
        let group = cluster[0].subject.group.clone();
        let key = (group, name);
        for (scope, parts) in [(top, common)].into_iter().chain(by_scope) {
            let definitions = self.profiles.definitions.entry(scope).or_default();
            definitions.insert(key.clone(), parts);
        }
        for user in cluster {
            let used = &mut self.profiles.used[user.device];
            used.insert(user.subject.clone(), key.1.clone());
        }
    }

    /// The value that enough of the resources have; [`PartValue::Removed`] for none.
    fn majority(&self, users: &[&ProfileUser<'_>], part: &ResourcePart) -> Option<PartValue> {
        let mut counts: HashMap<String, (usize, Option<&PartValue>)> = HashMap::new();
        for user in users {
            let value = user.body.get(part);
            let key = value.map_or_else(String::new, PartValue::key);
            counts.entry(key).or_insert((0, value)).0 += 1;
        }
        let (count, value) = counts.into_values().max_by_key(|(count, _)| *count)?;
        let is_enough = self.settings.is_enough(count, users.len());
        is_enough.then(|| value.cloned().unwrap_or(PartValue::Removed))
    }

    /// The values by the first label whose values decide about them.
    fn by_label(
        &self,
        users: &[&ProfileUser<'_>],
        part: &ResourcePart,
    ) -> Vec<(&FileScope, PartValue)> {
        for scopes in self.settings.levels.labels() {
            let mut found = Vec::new();
            let mut covered = 0;
            for scope in scopes {
                let own = users.iter().copied();
                let own = own.filter(|user| scope.includes(&self.devices[user.device]));
                let own: Vec<&ProfileUser<'_>> = own.collect();
                let value = self.majority(&own, part);
                if let Some(value) = value.filter(|value| *value != PartValue::Removed) {
                    covered += own.len();
                    found.push((scope, value));
                }
            }
            if self.settings.is_enough(covered, users.len()) {
                return found;
            }
        }
        Vec::new()
    }
}

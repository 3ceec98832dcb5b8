//! Attributes and resources that no file has, and that most devices of a common file have got alike.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use super::shared_changes::{PositionUsers, SharedChanges};
use super::{Drift, DriftKey, Patching};
use crate::desired_state::StateDirectory;
use crate::import::yaml_text::YamlText;

/// Finds what common files take.
pub(super) struct SharedAdditions<'a> {
    pub(super) patching: &'a Patching<'a>,
    pub(super) directory: &'a StateDirectory,
    pub(super) users: &'a PositionUsers,
}

/// Type, title, attribute and text.
type Addition = (String, String, Option<String>, String);

impl SharedAdditions<'_> {
    /// Adds what common files take to the changes.
    pub(super) fn add(
        &self,
        taken: &[Drift],
        expressly: &BTreeSet<DriftKey>,
        changes: &mut SharedChanges,
    ) {
        let mut alike: BTreeMap<Addition, Vec<&Drift>> = BTreeMap::new();
        for one in taken {
            let key = one.key();
            if expressly.contains(&key) || self.users.positions.contains_key(&key) {
                continue;
            }
            let text = match (&one.attribute, &one.value) {
                (Some(name), Some(value)) => self.patching.value_text(one, name, value),
                (None, Some(_)) => Some("{}".to_owned()),
                _ => None,
            };
            if let Some(text) = text {
                let (type_name, title) = (one.type_name.clone(), one.title.clone());
                let addition = (type_name, title, one.attribute.clone(), text);
                alike.entry(addition).or_default().push(one);
            }
        }
        let files = self.common_files();
        for (addition, drift) in alike {
            let devices: HashSet<&str> = drift.iter().map(|one| one.device.as_str()).collect();
            for (path, members) in &files {
                let others: Vec<&String> = members
                    .iter()
                    .filter(|name| !devices.contains(name.as_str()))
                    .collect();
                let shared = members.len() - others.len();
                if shared < 2 || shared * 100 < members.len() * self.share() {
                    continue;
                }
                self.insert(path, &addition, &others, changes);
                let shared = drift.iter().filter(|one| members.contains(&one.device));
                changes.done.extend(shared.map(|one| one.key()));
                break;
            }
        }
    }

    fn insert(
        &self,
        path: &str,
        (type_name, title, attribute, text): &Addition,
        others: &[&String],
        changes: &mut SharedChanges,
    ) {
        let file = YamlText::new(&self.patching.before[path]);
        let mut keys = self.patching.path(&file, type_name, title);
        keys.extend(attribute.clone());
        let additions = changes.additions.entry(path.to_owned()).or_default();
        additions.push((keys, text.clone()));
        for device in others {
            let key = |attribute: Option<&String>| {
                let device = (*device).clone();
                (device, type_name.clone(), title.clone(), attribute.cloned())
            };
            // A device without the resource has it as a whole to remove.
            let is_declared = self.users.positions.contains_key(&key(None));
            let exception = key(attribute.as_ref().filter(|_| is_declared));
            if self.users.positions.contains_key(&key(attribute.as_ref())) {
                continue;
            }
            changes.exceptions.push((exception, "~".to_owned()));
        }
    }

    /// The files of several devices with their devices, those of most devices first.
    fn common_files(&self) -> Vec<(String, Vec<String>)> {
        let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let inventory = &self.patching.source.inventory.inventory;
        let devices = inventory.devices.values();
        for device in devices.filter(|device| self.directory.manages(device)) {
            for path in self.directory.candidates(device) {
                let Some(path) = self.relative(&path) else {
                    continue;
                };
                let members = files.entry(path).or_default();
                members.push(device.name.to_string());
            }
        }
        let mut files: Vec<_> = files.into_iter().collect();
        files.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
        files
    }

    /// The path of a file that exists, in the directory of the state.
    fn relative(&self, path: &Path) -> Option<String> {
        let path = path.strip_prefix(&self.directory.path).ok()?;
        let path = path.display().to_string();
        self.patching.before.contains_key(&path).then_some(path)
    }

    fn share(&self) -> usize {
        usize::from(self.patching.source.args.share)
    }
}

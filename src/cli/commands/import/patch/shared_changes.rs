//! Values of common files that have changed alike on most of their devices.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;

use super::shared_additions::SharedAdditions;
use super::{Drift, DriftKey, Patching};
use crate::desired_state::{StateDirectory, ValueOrigin, YamlValue};
use crate::import::yaml_text::YamlText;

/// Changes of values and resources that several devices or titles have from one position of a file.
#[derive(Default)]
pub(super) struct SharedChanges {
    /// By path: where a value stands, and the new one.
    edits: BTreeMap<String, Vec<(Range<usize>, String)>>,
    /// By path: keys of resources that no device has.
    removals: BTreeMap<String, Vec<Vec<String>>>,
    /// By path: keys that the file did not have, with their text.
    pub(super) additions: BTreeMap<String, Vec<(Vec<String>, String)>>,
    /// Attributes that had the value before and still have it, with its text.
    pub(super) exceptions: Vec<(DriftKey, String)>,
    /// Differences that need no other change.
    pub(super) done: BTreeSet<DriftKey>,
}

/// Where a value or a title stands.
pub(super) type FilePosition = (String, usize, usize);

fn position(origin: &ValueOrigin) -> FilePosition {
    (
        origin.source.name.clone(),
        origin.span.start,
        origin.span.end,
    )
}

/// The values and titles of all files, with what has them.
#[derive(Default)]
pub(super) struct PositionUsers {
    pub(super) users: HashMap<FilePosition, Vec<DriftKey>>,
    pub(super) positions: HashMap<DriftKey, FilePosition>,
}

impl PositionUsers {
    fn of(patching: &Patching<'_>, directory: &StateDirectory) -> Self {
        let inventory = &patching.source.inventory.inventory;
        let registry = &patching.source.fleet.registry;
        let mut found = Self::default();
        for device in inventory.devices.values() {
            let is_managed = directory.manages(device);
            let merged = is_managed.then(|| directory.merged(device, registry));
            let Some(Ok(merged)) = merged else {
                continue;
            };
            for (type_name, resources) in &merged.types {
                for (title, resource) in resources {
                    let key = |attribute: Option<&String>| {
                        let device = device.name.to_string();
                        (device, type_name.clone(), title.clone(), attribute.cloned())
                    };
                    found.insert(key(None), position(&resource.origin));
                    for (name, value) in &resource.attributes {
                        if is_one_line(&value.value) {
                            found.insert(key(Some(name)), position(&value.origin));
                        }
                    }
                }
            }
        }
        found
    }

    fn insert(&mut self, key: DriftKey, position: FilePosition) {
        let users = self.users.entry(position.clone()).or_default();
        users.push(key.clone());
        self.positions.insert(key, position);
    }
}

/// Whether the position of a value is all of its text.
fn is_one_line(value: &YamlValue) -> bool {
    match value {
        YamlValue::Plain(_) => true,
        YamlValue::Text(text) => !text.contains('\n'),
        _ => false,
    }
}

impl SharedChanges {
    pub(super) fn find(
        patching: &Patching<'_>,
        taken: &[Drift],
        expressly: &BTreeSet<DriftKey>,
        directory: &StateDirectory,
    ) -> Self {
        let mut found = Self::default();
        let users = PositionUsers::of(patching, directory);
        let mut changes: BTreeMap<(FilePosition, Option<String>), Vec<DriftKey>> = BTreeMap::new();
        for one in taken.iter().filter(|one| !expressly.contains(&one.key())) {
            let key = one.key();
            let Some(position) = users.positions.get(&key) else {
                continue;
            };
            let text = match (&one.attribute, &one.value) {
                (Some(name), Some(value)) => patching.value_text(one, name, value),
                (None, None) => None,
                _ => continue,
            };
            if text.is_some() || one.is_removal() {
                changes
                    .entry((position.clone(), text))
                    .or_default()
                    .push(key);
            }
        }
        let share = usize::from(patching.source.args.share);
        for ((position, text), alike) in changes {
            let all = &users.users[&position];
            let (file, start, end) = position;
            let path = Path::new(&file).strip_prefix(&directory.path);
            let Ok(path) = path.map(|path| path.display().to_string()) else {
                continue;
            };
            let before = &patching.before[&path][start..end];
            let Some(text) = text else {
                // The devices that still have the resource would need all of it.
                if alike.len() == all.len() {
                    let (_, type_name, ..) = &alike[0];
                    let keys = patching.keys_of(&path, type_name, before);
                    found.removals.entry(path).or_default().extend(keys);
                    found.done.extend(alike);
                }
                continue;
            };
            if alike.len() * 100 < all.len() * share {
                continue;
            }
            let others = all.iter().filter(|key| !alike.contains(key));
            found
                .exceptions
                .extend(others.map(|key| (key.clone(), before.to_owned())));
            found
                .edits
                .entry(path)
                .or_default()
                .push((start..end, text));
            found.done.extend(alike);
        }
        SharedAdditions {
            patching,
            directory,
            users: &users,
        }
        .add(taken, expressly, &mut found);
        found
    }

    /// The text of a file with the new values.
    pub(super) fn replaced(&self, path: &str, text: &str) -> String {
        let mut text = text.to_owned();
        let mut edits = self.edits.get(path).cloned().unwrap_or_default();
        edits.sort_by_key(|(range, _)| Reverse(range.start));
        for (range, value) in edits {
            text.replace_range(range, &value);
        }
        let mut file = YamlText::new(&text);
        for keys in self.removals.get(path).into_iter().flatten() {
            file.remove(keys);
        }
        for (keys, text) in self.additions.get(path).into_iter().flatten() {
            file.set(keys, text);
        }
        file.as_str().to_owned()
    }
}

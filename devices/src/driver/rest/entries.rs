//! Shared arrays: an attribute reads the entries that it owns, and is written with the complete
//! array, in which all other entries are unchanged.

use serde_json::{Value as Json, json};

use super::definition::{DefaultEntry, EntriesRule, RestLocation, SharedArray};
use super::lookups::Lookups;
use super::writer::RequestWriter;
use crate::change::ChangeKind;
use crate::read::json_text::entry_path;
use crate::value::{Attributes, Value};

/// The side of an entry for both sides.
pub(crate) const BOTH_SIDES: &str = "all";

/// Whether an entry is for the side of an attribute.
pub(crate) fn is_for(rule: &EntriesRule, entry: &Json) -> bool {
    let context = entry.get("context").and_then(Json::as_str);
    match (&rule.context, context) {
        (None, _) | (_, None | Some(BOTH_SIDES)) => true,
        (Some(side), Some(context)) => side == context,
    }
}

/// The paths of the entries that an attribute owns; `None` if unknown.
pub(crate) fn entries_value(
    rule: &EntriesRule,
    shared: &SharedArray,
    surveyed: &Lookups,
    object: &Json,
    is_array: bool,
) -> Option<Value> {
    let mut paths: Vec<String> = shared
        .read
        .get(object)
        .and_then(Json::as_array)
        .iter()
        .flat_map(|entries| entries.iter())
        .filter(|entry| is_for(rule, entry) && surveyed.is_of(shared, &rule.kinds, entry))
        .filter_map(entry_path)
        .collect();
    paths.sort();
    if paths.is_empty() {
        // Unknown without reads of the kinds.
        let is_read = rule
            .kinds
            .iter()
            .any(|kind| surveyed.has_list_of(shared, kind));
        return if is_read { rule.absent.clone() } else { None };
    }
    if is_array {
        return Some(paths.into());
    }
    paths.into_iter().next().map(Value::from)
}

/// An entry of a shared array for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ArrayEntry {
    path: String,
    context: Option<String>,
}

impl ArrayEntry {
    fn json(&self) -> Json {
        match &self.context {
            Some(context) => json!({"name": self.path, "context": context}),
            None => json!({"name": self.path}),
        }
    }
}

/// Merges the entries for both sides into one.
fn merge_sides(entries: &mut Vec<ArrayEntry>) {
    let mut merged: Vec<ArrayEntry> = Vec::new();
    for entry in entries.drain(..) {
        let twin = merged.iter_mut().find(|other| other.path == entry.path);
        match twin {
            Some(other) if other.context != entry.context => {
                other.context = Some(BOTH_SIDES.to_owned());
            }
            Some(_) => {}
            None => merged.push(entry),
        }
    }
    *entries = merged;
}

impl DefaultEntry {
    pub(crate) fn holds(&self, desired: &Attributes) -> bool {
        self.when.iter().all(|(name, values)| {
            desired
                .get(name)
                .and_then(Value::scalar_text)
                .is_some_and(|text| values.contains(&text))
        })
    }

    pub(crate) fn kind(&self, desired: &Attributes) -> Option<String> {
        self.kind
            .fill(|name| desired.get(name).and_then(Value::scalar_text))
            .ok()
    }
}

fn list_of(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().filter_map(Value::scalar_text).collect(),
        one => one.scalar_text().into_iter().collect(),
    }
}

impl RequestWriter<'_> {
    /// The complete shared array, if one of its attributes is selected.
    pub(super) fn entries(
        &self,
        of: &str,
        shared: &SharedArray,
        kind: Option<&str>,
        chosen: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<Json>> {
        let creating = self.change.kind == ChangeKind::Create;
        let mut entries = if creating {
            Vec::new()
        } else {
            self.current_entries(shared)
        };
        let mut touched = false;
        for name in self.model.attributes.keys() {
            let Some(rule) = self.definition.attributes.get(name) else {
                continue;
            };
            let RestLocation::Entries(rule) = &rule.location else {
                continue;
            };
            if rule.of != of || !self.definition.has(name, kind) {
                continue;
            }
            let paths = if chosen(name) {
                let mut paths = self
                    .value(name)
                    .map(|value| list_of(&value))
                    .unwrap_or_default();
                paths.retain(|path| path.starts_with('/'));
                paths
            } else if creating
                && let Some(path) = self.otherwise(shared, rule.default_entry.as_ref())
            {
                vec![path]
            } else {
                continue;
            };
            touched = true;
            self.remove_entries(&mut entries, rule, shared);
            for path in paths {
                let both = rule
                    .both
                    .iter()
                    .any(|kind| self.lookups.has(shared, kind, &path));
                let context = rule.context.clone().filter(|_| !both);
                entries.push(ArrayEntry { path, context });
            }
        }
        touched.then(|| {
            merge_sides(&mut entries);
            entries.iter().map(ArrayEntry::json).collect()
        })
    }

    fn current_entries(&self, shared: &SharedArray) -> Vec<ArrayEntry> {
        let object = self.current_object();
        object
            .and_then(|object| shared.read.get(object))
            .and_then(Json::as_array)
            .iter()
            .flat_map(|list| list.iter())
            .filter_map(|entry| {
                Some(ArrayEntry {
                    path: entry_path(entry)?,
                    context: entry
                        .get("context")
                        .and_then(Json::as_str)
                        .map(str::to_owned),
                })
            })
            .collect()
    }

    /// Removes the entries that an attribute owns. An entry for both sides remains for the other
    /// side.
    fn remove_entries(
        &self,
        entries: &mut Vec<ArrayEntry>,
        rule: &EntriesRule,
        shared: &SharedArray,
    ) {
        entries.retain_mut(|entry| {
            let json = entry.json();
            let linked = self.linked_entry(shared, &entry.path);
            let json = linked.as_ref().unwrap_or(&json);
            if !self.lookups.is_of(shared, &rule.kinds, json) || !is_for(rule, &entry.json()) {
                return true;
            }
            match (&rule.context, entry.context.as_deref()) {
                (Some(side), Some("all")) => {
                    let other = if side == "clientside" {
                        "serverside"
                    } else {
                        "clientside"
                    };
                    entry.context = Some(other.to_owned());
                    true
                }
                _ => false,
            }
        });
    }

    /// The entry as read from the device. It may have a link that identifies its kind.
    fn linked_entry(&self, shared: &SharedArray, path: &str) -> Option<Json> {
        let object = self.current_object()?;
        shared
            .read
            .get(object)?
            .as_array()?
            .iter()
            .find(|entry| entry_path(entry).as_deref() == Some(path))
            .cloned()
    }

    fn otherwise(&self, shared: &SharedArray, otherwise: Option<&DefaultEntry>) -> Option<String> {
        let otherwise = otherwise?;
        let desired = &self.change.desired.attributes;
        if !otherwise.holds(desired) {
            return None;
        }
        let kind = otherwise.kind(desired)?;
        let paths: Vec<String> = otherwise
            .paths
            .iter()
            .filter_map(|path| {
                path.fill(|name| desired.get(name).and_then(Value::scalar_text))
                    .ok()
            })
            .collect();
        paths
            .iter()
            .find(|path| self.lookups.has(shared, &kind, path))
            .or(paths.last())
            .cloned()
    }
}

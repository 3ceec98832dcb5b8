//! State of a device between runs (`docs/reference/transaction.md`, section 12).
//!
//! Plain data: the caller of a transaction loads it before the run and stores it afterwards, also
//! after a failure.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use switchtender_devices::map::IndexMap;
use switchtender_devices::value::{Name, Value};

use crate::catalog::rich_data;

/// The time after which an unchecked entry is dropped: Puppet's `statettl`, 32 days.
pub(crate) const TIME_TO_LIVE: SignedDuration = SignedDuration::from_hours(32 * 24);

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The state of the resources of one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Memory(IndexMap<Arc<str>, ResourceMemory>);

/// The state of one resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceMemory {
    /// Times of the last check and change, and audited values. Puppet's `state.yaml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ResourceState>,
    /// The values after the last run, to separate drift from a changed catalog. Puppet's
    /// `transactionstore.yaml`.
    #[serde(skip_serializing_if = "History::is_empty")]
    pub history: History,
}

/// The values of a resource after a run, by property. A list, because a resource has few
/// properties.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History(Vec<(Name, StoredValue)>);

impl History {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, property: &str) -> Option<&StoredValue> {
        let found = self.0.iter().find(|(name, _)| name == property);
        found.map(|(_, stored)| stored)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &StoredValue)> {
        self.0.iter().map(|(name, stored)| (name.as_str(), stored))
    }

    /// Removes the values of some properties.
    pub(super) fn remove(&mut self, is_removed: impl Fn(&Name) -> bool) {
        self.0.retain(|(name, _)| !is_removed(name));
    }
}

impl FromIterator<(Name, StoredValue)> for History {
    fn from_iter<I: IntoIterator<Item = (Name, StoredValue)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = IndexMap::deserialize(deserializer)?;
        Ok(values.into_iter().collect())
    }
}

/// Recorded values of `audit` by resource and property.
pub(crate) type AuditedValues = BTreeMap<String, BTreeMap<String, StoredValue>>;

/// Times and audited values of one resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceState {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced: Option<Timestamp>,
    /// Audited properties as read by the last run before any change.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub audited: BTreeMap<String, StoredValue>,
}

impl ResourceState {
    /// Stores that the resource was checked. `is_daily`: the time only prevents that the state expires.
    /// Once a day suffices, so that a run without changes leaves the stored state as it is.
    pub(super) fn record_check(&mut self, now: Timestamp, is_daily: bool) {
        let is_recent = |checked: Timestamp| {
            let age = now.duration_since(checked);
            !age.is_negative() && age < DAY
        };
        if !(is_daily && self.checked.is_some_and(is_recent)) {
            self.checked = Some(now);
        }
    }
}

/// A value that is stored with its type: the symbol `present` differs from the string `present`.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredValue(pub Value);

impl Serialize for StoredValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        rich_data::write(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = serde_json::Value::deserialize(deserializer)?;
        let value = rich_data::read(&json).map_err(serde::de::Error::custom)?;
        Ok(StoredValue(match value {
            Value::Symbol(name) if name == "absent" => Value::Absent,
            value => value,
        }))
    }
}

impl Memory {
    /// All entries by reference.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ResourceMemory)> {
        self.0
            .iter()
            .map(|(name, remembered)| (&**name, remembered))
    }

    /// Takes the recorded values of `audit`, by resource. Digests of short secrets among them can be guessed, so they are
    /// stored apart.
    pub(crate) fn take_audited(&mut self) -> AuditedValues {
        let entries = self.0.iter_mut().filter_map(|(name, remembered)| {
            let audited = std::mem::take(&mut remembered.state.as_mut()?.audited);
            (!audited.is_empty()).then(|| (name.to_string(), audited))
        });
        entries.collect()
    }

    /// Adds recorded values of `audit`.
    pub(crate) fn add_audited(&mut self, values: AuditedValues) {
        for (name, audited) in values {
            let entry = self.0.entry(name.into()).or_default();
            entry.state.get_or_insert_default().audited = audited;
        }
    }

    /// Drops the state of resources that were last checked more than [`TIME_TO_LIVE`] ago.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        let is_old = |state: &mut ResourceState| {
            let checked = state.checked;
            checked.is_some_and(|checked| now.duration_since(checked) > TIME_TO_LIVE)
        };
        self.0.retain(|_, remembered| {
            remembered.state.take_if(is_old);
            remembered.state.is_some() || !remembered.history.is_empty()
        });
    }

    /// Adds the values of resources that a run has not compared.
    pub(crate) fn carry_over(&mut self, before: &Self) {
        for (name, remembered) in &before.0 {
            let own = self.0.entry(Arc::clone(name)).or_default();
            if own.history.is_empty() {
                own.history = remembered.history.clone();
            }
        }
    }

    /// Reserves capacity for the resources of a run.
    pub(super) fn reserve(&mut self, count: usize) {
        self.0.reserve(count.saturating_sub(self.0.len()));
    }

    /// The index of a resource's entry, which is created if necessary. Valid until the end of the
    /// run.
    pub(super) fn index_of(&mut self, reference: &Arc<str>) -> MemoryIndex {
        let entry = self.0.entry(Arc::clone(reference));
        let index = entry.index();
        entry.or_default();
        MemoryIndex(index)
    }

    /// The state of a resource, which is created if necessary.
    pub(super) fn state(&mut self, index: MemoryIndex) -> &mut ResourceState {
        self.0[index.0].state.get_or_insert_default()
    }

    /// The values of a resource after the last run.
    pub(super) fn history(&self, index: MemoryIndex) -> &History {
        &self.0[index.0].history
    }

    /// The value of a property after the last run. A stored null counts as none.
    pub(super) fn system_value(&self, index: MemoryIndex, property: &str) -> Option<&Value> {
        let stored = self.history(index).get(property)?;
        (stored.0 != Value::Undef).then_some(&stored.0)
    }

    /// Stores the histories of a complete run and drops all earlier ones.
    pub(super) fn replace_histories(&mut self, left: Vec<(MemoryIndex, History)>) {
        for remembered in self.0.values_mut() {
            remembered.history = History::default();
        }
        for (index, history) in left {
            self.0[index.0].history = history;
        }
    }
}

/// The index of an entry in the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryIndex(usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_separates_symbols_from_strings() {
        let mut memory = Memory::default();
        let values = [
            ("absent", Value::Absent),
            ("symbol", Value::Symbol("present".to_owned())),
            ("text", "present".into()),
            ("list", vec![1, 2].into()),
            ("none", Value::Undef),
        ];
        let index = memory.index_of(&"Dev_vlan[1]".into());
        let values = values.map(|(name, value)| (name.into(), StoredValue(value)));
        memory.replace_histories(vec![(index, values.into_iter().collect())]);
        let text = serde_json::to_string(&memory).unwrap();
        assert_eq!(serde_json::from_str::<Memory>(&text).unwrap(), memory);
    }
}

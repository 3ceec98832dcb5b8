//! What is remembered of a device between runs (`docs/reference/transaction.md`, section 12).
//!
//! Plain data: whoever runs a transaction loads it before and stores it after, also when the run
//! failed. [`VERSION`] tells readers what they have.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use switchtender_devices::map::IndexMap;
use switchtender_devices::value::{Name, Value};

use crate::catalog::rich_data;

/// ConfigVersion of the stored form.
pub const VERSION: u32 = 2;

/// How long an entry is kept that is not checked any more: Puppet's `statettl`, 32 days.
pub const TIME_TO_LIVE: SignedDuration = SignedDuration::from_hours(32 * 24);

/// Memory of one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Memory(IndexMap<Arc<str>, ResourceMemory>);

/// What is remembered of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceMemory {
    /// When it was checked and synchronized, and audited values, once something asked. Puppet's
    /// `state.yaml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ResourceState>,
    /// What the last run left, for telling drift from new intentions. Puppet's
    /// `transactionstore.yaml`.
    #[serde(skip_serializing_if = "History::is_empty")]
    pub history: History,
}

/// The values that a run left of a resource, by property. A list: every resource has one, and of
/// few values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History(Vec<(Name, StoredValue)>);

impl History {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, property: &str) -> Option<&StoredValue> {
        let found = self.0.iter().find(|(name, _)| name == property);
        found.map(|(_, stored)| stored)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &StoredValue)> {
        self.0.iter().map(|(name, stored)| (name.as_str(), stored))
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

/// What is known of one resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceState {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced: Option<Timestamp>,
    /// Audited properties as the last run found them, before it changed anything.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub audited: BTreeMap<String, StoredValue>,
}

/// A value that is stored with its type: `present` the enumerated value is not `present` the text.
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
    /// What is remembered, by reference.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ResourceMemory)> {
        self.0
            .iter()
            .map(|(name, remembered)| (&**name, remembered))
    }

    /// Drops when a resource was checked that was not for longer than [`TIME_TO_LIVE`].
    pub fn expire(&mut self, now: Timestamp) {
        let is_old = |state: &mut ResourceState| {
            let checked = state.checked;
            checked.is_some_and(|checked| now.duration_since(checked) > TIME_TO_LIVE)
        };
        self.0.retain(|_, remembered| {
            remembered.state.take_if(is_old);
            remembered.state.is_some() || !remembered.history.is_empty()
        });
    }

    /// Makes room for what a run may find out about so many resources.
    pub(super) fn reserve(&mut self, count: usize) {
        self.0.reserve(count.saturating_sub(self.0.len()));
    }

    /// The place of a resource, of which nothing is known to begin with. Good until the end of the
    /// run.
    pub(super) fn index_of(&mut self, reference: &Arc<str>) -> MemoryIndex {
        let entry = self.0.entry(Arc::clone(reference));
        let place = entry.index();
        entry.or_default();
        MemoryIndex(place)
    }

    /// When a resource was checked and what was found, nothing to begin with.
    pub(super) fn state(&mut self, place: MemoryIndex) -> &mut ResourceState {
        self.0[place.0].state.get_or_insert_default()
    }

    /// What the last run left of a resource.
    pub(super) fn history(&self, place: MemoryIndex) -> &History {
        &self.0[place.0].history
    }

    /// What the last run left of a property; a stored null is none.
    pub(super) fn system_value(&self, place: MemoryIndex, property: &str) -> Option<&Value> {
        let stored = self.history(place).get(property)?;
        (stored.0 != Value::Undef).then_some(&stored.0)
    }

    /// Remembers what a whole run has left, and forgets all that earlier runs did.
    pub(super) fn replace_histories(&mut self, left: Vec<(MemoryIndex, History)>) {
        for remembered in self.0.values_mut() {
            remembered.history = History::default();
        }
        for (place, history) in left {
            self.0[place.0].history = history;
        }
    }
}

/// Where in the memory a resource is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryIndex(usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enumerated_values_and_texts_stay_apart_in_storage() {
        let mut memory = Memory::default();
        let values = [
            ("absent", Value::Absent),
            ("symbol", Value::Symbol("present".to_owned())),
            ("text", "present".into()),
            ("list", vec![1, 2].into()),
            ("none", Value::Undef),
        ];
        let place = memory.index_of(&"Dev_vlan[1]".into());
        let values = values.map(|(name, value)| (name.into(), StoredValue(value)));
        memory.replace_histories(vec![(place, values.into_iter().collect())]);
        let text = serde_json::to_string(&memory).unwrap();
        assert_eq!(serde_json::from_str::<Memory>(&text).unwrap(), memory);
    }
}

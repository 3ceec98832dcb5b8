//! What is remembered of a device between runs (`docs/transaction.md`, section 12).
//!
//! Plain data: whoever runs a transaction loads it before and stores it after, also when the run
//! failed. [`VERSION`] tells readers what they have.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use switchtender_devices::map::IndexMap;
use switchtender_devices::value::Value;

use crate::catalog::rich_data;

/// Version of the stored form.
pub const VERSION: u32 = 1;

/// How long an entry is kept that is not checked any more: Puppet's `statettl`, 32 days.
pub const TIME_TO_LIVE: SignedDuration = SignedDuration::from_hours(32 * 24);

/// Memory of one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// By reference: what the last run left, for telling drift from new intentions. Puppet's
    /// `transactionstore.yaml`.
    pub history: ByReference<History>,
    /// By reference: when it was checked and synchronized, and audited values. Puppet's
    /// `state.yaml`.
    pub state: ByReference<State>,
}

/// What is kept of each resource.
pub type ByReference<T> = IndexMap<String, T>;

/// The values that a run left of a resource, by property. A list: every resource has one, and of
/// few values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History(Vec<(String, Stored)>);

impl History {
    pub fn get(&self, property: &str) -> Option<&Stored> {
        let found = self.0.iter().find(|(name, _)| name == property);
        found.map(|(_, stored)| stored)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Stored)> {
        self.0.iter().map(|(name, stored)| (name.as_str(), stored))
    }
}

impl FromIterator<(String, Stored)> for History {
    fn from_iter<I: IntoIterator<Item = (String, Stored)>>(values: I) -> Self {
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
pub struct State {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced: Option<Timestamp>,
    /// Audited properties as the last run found them, before it changed anything.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub audited: BTreeMap<String, Stored>,
}

/// A value that is stored with its type: `present` the enumerated value is not `present` the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored(pub Value);

impl Serialize for Stored {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        rich_data::write(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = serde_json::Value::deserialize(deserializer)?;
        let value = rich_data::read(&json).map_err(serde::de::Error::custom)?;
        Ok(Stored(match value {
            Value::Symbol(name) if name == "absent" => Value::Absent,
            value => value,
        }))
    }
}

impl Memory {
    /// Drops what was not checked for longer than [`TIME_TO_LIVE`].
    pub fn expire(&mut self, now: Timestamp) {
        self.state.retain(|_, state| {
            state
                .checked
                .is_none_or(|checked| now.duration_since(checked) <= TIME_TO_LIVE)
        });
    }

    /// Makes room for what a run may find out about so many resources.
    pub(super) fn make_room(&mut self, count: usize) {
        self.state.reserve(count.saturating_sub(self.state.len()));
    }

    /// Where in `state` a resource is, of which nothing is known to begin with. Good until the end
    /// of the run.
    pub(super) fn place_of(&mut self, reference: &str) -> usize {
        match self.state.get_index_of(reference) {
            Some(at) => at,
            None => {
                let new = self
                    .state
                    .insert_full(reference.to_owned(), State::default());
                new.0
            }
        }
    }

    /// What is known of a resource, nothing to begin with.
    pub(super) fn state_of(&mut self, reference: &str) -> &mut State {
        let at = self.place_of(reference);
        &mut self.state[at]
    }

    /// What the last run left of a property; a stored null is none.
    pub(super) fn system_value(&self, reference: &str, property: &str) -> Option<&Value> {
        self.history
            .get(reference)?
            .get(property)
            .map(|stored| &stored.0)
            .filter(|value| **value != Value::Undef)
    }
}

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
        memory.history.insert(
            "Dev_vlan[1]".to_owned(),
            values
                .map(|(name, value)| (name.to_owned(), Stored(value)))
                .into_iter()
                .collect(),
        );
        let text = serde_json::to_string(&memory).unwrap();
        assert_eq!(serde_json::from_str::<Memory>(&text).unwrap(), memory);
    }
}

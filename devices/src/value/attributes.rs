//! Attributes: names and values of one resource or instance, in order.
//!
//! A resource has few attributes and a catalog has many resources: attributes are stored in one
//! list, and names share their text.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Deref, Index};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Value;
use crate::map::IndexMap;

/// The name of an attribute; cheap to clone.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<String> for Name {
    fn eq(&self, other: &String) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<Name> for str {
    fn eq(&self, other: &Name) -> bool {
        *self == *other.0
    }
}

impl PartialEq<Name> for &str {
    fn eq(&self, other: &Name) -> bool {
        **self == *other.0
    }
}

impl PartialEq<Name> for String {
    fn eq(&self, other: &Name) -> bool {
        **self == *other.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Self(name.into())
    }
}

impl From<&String> for Name {
    fn from(name: &String) -> Self {
        Self(name.as_str().into())
    }
}

impl From<&Name> for Name {
    fn from(name: &Name) -> Self {
        name.clone()
    }
}

impl From<Arc<str>> for Name {
    fn from(name: Arc<str>) -> Self {
        Self(name)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.as_ref().to_owned()
    }
}

impl From<&Name> for String {
    fn from(name: &Name) -> Self {
        name.0.as_ref().to_owned()
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Attribute name → value, in the order of the catalog or of the model. Equal to another with the
/// same names and values in any order.
#[derive(Clone, Default)]
pub struct Attributes(Vec<(Name, Value)>);

impl Attributes {
    /// None yet, with room for so many.
    pub fn with_room(count: usize) -> Self {
        Self(Vec::with_capacity(count))
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(key, _)| *key == *name)
    }

    /// Whether there is a value for this name, `undef` included.
    pub fn contains_key(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// The value of this name; the search is linear.
    pub fn get(&self, name: &str) -> Option<&Value> {
        Some(&self.0[self.position(name)?].1)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let at = self.position(name)?;
        Some(&mut self.0[at].1)
    }

    /// Sets a value, where the name stands already or at the end; the value that was there.
    pub fn insert(&mut self, name: impl Into<Name>, value: Value) -> Option<Value> {
        let name = name.into();
        match self.get_mut(&name) {
            Some(current) => Some(std::mem::replace(current, value)),
            None => {
                self.0.push((name, value));
                None
            }
        }
    }

    /// Adds a value at the end, unless the name has one.
    pub fn insert_missing(&mut self, name: impl Into<Name>, value: Value) {
        let name = name.into();
        if !self.contains_key(&name) {
            self.0.push((name, value));
        }
    }

    /// Takes a value out; the others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.position(name)?;
        Some(self.0.remove(at).1)
    }

    /// Removes the attributes for which the function returns false; the order remains.
    pub fn retain(&mut self, mut keep: impl FnMut(&Name, &mut Value) -> bool) {
        self.0.retain_mut(|(name, value)| keep(name, value));
    }

    /// Brings the attributes into the order of a key of their names.
    pub fn sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&Name) -> K) {
        self.0.sort_by_cached_key(|(name, _)| key(name));
    }

    /// Names and values in their stored order.
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = (&Name, &Value)> + DoubleEndedIterator + Clone {
        self.0.iter().map(|(name, value)| (name, value))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&Name, &mut Value)> {
        self.0.iter_mut().map(|(name, value)| (&*name, value))
    }

    /// The names in their stored order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Name> + DoubleEndedIterator + Clone {
        self.0.iter().map(|(name, _)| name)
    }

    /// The values in their stored order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator + Clone {
        self.0.iter().map(|(_, value)| value)
    }
}

impl PartialEq for Attributes {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self
                .iter()
                .all(|(name, value)| other.get(name) == Some(value))
    }
}

impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Index<&str> for Attributes {
    type Output = Value;

    /// # Panics
    /// Without such an attribute.
    fn index(&self, name: &str) -> &Value {
        self.get(name).expect("an attribute of this name")
    }
}

impl<N: Into<Name>> FromIterator<(N, Value)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(entries: I) -> Self {
        let mut attributes = Self::default();
        attributes.extend(entries);
        attributes
    }
}

/// From so many on it is looked up what is there, not looked for.
const MANY: usize = 64;

impl<N: Into<Name>> Extend<(N, Value)> for Attributes {
    fn extend<I: IntoIterator<Item = (N, Value)>>(&mut self, entries: I) {
        let entries = entries.into_iter();
        let count = entries.size_hint().0;
        self.0.reserve(count);
        if count < MANY {
            for (name, value) in entries {
                self.insert(name, value);
            }
            return;
        }
        let mut all: IndexMap<Name, Value> = self.0.drain(..).collect();
        all.extend(entries.map(|(name, value)| (name.into(), value)));
        self.0.extend(all);
    }
}

impl IntoIterator for Attributes {
    type Item = (Name, Value);
    type IntoIter = std::vec::IntoIter<(Name, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Attributes {
    type Item = (&'a Name, &'a Value);
    type IntoIter = std::iter::Map<
        std::slice::Iter<'a, (Name, Value)>,
        fn(&'a (Name, Value)) -> (&'a Name, &'a Value),
    >;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(name, value)| (name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(entries: &[(&str, i64)]) -> Attributes {
        let entries = entries.iter();
        entries
            .map(|(name, value)| (*name, (*value).into()))
            .collect()
    }

    #[test]
    fn attributes_keep_their_order_and_ignore_it_in_comparisons() {
        let mut some = attributes(&[("mtu", 1500), ("speed", 10), ("mtu", 9000)]);
        assert_eq!(format!("{some:?}"), r#"{"mtu": 9000, "speed": 10}"#);
        assert_eq!(some, attributes(&[("speed", 10), ("mtu", 9000)]));
        assert_ne!(some, attributes(&[("mtu", 9000)]));
        assert_eq!(some.insert("speed", 100.into()), Some(10.into()));
        some.insert_missing("speed", 1000.into());
        some.insert("duplex", 1.into());
        assert_eq!(some.remove("mtu"), Some(9000.into()));
        assert_eq!(format!("{some:?}"), r#"{"speed": 100, "duplex": 1}"#);
        some.sort_by_key(|name| name.len());
        some.retain(|name, _| name != "duplex");
        assert_eq!(some, attributes(&[("speed", 100)]));
    }

    /// What a hostile catalog may hold does not take a square of its size.
    #[test]
    fn attributes_can_be_very_many() {
        let name = |number: i64| format!("a{}", number % 100_000);
        let many: Attributes = (0..200_000)
            .map(|number| (name(number), number.into()))
            .collect();
        assert_eq!(many.len(), 100_000);
        assert_eq!(many.get("a0"), Some(&100_000.into()));
        assert_eq!(many.keys().next_back().map(Name::as_str), Some("a99999"));
    }
}

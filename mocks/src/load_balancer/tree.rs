//! The configuration as objects in collections.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::path::FullPath;
use super::schema::{self, ObjectKind};

/// Fields of an object.
pub(super) type Fields = Map<String, Value>;

/// The complete configuration. Transactions copy it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tree {
    /// Objects by kind and full path.
    pub objects: BTreeMap<String, BTreeMap<String, Object>>,
    /// Singletons by path.
    pub singletons: BTreeMap<String, Fields>,
    /// Contents of files, by path.
    pub files: BTreeMap<String, String>,
    /// Registration key of the license.
    pub license: String,
    /// Counts changes.
    pub generation: u64,
}

/// An object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Object {
    /// Its name.
    pub path: FullPath,
    /// Its fields; unset ones are missing.
    pub fields: Fields,
    /// Its subcollections by name.
    pub subs: BTreeMap<String, BTreeMap<String, Object>>,
    /// Number of its last change.
    pub generation: u64,
}

impl Object {
    /// An object without fields.
    pub(super) fn new(path: FullPath) -> Self {
        Object {
            path,
            fields: Fields::new(),
            subs: BTreeMap::new(),
            generation: 0,
        }
    }

    /// A field as text; empty if unset.
    pub(super) fn text(&self, name: &str) -> &str {
        self.fields
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

impl Tree {
    /// The objects of a kind.
    pub(super) fn collection(&self, kind: &str) -> impl Iterator<Item = &Object> {
        self.objects
            .get(kind)
            .into_iter()
            .flat_map(BTreeMap::values)
    }

    /// One object.
    pub(super) fn object(&self, kind: &str, path: &str) -> Option<&Object> {
        self.objects.get(kind)?.get(path)
    }

    /// Inserts an object.
    pub(super) fn insert(&mut self, kind: &str, mut object: Object) {
        self.generation += 1;
        object.generation = self.generation;
        self.objects
            .entry(kind.to_owned())
            .or_default()
            .insert(object.path.text(), object);
    }

    /// All objects with their kinds.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static ObjectKind, &Object)> {
        self.objects
            .iter()
            .filter_map(|(path, objects)| Some((schema::kind(path)?, objects)))
            .flat_map(|(kind, objects)| objects.values().map(move |object| (kind, object)))
    }

    /// Whether an object exists below this path of kinds; `ltm/monitor/*` matches any kind.
    pub(super) fn has(&self, family: &str, path: &str) -> bool {
        match family.strip_suffix("/*") {
            None => self.object(family, path).is_some(),
            Some(prefix) => self.objects.iter().any(|(kind, objects)| {
                kind.strip_prefix(prefix)
                    .is_some_and(|rest| rest.starts_with('/'))
                    && objects.contains_key(path)
            }),
        }
    }
}

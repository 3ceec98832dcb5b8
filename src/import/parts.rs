//! Resources as parts that can be compared one by one: the resource itself, and each of its attributes.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexSet;
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::TypeModel;
use switchtender_devices::names::TypeName;
use switchtender_devices::value::Name;

use crate::desired_state::declared::{DeclaredState, DeclaredValue};

/// A device with the state that its files will declare.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImportedDevice {
    pub(crate) name: String,
    pub(crate) platform: String,
    pub(crate) labels: BTreeMap<String, String>,
    /// Nothing of it is declared: shared files do not count it, and its own file removes what they declare.
    pub(crate) is_left_out: bool,
    /// Without values at their defaults and without secrets.
    pub(crate) state: DeclaredState,
}

/// The types whose resources of one title stand below one key: those of a view.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeGroups {
    views: BTreeMap<TypeName, String>,
    /// The sections of types in a view.
    sections: BTreeMap<TypeName, String>,
    /// The types without a section, by view: an entry of the view declares their resources, too.
    flat: BTreeMap<String, Vec<TypeName>>,
}

impl TypeGroups {
    /// The groups of the types of devices.
    pub(crate) fn of<'a>(models: impl Iterator<Item = &'a Arc<TypeModel>>) -> Self {
        let mut groups = Self::default();
        for model in models {
            if let Some(location) = &model.location {
                let section = location.section.as_deref();
                groups.insert(&model.name, Some(&location.view), section);
            }
        }
        groups
    }

    /// Adds a type with its view.
    pub(super) fn insert(&mut self, name: &TypeName, view: Option<&str>, section: Option<&str>) {
        if let Some(view) = view {
            self.views.insert(name.clone(), view.to_owned());
            match section {
                Some(section) => {
                    self.sections.insert(name.clone(), section.to_owned());
                }
                None => self
                    .flat
                    .entry(view.to_owned())
                    .or_default()
                    .push(name.clone()),
            }
        }
    }

    /// The key below which resources of a type stand.
    pub(super) fn group<'a>(&'a self, type_name: &'a TypeName) -> &'a str {
        self.views
            .get(type_name)
            .map_or(type_name.as_str(), |view| view)
    }

    pub(super) fn section(&self, type_name: &TypeName) -> Option<&str> {
        self.sections.get(type_name).map(String::as_str)
    }

    /// The type whose resource each entry of a group declares.
    pub(super) fn flat_type(&self, group: &str, parts: &Parts) -> Option<TypeName> {
        let Some(flat) = self.flat.get(group) else {
            return Some(TypeName::from(group));
        };
        let mut own = flat
            .iter()
            .filter(|one| parts.contains_key(&ResourcePart::resource(one)));
        own.next().or(flat.first()).cloned()
    }
}

/// What one entry of a file is about: a title below a view or a type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Subject {
    pub(super) group: String,
    pub(super) title: String,
}

/// The existence of a resource, or one attribute of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ResourcePart {
    pub(super) type_name: TypeName,
    pub(super) attribute: Option<Name>,
}

impl ResourcePart {
    pub(super) fn resource(type_name: &TypeName) -> Self {
        Self {
            type_name: type_name.clone(),
            attribute: None,
        }
    }

    pub(super) fn attribute(type_name: &TypeName, name: &Name) -> Self {
        Self {
            type_name: type_name.clone(),
            attribute: Some(name.clone()),
        }
    }
}

/// What a subject has in the end, by part.
pub(super) type Parts = IndexMap<ResourcePart, PartValue>;

/// The value of a part.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PartValue {
    /// The resource exists.
    Exists,
    /// The attribute has this value.
    Set(DeclaredValue),
    /// `~`.
    Removed,
}

impl PartValue {
    /// A text that differs for different values.
    pub(super) fn key(&self) -> String {
        format!("{self:?}")
    }
}

/// The subjects of a device, in its order.
pub(super) fn subjects(state: &DeclaredState, groups: &TypeGroups) -> IndexMap<Subject, Parts> {
    let mut found: IndexMap<Subject, Parts> = IndexMap::default();
    let has_flat = |group: &str, title: &str| {
        let flat = groups.flat.get(group);
        flat.is_none_or(|flat| {
            let mut resources = flat.iter().filter_map(|one| state.types.get(one));
            resources.any(|resources| resources.contains_key(title))
        })
    };
    for (type_name, resources) in &state.types {
        for (title, attributes) in resources {
            let group = groups.group(type_name);
            // An entry of the view would declare a resource that the device does not have.
            let group = if has_flat(group, title) {
                group
            } else {
                type_name
            };
            let subject = Subject {
                group: group.to_owned(),
                title: title.clone(),
            };
            let parts = found.entry(subject).or_default();
            parts.insert(ResourcePart::resource(type_name), PartValue::Exists);
            let set = attributes.iter().filter_map(|(name, value)| {
                let value = PartValue::Set(value.clone()?);
                Some((ResourcePart::attribute(type_name, name), value))
            });
            parts.extend(set);
        }
    }
    found
}

/// The types of parts, in their order.
pub(super) fn types(parts: &Parts) -> IndexSet<TypeName> {
    parts.keys().map(|part| part.type_name.clone()).collect()
}

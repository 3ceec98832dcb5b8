//! The content of the files of a state, before it is text.

use indexmap::IndexSet;
use switchtender_devices::map::IndexMap;

use super::parts::{PartValue, Parts, ResourcePart, Subject, TypeGroups};
use crate::desired_state::declared::{DeclaredAttributes, DeclaredFile, ProfileBody};

/// What a file declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactoredFile {
    /// By view or type, and name.
    pub(super) profiles: IndexMap<(String, String), Parts>,
    pub(super) entries: IndexMap<Subject, FactoredEntry>,
}

/// What a file declares of a subject.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FactoredEntry {
    /// `use`; `Some(None)` is `~`.
    pub(super) profile: Option<Option<String>>,
    pub(super) parts: Parts,
}

impl FactoredEntry {
    pub(super) fn is_empty(&self) -> bool {
        self.profile.is_none() && self.parts.is_empty()
    }
}

impl FactoredFile {
    pub(super) fn is_empty(&self) -> bool {
        self.profiles.is_empty() && self.entries.is_empty()
    }

    /// The file as the writer takes it.
    pub(crate) fn declared(&self, groups: &TypeGroups) -> DeclaredFile {
        let mut file = DeclaredFile::default();
        for ((group, name), parts) in &self.profiles {
            let profiles = file.profiles.entry(group.clone()).or_default();
            profiles.insert(name.clone(), body(parts));
        }
        for (subject, entry) in &self.entries {
            declare(&mut file, subject, entry, groups);
        }
        file
    }
}

fn body(parts: &Parts) -> ProfileBody {
    let mut body = ProfileBody::default();
    for (part, value) in parts {
        let attributes = body.entry(part.type_name.clone()).or_default();
        insert(attributes, part, value);
    }
    body
}

fn insert(attributes: &mut DeclaredAttributes, part: &ResourcePart, value: &PartValue) {
    let Some(name) = &part.attribute else {
        return;
    };
    let value = match value {
        PartValue::Set(value) => Some(value.clone()),
        PartValue::Exists | PartValue::Removed => None,
    };
    attributes.insert(name.clone(), value);
}

fn declare(file: &mut DeclaredFile, subject: &Subject, entry: &FactoredEntry, groups: &TypeGroups) {
    let Subject { group, title } = subject;
    let mut is_declared = entry.profile.is_some();
    for (part, value) in &entry.parts {
        if part.attribute.is_none() && *value == PartValue::Removed {
            let removed: &mut IndexSet<String> =
                file.removed.entry(part.type_name.clone()).or_default();
            removed.insert(title.clone());
            continue;
        }
        is_declared = true;
        let resources = file.state.types.entry(part.type_name.clone()).or_default();
        insert(resources.entry(title.clone()).or_default(), part, value);
    }
    if let Some(profile) = &entry.profile {
        let uses = file.uses.entry(group.clone()).or_default();
        uses.insert(title.clone(), profile.iter().cloned().collect());
    }
    // The writer forms an entry of a view only for a title whose flat resource is declared.
    if is_declared && let Some(flat) = groups.flat_type(group, &entry.parts) {
        let resources = file.state.types.entry(flat).or_default();
        resources.entry(title.clone()).or_default();
    }
}

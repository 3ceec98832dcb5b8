//! Views of desired state, and the words that its files reserve.
//!
//! A view has all that is declared about one object below one title: `interface:` has an interface with the attributes
//! of its flat type, and a section for each further type.

use super::TypeModel;
use crate::value::Name;

/// The key of a resource with the names of profiles.
pub const USE: &str = "use";

/// Keys of files of desired state: neither a type nor a view has one of these names.
pub const RESERVED: [&str; 9] = [
    "complete",
    "not_managed",
    "not_understood",
    "profiles",
    "purge",
    "strict",
    "unmanaged",
    USE,
    "vars",
];

/// All metaparameters, in the order in which Puppet assigns them.
pub const METAPARAMETERS: [&str; 12] = [
    "noop",
    "schedule",
    "audit",
    "loglevel",
    "alias",
    "tag",
    "require",
    "subscribe",
    "before",
    "notify",
    "stage",
    "provider",
];

/// The place of a type in a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewLocation {
    /// The name of the view, `interface`.
    pub view: Name,
    /// The key of the type's attributes, `switchport`. `None`: they stand next to the sections.
    pub section: Option<Name>,
}

impl TypeModel {
    /// Why two types of one platform cannot both have their places.
    pub(crate) fn location_conflict(&self, other: &TypeModel) -> Option<String> {
        let (own, others) = (self.location.as_ref()?, other.location.as_ref()?);
        if own.view != others.view {
            return None;
        }
        let view = &own.view;
        match (&own.section, &others.section) {
            (None, None) => Some(format!(
                "{} and {} are both the flat type of the view `{view}`",
                other.name, self.name
            )),
            (Some(section), Some(same)) if section == same => Some(format!(
                "{} and {} have the section `{section}` of the view `{view}`",
                other.name, self.name
            )),
            (Some(section), None) if other.attributes.contains_key(section) => Some(format!(
                "the section `{section}` of {} is an attribute of {}",
                self.name, other.name
            )),
            (None, Some(section)) if self.attributes.contains_key(section) => Some(format!(
                "the section `{section}` of {} is an attribute of {}",
                other.name, self.name
            )),
            _ => None,
        }
    }
}

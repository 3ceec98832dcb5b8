//! `unsupported` of an attribute: what a platform does not have.

use crate::document::{Item, KeyValue, Named, ValueShape};
use crate::map::IndexMap;

/// What the platform does not have.
#[derive(Clone, Debug)]
pub(in crate::driver) enum Unsupported {
    /// The attribute, with the reason.
    Attribute(String),
    /// Values by name, with reasons, which can be empty.
    Values(IndexMap<String, String>),
}

impl Unsupported {
    /// The reason, if the platform does not have the attribute.
    pub(in crate::driver) fn attribute(&self) -> Option<&String> {
        match self {
            Self::Attribute(reason) => Some(reason),
            Self::Values(_) => None,
        }
    }

    /// The values that the platform does not have.
    pub(in crate::driver) fn values(&self) -> Option<&IndexMap<String, String>> {
        match self {
            Self::Attribute(_) => None,
            Self::Values(values) => Some(values),
        }
    }
}

impl KeyValue for Unsupported {
    fn declare(shape: &ValueShape) {
        Vec::<String>::declare(shape);
        Named::<String>::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if item.is_table() {
            let reasons = Named::<String>::read(item)?.into_iter();
            let reasons = reasons.map(|(name, reason)| (name.value, reason));
            return Some(Self::Values(reasons.collect()));
        }
        if item.is_list() {
            let names = item.strings()?.into_iter();
            let names = names.map(|name| (name, String::new()));
            return Some(Self::Values(names.collect()));
        }
        item.string().map(Self::Attribute)
    }
}

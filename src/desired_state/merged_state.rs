//! The desired state of one device: what its files declare, after they were merged and expanded.

use std::ops::Range;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::map::IndexMap;

use super::expand::completion::{CompletedValue, Completion};
use super::expand::exclusion::Exclusions;
use super::state_entry::StateEntry;
use super::yaml_value::YamlValue;
use crate::coverage::strict::Strict;
use crate::inventory::placeholders::Placeholders;

/// The state of one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergedState {
    /// Resources by type and title.
    pub(crate) types: IndexMap<String, IndexMap<String, MergedResource>>,
    /// Types whose undeclared instances are removed, each with its origin.
    pub(crate) purge: IndexMap<String, ValueOrigin>,
    /// What is left to others.
    pub(crate) unmanaged: Exclusions,
    /// Types whose resources have defaults where no file sets a value.
    pub(crate) completion: Completion,
    /// Which lines of the configuration must be managed.
    pub(crate) strict: Option<Strict>,
    /// Values that templates use.
    pub(crate) variables: IndexMap<String, MergedValue>,
    /// The values of placeholders in sources of secrets.
    pub(super) placeholders: Placeholders,
    /// Errors of the files. The parts that they are about are left out.
    pub(crate) errors: Vec<Diagnostic>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Parts that have an effect for some devices only.
    pub(crate) entries: Vec<StateEntry>,
}

/// A resource with the origin of its first declaration.
#[derive(Clone, Debug)]
pub(crate) struct MergedResource {
    pub(crate) origin: ValueOrigin,
    /// The origin of its type.
    pub(crate) type_origin: ValueOrigin,
    pub(crate) attributes: IndexMap<String, MergedValue>,
}

impl MergedResource {
    /// A resource without attributes.
    pub(super) fn at(origin: ValueOrigin, type_origin: ValueOrigin) -> Self {
        Self {
            origin,
            type_origin,
            attributes: IndexMap::default(),
        }
    }
}

/// A value with its origin.
#[derive(Clone, Debug)]
pub(crate) struct MergedValue {
    /// All titles of a range share it. `Null` is a `~`.
    pub(crate) value: Arc<YamlValue>,
    pub(crate) origin: ValueOrigin,
    /// The origin of its name.
    pub(crate) name_origin: ValueOrigin,
    /// The profile that has it. `None`: it stands at the resource.
    pub(crate) through: Option<Arc<UsedProfile>>,
    /// `complete` sets it: the origin is that of its item.
    pub(crate) is_default: bool,
}

impl MergedValue {
    /// A value that `complete` sets.
    pub(super) fn default_of(completed: &CompletedValue<'_>) -> Self {
        Self {
            value: Arc::new(YamlValue::of_value(&completed.value)),
            origin: completed.origin.clone(),
            name_origin: completed.origin.clone(),
            through: None,
            is_default: true,
        }
    }

    /// Whether it is a `~`.
    pub(super) fn is_mark(&self) -> bool {
        *self.value == YamlValue::Null
    }
}

/// A profile where it is used.
#[derive(Debug)]
pub(crate) struct UsedProfile {
    pub(crate) name: String,
    /// Where its name stands.
    pub(crate) origin: ValueOrigin,
}

/// A position in a file.
#[derive(Clone, Debug)]
pub(crate) struct ValueOrigin {
    pub(crate) source: Arc<Source>,
    pub(crate) span: Range<usize>,
}

impl ValueOrigin {
    /// Line in the file, from 1.
    pub(crate) fn line(&self) -> usize {
        self.source.position(self.span.start).0
    }

    /// An error at this position.
    pub(crate) fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).at(&self.source, self.span.clone(), "")
    }
}

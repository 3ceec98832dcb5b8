//! An instance and the lines it was read from.

use crate::change::Instance;
use crate::map::IndexMap;
use crate::value::{Attributes, Name, Value};

/// The name of `{*}` among the words that belong to no attribute.
pub(super) const OTHER_WORDS: &str = "*";

/// An instance and its lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundInstance {
    pub(crate) attributes: Attributes,
    /// By attribute: each value (or list element) and the line on the device.
    pub(crate) lines: IndexMap<String, Vec<(Value, String)>>,
    /// The line of the instance, and its words that belong to no attribute.
    pub(crate) line: Option<String>,
    pub(crate) unmanaged: Attributes,
    /// The headers of its blocks, outermost first: those that contain it, then its own.
    pub(crate) block: Vec<String>,
    /// Which of the paths of blocks it has.
    pub(crate) spelling: usize,
    /// Number of instances in the block.
    pub(crate) siblings: usize,
    /// Defaults of attributes that another line sets.
    pub(crate) defaults: Attributes,
    /// The line has words that no attribute expresses, and that are not kept.
    pub(crate) is_not_understood: bool,
    /// Attributes whose cell was not understood: their value is unknown.
    pub(crate) unknown: Vec<Name>,
    /// Inactive lines by attribute, and all by `ensure` if the instance has no others. The attributes
    /// have the values that they would have.
    pub(crate) inactive: IndexMap<Name, Vec<String>>,
    /// What no attribute expresses, for `resource`.
    pub(crate) notes: Vec<String>,
}

impl FoundInstance {
    /// The value of an attribute, or a word without an attribute.
    pub(crate) fn value_of(&self, name: &str) -> Option<&Value> {
        let unmanaged = || self.unmanaged.get(name);
        self.attributes.get(name).or_else(unmanaged)
    }

    /// Whether the instance exists. The reads of a type like `network_trunk` can show that a port
    /// exists but is not a trunk.
    pub(crate) fn is_present(&self) -> bool {
        self.attributes.get("ensure").and_then(Value::as_str) != Some("absent")
    }

    /// Whether the device does not use it.
    pub(super) fn is_inactive(&self) -> bool {
        self.inactive.contains_key("ensure")
    }

    /// Whether its line has no words that no attribute expresses.
    pub(super) fn is_understood(&self) -> bool {
        !self.is_not_understood && !self.unmanaged.contains_key(OTHER_WORDS)
    }

    pub(super) fn into_instance(self) -> Instance {
        let not_understood = self.line.filter(|_| self.is_not_understood);
        let mut attributes = self.attributes;
        attributes.remove("ensure");
        let inactive: Vec<Name> = self.inactive.into_iter().map(|(name, _)| name).collect();
        if inactive.iter().all(|name| name != "ensure") {
            attributes.retain(|name, _| !inactive.contains(name));
        }
        Instance {
            attributes,
            defaults: self.defaults,
            not_understood,
            notes: self.notes,
            inactive,
            ..Instance::default()
        }
    }
}

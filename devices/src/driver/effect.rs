//! Settings of a device that resources change, to detect conflicts between resources of any type.
//!
//! They are computed without the device: a resource is rendered as for an empty device.

use crate::secret::Text;

/// One setting that a resource changes: the words of a line without the value, in their mode, or a
/// field of an object.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The mode, or the path of the object; empty for lines of the top level.
    pub location: String,
    /// The words or the field.
    pub what: String,
    /// The text that is sent for it.
    pub sent: Vec<Text>,
    /// Other values that satisfy the resource.
    pub(crate) alike: Vec<Vec<Text>>,
    /// Name of the attribute whose value determines the setting.
    pub attribute: String,
    /// The block at the location is removed with all of its settings.
    pub is_removal: bool,
    /// The resource needs no line for the setting.
    pub is_unset: bool,
}

impl Effect {
    /// Whether both resources can be in sync at the same time.
    pub fn is_compatible_with(&self, other: &Effect) -> bool {
        self.sent == other.sent
            || self.alike.contains(&other.sent)
            || other.alike.contains(&self.sent)
    }
}

/// The settings that an attribute of a type can change, for all values. Types without a common
/// setting cannot conflict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EffectSlot {
    /// The constant words at the beginning of the mode and of the line.
    pub location: String,
    /// The constant words of the line without `no`; empty for REST.
    pub what: String,
    /// Name of the attribute that can change the setting.
    pub attribute: String,
    /// Whether two resources of the type can share the setting.
    pub within_type: bool,
    /// The block at the location can be removed with all of its settings.
    pub is_removal: bool,
}

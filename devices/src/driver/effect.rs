//! What resources set on a device, in the device's own terms: so that it can be seen when two of
//! them, of whatever types, want one thing to be different.
//!
//! Looked at without the device: a resource is written as on one that has nothing.

use crate::secret::Text;

/// One thing of the device that a resource sets: the words of a line without the value, in their
/// mode; a field of an object.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The mode, or the path of the object; empty for lines of the top level.
    pub place: String,
    /// The words or the field.
    pub what: String,
    /// What is sent for it.
    pub sent: Vec<Text>,
    /// What the resource is content with besides.
    pub alike: Vec<Vec<Text>>,
    pub attribute: String,
}

impl Effect {
    /// Whether both resources can be in order at once.
    pub fn is_compatible_with(&self, other: &Effect) -> bool {
        self.sent == other.sent
            || self.alike.contains(&other.sent)
            || other.alike.contains(&self.sent)
    }
}

/// What an attribute of a type can set, whatever its value: where two types have none in common,
/// their resources have nothing to do with each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EffectSlot {
    /// The words before the first that varies: of the mode, and of the line.
    pub place: String,
    pub what: String,
    pub attribute: String,
    /// Whether two resources of the type can have it in common.
    pub within_type: bool,
}

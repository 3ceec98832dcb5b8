//! An instance, and the lines that it was read from.

use crate::change::Instance;
use crate::map::IndexMap;
use crate::value::{Attributes, Value};

/// An instance with the lines that tell it.
#[derive(Clone, Debug, Default)]
pub struct FoundInstance {
    pub attributes: Attributes,
    /// By attribute: each value (an element, for lists) and the line as the device has it.
    pub lines: IndexMap<String, Vec<(Value, String)>>,
    /// The line that is the instance, and what of it no attribute tells.
    pub line: Option<String>,
    pub unmanaged: Attributes,
    /// The block that it is in, or that it is.
    pub block: Option<String>,
    /// How many instances the block has.
    pub siblings: usize,
    /// What attributes have by themselves, where another line says it.
    pub defaults: Attributes,
}

impl FoundInstance {
    /// Whether the device has the instance: what is read for a type like `network_trunk` may tell
    /// that a port is there and is no trunk.
    pub fn is_present(&self) -> bool {
        self.attributes.get("ensure").and_then(Value::as_str) != Some("absent")
    }

    pub fn into_instance(self) -> Instance {
        let mut attributes = self.attributes;
        attributes.remove("ensure");
        Instance {
            attributes,
            defaults: self.defaults,
        }
    }
}

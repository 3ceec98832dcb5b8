//! A line of the configuration that a type reads.

use crate::change::Desired;
use crate::names::TypeName;
use crate::value::{Attributes, Name, Value};

/// What a line is for a type that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimKind {
    /// It has values of attributes.
    Value,
    /// It is the instance: its line, or the header of its block.
    Own,
    /// It is the header of a block around instances.
    Header,
    /// It says that an attribute has no line: `no ip address`.
    Default,
}

/// A line that a type reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The line of the answer, from 1.
    pub line: u32,
    /// The type that reads it.
    pub type_name: TypeName,
    /// The names of the instance, as far as the line and its blocks have them. None for a singleton.
    pub names: Attributes,
    /// The title of a resource for the instance, if all names are known. Secrets are masked.
    pub title: Option<String>,
    /// The attributes whose values the line has.
    pub attributes: Vec<Name>,
    /// What the line is for the type.
    pub kind: ClaimKind,
}

impl Claim {
    /// Whether the line belongs to the instance of a resource.
    pub fn is_of(&self, desired: &Desired) -> bool {
        let is_same = |(name, value): (&Name, &Value)| {
            let own = desired.attributes.get(name).map(Value::unwrap_sensitive);
            own == Some(value.unwrap_sensitive())
        };
        self.type_name == desired.model.name && self.names.iter().all(is_same)
    }
}

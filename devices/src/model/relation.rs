//! Automatic relations between resources that are no references
//! (`docs/reference/transaction.md`, section 3, *Automatic edges*).

use std::borrow::Cow;

use crate::names::TypeName;
use crate::value::Value;

/// An automatic relation to the resources in an attribute's value.
#[derive(Clone, Debug)]
pub struct AutoRelation {
    /// The direction, and whether events cross the relation.
    pub kind: AutoKind,
    /// Type of the other resource.
    pub target: TypeName,
    /// The attribute or fixed list that names the other resources.
    pub from: RelationSource,
}

impl AutoRelation {
    /// Whether all resources of the target type are meant.
    pub fn is_with_all(&self) -> bool {
        matches!(self.from, RelationSource::All)
    }

    /// The names of the target resources, from the attributes of the source resource.
    pub fn names<'a>(&self, value: impl FnOnce(&str) -> Option<Cow<'a, Value>>) -> Vec<String> {
        match &self.from {
            RelationSource::Fixed(names) => names.clone(),
            RelationSource::All => Vec::new(),
            RelationSource::Attribute(attribute) => {
                let mut names = Vec::new();
                if let Some(value) = value(attribute) {
                    collect(value.unwrap_sensitive(), &mut names);
                }
                names
            }
        }
    }
}

fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::List(items) => items.iter().for_each(|item| collect(item, names)),
        Value::Undef | Value::Absent => {}
        value => names.push(value.ruby_to_s()),
    }
}

/// The metaparameter that an automatic relation corresponds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoKind {
    /// The target is applied before this resource.
    Require,
    /// The target is applied before this resource, and its changes refresh this resource.
    Subscribe,
    /// This resource is applied before the target.
    Before,
    /// This resource is applied before the target, and its changes refresh the target.
    Notify,
}

/// Source of the target's name.
#[derive(Clone, Debug)]
pub enum RelationSource {
    /// The value (each element of an array) of an attribute.
    Attribute(String),
    /// The same names for every resource of the type.
    Fixed(Vec<String>),
    /// All resources of the type: the only process of a device, whatever its number is.
    All,
}

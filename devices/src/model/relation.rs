//! Automatic relations between resources, derived from their values
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
    /// The names of the target resources, from the attributes of the source resource.
    pub fn names<'a>(&self, value: impl FnOnce(&str) -> Option<Cow<'a, Value>>) -> Vec<String> {
        match &self.from {
            RelationSource::Fixed(names) => names.clone(),
            RelationSource::Attribute(path) => {
                let (attribute, field) = match path.split_once('.') {
                    Some((attribute, field)) => (attribute, Some(field)),
                    None => (path.as_str(), None),
                };
                let mut names = Vec::new();
                if let Some(value) = value(attribute) {
                    collect(value.unwrap_sensitive(), field, &mut names);
                }
                names
            }
            RelationSource::Partition(attribute) => value(attribute)
                .as_deref()
                .and_then(Value::as_str)
                .and_then(|path| path.strip_prefix('/')?.split_once('/'))
                .map(|(partition, _)| partition.to_owned())
                .into_iter()
                .collect(),
        }
    }
}

/// The names in a value, or in this field of its structs.
pub(super) fn collect(value: &Value, field: Option<&str>, names: &mut Vec<String>) {
    match (value, field) {
        (Value::List(items), _) => items.iter().for_each(|item| collect(item, field, names)),
        (Value::Undef | Value::Absent, _) => {}
        (value @ Value::Hash(_), Some(field)) => {
            if let Some(inner) = value.get(field) {
                collect(inner, None, names);
            }
        }
        (value, None) => names.push(value.ruby_to_s()),
        (_, Some(_)) => {}
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
    /// The value (each element of an array) of an attribute, or a field of its structs:
    /// `members.name`.
    Attribute(String),
    /// The partition of a full path `/Partition/name`, from this attribute.
    Partition(String),
    /// The same names for every resource of the type.
    Fixed(Vec<String>),
}

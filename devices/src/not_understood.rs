//! Lines, rows and objects of a device that a type recognizes and cannot read completely.
//!
//! A text is *not understood* if it matches the literal words of a definition up to the first
//! placeholder, but not the rest. Other lines of a block and fields that no attribute reads are
//! unmanaged: they are not listed.

use std::fmt;

use crate::change::{Change, ChangeKind, Instance};
use crate::names::TypeName;
use crate::value::{Attributes, Name, Value};

/// A line, row or object, or a field of one, that was not understood.
#[derive(Clone, Debug, PartialEq)]
pub struct NotUnderstood {
    /// The type whose definition recognizes the text.
    pub type_name: TypeName,
    /// The attribute whose value is not understood; `None` for the instance itself.
    pub attribute: Option<Name>,
    /// The blocks around a line, outermost first; the row or object of a field.
    pub path: Vec<String>,
    /// The line, or the field and its text. Secrets are masked.
    pub text: String,
    pub(crate) instance: InstanceNames,
    pub(crate) extent: Extent,
}

/// The instance that a text belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum InstanceNames {
    /// The only one of the type.
    Singleton,
    /// The instances with these namevars, as far as the text has them. Empty: unknown.
    Named(Attributes),
}

/// The changes of an instance that rewrite the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Extent {
    /// All changes.
    Instance,
    /// Changes of these attributes, which share the text.
    Attributes(Vec<Name>),
    /// Changes of these attributes if the list has the member whose block contains the line.
    Member {
        attributes: Vec<Name>,
        list: Name,
        member: Value,
    },
    /// The removal: words that are repeated when the line is sent again.
    Removal,
    /// None: an element of a list with a line for each.
    Element,
    /// Changes of a list that remove these elements, which share the text.
    Removed { list: Name, elements: Vec<Value> },
    /// None, not even a removal: a default for instances.
    Nothing,
}

impl NotUnderstood {
    /// Whether the text is that of an instance, or of a line or field of it.
    pub fn is_of(&self, instance: &Instance) -> bool {
        match &self.instance {
            InstanceNames::Singleton => true,
            InstanceNames::Named(names) => are_in(names, &instance.attributes),
        }
    }

    /// Whether it is one of these instances as a whole.
    pub fn is_instance_of_any(&self, instances: &[Instance]) -> bool {
        self.attribute.is_none()
            && self.extent == Extent::Instance
            && instances.iter().any(|instance| self.is_of(instance))
    }

    /// Whether it can be part of the instance with this name: it is, or its name is unknown.
    pub fn may_be_of(&self, name: &str) -> bool {
        match &self.instance {
            InstanceNames::Singleton => true,
            InstanceNames::Named(names) => {
                let is_name = |value: &Value| {
                    let text = value.scalar_text();
                    text.is_some_and(|text| text.eq_ignore_ascii_case(name))
                };
                names.is_empty() || names.values().any(is_name)
            }
        }
    }

    /// Whether an attribute has no value because of it.
    pub fn hides_value(&self) -> bool {
        self.attribute.is_some() && matches!(self.extent, Extent::Attributes(_))
    }

    /// Whether a change would rewrite or remove the text.
    pub fn is_touched_by(&self, change: &Change) -> bool {
        let has_attribute =
            |names: &[Name]| names.iter().any(|name| change.attributes.contains(name));
        if let Extent::Member {
            attributes,
            list,
            member,
        } = &self.extent
        {
            let is_removed = change.kind == ChangeKind::Remove;
            let current = change.current.as_ref();
            let current = current.and_then(|instance| instance.attributes.get(list));
            let desired = change.desired.attributes.get(list).filter(|_| !is_removed);
            let has_member = [current, desired].into_iter().flatten().any(|members| {
                members
                    .as_list()
                    .is_some_and(|members| members.contains(member))
            });
            return has_member && (is_removed || has_attribute(attributes));
        }
        let removes = |list: &Name, elements: &[Value]| {
            let desired = change.desired.attributes.get(list);
            let desired = desired.map(Value::unwrap_sensitive);
            let remains = |element: &Value| match desired {
                Some(Value::List(items)) => items.contains(element),
                Some(value) => value == element,
                None => true,
            };
            change.attributes.contains(list) && !elements.iter().all(remains)
        };
        let is_instance = match &self.instance {
            InstanceNames::Singleton => true,
            InstanceNames::Named(names) => are_in(names, &change.desired.attributes),
        };
        is_instance
            && match (&self.extent, change.kind) {
                (Extent::Nothing, _) => false,
                (Extent::Instance, _) | (_, ChangeKind::Remove) => true,
                (Extent::Attributes(names), _) => has_attribute(names),
                (Extent::Removed { list, elements }, _) => removes(list, elements),
                (Extent::Member { .. } | Extent::Removal | Extent::Element, _) => false,
            }
    }
}

/// Whether an instance has these names; false without names.
fn are_in(names: &Attributes, attributes: &Attributes) -> bool {
    let same = |(name, value): (&Name, &Value)| {
        attributes.get(name).map(Value::unwrap_sensitive) == Some(value.unwrap_sensitive())
    };
    !names.is_empty() && names.iter().all(same)
}

/// The text with its path: `interface Vlan10 / mtu x`.
impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            write!(f, "{step} / ")?;
        }
        f.write_str(&self.text)
    }
}

//! Lines, rows and objects of a device that a type recognizes and cannot read completely, and those
//! that the device has and does not use.
//!
//! A text is *not understood* if it matches the literal words of a definition up to the first
//! placeholder, but not the rest. Other lines of a block and fields that no attribute reads are
//! unmanaged: they are not listed.

use std::fmt;

use crate::change::{Change, ChangeKind, Desired, Instance};
use crate::model::Role;
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
    /// All changes but the removal: a line whose beginning identifies it is removed without being
    /// understood.
    Line,
    /// Changes of these attributes, which share the text.
    Attributes(Vec<Name>),
    /// Changes of these attributes if the list has the member whose block contains the line.
    Member {
        attributes: Vec<Name>,
        list: Name,
        member: Value,
    },
    /// None: an element of a list with a line for each.
    Element,
    /// Changes of a list that remove these elements, which share the text.
    Removed { list: Name, elements: Vec<Value> },
    /// None: the device has the text and does not use it. A change that needs it activates or removes it.
    Inactive,
    /// None, not even a removal: a default for instances, or words that are repeated when the line is
    /// sent again.
    Nothing,
}

impl NotUnderstood {
    /// A part of an instance, or a whole one, that the configuration marks as inactive.
    pub(crate) fn inactive(
        type_name: TypeName,
        attribute: Option<Name>,
        instance: InstanceNames,
        (path, text): (Vec<String>, &str),
    ) -> Self {
        Self {
            type_name,
            attribute,
            path,
            text: format!("inactive: {text}"),
            instance,
            extent: Extent::Inactive,
        }
    }

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
            && matches!(self.extent, Extent::Instance | Extent::Line)
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

    /// The declared attribute that was not read because of this text, if it is one of the instance on the
    /// device. `default` has the values that attributes have without a line.
    pub(crate) fn hides<'d>(
        &self,
        desired: &'d Desired,
        current: Option<&Instance>,
        default: &dyn Fn(&str) -> Option<Value>,
    ) -> Option<&'d str> {
        let Some(current) = current else {
            // An instance that was not read is not absent.
            let InstanceNames::Named(names) = &self.instance else {
                return None;
            };
            let mut namevars = desired.model.namevars();
            let is_own = namevars.all(|name| names.contains_key(name))
                && are_in(names, &desired.attributes)
                && self.attribute.is_none()
                && self.extent == Extent::Instance;
            return (is_own && desired.is_absent()).then_some("ensure");
        };
        if desired.is_absent() || !self.is_of(current) {
            return None;
        }
        let is_unread = |name: &str| {
            let actual = current.attributes.get(name);
            actual.is_none() || actual == default(name).as_ref()
        };
        let is_hidden = |name: &str| match &self.extent {
            Extent::Attributes(names) => names.iter().any(|one| *one == *name) && is_unread(name),
            Extent::Element => self.attribute.as_ref().is_some_and(|own| *own == *name),
            Extent::Instance | Extent::Line => {
                self.attribute.is_none() && !current.attributes.contains_key(name)
            }
            Extent::Member { .. } | Extent::Removed { .. } | Extent::Inactive | Extent::Nothing => {
                false
            }
        };
        let mut properties = desired.model.properties();
        let hidden = properties.find(|model| {
            model.role == Role::Property
                && model.name != "ensure"
                && desired.attributes.contains_key(&model.name)
                && is_hidden(&model.name)
        })?;
        Some(hidden.name.as_str())
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
                (Extent::Nothing | Extent::Inactive, _) | (Extent::Line, ChangeKind::Remove) => {
                    false
                }
                (Extent::Instance | Extent::Line, _) | (_, ChangeKind::Remove) => true,
                (Extent::Attributes(names), _) => has_attribute(names),
                (Extent::Removed { list, elements }, _) => removes(list, elements),
                (Extent::Member { .. } | Extent::Element, _) => false,
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

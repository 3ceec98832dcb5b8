//! The change of one resource: desired and current state.
//!
//! Values are canonical: the engine converts catalog values with the model and the platform's
//! codecs, and the driver reads in the same form. Secrets are wrapped in [`Value::Sensitive`] on
//! both sides, so that texts made from them are masked.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::{AutoRelation, TypeModel};
use crate::value::{Attributes, Name, Value};

/// The desired state of a resource.
#[derive(Clone, Debug)]
pub struct Desired {
    /// `Network_vlan[10]`, for messages.
    pub reference: Arc<str>,
    /// The resource type, with the roles of its attributes.
    pub model: Arc<TypeModel>,
    /// All attributes that have a value, namevars included.
    pub attributes: Attributes,
}

impl Desired {
    /// Whether the instance must be absent.
    pub fn is_absent(&self) -> bool {
        self.attributes.get("ensure").and_then(Value::as_str) == Some("absent")
    }

    /// The desired values, over those of the device.
    pub(crate) fn over(&self, current: Option<&Instance>) -> Attributes {
        let mut attributes = current.map_or_else(Attributes::default, |one| one.attributes.clone());
        attributes.extend(self.attributes.clone());
        attributes
    }

    /// The target names of an automatic relation of the type.
    pub fn related(&self, relation: &AutoRelation) -> Vec<String> {
        relation.names(|attribute| self.attributes.get(attribute).map(Cow::Borrowed))
    }
}

/// An instance on the device: namevars and all attributes that were read, without `ensure`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instance {
    /// Values by attribute name, in canonical form.
    pub attributes: Attributes,
    /// Defaults of attributes that the configuration of this device sets.
    pub defaults: Attributes,
    /// The device's line, if no attributes express it.
    pub not_understood: Option<String>,
    /// What the device has and no attribute expresses.
    pub notes: Vec<String>,
    /// The object of the device that makes and changes this one, such as an application.
    pub manager: Option<String>,
    /// The text that the device shows for attributes that it has in another form only, as secrets.
    pub hashed: Attributes,
    /// What the device has and does not use, because its configuration marks it as inactive: names of
    /// attributes, which then have no value, and `ensure` for the instance as a whole, whose attributes
    /// are those that it would have. It is neither present nor absent: a declared one differs.
    pub inactive: Vec<Name>,
}

impl Instance {
    /// Whether the device has an attribute, or with `ensure` the instance, and does not use it.
    pub fn is_inactive(&self, name: &str) -> bool {
        self.inactive.iter().any(|inactive| *inactive == *name)
    }

    /// All attributes. Values of sensitive ones are marked as such.
    pub(crate) fn with_secrets_marked(&self, model: &TypeModel) -> Attributes {
        let marked = self.attributes.iter().map(|(name, value)| {
            let attribute = model.attributes.get(name);
            let value = if attribute.is_some_and(|attribute| attribute.sensitive) {
                value.clone().into_sensitive()
            } else {
                value.clone()
            };
            (name.clone(), value)
        });
        marked.collect()
    }
}

/// The effect of a change on the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The device has no such instance, and the change adds it.
    Create,
    /// The instance exists, and some of its properties differ.
    Update,
    /// The instance exists, and the change deletes it.
    Remove,
}

/// The change of one resource.
#[derive(Clone, Debug)]
pub struct Change {
    /// Whether the instance is created, updated or removed.
    pub kind: ChangeKind,
    /// The desired state, shared with other users.
    pub desired: Arc<Desired>,
    /// The current state; `None` if the device has no such instance.
    pub(crate) current: Option<Instance>,
    /// Names of the attributes that differ, in definition order: for [`ChangeKind::Create`] all
    /// desired properties including `ensure`, for [`ChangeKind::Remove`] none.
    pub attributes: Vec<Name>,
}

impl Change {
    /// The change that sets these properties, given in definition order. The only constructor, so
    /// that self-tests of definitions and runs make the same changes.
    pub fn new(desired: Arc<Desired>, current: Option<Instance>, differing: Vec<Name>) -> Self {
        let ensure = differing.iter().any(|name| name == "ensure");
        let ensure = desired.attributes.get("ensure").filter(|_| ensure);
        let kind = match ensure.and_then(|value| value.unwrap_sensitive().as_str()) {
            Some("present") => ChangeKind::Create,
            Some("absent") => ChangeKind::Remove,
            _ => ChangeKind::Update,
        };
        let attributes = match kind {
            ChangeKind::Create => {
                let properties = desired.model.properties();
                let names = properties.map(|attribute| &attribute.name);
                let names = names.filter(|name| desired.attributes.contains_key(name));
                names.cloned().collect()
            }
            ChangeKind::Remove => Vec::new(),
            ChangeKind::Update => differing,
        };
        Self {
            kind,
            // What the device has and does not use is activated instead of created.
            current: current
                .filter(|current| kind != ChangeKind::Create || current.is_inactive("ensure")),
            desired,
            attributes,
        }
    }

    /// Creation and removal: one event, `ensure`, for the complete instance.
    pub fn is_create_or_remove(&self) -> bool {
        matches!(self.kind, ChangeKind::Create | ChangeKind::Remove)
    }

    /// The attributes with a reported result: those of the change, or `ensure` for the instance.
    pub fn reported_attributes(&self) -> impl Iterator<Item = Name> {
        let (ensure, attributes): (Option<Name>, &[Name]) = if self.is_create_or_remove() {
            (Some("ensure".into()), &[])
        } else {
            (None, &self.attributes)
        };
        ensure.into_iter().chain(attributes.iter().cloned())
    }
}

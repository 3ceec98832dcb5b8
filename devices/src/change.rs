//! What must become different on a device: one resource as it is wanted and as it is.
//!
//! Values here are canonical: the engine has passed the catalog's through the model and through
//! the platform's codecs, the driver reads in the same form. Sensitive values stay wrapped in
//! [`Value::Sensitive`] on both sides, so that whatever is made from them is tainted.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::{AutoRelation, TypeModel};
use crate::value::{Attributes, Name, Value};

/// A resource as the catalog wants it.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// `Network_vlan[10]`, for messages.
    pub reference: Arc<str>,
    pub model: Arc<TypeModel>,
    /// All attributes that have a value, namevars included.
    pub attributes: Attributes,
}

impl Wanted {
    /// Whether the instance is wanted to be gone.
    pub fn is_absent(&self) -> bool {
        self.attributes.get("ensure").and_then(Value::as_str) == Some("absent")
    }

    /// The names that an automatic relation of the type leads to.
    pub fn related(&self, relation: &AutoRelation) -> Vec<String> {
        relation.names(|attribute| self.attributes.get(attribute).map(Cow::Borrowed))
    }
}

/// An instance as the device has it: namevars and whatever was read, without `ensure`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instance {
    pub attributes: Attributes,
    /// What attributes have by themselves on this device, where its configuration says it.
    pub defaults: Attributes,
    /// The device's line, if no attributes express it.
    pub not_understood: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Create,
    Update,
    Remove,
}

/// What to bring into sync, for one resource.
#[derive(Clone, Debug)]
pub struct Change {
    pub kind: ChangeKind,
    /// Shared with whoever else needs the resource as it is wanted.
    pub wanted: Arc<Wanted>,
    /// What the device has; `None` when it has no such instance.
    pub(crate) current: Option<Instance>,
    /// Names of the attributes that differ, in definition order. For [`ChangeKind::Create`] all
    /// wanted properties, `ensure` among them, for [`ChangeKind::Remove`] none.
    pub attributes: Vec<Name>,
}

impl Change {
    /// The change that brings these properties, in definition order, to what is wanted. Whoever
    /// makes a change makes it here: what is tested of a definition is then what a run does.
    pub fn new(wanted: Arc<Wanted>, current: Option<Instance>, differing: Vec<Name>) -> Self {
        let ensure = differing.iter().any(|name| name == "ensure");
        let ensure = wanted.attributes.get("ensure").filter(|_| ensure);
        let kind = match ensure.and_then(|value| value.unwrap_sensitive().as_str()) {
            Some("present") => ChangeKind::Create,
            Some("absent") => ChangeKind::Remove,
            _ => ChangeKind::Update,
        };
        let attributes = match kind {
            ChangeKind::Create => {
                let properties = wanted.model.properties();
                let names = properties.map(|attribute| &attribute.name);
                let names = names.filter(|name| wanted.attributes.contains_key(name));
                names.cloned().collect()
            }
            ChangeKind::Remove => Vec::new(),
            ChangeKind::Update => differing,
        };
        Self {
            kind,
            current: current.filter(|_| kind != ChangeKind::Create),
            wanted,
            attributes,
        }
    }

    /// Creation and removal: one event, `ensure`, for the instance as a whole.
    pub fn is_create_or_remove(&self) -> bool {
        matches!(self.kind, ChangeKind::Create | ChangeKind::Remove)
    }

    /// The attributes whose outcome is told: those of the change, or `ensure` for the whole.
    pub fn reported_attributes(&self) -> impl Iterator<Item = Name> {
        let (ensure, attributes): (Option<Name>, &[Name]) = if self.is_create_or_remove() {
            (Some("ensure".into()), &[])
        } else {
            (None, &self.attributes)
        };
        ensure.into_iter().chain(attributes.iter().cloned())
    }
}

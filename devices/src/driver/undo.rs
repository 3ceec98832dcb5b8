//! Undo: the operations that restore the state before a change.
//!
//! The roles of desired and current state are exchanged, and the operations are rendered like those of
//! any other change. What they do not restore is named.

use std::sync::Arc;

use super::{Driver, HiddenFromDiff, NoSecretHistory};
use crate::change::{Change, ChangeKind, Desired, Instance};
use crate::model::{AttributeModel, Role, TypeModel};
use crate::operation::Operation;
use crate::read::State;
use crate::value::{Attributes, Name, Value};

/// The undo of one change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Undo {
    /// The operations, in order.
    pub operations: Vec<Operation>,
    /// What they do not restore, with reasons.
    pub not_restored: Vec<String>,
}

impl Driver {
    /// The undo of a change, and of the removal of the instances that it displaced. `state` has the
    /// effect of the change, and receives that of the undo.
    pub fn undo(&self, change: &Change, displaced: &[Instance], state: &mut State) -> Undo {
        let mut undo = Undo::default();
        let model = &change.desired.model;
        if let Err(reason @ HiddenFromDiff::Unpredictable) = self.supports_diff(model, state) {
            undo.not_restored.push(reason.to_string());
            return undo;
        }
        let before = change.current.as_ref();
        for attribute in model.attributes.values() {
            let name = &attribute.name;
            let is_lost = match change.kind {
                ChangeKind::Create => false,
                ChangeKind::Update => change.attributes.contains(name),
                ChangeKind::Remove => attribute.sensitive,
            };
            if is_lost && !self.implementation(model).is_ok_and(|one| one.shows(name)) {
                undo.not_restored
                    .push(format!("{name}: the device does not show its value"));
            }
        }
        let reference = &change.desired.reference;
        match before {
            Some(instance) => self.restore(reference, model, instance, state, &mut undo),
            None if !model.is_ensurable() => {
                let reason = "the type has no removal; its attributes are unset";
                undo.not_restored.push(reason.to_owned());
                let empty = Instance {
                    attributes: names_of(model, &change.desired.attributes),
                    ..Instance::default()
                };
                self.restore(reference, model, &empty, state, &mut undo);
            }
            None => {
                let mut desired = Desired {
                    reference: Arc::clone(reference),
                    model: Arc::clone(model),
                    attributes: names_of(model, &change.desired.attributes),
                };
                set_ensure(&mut desired, "absent");
                self.bring_about(desired, state, &mut undo);
            }
        }
        for instance in displaced {
            self.restore(reference, model, instance, state, &mut undo);
        }
        undo
    }

    /// Restores an instance as it was read.
    fn restore(
        &self,
        reference: &Arc<str>,
        model: &Arc<TypeModel>,
        instance: &Instance,
        state: &mut State,
        undo: &mut Undo,
    ) {
        if instance.not_understood.is_some() {
            let reason = "its line on the device was not understood";
            return undo.not_restored.push(reason.to_owned());
        }
        let mut desired = Desired {
            reference: Arc::clone(reference),
            model: Arc::clone(model),
            attributes: names_of(model, &instance.attributes),
        };
        let now = self.instance(&desired, state).ok().flatten();
        let is_writable = |attribute: &&AttributeModel| {
            attribute.is_property() || attribute.role == Role::Parameter
        };
        for attribute in model.attributes.values().filter(is_writable) {
            let name = &attribute.name;
            let has_now = now
                .as_ref()
                .is_some_and(|now| now.attributes.contains_key(name));
            let value = match instance.attributes.get(name) {
                Some(value) => Some(value.clone()),
                None if has_now => self.value_of_nothing(&desired, name, instance),
                None => None,
            };
            if let Some(value) = value {
                desired.attributes.insert(name.clone(), value);
            }
        }
        if model.is_ensurable() {
            set_ensure(&mut desired, "present");
        }
        self.bring_about(desired, state, undo);
    }

    /// The value for which an attribute that an instance lacks is in sync.
    fn value_of_nothing(
        &self,
        names: &Desired,
        attribute: &Name,
        instance: &Instance,
    ) -> Option<Value> {
        let model = &names.model;
        let candidates = [
            Value::from("unset"),
            Value::Bool(false),
            Value::List(Vec::new()),
        ];
        candidates.into_iter().find_map(|value| {
            let value = model.canonicalize(attribute, &value).ok()?;
            let mut desired = names.clone();
            desired.attributes.insert(attribute.clone(), value);
            desired.attributes = self.canonicalize(model, desired.attributes).ok()?;
            let differs = self.differs(&desired, Some(instance), &NoSecretHistory);
            let value = desired.attributes.get(attribute)?;
            (!differs.contains(attribute)).then(|| value.clone())
        })
    }

    /// Adds the operations for a desired state, and what differs after them.
    fn bring_about(&self, desired: Desired, state: &mut State, undo: &mut Undo) {
        let desired = Arc::new(desired);
        let current = self.instance(&desired, state).ok().flatten();
        let differs = self.differs(&desired, current.as_ref(), &NoSecretHistory);
        if differs.is_empty() {
            return;
        }
        let change = Change::new(Arc::clone(&desired), current, differs);
        match self.render(&change, state) {
            Ok(operations) => {
                self.predict(&desired.model, state, &operations);
                undo.operations.extend(operations);
            }
            Err(error) => return undo.not_restored.push(error.to_string()),
        }
        let current = self.instance(&desired, state).ok().flatten();
        for name in self.differs(&desired, current.as_ref(), &NoSecretHistory) {
            undo.not_restored
                .push(format!("{name}: the device keeps another value"));
        }
    }
}

fn set_ensure(desired: &mut Desired, value: &str) {
    let value = Value::Symbol(value.to_owned());
    desired.attributes.insert("ensure", value);
}

fn names_of(model: &TypeModel, attributes: &Attributes) -> Attributes {
    let names = model.namevars();
    let named = names.filter_map(|name| Some((Name::from(name), attributes.get(name)?.clone())));
    named.collect()
}

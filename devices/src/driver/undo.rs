//! Undo: the operations that restore the state before a change.
//!
//! The roles of desired and current state are exchanged, and the operations are rendered like those of
//! any other change. What they do not restore is named.
//!
//! A later run has no secrets of an earlier one: its undo is a catalog without them.

use std::sync::Arc;

use super::{Driver, HiddenFromDiff, NoSecretHistory};
use crate::change::{Change, ChangeKind, Desired, Instance};
use crate::diagnostic::Severity;
use crate::model::{AttributeModel, Role, TypeModel, ValueSpec};
use crate::operation::Operation;
use crate::read::State;
use crate::value::{Attributes, Name, Value};

/// The undo of one change.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    /// The operations, in order.
    pub operations: Vec<Operation>,
    /// What they do not restore, with reasons.
    pub not_restored: Vec<String>,
    /// The desired states of the operations, in order.
    pub restored: Vec<Arc<Desired>>,
}

/// Whether an undo uses the secrets that were read before the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldSecrets {
    /// In the run that makes the change.
    Used,
    /// In later runs: secrets are not stored.
    Unknown,
}

impl Driver {
    /// The undo of a change, and of the removal of the instances that it displaced. `state` has the
    /// effect of the change, and receives that of the undo.
    pub fn undo(
        &self,
        change: &Change,
        displaced: &[Instance],
        secrets: OldSecrets,
        state: &mut State,
    ) -> Undo {
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
            Some(instance) => self.restore_changed(change, instance, secrets, state, &mut undo),
            None if !model.is_ensurable() => {
                let names = names_desired(reference, model, &change.desired.attributes);
                self.restore_created(&names, &change.attributes, secrets, state, &mut undo);
            }
            None => {
                let mut desired = names_desired(reference, model, &change.desired.attributes);
                let required = model.attributes.values().filter(|one| one.required);
                for name in required.map(|attribute| &attribute.name) {
                    if let Some(value) = change.desired.attributes.get(name) {
                        desired.attributes.insert(name.clone(), value.clone());
                    }
                }
                set_ensure(&mut desired, "absent");
                self.add_operations(desired, secrets, state, &mut undo);
            }
        }
        for instance in displaced {
            let reference = reference_to(model, &instance.attributes);
            let names = names_desired(&reference, model, &instance.attributes);
            self.restore(names, instance, None, secrets, state, &mut undo);
        }
        undo
    }

    /// Restores what a change has changed of an instance. The other attributes are restored if this does not give
    /// the instance back: sending them can have effects of their own.
    fn restore_changed(
        &self,
        change: &Change,
        instance: &Instance,
        secrets: OldSecrets,
        state: &mut State,
        undo: &mut Undo,
    ) {
        let Desired {
            reference, model, ..
        } = &*change.desired;
        let names = names_desired(reference, model, &instance.attributes);
        if change.kind != ChangeKind::Update {
            return self.restore(names, instance, None, secrets, state, undo);
        }
        let restored_with = |only: &[Name]| {
            let (mut state, mut undo) = (state.clone(), undo.clone());
            let names = names.clone();
            self.restore(names, instance, Some(only), secrets, &mut state, &mut undo);
            (state, undo)
        };
        let has_values = |state: &State| {
            let found = self.instance(&names, state).ok().flatten();
            let mut values = instance.attributes.iter();
            let is_found = |found: Instance| {
                values.all(|(name, value)| found.attributes.get(name) == Some(value))
            };
            found.is_some_and(is_found)
        };
        let changed = restored_with(&change.attributes);
        let reasons = undo.not_restored.len();
        (*state, *undo) = if changed.1.not_restored.len() == reasons && has_values(&changed.0) {
            changed
        } else {
            // Later reads can have further attributes, which the change did not have.
            let read = instance.attributes.iter().map(|(name, _)| name);
            let all: Vec<Name> = read.chain(&change.attributes).cloned().collect();
            restored_with(&all)
        };
    }

    /// Restores an instance as it was read, or `only` some attributes of it. `desired` has its names.
    pub(super) fn restore(
        &self,
        mut desired: Desired,
        instance: &Instance,
        only: Option<&[Name]>,
        secrets: OldSecrets,
        state: &mut State,
        undo: &mut Undo,
    ) {
        if instance.not_understood.is_some() {
            let reason = "its line on the device was not understood";
            return undo.not_restored.push(reason.to_owned());
        }
        if instance.is_inactive("ensure") {
            let reason = "it was inactive before, which no change restores";
            return undo.not_restored.push(reason.to_owned());
        }
        let model = Arc::clone(&desired.model);
        let now = self.instance(&desired, state).ok().flatten();
        let mut unset = Vec::new();
        let is_restored = |attribute: &&AttributeModel| {
            (attribute.is_property() || attribute.role == Role::Parameter)
                && only.is_none_or(|names| names.contains(&attribute.name))
        };
        for attribute in model.attributes.values().filter(is_restored) {
            let name = &attribute.name;
            if instance.is_inactive(name) {
                let reason = "it was inactive before, which no change restores";
                undo.not_restored.push(format!("{name}: {reason}"));
                continue;
            }
            let has_now = now
                .as_ref()
                .is_some_and(|now| now.attributes.contains_key(name));
            let value = match instance.attributes.get(name) {
                Some(value) => Some(value.clone()),
                None if has_now => self.value_of_nothing(&desired, attribute, instance),
                None => continue,
            };
            match value {
                Some(value) => {
                    desired.attributes.insert(name.clone(), value);
                }
                None => unset.push(name),
            }
        }
        if model.is_ensurable() {
            set_ensure(&mut desired, "present");
        }
        let names = desired.clone();
        let reasons = undo.not_restored.len();
        self.add_operations(desired, secrets, state, undo);
        if undo.not_restored.len() > reasons {
            return;
        }
        let left = self.instance(&names, state).ok().flatten();
        let left = left.map(|left| left.attributes).unwrap_or_default();
        let left = unset.into_iter().filter(|name| left.contains_key(name));
        let reasons =
            left.map(|name| format!("{name}: it had no value, and has no line without one"));
        undo.not_restored.extend(reasons);
    }

    /// Restores the attributes that a change set of an instance that the device did not show before.
    /// `names` has its names.
    fn restore_created(
        &self,
        names: &Desired,
        changed: &[Name],
        secrets: OldSecrets,
        state: &mut State,
        undo: &mut Undo,
    ) {
        let empty = Instance {
            attributes: names.attributes.clone(),
            ..Instance::default()
        };
        let mut with_defaults = empty.clone();
        let implementation = self.implementation(&names.model).ok();
        for name in changed {
            if let Some(value) = implementation.and_then(|one| one.default_value(name)) {
                with_defaults.attributes.insert(name.clone(), value);
            }
        }
        let (mut tried_state, mut tried) = (state.clone(), undo.clone());
        let only = Some(changed);
        self.restore(
            names.clone(),
            &with_defaults,
            only,
            secrets,
            &mut tried_state,
            &mut tried,
        );
        match self.instance(names, &tried_state) {
            Ok(Some(_)) => {
                *state = tried_state;
                *undo = tried;
            }
            // A device that no longer shows the instance does not show its defaults, and has what it had before.
            Ok(None) if tried.restored.len() > undo.restored.len() => {
                tried.not_restored.truncate(undo.not_restored.len());
                *state = tried_state;
                *undo = tried;
            }
            _ => self.restore(names.clone(), &empty, only, secrets, state, undo),
        }
    }

    /// The value for which an attribute that an instance lacks is in sync.
    fn value_of_nothing(
        &self,
        names: &Desired,
        attribute: &AttributeModel,
        instance: &Instance,
    ) -> Option<Value> {
        let model = &names.model;
        let name = &attribute.name;
        let word = attribute.default_word.as_deref().map(Value::from);
        let others = [Value::Bool(false), Value::List(Vec::new())];
        word.into_iter().chain(others).find_map(|value| {
            let value = model.canonicalize(name, &value).ok()?;
            // A text such as a name is no word of the type.
            if let Some(ValueSpec::Pattern { .. }) = attribute.kind_of(&value) {
                return None;
            }
            let mut desired = names.clone();
            desired.attributes.insert(name.clone(), value);
            desired.attributes = self.canonicalize(model, desired.attributes).ok()?;
            let differs = self.differs(&desired, Some(instance), &NoSecretHistory);
            let value = desired.attributes.get(name)?;
            (!differs.contains(name)).then(|| value.clone())
        })
    }

    /// Adds the operations for a desired state, and what differs after them.
    pub(super) fn add_operations(
        &self,
        mut desired: Desired,
        secrets: OldSecrets,
        state: &mut State,
        undo: &mut Undo,
    ) {
        let current = self.instance(&desired, state).ok().flatten();
        if secrets == OldSecrets::Unknown {
            if let Some(name) = secret_name(&desired) {
                let reason = format!("{name}: its value is a secret and is not stored");
                return undo.not_restored.push(reason);
            }
            let reasons = undo.not_restored.len();
            self.withhold_secrets(&mut desired, current.as_ref(), undo);
            // Without its secret it would be another instance: a user without a password.
            if current.is_none() && undo.not_restored.len() > reasons {
                return;
            }
        }
        let differs = self.differs(&desired, current.as_ref(), &NoSecretHistory);
        if differs.is_empty() {
            return;
        }
        let expected = desired.clone();
        if secrets == OldSecrets::Unknown {
            while let Err((attribute, reason)) = self.check_catalog(&desired) {
                // Another attribute excludes it, also if it is not set.
                let unset = desired
                    .attributes
                    .get(&attribute)
                    .filter(|value| has_no_value(&desired.model, &attribute, value));
                if unset.is_none() {
                    return undo.not_restored.push(reason);
                }
                desired.attributes.remove(&attribute);
            }
        }
        let differs = self.differs(&desired, current.as_ref(), &NoSecretHistory);
        let desired = Arc::new(desired);
        let change = Change::new(Arc::clone(&desired), current, differs);
        match self.render(&change, state) {
            Ok(operations) => {
                self.predict(&desired.model, state, &operations);
                undo.operations.extend(operations);
            }
            Err(error) => return undo.not_restored.push(error.to_string()),
        }
        let current = self.instance(&desired, state).ok().flatten();
        for name in self.differs(&expected, current.as_ref(), &NoSecretHistory) {
            undo.not_restored
                .push(format!("{name}: the device keeps another value"));
        }
        undo.restored.push(desired);
    }

    /// Removes the secrets from a desired state, and names those that the device lacks.
    fn withhold_secrets(&self, desired: &mut Desired, current: Option<&Instance>, undo: &mut Undo) {
        let differs = self.differs(desired, current, &NoSecretHistory);
        let model = Arc::clone(&desired.model);
        let is_name = |name: &str| model.namevars().any(|namevar| namevar == name);
        // A word of the type is no secret.
        for attribute in model.attributes.values() {
            let is_word =
                |value: &Value| matches!(attribute.kind_of(value), Some(ValueSpec::Literal(_)));
            if let Some(Value::Sensitive(value)) = desired.attributes.get(&attribute.name)
                && match value.as_list() {
                    Some(items) => items.iter().all(is_word),
                    None => is_word(value),
                }
            {
                let value = value.unwrap_sensitive().clone();
                desired.attributes.insert(attribute.name.clone(), value);
            }
        }
        let secrets = desired.attributes.iter();
        let secrets = secrets.filter(|(name, value)| value.contains_secret() && !is_name(name));
        let names: Vec<Name> = secrets.map(|(name, _)| name.clone()).collect();
        for name in names {
            if current.is_none() || differs.contains(&name) {
                undo.not_restored.push(format!(
                    "{name}: its old value is a secret and is not stored"
                ));
            }
            desired.attributes.remove(&name);
        }
    }

    /// Whether a catalog can have a desired state.
    ///
    /// # Errors
    /// The first attribute that it cannot have, and why.
    fn check_catalog(&self, desired: &Desired) -> Result<(), (String, String)> {
        let model = &desired.model;
        let resolved = model.resolve("", &desired.attributes);
        let resolved = resolved.and_then(|attributes| self.canonicalize(model, attributes));
        let problem = match resolved {
            Err(errors) => errors.into_iter().next().map(|error| {
                let reason = error.to_string();
                (error.attribute, reason)
            }),
            Ok(_) => {
                let mut problems = self.check(desired).into_iter();
                let error = problems.find(|problem| problem.severity == Severity::Error);
                error.map(|problem| {
                    let reason = format!("{} {}", problem.attribute, problem.message);
                    (problem.attribute, reason)
                })
            }
        };
        problem.map_or(Ok(()), Err)
    }
}

/// Whether an attribute with this value is not set.
fn has_no_value(model: &TypeModel, attribute: &str, value: &Value) -> bool {
    *value == Value::Bool(false) || model.is_unset(attribute, value)
}

/// The reference to an instance that no resource of the run is about.
pub(super) fn reference_to(model: &TypeModel, attributes: &Attributes) -> Arc<str> {
    let title = model.title_of(attributes).unwrap_or_else(|| {
        let names = model.namevars().filter_map(|name| attributes.get(name));
        let names: Vec<String> = names
            .map(|value| value.unwrap_sensitive().ruby_to_s())
            .collect();
        names.join("/")
    });
    let mut letters = model.name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    let name: String = first.into_iter().chain(letters).collect();
    format!("{name}[{title}]").into()
}

/// The first name of an instance that is a secret, and that the title does not have.
fn secret_name(desired: &Desired) -> Option<&str> {
    let model = &desired.model;
    let reference = desired.reference.strip_suffix(']');
    let title = reference.and_then(|reference| reference.split_once('['));
    let in_title = model.names(title.map_or("", |(_, title)| title));
    let mut names = model.namevars();
    names.find(|name| {
        let Some(value) = desired.attributes.get(name) else {
            return false;
        };
        let text = |value: &Value| value.unwrap_sensitive().ruby_to_s();
        let is_secret = value.contains_secret() || model.attributes[*name].sensitive;
        is_secret && in_title.get(name).map(text) != Some(text(value))
    })
}

pub(super) fn set_ensure(desired: &mut Desired, value: &str) {
    let value = Value::Symbol(value.to_owned());
    desired.attributes.insert("ensure", value);
}

/// A desired state that has only the names of an instance.
pub(super) fn names_desired(
    reference: &Arc<str>,
    model: &Arc<TypeModel>,
    attributes: &Attributes,
) -> Desired {
    Desired {
        reference: Arc::clone(reference),
        model: Arc::clone(model),
        attributes: names_of(model, attributes),
    }
}

fn names_of(model: &TypeModel, attributes: &Attributes) -> Attributes {
    let names = model.namevars();
    let named = names.filter_map(|name| Some((Name::from(name), attributes.get(name)?.clone())));
    named.collect()
}

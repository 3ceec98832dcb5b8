//! The instances that a run changed besides its resources: a removed block takes along what is in it, and a
//! device changes lines by itself.

use std::borrow::Cow;
use std::sync::Arc;

use foldhash::HashMap;

use super::undo::{names_desired, reference_to, set_ensure};
use super::{Driver, OldSecrets, Undo};
use crate::change::{Change, Desired, Instance};
use crate::model::TypeModel;
use crate::predict::changed_lines::changed_lines;
use crate::read::{Parsed, Reads, State};
use crate::value::Value;

/// An instance that differs between two states.
#[derive(Clone, Debug)]
pub(crate) struct SideEffect {
    /// Its names.
    names: Desired,
    /// As it was; `None`: the device did not have it.
    before: Option<Instance>,
    /// The device does not have it any more.
    is_missing: bool,
}

impl SideEffect {
    /// Whether the instance is that of a change.
    pub(crate) fn is_of(&self, change: &Change) -> bool {
        is_same(&self.names, &change.desired)
    }

    /// Whether the device has the instance no more.
    pub(crate) fn is_missing(&self) -> bool {
        self.is_missing
    }

    /// Whether the instance needs the one of a resource.
    pub(crate) fn requires(&self, other: &Desired) -> bool {
        let Some(before) = &self.before else {
            return false;
        };
        let Some(name) = other.model.object_name(&other.attributes) else {
            return false;
        };
        let model = &self.names.model;
        let references = model.references();
        let mut references = references.filter(|reference| reference.target == other.model.name);
        references.any(|reference| {
            let names = model.referenced_names(reference, &before.attributes);
            names.contains(&name)
        })
    }

    /// The resource of the instance.
    pub(crate) fn resource(&self) -> &Desired {
        &self.names
    }
}

impl Driver {
    /// The instances that differ between two states, of all types that read a line in which the states
    /// differ: first those to restore, in the order of their creation, then those to remove.
    pub(crate) fn side_effects(&self, before: &State, after: &State) -> Vec<SideEffect> {
        let trees = before.iter().filter_map(|(read, parsed)| {
            let (Parsed::Tree(before), Some(after)) = (parsed, after.tree(read)) else {
                return None;
            };
            Some((read, changed_lines(before, after)))
        });
        let lines: Vec<_> = trees.collect();
        let mut changed = Vec::new();
        for definition in self.platform.type_drivers() {
            let model = &definition.model;
            let Ok(implementation) = self.implementation(model) else {
                continue;
            };
            let mut lines = lines.iter().flat_map(|(read, lines)| {
                lines.iter().map(move |line| (*read, line.path.as_slice()))
            });
            if lines.any(|(read, path)| implementation.reads_line(read, path)) {
                let [before, after] =
                    [before, after].map(|state| self.with_empty_answers(model, state));
                changed.extend(self.changed_instances(model, &before, &after));
            }
        }
        changed.sort_by_key(|effect| {
            let rank = self.rank(&effect.names.model);
            match effect.before {
                Some(_) => (0, rank),
                None => (1, rank.saturating_neg()),
            }
        });
        changed
    }

    /// The state with empty answers to the reads of a type that were not sent: what the other answers have of the type
    /// can be compared.
    pub(crate) fn with_empty_answers<'s>(
        &self,
        model: &Arc<TypeModel>,
        state: &'s State,
    ) -> Cow<'s, State> {
        let mut complete = Cow::Borrowed(state);
        let missing = self.reads(&[model]).into_iter();
        for request in missing.filter(|request| state.get(&request.name).is_none()) {
            let empty = Reads::from_iter([(request.name, String::new())]);
            if let Ok(empty) = self.platform.parse(&empty) {
                complete.to_mut().add_missing(&empty);
            }
        }
        complete
    }

    fn changed_instances(
        &self,
        model: &Arc<TypeModel>,
        before: &State,
        after: &State,
    ) -> Vec<SideEffect> {
        let read = |state: &State| -> HashMap<Arc<str>, Instance> {
            let all = self.instances(model, state).unwrap_or_default().into_iter();
            let named = all.map(|one| (reference_to(model, &one.attributes), one));
            named.collect()
        };
        let (old, new) = (read(before), read(after));
        let effect =
            |reference: &Arc<str>, instance: &Instance, before: Option<&Instance>| SideEffect {
                names: names_desired(reference, model, &instance.attributes),
                before: before.cloned(),
                is_missing: !new.contains_key(reference),
            };
        let restored = old.iter().filter(|(name, one)| new.get(*name) != Some(one));
        let restored = restored.map(|(name, one)| effect(name, one, Some(one)));
        let added = new.iter().filter(|(name, _)| !old.contains_key(*name));
        let removed = added.map(|(name, one)| effect(name, one, None));
        let removed = removed.filter(|effect| self.can_remove(&effect.names));
        let mut all: Vec<SideEffect> = restored.chain(removed).collect();
        all.sort_by(|a, b| a.names.reference.cmp(&b.names.reference));
        all
    }

    fn can_remove(&self, names: &Desired) -> bool {
        let model = &names.model;
        let built_in = model.built_in.as_ref();
        let is_built_in = built_in.is_some_and(|pattern| {
            let mut names = model
                .namevars()
                .filter_map(|name| names.attributes.get(name));
            names.any(|name| pattern.is_match(&name.unwrap_sensitive().ruby_to_s()))
        });
        model.is_ensurable()
            && self.is_removable(model)
            && !is_built_in
            && self.reserved(names).is_none()
    }

    /// Restores an instance completely, or not at all: then the result has only the reasons.
    pub(crate) fn undo_side_effect(
        &self,
        effect: &SideEffect,
        secrets: OldSecrets,
        state: &mut State,
    ) -> Undo {
        let mut tried_state = state.clone();
        let mut tried = Undo::default();
        let names = effect.names.clone();
        match &effect.before {
            Some(instance) => {
                self.restore(names, instance, None, secrets, &mut tried_state, &mut tried);
            }
            None => {
                let mut absent = names;
                set_ensure(&mut absent, "absent");
                self.add_operations(absent, secrets, &mut tried_state, &mut tried);
            }
        }
        if tried.not_restored.is_empty() {
            *state = tried_state;
            return tried;
        }
        Undo {
            not_restored: tried.not_restored,
            ..Undo::default()
        }
    }
}

/// Whether two resources are about one instance.
fn is_same(one: &Desired, other: &Desired) -> bool {
    let value = |desired: &Desired, name: &str| {
        let value = desired.attributes.get(name);
        value.map(|value| Value::unwrap_sensitive(value).clone())
    };
    let mut names = one.model.namevars();
    one.model.name == other.model.name && names.all(|name| value(one, name) == value(other, name))
}

//! What an export of all types leaves out: defaults, and settings that it has already.

use std::collections::{BTreeSet, HashMap};

use switchtender_devices::change::Instance;
use switchtender_devices::driver::Driver;
use switchtender_devices::model::TypeModel;
use switchtender_devices::value::{Attributes, Value};

use super::inspect::{Inspection, TypeInstances};

/// The settings that a type can change: location and words of each.
type Slots = BTreeSet<(String, String)>;

impl Inspection {
    /// Leaves out what an export needs not have. Returns the number of resources at their defaults that it
    /// left out.
    pub(crate) fn leave_out(&mut self, with_defaults: bool) -> usize {
        // A repeated resource is compared with all others.
        let repeated = self.repeated();
        let mut count = 0;
        for (found, repeated) in self.types.iter_mut().zip(repeated) {
            let at_defaults = std::mem::take(&mut found.at_defaults);
            let mut states = at_defaults.into_iter().zip(repeated);
            found.instances.retain(|_| {
                let (is_default, is_repeated) = states.next().unwrap_or_default();
                let is_left_out = is_default && !with_defaults && !is_repeated;
                count += usize::from(is_left_out);
                !is_left_out && !is_repeated
            });
        }
        count
    }

    /// For each resource of each type, whether a resource of another type has all of its attributes. Two
    /// resources for one setting can contradict each other after an edit.
    fn repeated(&self) -> Vec<Vec<bool>> {
        let slots = self.types.iter();
        let slots: Vec<Slots> = slots
            .map(|found| slots_of(&self.driver, &found.model))
            .collect();
        let mut repeated = Vec::new();
        for (index, found) in self.types.iter().enumerate() {
            let own = &slots[index];
            let mut larger = Vec::new();
            for (other, their) in slots.iter().enumerate() {
                // Of two types with the same settings, the first one remains.
                let is_larger = (their.len(), index) > (own.len(), other);
                if other != index && is_larger && !own.is_disjoint(their) {
                    larger.push(NamedInstances::new(&self.types[other]));
                }
            }
            let lists = self.lists_with(index);
            let is_repeated = |instance: &Instance| {
                let mut lists = lists.iter().map(|(other, list)| (*other, list.as_str()));
                lists.any(|list| is_element((&*found.model, instance), list))
                    || larger.iter().any(|other| {
                        let own = (&*found.model, instance);
                        let mut others = other.named_as(own);
                        others.any(|instance| has_all(own, (other.model, instance)))
                    })
            };
            repeated.push(found.instances.iter().map(is_repeated).collect());
        }
        repeated
    }

    /// The attributes of other types whose lines are the instances of a type: `ip name-server` is a server
    /// of a list.
    fn lists_with(&self, index: usize) -> Vec<(&TypeInstances, String)> {
        let Some(words) = self.driver.instance_words(&self.types[index].model) else {
            return Vec::new();
        };
        let others = self.types.iter().enumerate();
        let others = others.filter(|(other, _)| *other != index);
        let lists = others.flat_map(|(_, other)| {
            let slots = self.driver.effect_slots(&other.model).into_iter();
            let same = slots.filter(|slot| slot.location == words.0 && slot.what == words.1);
            same.map(move |slot| (other, slot.attribute))
        });
        lists.collect()
    }
}

/// Whether a resource with a name only is the value or an element of an attribute of another type.
fn is_element(
    (model, instance): (&TypeModel, &Instance),
    (other, attribute): (&TypeInstances, &str),
) -> bool {
    let mut names = model.namevars();
    let name = names.next().and_then(|name| instance.attributes.get(name));
    let is_only = names.next().is_none() && attributes(model, &instance.attributes).count() == 0;
    let (Some(name), true, None) = (name, is_only, &instance.not_understood) else {
        return false;
    };
    let mut values = other.instances.iter();
    values.any(|instance| match instance.attributes.get(attribute) {
        Some(Value::List(items)) => items.contains(name),
        value => value == Some(name),
    })
}

fn slots_of(driver: &Driver, model: &TypeModel) -> Slots {
    let slots = driver.effect_slots(model).into_iter();
    slots.map(|slot| (slot.location, slot.what)).collect()
}

/// The instances of a type by the text of their names, which equal names share.
struct NamedInstances<'a> {
    model: &'a TypeModel,
    by_names: HashMap<Vec<Option<String>>, Vec<&'a Instance>>,
}

impl<'a> NamedInstances<'a> {
    fn new(found: &'a TypeInstances) -> Self {
        let mut by_names: HashMap<_, Vec<&Instance>> = HashMap::new();
        for instance in &found.instances {
            let texts = name_texts(&found.model, instance);
            by_names.entry(texts).or_default().push(instance);
        }
        Self {
            model: &found.model,
            by_names,
        }
    }

    /// Those whose names have the text of another instance's.
    fn named_as(
        &self,
        (model, instance): (&TypeModel, &Instance),
    ) -> impl Iterator<Item = &'a Instance> {
        let found = self.by_names.get(&name_texts(model, instance));
        found.into_iter().flatten().copied()
    }
}

fn name_texts(model: &TypeModel, instance: &Instance) -> Vec<Option<String>> {
    let names = names(model, instance).into_iter();
    names.map(|name| name.map(Value::ruby_to_s)).collect()
}

/// Whether a resource of another type has the names and all attributes of a resource.
fn has_all(
    (model, instance): (&TypeModel, &Instance),
    (other_model, other): (&TypeModel, &Instance),
) -> bool {
    if instance.not_understood.is_some() || names(model, instance) != names(other_model, other) {
        return false;
    }
    let mut own = attributes(model, &instance.attributes).peekable();
    own.peek().is_some() && own.all(|(name, value)| other.attributes.get(name) == Some(value))
}

fn names<'a>(model: &'a TypeModel, instance: &'a Instance) -> Vec<Option<&'a Value>> {
    let names = model.namevars();
    names.map(|name| instance.attributes.get(name)).collect()
}

/// The attributes with values that are no names.
fn attributes<'a>(
    model: &'a TypeModel,
    all: &'a Attributes,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let is_name = |name: &str| model.namevars().any(|namevar| namevar == name);
    all.iter().filter_map(move |(name, value)| {
        let is_unset = matches!(value, Value::Undef | Value::Absent);
        (!is_name(name) && !is_unset).then_some((name.as_str(), value))
    })
}

//! What an export of all types leaves out: defaults, and settings that it has already.

use std::collections::{BTreeSet, HashMap};
use std::ops::AddAssign;

use switchtender_devices::change::Instance;
use switchtender_devices::driver::Driver;
use switchtender_devices::model::TypeModel;
use switchtender_devices::value::{Attributes, Name, Value};

use super::inspect::{Inspection, TypeInstances};

/// The settings that a type can change: location and words of each.
type Slots = BTreeSet<(String, String)>;

/// An attribute that the export declares with another type: type and instance by their index, and its name.
type OwnedElsewhere = (usize, usize, Name);

/// Resources that an export does not have, unless they are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOutCounts {
    /// At their defaults.
    pub(crate) defaults: usize,
    /// Made by another object of the device, such as an application.
    pub(crate) managed: usize,
}

impl AddAssign for LeftOutCounts {
    fn add_assign(&mut self, other: Self) {
        self.defaults += other.defaults;
        self.managed += other.managed;
    }
}

impl Inspection {
    /// Leaves out what an export needs not have: each line has one owner, and what another object makes is no
    /// resource of its own.
    pub(crate) fn leave_out(&mut self, with_defaults: bool) -> LeftOutCounts {
        // A repeated resource is compared with all others.
        let repeated = self.repeated();
        let emptied = self.leave_settings_to_owners(&repeated);
        let is_default = |index: usize, instance: usize| {
            let at_defaults = &self.types[index].at_defaults;
            !with_defaults && at_defaults.get(instance).copied().unwrap_or_default()
        };
        let is_managed = |index: usize, instance: usize| {
            !with_defaults && self.types[index].instances[instance].manager.is_some()
        };
        let remains = |index: usize, instance: usize| {
            let is_other = repeated[index][instance] || emptied.contains(&(index, instance));
            !is_other && !is_default(index, instance) && !is_managed(index, instance)
        };
        let mut left_out: Vec<Vec<bool>> = Vec::new();
        for (index, found) in self.types.iter().enumerate() {
            let numbers = 0..found.instances.len();
            left_out.push(numbers.map(|number| !remains(index, number)).collect());
        }
        // A section of a view stands below the title of the flat type.
        for (index, found) in self.types.iter().enumerate() {
            let titles = self.titles_with_sections(&found.model, &left_out);
            for (number, instance) in found.instances.iter().enumerate() {
                let texts = name_texts(&found.model, instance);
                left_out[index][number] &= repeated[index][number] || !titles.contains(&texts);
            }
        }
        let mut counts = LeftOutCounts::default();
        for (index, found) in self.types.iter().enumerate() {
            let numbers = 0..found.instances.len();
            for number in numbers.filter(|number| left_out[index][*number]) {
                if is_managed(index, number) {
                    counts.managed += 1;
                } else if is_default(index, number) && !repeated[index][number] {
                    counts.defaults += 1;
                }
            }
        }
        for (found, left_out) in self.types.iter_mut().zip(left_out) {
            let mut left_out = left_out.into_iter();
            found
                .instances
                .retain(|_| !left_out.next().unwrap_or_default());
            found.at_defaults.clear();
        }
        counts
    }

    /// The names of the remaining resources of sections, for the flat type of a view.
    fn titles_with_sections(
        &self,
        flat: &TypeModel,
        left_out: &[Vec<bool>],
    ) -> BTreeSet<Vec<Option<String>>> {
        let mut titles = BTreeSet::new();
        let Some(view) = flat
            .location
            .as_ref()
            .filter(|location| location.section.is_none())
        else {
            return titles;
        };
        for (found, left_out) in self.types.iter().zip(left_out) {
            let location = found.model.location.as_ref();
            if !location
                .is_some_and(|location| location.view == view.view && location.section.is_some())
            {
                continue;
            }
            let instances = found.instances.iter().zip(left_out);
            let remaining = instances.filter(|(_, is_left_out)| !**is_left_out);
            titles.extend(remaining.map(|(instance, _)| name_texts(&found.model, instance)));
        }
        titles
    }

    /// Removes attributes whose setting another resource with the same names owns. Returns the resources that have
    /// nothing else.
    fn leave_settings_to_owners(&mut self, repeated: &[Vec<bool>]) -> BTreeSet<(usize, usize)> {
        let mut emptied = BTreeSet::new();
        for (index, instance, name) in self.owned_elsewhere(repeated) {
            let found = &mut self.types[index];
            let model = &found.model;
            let one = &mut found.instances[instance];
            let mut rest = one.attributes.clone();
            rest.remove(&name);
            if model.check_rules(&rest).len() > model.check_rules(&one.attributes).len() {
                continue;
            }
            one.attributes = rest;
            if one.not_understood.is_none() && self.driver.has_only_defaults(model, one) {
                emptied.insert((index, instance));
            }
        }
        emptied
    }

    /// The attributes whose setting a type with more settings has in a resource with the same names.
    fn owned_elsewhere(&self, repeated: &[Vec<bool>]) -> Vec<OwnedElsewhere> {
        let models: Vec<&TypeModel> = self.types.iter().map(|found| &*found.model).collect();
        let shared = self.driver.shared_settings(&models);
        let mut owned = Vec::new();
        for users in &shared {
            let mut owners: BTreeSet<Vec<Option<String>>> = BTreeSet::new();
            for (type_name, attribute) in users {
                let index = models.iter().position(|model| model.name == *type_name);
                let Some(index) = index else {
                    continue;
                };
                let found = &self.types[index];
                for (number, instance) in found.instances.iter().enumerate() {
                    let value = instance.attributes.get(attribute);
                    let has_value = value.is_some_and(|value| !is_nothing(value));
                    if !has_value || repeated[index][number] {
                        continue;
                    }
                    // The users are in the order of their right to the setting.
                    if !owners.insert(name_texts(&found.model, instance)) {
                        owned.push((index, number, attribute.clone()));
                    }
                }
            }
        }
        owned
    }

    /// For each resource of each type, whether a resource of another type has all of its attributes, or is the same
    /// line. Two resources for one setting can contradict each other after an edit.
    fn repeated(&self) -> Vec<Vec<bool>> {
        let slots = self.types.iter();
        let slots: Vec<Slots> = slots
            .map(|found| slots_of(&self.driver, &found.model))
            .collect();
        let mut repeated = Vec::new();
        for (index, found) in self.types.iter().enumerate() {
            let mut larger = Vec::new();
            for (other, their) in slots.iter().enumerate() {
                if other != index && !slots[index].is_disjoint(their) && self.owns(other, index) {
                    larger.push(NamedInstances::new(&self.types[other]));
                }
            }
            let lists = self.lists_with(index);
            let same_lines = self.lines_of_owners(index);
            let is_repeated = |instance: &Instance| {
                let mut lists = lists.iter().map(|(other, list)| (*other, list.as_str()));
                lists.any(|list| is_element((&*found.model, instance), list))
                    || same_lines.iter().any(|lines| lines.contains(instance))
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

    /// Whether the first of two types owns what both configure.
    fn owns(&self, one: usize, other: usize) -> bool {
        let (first, second) = (one.min(other), one.max(other));
        let models = [&*self.types[first].model, &*self.types[second].model];
        [first, second][self.driver.owner(&models)] == one
    }

    /// The instances of other types that are the lines of a type, and that own them.
    fn lines_of_owners(&self, index: usize) -> Vec<SameLines> {
        let model = &self.types[index].model;
        let Some(line) = self.driver.instance_line(model) else {
            return Vec::new();
        };
        let others = self.types.iter().enumerate();
        let same = others.filter(|(other, found)| {
            *other != index
                && self.driver.instance_line(&found.model).as_ref() == Some(&line)
                && self.owns(*other, index)
        });
        same.map(|(_, found)| SameLines::new(model, found))
            .collect()
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

/// Instances of a type by the names that another type with the same lines has as well.
struct SameLines {
    names: Vec<String>,
    found: BTreeSet<Vec<Option<String>>>,
}

impl SameLines {
    fn new(model: &TypeModel, owner: &TypeInstances) -> Self {
        let is_common = |name: &&str| owner.model.namevars().any(|other| other == *name);
        let names = model.namevars().filter(is_common).map(str::to_owned);
        let mut same = Self {
            names: names.collect(),
            found: BTreeSet::new(),
        };
        let texts = owner.instances.iter().map(|instance| same.texts(instance));
        same.found = texts.collect();
        same
    }

    fn texts(&self, instance: &Instance) -> Vec<Option<String>> {
        let values = self.names.iter().map(|name| instance.attributes.get(name));
        values.map(|value| value.map(Value::ruby_to_s)).collect()
    }

    fn contains(&self, instance: &Instance) -> bool {
        self.found.contains(&self.texts(instance))
    }
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
        (!is_name(name) && !is_nothing(value)).then_some((name.as_str(), value))
    })
}

/// Whether a value says that the device shows none.
fn is_nothing(value: &Value) -> bool {
    matches!(value, Value::Undef | Value::Absent)
}

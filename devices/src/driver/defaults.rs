//! Defaults: the values that attributes have without a line or a field, and instances that have only such values.

use std::collections::HashMap;
use std::sync::Arc;

use super::Driver;
use crate::change::Instance;
use crate::model::TypeModel;
use crate::read::{CONFIG, Parsed, State};
use crate::value::{Attributes, Value};

impl Driver {
    /// The values that an instance of the type has if nothing sets them, as far as the definition has them. Never a
    /// name or a secret: without them an instance is another one, or its secret would be removed.
    pub fn default_attributes(&self, model: &TypeModel) -> Attributes {
        let properties = model.properties();
        let own = properties.filter(|attribute| attribute.name != "ensure" && !attribute.sensitive);
        let defaults = own.filter_map(|attribute| {
            let value = self.default_value(model, &attribute.name)?;
            Some((attribute.name.clone(), value))
        });
        defaults.collect()
    }

    /// Whether each of these instances of a type is at its defaults, and neither created nor removed: the configuration
    /// has no line of it.
    pub fn are_at_defaults(
        &self,
        model: &Arc<TypeModel>,
        instances: &[Instance],
        state: &State,
    ) -> Vec<bool> {
        let names = |attributes: &Attributes| -> Vec<String> {
            #[cfg(test)]
            super::work_count::add();
            let names = model.namevars().filter_map(|name| attributes.get(name));
            names
                .map(|name| name.unwrap_sensitive().ruby_to_s())
                .collect()
        };
        let implementation = self.implementation(model);
        let ensure = self.default_value(model, "ensure");
        let exists_without_lines = ensure == Some(Value::string("present"));
        let is_permanent = |instance: &Instance| {
            let name = names(&instance.attributes).into_iter().next();
            let is_built_in = model.built_in.as_ref().zip(name);
            // A singleton is neither created nor removed, whatever its model says.
            !model.is_ensurable()
                || self.is_singleton(model)
                || is_built_in.is_some_and(|(all, name)| all.is_match(&name))
                || (implementation.as_ref()).is_ok_and(|one| one.is_permanent(&instance.attributes))
                || exists_without_lines
        };
        let configured = self.configured_instances(model, state);
        // By name, so that a configuration of thousands of instances is searched once for all of them.
        let configured = configured.as_ref().map(|(current, defaults)| {
            let by_names = |all: &'_ [Instance]| {
                let mut found = HashMap::new();
                for index in (0..all.len()).rev() {
                    found.insert(names(&all[index].attributes), index);
                }
                found
            };
            ((current, by_names(current)), (defaults, by_names(defaults)))
        });
        let has_text = state.tree(CONFIG).is_some();
        let is_of_factory = |instance: &Instance| {
            let name = names(&instance.attributes).into_iter().next();
            let built_in = model.built_in.as_ref().zip(name);
            // Without a text that has only what was configured, nothing tells the values of the factory apart.
            !has_text && built_in.is_some_and(|(all, name)| all.is_match(&name))
        };
        let is_unconfigured = |instance: &Instance| {
            let own = names(&instance.attributes);
            configured.as_ref().is_some_and(|(current, defaults)| {
                let find = |(all, indexes): &(&Vec<Instance>, HashMap<Vec<String>, usize>)| {
                    let index = *indexes.get(&own)?;
                    Some(all[index].attributes.clone())
                };
                let current = find(current);
                current.is_some() && current == find(defaults)
            })
        };
        let known = self.defaults_with_ensure(model);
        let has_only_defaults = |instance: &Instance| self.has_only(model, &known, instance);
        let is_default = |instance: &Instance| {
            instance.not_understood.is_none()
                && instance.notes.is_empty()
                && is_permanent(instance)
                && (has_only_defaults(instance)
                    || is_unconfigured(instance)
                    || is_of_factory(instance))
        };
        instances.iter().map(is_default).collect()
    }

    /// Whether no attribute of an instance has another value than its default.
    pub fn has_only_defaults(&self, model: &TypeModel, instance: &Instance) -> bool {
        self.has_only(model, &self.defaults_with_ensure(model), instance)
    }

    /// The defaults, with that of `ensure` where a setting stands for it: a port is a switchport.
    fn defaults_with_ensure(&self, model: &TypeModel) -> Attributes {
        let mut defaults = self.default_attributes(model);
        if let Some(ensure) = self.default_value(model, "ensure") {
            defaults.insert("ensure".to_owned(), ensure);
        }
        defaults
    }

    /// Whether an instance has no values but names, defaults, words for them, and what this device does not apply.
    fn has_only(&self, model: &TypeModel, defaults: &Attributes, instance: &Instance) -> bool {
        let applies = |name: &str| self.supported(model).is_some_and(|of| of.applies(name));
        let mut attributes = instance.attributes.iter();
        attributes.all(|(name, value)| {
            let is_name = model.namevars().any(|namevar| *name == *namevar);
            let value = value.unwrap_sensitive();
            is_name
                || model.is_unset(name, value)
                || defaults.get(name) == Some(value)
                || !applies(name)
        })
    }

    /// The instances that the configuration alone shows, and those of the same configuration with empty blocks.
    /// Other answers have what the device chose without a line.
    fn configured_instances(
        &self,
        model: &Arc<TypeModel>,
        state: &State,
    ) -> Option<(Vec<Instance>, Vec<Instance>)> {
        let tree = state.tree(CONFIG)?;
        let mut empty = tree.clone();
        if self.is_singleton(model) {
            empty.nodes.clear();
        } else if self.implementation(model).ok()?.is_block() {
            for node in &mut empty.nodes {
                node.children.nodes.clear();
            }
        } else {
            // A line has values of its instance.
            return None;
        }
        let instances = |tree| {
            let mut only = State::default();
            only.insert(CONFIG, Parsed::Tree(tree));
            self.instances(model, &only).ok()
        };
        instances(tree.clone()).zip(instances(empty))
    }
}

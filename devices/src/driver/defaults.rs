//! Instances that are at their defaults: the configuration has no line of them.

use std::sync::Arc;

use super::Driver;
use crate::change::Instance;
use crate::model::TypeModel;
use crate::read::{CONFIG, State};
use crate::value::Attributes;

impl Driver {
    /// Whether each of these instances of a type is at its defaults, and neither created nor removed. False
    /// for types that other answers than the configuration show.
    pub fn are_at_defaults(
        &self,
        model: &Arc<TypeModel>,
        instances: &[Instance],
        state: &State,
    ) -> Vec<bool> {
        let names = |attributes: &Attributes| -> Vec<String> {
            let names = model.namevars().filter_map(|name| attributes.get(name));
            names
                .map(|name| name.unwrap_sensitive().ruby_to_s())
                .collect()
        };
        let is_permanent = |instance: &Instance| {
            let name = names(&instance.attributes).into_iter().next();
            let is_built_in = model.built_in.as_ref().zip(name);
            !model.is_ensurable() || is_built_in.is_some_and(|(all, name)| all.is_match(&name))
        };
        let defaults = self.default_instances(model, state).unwrap_or_default();
        let is_default = |instance: &Instance| {
            let own = names(&instance.attributes);
            let mut defaults = defaults.iter();
            let default = defaults.find(|default| names(&default.attributes) == own);
            is_permanent(instance)
                && instance.not_understood.is_none()
                && instance.notes.is_empty()
                && default.is_some_and(|default| default.attributes == instance.attributes)
        };
        instances.iter().map(is_default).collect()
    }

    /// The instances that a configuration of empty blocks shows.
    fn default_instances(&self, model: &Arc<TypeModel>, state: &State) -> Option<Vec<Instance>> {
        let reads = self.reads(&[model]);
        if reads.iter().any(|read| read.name != CONFIG) {
            return None;
        }
        let mut empty = State::default();
        let mut tree = state.tree(CONFIG)?.clone();
        if self.is_singleton(model) {
            tree.nodes.clear();
        } else if self.implementation(model).ok()?.is_block() {
            for node in &mut tree.nodes {
                node.children.nodes.clear();
            }
        } else {
            // A line has values of its instance.
            return None;
        }
        empty.insert(CONFIG, crate::read::Parsed::Tree(tree));
        self.instances(model, &empty).ok()
    }
}

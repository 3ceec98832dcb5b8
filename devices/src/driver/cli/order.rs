//! The order of instances: an attribute has the name of the instance before, and a line moves an
//! instance.

use super::CliType;
use super::rules::CliAttributeRule;
use super::template::{Bindings, bound};
use crate::read::State;
use crate::read::indent::{Node, Tree};
use crate::value::{Attributes, Value};

/// The placeholder for the first instance.
pub(super) const FIRST: &str = "first";

impl CliType {
    /// The names of the instances in the block of an instance, in the order of the device.
    pub(super) fn names_in_block(&self, attributes: &Attributes, state: &State) -> Vec<String> {
        let namevars: Vec<&str> = self.model.namevars().collect();
        let Some((own, outer)) = namevars.split_last() else {
            return Vec::new();
        };
        let instances = self.indexed_instances(state);
        let others = instances.iter().filter(|other| {
            let other = &other.found.attributes;
            outer
                .iter()
                .all(|name| other.get(name) == attributes.get(name))
        });
        let names = others.filter_map(|other| other.found.attributes.get(own)?.scalar_text());
        names.collect()
    }

    /// The last of the namevars, which has the name of an instance in its block.
    pub(super) fn own_name(&self, attributes: &Attributes) -> Option<String> {
        attributes.get(self.model.namevars().last()?)?.scalar_text()
    }

    /// The name of the instance before an instance; the value without one for the first.
    pub(super) fn position(
        &self,
        rule: &CliAttributeRule,
        attributes: &Attributes,
        state: &State,
    ) -> Option<Value> {
        let own = self.own_name(attributes)?;
        let names = self.names_in_block(attributes, state);
        let index = names.iter().position(|name| *name == own)?;
        match index.checked_sub(1) {
            Some(before) => {
                let model = self.model.attributes.get(&rule.name)?;
                model.canonicalize(&names[before].as_str().into()).ok()
            }
            None => rule.absent.clone(),
        }
    }

    /// Moves an instance, if the line is one that moves.
    pub(super) fn apply_move(&self, level: &mut Tree, headers: &[String], text: &str) -> bool {
        let rules = self.attributes.values();
        let orders = rules.filter_map(|rule| Some((&rule.name, rule.order()?)));
        for (name, order) in orders {
            for (template, other, offset) in
                [(&order.after, name.as_str(), 1), (&order.before, FIRST, 0)]
            {
                if let Some(bindings) = template.read(text, self) {
                    self.move_next_to(level, headers, &bindings, other, offset);
                    return true;
                }
            }
        }
        false
    }

    fn move_next_to(
        &self,
        level: &mut Tree,
        headers: &[String],
        bindings: &Bindings,
        other: &str,
        offset: usize,
    ) {
        let Some(own) = self.model.namevars().last() else {
            return;
        };
        let text = |bindings: &Bindings, name: &str| bound(bindings, name)?.scalar_text();
        let outer: Vec<&str> = self.model.namevars().filter(|name| *name != own).collect();
        let has_name = |node: &Node, name: &Option<String>| {
            self.names_of_node(headers, node).is_some_and(|names| {
                let is_same = |outer: &&str| match text(bindings, outer) {
                    Some(value) => text(&names, outer) == Some(value),
                    None => true,
                };
                text(&names, own) == *name && outer.iter().all(is_same)
            })
        };
        let (moved, target) = (text(bindings, own), text(bindings, other));
        let nodes = std::mem::take(&mut level.nodes).into_iter();
        let (moved, rest): (Vec<Node>, Vec<Node>) = nodes.partition(|node| has_name(node, &moved));
        level.nodes = rest;
        let mut at = level.nodes.iter();
        let at = match offset {
            0 => at.position(|node| has_name(node, &target)),
            _ => at.rposition(|node| has_name(node, &target)),
        };
        let at = at.map_or(level.nodes.len(), |index| index + offset);
        level.nodes.splice(at..at, moved);
    }

    /// The names in a line or the header of a block.
    fn names_of_node(&self, headers: &[String], node: &Node) -> Option<Bindings> {
        let kind = &self.instance.kind;
        if let Some(lines) = kind.named() {
            return Some(lines.split(&node.text, self)?.bindings);
        }
        let headers: Vec<&String> = headers.iter().chain([&node.text]).collect();
        let mut paths = kind.blocks()?.iter();
        paths.find_map(|path| path.read(&headers, self))
    }
}

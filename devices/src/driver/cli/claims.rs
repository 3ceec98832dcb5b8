//! The lines of the configuration that a type reads, as claims.

use super::CliType;
use super::found::OTHER_WORDS;
use super::instances::nodes_of;
use super::rules::{CONFIG, CliAttributeRule};
use super::slot::{Slot, SlotForm};
use super::template::{Bindings, LineTemplate, UNREAD};
use super::walk::{LineContext, LineUse, Walk};
use crate::driver::claim::{Claim, ClaimKind};
use crate::not_understood::InstanceNames;
use crate::read::State;
use crate::read::indent::Node;
use crate::value::{Attributes, Name};

/// What a line has: what it is for the type, and the values.
type LineContent = (ClaimKind, Bindings);

impl CliType {
    /// The lines that the type reads, and those that remove one of them.
    pub(super) fn claimed(&self, state: &State) -> Vec<Claim> {
        let mut claims: Vec<Claim> = Vec::new();
        let mut visit = |node: &Node, context: &LineContext<'_>, found: LineUse<'_, '_>| {
            let content = self.content_of(node, found);
            claims.extend(content.and_then(|content| self.claim(node, context, content, state)));
        };
        let mut walk = Walk::new(self, &mut visit);
        walk.instances(nodes_of(state.tree(&self.instance.from)));
        walk.elsewhere(nodes_of(state.tree(CONFIG)));
        claims
    }

    fn content_of(&self, node: &Node, found: LineUse<'_, '_>) -> Option<LineContent> {
        match found {
            LineUse::Block(bindings) => Some((ClaimKind::Header, bindings)),
            LineUse::Instance(bindings) => Some((ClaimKind::Own, bindings)),
            LineUse::InnerBlock(None) => Some((ClaimKind::Header, Bindings::new())),
            LineUse::InnerBlock(Some(rule)) => Some((ClaimKind::Value, existence(rule))),
            // A global line with a default belongs to the type that sets it.
            LineUse::Read(slot) if matches!(slot.form, SlotForm::Default(_)) => None,
            LineUse::Read(slot) => match slot.rule {
                None => Some((ClaimKind::Own, slot.read(self, node)?.bindings)),
                Some(rule) => Some((ClaimKind::Value, self.values_in(rule, &slot, node)?)),
            },
            LineUse::Begins(_) => None,
            LineUse::Other(slots) => {
                let positive = self.negation.positive(&node.text)?;
                let positive = Node::new(positive);
                let mut slots = slots.iter();
                let removed = slots.find_map(|slot| self.removed_by(slot, &positive));
                removed.map(|bindings| (ClaimKind::Default, bindings))
            }
        }
    }

    /// The values in a line of an attribute. The existence of a line can be one attribute, and its value another.
    fn values_in(&self, rule: &CliAttributeRule, slot: &Slot<'_>, node: &Node) -> Option<Bindings> {
        let SlotForm::Beginning(line) = slot.form else {
            let mut bindings = existence(rule);
            bindings.extend(self.read_line(rule, node)?);
            return Some(bindings);
        };
        let mut others = self.attributes.values().filter(|other| {
            other.beginnings().is_empty()
                && other.sub(0) == rule.sub(0)
                && self.read_line(other, node).is_some()
        });
        let is_line = || line.read(&node.text, self).is_some();
        let own = others.next().or_else(|| is_line().then_some(rule));
        own.map(existence)
    }

    /// What a line with this positive form removes, if it is one of a slot. A line can be without the value.
    fn removed_by(&self, slot: &Slot<'_>, positive: &Node) -> Option<Bindings> {
        let found = slot.read(self, positive).map(|found| found.bindings);
        match slot.rule {
            None => found,
            Some(rule) => {
                let head = slot.template().map(LineTemplate::head);
                let is_head = head.is_some_and(|head| head.eq_ignore_ascii_case(&positive.text));
                (found.is_some() || is_head).then(|| existence(rule))
            }
        }
    }

    fn claim(
        &self,
        node: &Node,
        context: &LineContext<'_>,
        (kind, bindings): LineContent,
        state: &State,
    ) -> Option<Claim> {
        let is_unread = |(name, _): &(Name, _)| *name == *OTHER_WORDS || *name == *UNREAD;
        if bindings.iter().any(is_unread) {
            return None;
        }
        let mut names = match self.names_in(&bindings, &context.instance) {
            InstanceNames::Singleton => Attributes::default(),
            InstanceNames::Named(names) => names,
        };
        if context.member.is_some() {
            names = self.names_of_referred(&bindings, state);
        } else if kind != ClaimKind::Header && !self.instance.kind.is_singleton() {
            self.add_absent_names(&mut names);
        }
        let mut attributes: Vec<Name> = Vec::new();
        for (name, _) in bindings {
            let is_own = self.attributes.contains_key(&name) && !self.is_namevar(&name);
            if is_own && !attributes.contains(&name) {
                attributes.push(name);
            }
        }
        Some(Claim {
            line: node.line,
            type_name: self.model.name.clone(),
            names,
            title: None,
            attributes,
            kind,
        })
    }

    /// The names of the instance that a line in the block of a member refers to.
    fn names_of_referred(&self, bindings: &Bindings, state: &State) -> Attributes {
        let instances = self.indexed_instances(state);
        let mut instances = instances.iter().map(|indexed| &indexed.found.attributes);
        let Some(referred) = instances.find(|one| self.refers(bindings, one)) else {
            return Attributes::default();
        };
        let names = self.model.namevars();
        let names = names.filter_map(|name| Some((name.to_owned(), referred.get(name)?.clone())));
        names.collect()
    }
}

/// An attribute that has a line.
fn existence(rule: &CliAttributeRule) -> Bindings {
    vec![(rule.name.clone(), true.into())]
}

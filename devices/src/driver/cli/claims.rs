//! The lines of the configuration that a type reads, as claims.

use std::sync::Arc;

use super::CliType;
use super::found::OTHER_WORDS;
use super::instances::nodes_of;
use super::rules::{CONFIG, CliAttributeRule};
use super::slot::{LineForm, Slot};
use super::template::{Bindings, UNREAD};
use super::walk::{LineContext, LineUse, Walk};
use crate::driver::claim::{Claim, ClaimKind};
use crate::not_understood::InstanceNames;
use crate::read::State;
use crate::read::indent::Node;
use crate::value::{Attributes, Name};

impl CliType {
    /// The lines that the type reads, and those that remove one of them.
    pub(super) fn claimed(&self, state: &State) -> Vec<Claim> {
        let mut claims: Vec<Claim> = Vec::new();
        self.walk_through(nodes_of(state.tree(CONFIG)), &mut |node, context, found| {
            claims.extend(self.claim(node, context, &found, state));
        });
        let removed = self.negated_lines(state);
        let read = claims.len();
        self.walk_through(&removed, &mut |node, context, found| {
            let is_negative = node.body.as_deref() == Some(REMOVED);
            let mut others = claims[..read].iter();
            if is_negative && others.all(|claim| claim.line != node.line) {
                claims.extend(self.default_claim(node, context, &found));
            }
        });
        claims
    }

    fn walk_through<'a>(
        &'a self,
        nodes: &'a [Node],
        visit: &mut dyn FnMut(&'a Node, &LineContext<'a>, LineUse<'a>),
    ) {
        let mut walk = Walk::new(self, visit);
        if self.instance.from == CONFIG {
            walk.instances(nodes);
        }
        walk.elsewhere(nodes);
    }

    /// The lines that remove others, as those that they remove, in their blocks.
    fn negated_lines(&self, state: &State) -> Arc<Vec<Node>> {
        state.derived(("", "removed lines"), CONFIG, || {
            self.positive_lines(nodes_of(state.tree(CONFIG)))
        })
    }

    fn positive_lines(&self, nodes: &[Node]) -> Vec<Node> {
        let lines = nodes.iter().filter_map(|node| {
            let inner = self.positive_lines(&node.children.nodes);
            let positive = self.negation.positive(&node.text);
            if positive.is_none() && inner.is_empty() {
                return None;
            }
            Some(Node {
                line: node.line,
                body: positive.is_some().then(|| REMOVED.to_owned()),
                ..Node::block(positive.as_deref().unwrap_or(&node.text), inner)
            })
        });
        lines.collect()
    }

    fn claim(
        &self,
        node: &Node,
        context: &LineContext<'_>,
        found: &LineUse<'_>,
        state: &State,
    ) -> Option<Claim> {
        let (kind, bindings) = match found {
            LineUse::Begins(_) => return None,
            LineUse::InnerBlock(Some(rule)) => {
                (ClaimKind::Value, vec![(rule.name.clone(), true.into())])
            }
            LineUse::Instance => (ClaimKind::Own, Bindings::new()),
            LineUse::Block | LineUse::InnerBlock(None) => (ClaimKind::Header, Bindings::new()),
            LineUse::Read(slot) => match slot.rule {
                None => (ClaimKind::Own, slot.read(self, node)?.bindings),
                Some(rule) => (ClaimKind::Value, self.values_of_line(rule, slot, node)?),
            },
        };
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
        Some(self.claim_of(node, kind, names, &bindings))
    }

    /// The values in a line of an attribute. The existence of a line can be one attribute, and its value another.
    fn values_of_line(
        &self,
        rule: &CliAttributeRule,
        slot: &Slot<'_>,
        node: &Node,
    ) -> Option<Bindings> {
        let LineForm::Beginning(line) = slot.form else {
            let mut bindings = self.read_line(rule, node)?;
            bindings.insert(0, (rule.name.clone(), true.into()));
            return Some(bindings);
        };
        let others = self
            .attributes
            .values()
            .filter(|other| other.beginnings().is_empty() && other.sub(0) == rule.sub(0));
        let own = |rule: &CliAttributeRule| vec![(rule.name.clone(), true.into())];
        let mut others = others.filter(|other| self.read_line(other, node).is_some());
        others
            .next()
            .map(own)
            .or_else(|| line.read(&node.text, self).map(|_| own(rule)))
    }

    /// A line that says that an attribute, or an instance, has none.
    fn default_claim(
        &self,
        node: &Node,
        context: &LineContext<'_>,
        found: &LineUse<'_>,
    ) -> Option<Claim> {
        let (rule, bindings) = match found {
            LineUse::Block | LineUse::Instance | LineUse::InnerBlock(_) => return None,
            LineUse::Read(slot) => (slot.rule, slot.read(self, node)?.bindings),
            LineUse::Begins(candidate) => {
                let template = candidate.slot.template()?;
                let is_head = template.head().eq_ignore_ascii_case(&node.text);
                (
                    candidate.slot.rule.filter(|_| is_head),
                    candidate.bindings.clone(),
                )
            }
        };
        if rule.is_none() && matches!(found, LineUse::Begins(_)) {
            return None;
        }
        let names = match self.names_in(&bindings, &context.instance) {
            InstanceNames::Singleton => Attributes::default(),
            InstanceNames::Named(names) => names,
        };
        let own = rule.map(|rule| (rule.name.clone(), true.into()));
        let bindings: Bindings = own.into_iter().collect();
        Some(self.claim_of(node, ClaimKind::Default, names, &bindings))
    }

    fn claim_of(
        &self,
        node: &Node,
        kind: ClaimKind,
        names: Attributes,
        bindings: &Bindings,
    ) -> Claim {
        let mut attributes: Vec<Name> = Vec::new();
        for (name, _) in bindings {
            let is_own = self.attributes.contains_key(name) && !self.is_namevar(name);
            if is_own && !attributes.contains(name) {
                attributes.push(name.clone());
            }
        }
        Claim {
            line: node.line,
            type_name: self.model.name.clone(),
            names,
            title: None,
            attributes,
            kind,
        }
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

/// The mark of a line that removes, in the place of the text of a block.
const REMOVED: &str = "\0removed";

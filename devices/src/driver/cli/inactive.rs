//! Instances and attributes whose lines are inactive: the device has them and does not use them.

use std::sync::Arc;

use super::CliType;
use super::found::FoundInstance;
use super::instances::{ContentLocation, IndexedInstance, Instances, nodes_at};
use crate::read::State;
use crate::read::indent::inactive::is_under;
use crate::read::indent::{Node, Tree};
use crate::value::{Attributes, Name, Value};

/// The inactive lines of a type.
#[derive(Debug, Default)]
pub(super) struct InactiveInstances {
    parts: Vec<InactivePart>,
    /// The beginnings of inactive lines.
    marks: Vec<String>,
    /// All inactive lines, also those of other types.
    lines: Vec<String>,
}

/// The inactive lines of one instance.
#[derive(Debug)]
pub(super) struct InactivePart {
    pub(super) found: FoundInstance,
    lines: Vec<String>,
}

impl InactiveInstances {
    /// The beginnings that mark one of these lines.
    pub(super) fn marks_of(&self, lines: &[String]) -> Vec<&str> {
        let marks = self.marks.iter().map(String::as_str);
        let marks_one = |mark: &&str| lines.iter().any(|line| is_under(line, mark));
        marks.filter(marks_one).collect()
    }

    /// How many other lines than these a mark makes inactive.
    pub(super) fn others_under(&self, mark: &str, lines: &[String]) -> usize {
        let others = self.lines.iter().filter(|line| is_under(line, mark));
        others.filter(|line| !lines.contains(line)).count()
    }
}

impl CliType {
    /// The inactive lines in the answers.
    pub(super) fn inactive_instances(&self, state: &State) -> Arc<InactiveInstances> {
        let from = &self.instance.from;
        let (Some(rule), Some(tree)) = (&self.inactive, state.tree(from)) else {
            return Arc::default();
        };
        if tree.inactive().is_empty() {
            return Arc::default();
        }
        state.derived((self.model.name.as_str(), "inactive"), from, || {
            let is_line = |node: &&Node| rule.marked(&node.text).is_none();
            let nodes: Vec<Node> = tree.inactive().iter().filter(is_line).cloned().collect();
            let lines = nodes.iter().map(|node| node.text.clone()).collect();
            InactiveInstances {
                parts: self.inactive_parts(nodes),
                marks: tree.marks(rule),
                lines,
            }
        })
    }

    fn inactive_parts(&self, nodes: Vec<Node>) -> Vec<InactivePart> {
        let tree = Tree {
            nodes,
            ..Tree::default()
        };
        let parts = self.instances_in(&tree).into_iter().map(|indexed| {
            let IndexedInstance {
                mut found,
                location,
            } = indexed;
            self.add_absent_names(&mut found.attributes);
            let nodes = match location {
                ContentLocation::Lines(nodes) => nodes,
                ContentLocation::Block(position) => nodes_at(&tree.nodes, &position).to_vec(),
                ContentLocation::Line if self.instance.kind.is_singleton() => tree.nodes.clone(),
                ContentLocation::Line | ContentLocation::Row(_) => Vec::new(),
            };
            self.read_block(&nodes, &mut found);
            let header = found.line.iter().chain(&found.block).cloned();
            let lines = header.chain(nodes.iter().map(|node| node.text.clone()));
            InactivePart {
                lines: lines.collect(),
                found,
            }
        });
        parts.collect()
    }

    /// Adds the inactive lines to instances, and instances that have no other lines. `only`: those
    /// with the names of a resource.
    pub(super) fn add_inactive(
        &self,
        all: &mut Vec<FoundInstance>,
        state: &State,
        only: Option<&Attributes>,
    ) {
        let inactive = self.inactive_instances(state);
        let is_singleton = self.instance.kind.is_singleton();
        for part in &inactive.parts {
            let names = &part.found.attributes;
            if only.is_some_and(|only| !is_singleton && !self.has_names(names, only)) {
                continue;
            }
            let mut found = all.iter_mut();
            match found.find(|one| self.has_names(&one.attributes, names)) {
                Some(found) => self.add_inactive_attributes(found, part),
                None if self.is_inactive_as_instance(part, &inactive) => {
                    let mut found = part.found.clone();
                    found.inactive.insert("ensure".into(), part.lines.clone());
                    all.push(found);
                }
                None => {
                    let namevars = self.model.namevars();
                    let names = namevars.filter_map(|name| Some((name, names.get(name)?)));
                    let mut found = FoundInstance {
                        attributes: names
                            .map(|(name, value)| (name.to_owned(), value.clone()))
                            .collect(),
                        ..FoundInstance::default()
                    };
                    self.add_inactive_attributes(&mut found, part);
                    all.push(found);
                }
            }
        }
    }

    /// Whether a mark stands for the instance, and not only for attributes of it.
    fn is_inactive_as_instance(&self, part: &InactivePart, all: &InactiveInstances) -> bool {
        let kind = &self.instance.kind;
        let Some(prefix) = kind.prefix() else {
            return !kind.is_singleton();
        };
        let names = |name: &str| part.found.attributes.get(name);
        let opening = prefix.write(&names, self).map(|text| text.reveal());
        let mut marks = all.marks.iter();
        marks.any(|mark| opening.as_ref().is_some_and(|text| is_under(text, mark)))
    }

    fn add_inactive_attributes(&self, found: &mut FoundInstance, part: &InactivePart) {
        for (name, lines) in &part.found.lines {
            let Some(value) = part.found.attributes.get(name) else {
                continue;
            };
            let is_many = self
                .attributes
                .get(name.as_str())
                .is_some_and(|rule| rule.many);
            let value = match (found.attributes.get(name), value) {
                (Some(Value::List(active)), Value::List(inactive)) if is_many => self.finished(
                    name,
                    Value::List([active.clone(), inactive.clone()].concat()),
                ),
                _ => value.clone(),
            };
            found.attributes.insert(name.clone(), value);
            let texts = lines.iter().map(|(_, text)| text.clone());
            let inactive = found.inactive.entry(Name::from(name.as_str()));
            inactive.or_default().extend(texts);
            found
                .lines
                .entry(name.clone())
                .or_default()
                .extend(lines.clone());
        }
    }

    /// The inactive parts: of each the names of the instance, the attribute, and the line. Those that
    /// a mark makes inactive together with lines of others have `true`.
    pub(super) fn inactive_texts(
        &self,
        state: &State,
        active: &Instances,
    ) -> Vec<(FoundInstance, Option<Name>, String, bool)> {
        let inactive = self.inactive_instances(state);
        let mut texts = Vec::new();
        for part in &inactive.parts {
            let has_active = active.named(self, &part.found.attributes).next().is_some();
            if !has_active && self.is_inactive_as_instance(part, &inactive) {
                let marks = inactive.marks_of(&part.lines);
                let wide = marks
                    .iter()
                    .find(|mark| inactive.others_under(mark, &part.lines) > 0);
                let text = wide.map(|mark| (*mark).to_owned());
                let is_wide = text.is_some();
                let text = text.or_else(|| part.lines.first().cloned());
                texts.push((part.found.clone(), None, text.unwrap_or_default(), is_wide));
                continue;
            }
            for (name, lines) in &part.found.lines {
                let name = Some(Name::from(name.as_str()));
                let own = lines.iter();
                texts.extend(
                    own.map(|(_, text)| (part.found.clone(), name.clone(), text.clone(), false)),
                );
            }
        }
        texts
    }
}

//! Lines of the top level that are instances. They are changed by the index of their names, which
//! stays valid: a change reads no other line with a template.

use std::sync::Arc;

use super::tree::insert;
use super::{includes, read};
use crate::driver::cli::CliType;
use crate::driver::cli::attribute_lines::begins_with;
use crate::driver::cli::found::FoundInstance;
use crate::driver::cli::instances::Instances;
use crate::driver::cli::template::{Bindings, LineTemplate};
use crate::operation::Operation;
use crate::read::State;
use crate::read::indent::{Node, Tree};
use crate::value::Attributes;

/// What a line does to the instances with its names.
struct LineChange {
    names: Attributes,
    effect: LineEffect,
}

enum LineEffect {
    /// Replaces the instances with the identity of the line, or adds one.
    Set { text: String, bindings: Bindings },
    /// Removes the instances with these values, and lines that begin with a text.
    Remove {
        values: Option<Bindings>,
        beginning: Option<String>,
    },
}

impl CliType {
    /// Applies operations whose lines are instances of the top level. Returns false, without an
    /// effect, if there are other lines among them.
    pub(super) fn apply_instance_lines(&self, state: &mut State, operations: &[Operation]) -> bool {
        let changes = self.top_level_lines().and_then(|spellings| {
            let changes = operations
                .iter()
                .map(|one| self.line_change(one, spellings));
            Some((spellings, changes.collect::<Option<Vec<_>>>()?))
        });
        let Some((spellings, changes)) = changes else {
            return false;
        };
        let from = self.instance.from.as_str();
        let mut instances = self.indexed_instances(state);
        let Some(tree) = state.tree_mut(from) else {
            return false;
        };
        let index = Arc::make_mut(&mut instances);
        let mut is_valid = true;
        for change in changes {
            is_valid &= self.apply_line_change(tree, index, spellings, change);
        }
        if is_valid {
            self.keep_index(state, instances);
        }
        true
    }

    /// The syntaxes of instances that are lines of the top level and nothing else.
    fn top_level_lines(&self) -> Option<&[LineTemplate]> {
        let kind = &self.instance.kind;
        let mut rules = self.attributes.values();
        let in_line =
            rules.all(|rule| rule.is_in_instance() || rule.is_part() || !rule.is_applied());
        let is_alone = kind.paths().is_empty() && self.instance.remove_empty.is_none();
        (kind.is_line() && in_line && is_alone).then_some(kind.lines())
    }

    /// `None` if the line is no instance with all names.
    fn line_change(&self, operation: &Operation, spellings: &[LineTemplate]) -> Option<LineChange> {
        let line = operation.line()?;
        if !line.mode.is_empty() || !line.body.is_empty() {
            return None;
        }
        let text = line.text.as_ref()?.reveal();
        let positive = self.negation.positive(&text);
        if self
            .split_lines(&[], positive.as_deref().unwrap_or(&text))
            .len()
            > 1
        {
            return None;
        }
        if let Some(bindings) = read(spellings, &text, self) {
            return Some(LineChange {
                names: self.instance_names(&bindings)?,
                effect: LineEffect::Set { text, bindings },
            });
        }
        let beginning = self.negation.positive(&text).map(|text| text.to_string());
        let values = read(&self.instance.remove, &text, self);
        let names = match (&values, &beginning) {
            (Some(values), _) => self.instance_names(values)?,
            (None, Some(beginning)) => self.instance_names(&read(spellings, beginning, self)?)?,
            (None, None) => return None,
        };
        let effect = LineEffect::Remove { values, beginning };
        Some(LineChange { names, effect })
    }

    /// The names of an instance; `None` if one is missing.
    fn instance_names(&self, bindings: &Bindings) -> Option<Attributes> {
        let mut found = FoundInstance::default();
        self.bind(bindings.clone(), &mut found);
        self.add_absent_names(&mut found.attributes);
        let mut names = self.model.namevars();
        names
            .all(|name| found.attributes.contains_key(name))
            .then_some(found.attributes)
    }

    /// Returns whether the index has the effect, too.
    fn apply_line_change(
        &self,
        tree: &mut Tree,
        index: &mut Instances,
        spellings: &[LineTemplate],
        change: LineChange,
    ) -> bool {
        let lines = index.named(self, &change.names);
        let lines = lines.filter_map(|indexed| indexed.found.line.as_deref());
        match change.effect {
            LineEffect::Set { text, bindings } => {
                let is_same = self.has_identity_of(spellings, &bindings);
                let replaced: Vec<String> = lines
                    .filter(|line| is_same(line))
                    .map(str::to_owned)
                    .collect();
                let text = self.as_printed(spellings, &text).unwrap_or(text);
                let node = Node::new(text);
                let added = self.indexed_line(&node, spellings);
                let is_replaced = |node: &Node| replaced.contains(&node.text);
                match tree.nodes.iter().position(is_replaced) {
                    Some(first) => {
                        tree.nodes[first] = node;
                        let mut position = 0;
                        tree.nodes.retain(|node| {
                            position += 1;
                            position == first + 1 || !is_replaced(node)
                        });
                    }
                    None => {
                        insert(tree, node);
                    }
                }
                let is_read = added.is_some();
                index.replace(self, &change.names, &replaced, added);
                is_read
            }
            LineEffect::Remove { values, beginning } => {
                let begins = |line: &str| {
                    let beginning = beginning.as_deref();
                    beginning.is_some_and(|beginning| is_beginning(line, beginning))
                };
                let is_removed = |line: &&str| {
                    let found = || read(spellings, line, self);
                    let has_values = |values| found().is_some_and(|found| includes(&found, values));
                    begins(line) || values.as_ref().is_some_and(has_values)
                };
                let removed: Vec<String> = lines.filter(is_removed).map(str::to_owned).collect();
                let mut is_valid = true;
                tree.nodes.retain(|node| {
                    let is_instance = removed.contains(&node.text);
                    let is_other = !is_instance && begins(&node.text);
                    is_valid &= !is_other;
                    !is_instance && !is_other
                });
                index.replace(self, &change.names, &removed, None);
                is_valid
            }
        }
    }
}

/// As [`begins_with`]; most lines differ in their first characters, which is cheaper to see.
fn is_beginning(line: &str, beginning: &str) -> bool {
    let start = line.as_bytes().get(..beginning.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(beginning.as_bytes()))
        && begins_with(line, beginning)
}

//! Changes of instances whose lines have their names, in blocks that exist. The index of instances has
//! the lines of each, so that no other line is read with a template.

use std::sync::Arc;

use super::named::NamedLevel;
use super::tree::Target;
use crate::driver::cli::CliType;
use crate::driver::cli::found::FoundInstance;
use crate::operation::{ConfigLine, Operation};
use crate::read::State;
use crate::read::indent::Node;
use crate::value::Attributes;

/// A line of an instance and its block.
struct IndexedLine<'a> {
    operation: &'a Operation,
    line: &'a ConfigLine,
    text: String,
    /// The headers of its block, as the device prints them.
    headers: Vec<String>,
    /// How many of them are those of the block of instances.
    depth: usize,
}

impl CliType {
    /// Applies operations about one instance that exists. Returns false, without an effect, if there
    /// are others.
    pub(super) fn apply_indexed_lines(&self, state: &mut State, operations: &[Operation]) -> bool {
        let Some(lines) = self.instance.kind.named() else {
            return false;
        };
        let from = self.instance.from.as_str();
        let Some((changes, names)) = self.indexed_lines(operations) else {
            return false;
        };
        let mut instances = self.indexed_instances(state);
        let Some(at) = instances.only_named(self, &names) else {
            return false;
        };
        let spelling = instances.at(at).map_or(0, |one| one.found.spelling);
        let subs: Vec<&[String]> = self.subs(spelling).collect();
        let mut targets = Vec::new();
        for change in &changes {
            let outer = change.headers.first();
            let outer = outer.and_then(|outer| state.top_level_position(from, outer));
            let inner = &change.headers[change.depth..];
            let is_known = inner.is_empty() || subs.contains(&inner);
            let (Some(outer), true) = (outer, is_known) else {
                return false;
            };
            targets.push(Target {
                headers: &change.headers,
                position: vec![outer],
            });
        }
        // An inner block has one level and a header of its own.
        if subs.iter().any(|sub| sub.len() != 1) {
            return false;
        }
        let Some(tree) = state.blocks_mut(from) else {
            return false;
        };
        let index = Arc::make_mut(&mut instances);
        let mut nodes = index.take_lines(at);
        for (change, target) in changes.iter().zip(&targets) {
            let known = texts_of(&nodes, &subs);
            let inner = change.headers.get(change.depth).map(String::as_str);
            let level = &mut NamedLevel {
                level: target.level(tree),
                lines,
                is_inner: inner.is_some(),
                known: Some(&known),
            };
            let (operation, line, text) = (change.operation, change.line, &change.text);
            let defaults = Attributes::default();
            let own = self.apply_named(level, operation, line, text, &defaults);
            match own {
                Some(own) => replace_level(&mut nodes, &subs, inner, own),
                None => nodes.clear(),
            }
        }
        index.set_lines(at, nodes);
        #[cfg(test)]
        self.assert_index(state, &instances);
        self.keep_index(state, instances);
        true
    }

    /// The lines of operations, if all are about one instance, and its names.
    fn indexed_lines<'o>(
        &self,
        operations: &'o [Operation],
    ) -> Option<(Vec<IndexedLine<'o>>, Attributes)> {
        let (block, lines) = (self.instance.kind.paths(), self.instance.kind.named()?);
        let mut changes = Vec::new();
        let mut all_names: Option<Attributes> = None;
        for operation in operations {
            let line = operation.line()?;
            let text = line
                .text
                .as_ref()
                .filter(|_| line.body.is_empty())?
                .reveal();
            let headers = self.headers_as_read(&line.mode);
            let (depth, mut bindings) = (1..=headers.len()).rev().find_map(|depth| {
                let mut paths = block.iter();
                let found = paths.find_map(|path| path.read(&headers[..depth], self))?;
                Some((depth, found))
            })?;
            bindings.extend(lines.split(&text, self)?.bindings);
            let mut found = FoundInstance::default();
            self.bind(bindings, &mut found);
            self.add_absent_names(&mut found.attributes);
            match &all_names {
                Some(names) if *names != found.attributes => return None,
                _ => all_names = Some(found.attributes),
            }
            changes.push(IndexedLine {
                operation,
                line,
                text,
                headers,
                depth,
            });
        }
        Some((changes, all_names?))
    }
}

/// The texts of the lines of an instance, without the headers of inner blocks.
fn texts_of(nodes: &[Node], subs: &[&[String]]) -> Vec<String> {
    let mut texts = Vec::new();
    for node in nodes {
        if is_inner_block(node, subs) {
            texts.extend(node.children.nodes.iter().map(|node| node.text.clone()))
        } else {
            texts.push(node.text.clone())
        }
    }
    texts
}

fn is_inner_block(node: &Node, subs: &[&[String]]) -> bool {
    subs.iter().any(|sub| sub[0] == node.text)
}

/// Replaces the lines of an instance in its block, or in the inner block with a header.
fn replace_level(nodes: &mut Vec<Node>, subs: &[&[String]], inner: Option<&str>, own: Vec<Node>) {
    let Some(inner) = inner else {
        nodes.retain(|node| is_inner_block(node, subs));
        nodes.splice(..0, own);
        return;
    };
    let position = |header: &str| subs.iter().position(|sub| sub[0] == header);
    nodes.retain(|node| node.text != inner);
    if own.is_empty() {
        return;
    }
    let next = nodes
        .iter()
        .position(|node| is_inner_block(node, subs) && position(&node.text) > position(inner));
    let next = next.unwrap_or(nodes.len());
    nodes.insert(next, Node::block(inner, own));
}

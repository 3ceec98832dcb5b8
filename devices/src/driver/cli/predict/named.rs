//! Lines that have the names of their instance: they are applied as the lines of a block.

use super::read;
use super::tree::{insert, insert_at};
use crate::driver::cli::CliType;
use crate::driver::cli::rules::NamedLines;
use crate::driver::cli::template::bound;
use crate::operation::{ConfigLine, Operation};
use crate::read::indent::{Node, Tree};
use crate::value::Attributes;

/// A level with the lines of instances that have the names.
pub(super) struct NamedLevel<'a> {
    pub(super) level: &'a mut Tree,
    pub(super) lines: &'a NamedLines,
    /// An inner block of the instance's block.
    pub(super) is_inner: bool,
    /// The lines of the instance, if they are known.
    pub(super) known: Option<&'a [String]>,
}

impl CliType {
    /// Applies a line that has the names of its instance. Returns the lines that the instance then has
    /// in the level; `None` if it has none in any.
    pub(super) fn apply_named(
        &self,
        block: &mut NamedLevel<'_>,
        operation: &Operation,
        line: &ConfigLine,
        text: &str,
        defaults: &Attributes,
    ) -> Option<Vec<Node>> {
        let NamedLevel {
            level,
            lines,
            is_inner,
            known,
        } = block;
        let is_removal = operation.attributes.iter().any(|name| name == "ensure");
        let names = read(&self.instance.remove, text, self).filter(|_| is_removal);
        if let Some(names) = names {
            let is_own = lines.owner_of(lines.key(&names), *known, self);
            remove_lines(level, &is_own);
            return None;
        }
        let Some(split) = lines.split(text, self) else {
            insert(level, Node::new(text));
            return None;
        };
        let is_own = lines.owner_of(lines.key(&split.bindings), *known, self);
        let is_bare = lines.prefix.is_some() && split.is_complete;
        if is_bare && split.is_negative {
            remove_lines(level, &is_own);
            return None;
        }
        let (mut own, position) = take_lines(level, &is_own);
        if !is_bare {
            self.apply_line(&mut own, operation, line, text.to_owned(), defaults);
        }
        own.nodes.retain(|node| !lines.is_bare(node, self));
        // An instance that can be removed remains without its last line.
        let remains = self.model.is_ensurable() && !self.instance.always;
        if let Some(prefix) = &lines.prefix
            && own.nodes.is_empty()
            && !*is_inner
            && remains
        {
            let header = prefix.write(&|name| bound(&split.bindings, name), self);
            own.nodes
                .extend(header.map(|header| Node::new(header.reveal())));
        }
        let mut position = position;
        for node in own.nodes.iter().cloned() {
            let index = match position {
                Some(index) => {
                    insert_at(level, position, node);
                    index
                }
                None => insert(level, node),
            };
            position = Some(index + 1);
        }
        Some(own.nodes)
    }
}

/// Removes the lines of an instance, also from inner blocks.
fn remove_lines(level: &mut Tree, is_own: &dyn Fn(&Node) -> bool) {
    level.nodes.retain(|node| !is_own(node));
    for node in &mut level.nodes {
        remove_lines(&mut node.children, is_own);
    }
}

/// Takes the lines of an instance from a level. Returns also the position of the first.
fn take_lines(level: &mut Tree, is_own: &dyn Fn(&Node) -> bool) -> (Tree, Option<usize>) {
    let position = level.nodes.iter().position(is_own);
    let mut own = Vec::new();
    if position.is_some() {
        own = level.nodes.extract_if(.., |node| is_own(node)).collect();
    }
    let own = Tree {
        nodes: own,
        ..Tree::default()
    };
    (own, position)
}

//! Lines that have the names of their instance: they are applied as the lines of a block.

use super::tree::{insert, insert_at};
use super::{bound, read};
use crate::driver::cli::CliType;
use crate::driver::cli::named_lines::NamedLines;
use crate::operation::{ConfigLine, Operation};
use crate::read::indent::{Node, Tree};
use crate::value::Attributes;

/// A level with the lines of instances that have the names.
pub(super) struct NamedLevel<'a> {
    pub(super) level: &'a mut Tree,
    pub(super) lines: &'a NamedLines,
    /// An inner block of the instance's block.
    pub(super) is_inner: bool,
}

impl CliType {
    /// Applies a line that has the names of its instance.
    pub(super) fn apply_named(
        &self,
        block: &mut NamedLevel<'_>,
        operation: &Operation,
        line: &ConfigLine,
        text: &str,
        defaults: &Attributes,
    ) {
        let NamedLevel {
            level,
            lines,
            is_inner,
        } = block;
        let is_removal = operation.attributes.iter().any(|name| name == "ensure");
        let names = read(&self.instance.remove, text, self).filter(|_| is_removal);
        if let Some(names) = names {
            return lines.remove(level, &lines.key(&names), self);
        }
        let Some(split) = lines.split(text, self) else {
            insert(level, Node::new(text));
            return;
        };
        let key = lines.key(&split.bindings);
        let is_bare = lines.prefix.is_some() && split.is_complete;
        if is_bare && split.is_negative {
            return lines.remove(level, &key, self);
        }
        let (mut own, position) = lines.take(level, &key, self);
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
        for node in own.nodes {
            let index = match position {
                Some(index) => {
                    insert_at(level, position, node);
                    index
                }
                None => insert(level, node),
            };
            position = Some(index + 1);
        }
    }
}

//! Lines with a common beginning: they are applied as the lines of a block.

use super::tree::{insert, insert_at};
use super::{bound, read};
use crate::driver::cli::CliType;
use crate::driver::cli::prefix::{PrefixRule, complete_lines, remove_lines, take_lines};
use crate::operation::{ConfigLine, Operation};
use crate::read::indent::{Node, Tree};
use crate::value::Attributes;

/// A level with the lines of instances that have a common beginning.
pub(super) struct PrefixedLevel<'a> {
    pub(super) level: &'a mut Tree,
    pub(super) prefix: &'a PrefixRule,
    /// An inner block of the instance's block.
    pub(super) is_inner: bool,
}

impl CliType {
    /// Applies a line with the common beginning of the instance's lines.
    pub(super) fn apply_prefixed(
        &self,
        block: &mut PrefixedLevel<'_>,
        operation: &Operation,
        line: &ConfigLine,
        text: &str,
        defaults: &Attributes,
    ) {
        let PrefixedLevel {
            level,
            prefix,
            is_inner,
        } = block;
        let is_removal = operation.attributes.iter().any(|name| name == "ensure");
        let names = read(&self.instance.remove, text, self).filter(|_| is_removal);
        if let Some(names) = names {
            let header = prefix.template.write(&|name| bound(&names, name), self);
            if let Some(header) = header {
                return remove_lines(level, &header.reveal(), prefix, self);
            }
        }
        let Some(split) = prefix.split(text, self) else {
            insert(level, Node::new(text));
            return;
        };
        let header = &split.header;
        if split.removes_instance() {
            return remove_lines(level, header, prefix, self);
        }
        let (mut lines, position) = take_lines(level, header, prefix, self);
        if !split.is_header() {
            let inner = prefix.inner_line(&split);
            self.apply_line(&mut lines, operation, line, inner, defaults);
        }
        let mut nodes = complete_lines(lines, header, prefix);
        // The instance remains without its last line.
        if nodes.is_empty() && !*is_inner {
            nodes.push(Node::new(header));
        }
        let mut position = position;
        for node in nodes {
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

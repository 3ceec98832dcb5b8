//! Second lines of attributes with one value: devices use the first, the last or both.

use std::collections::hash_map::Entry;

use super::super::slot::Slot;
use super::super::template::CAPTURE_MARK;
use super::super::walk::LineContext;
use super::survey::Survey;
use crate::not_understood::{Extent, InstanceNames};
use crate::read::indent::Node;

/// The first line of an attribute.
pub(super) struct FirstLine<'a> {
    node: &'a Node,
    is_added: bool,
}

impl<'a> Survey<'a> {
    /// Adds the lines of an attribute with one value, if they have different ones.
    pub(super) fn second_line(
        &mut self,
        node: &'a Node,
        slot: Slot<'a>,
        context: &LineContext<'a>,
    ) {
        let cli = self.cli;
        let rule = slot.rule.filter(|rule| cli.has_one_value(rule));
        let Some(rule) = rule.filter(|_| context.member.is_none()) else {
            return;
        };
        let names = match &context.instance {
            InstanceNames::Singleton => String::new(),
            InstanceNames::Named(names) => {
                let names = names.iter().filter_map(|(_, value)| value.scalar_text());
                names.collect::<Vec<_>>().join("\n")
            }
        };
        let first = match self
            .first_lines
            .entry((context.block, rule.name.clone(), names))
        {
            Entry::Vacant(entry) => {
                entry.insert(FirstLine {
                    node,
                    is_added: false,
                });
                return;
            }
            Entry::Occupied(entry) => entry.into_mut(),
        };
        let values = |node: &Node| {
            let mut values = cli.read_line(rule, node).unwrap_or_default();
            values.retain(|(name, _)| !name.starts_with(CAPTURE_MARK));
            values
        };
        if values(first.node) == values(node) {
            return;
        }
        let before = (!std::mem::replace(&mut first.is_added, true)).then_some(first.node);
        for line in before.into_iter().chain([node]) {
            self.add(
                Some(rule),
                context.headers(),
                cli.masked(&line.text, rule.lines.first()),
                context.instance.clone(),
                Extent::Attributes(cli.sharing(rule)),
            );
        }
    }
}

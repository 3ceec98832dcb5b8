//! Which lines are in effect, with the defaults of the device.

use super::command_grammar::{CONFIG, CommandGrammar, ModeIndex};
use super::config_node::ConfigNode;
use super::grammar_row::{GrammarRow, LineCondition, RowOption};

/// A block in the configuration that has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockScope<'a> {
    pub(super) grammar: &'a CommandGrammar,
    pub(super) root: &'a ConfigNode,
    pub(super) block: &'a ConfigNode,
    pub(super) mode: ModeIndex,
}

impl<'a> BlockScope<'a> {
    /// The configuration outside of blocks.
    pub(super) fn of_root(grammar: &'a CommandGrammar, root: &'a ConfigNode) -> Self {
        Self {
            grammar,
            root,
            block: root,
            mode: CONFIG,
        }
    }

    /// Whether the device has a row now.
    pub(super) fn is_available(&self, row: &GrammarRow) -> bool {
        row.needs().all(|line| self.root.has_line(line))
            && row.options().iter().all(|option| match option {
                RowOption::When(condition) => self.is_met(condition),
                _ => true,
            })
    }

    /// Whether a line of the row is in effect without being configured.
    pub(super) fn is_on(&self, row: &GrammarRow) -> bool {
        row.options().iter().any(|option| match option {
            RowOption::On(condition) => condition
                .as_ref()
                .is_none_or(|condition| self.is_met(condition)),
            _ => false,
        })
    }

    fn is_met(&self, condition: &LineCondition) -> bool {
        let scope = if condition.is_global {
            Self::of_root(self.grammar, self.root)
        } else {
            *self
        };
        scope.has(&condition.line) != condition.is_negative
    }

    /// Whether a line is in effect in the block.
    fn has(&self, line: &str) -> bool {
        let Some(parsed) = self.grammar.parse_own(self.mode, line) else {
            return false;
        };
        if let Some(child) = self.block.child(&parsed.key) {
            return !child.is_negative && child.text == parsed.text;
        }
        let row = &self.grammar.rows[parsed.row];
        let default = row
            .default_value()
            .map(|value| format!("{} {value}", parsed.key));
        self.is_on(row) || default.as_deref() == Some(parsed.text.as_str())
    }

    /// Whether the device has the line without being configured, and does not print it.
    pub(super) fn is_default(&self, node: &ConfigNode) -> bool {
        let Some(row) = node.row.map(|row| &self.grammar.rows[row]) else {
            return false;
        };
        let is_on = self.is_on(row);
        if node.is_negative {
            return !is_on && !row.stores_negation();
        }
        if row.has(&RowOption::Printed) {
            return false;
        }
        if row.has(&RowOption::Implicit(node.key.clone())) {
            return node.children.is_empty();
        }
        let default = row
            .default_value()
            .map(|value| format!("{} {value}", node.key));
        // With a value, a line that is on by default says more.
        let is_plain = node.text == node.key;
        (is_on && is_plain) || default.as_deref() == Some(node.text.as_str())
    }

    /// The negations that are printed without being configured.
    pub(super) fn negations(&self) -> Vec<ConfigNode> {
        let rows = self.grammar.rows_of(self.mode);
        let rows = rows.filter(|(_, row)| row.has(&RowOption::Always) && self.is_available(row));
        let keys = rows.filter_map(|(index, row)| Some((index, row.constant_text()?)));
        keys.filter(|(_, key)| self.block.child(key).is_none())
            .map(|(index, key)| ConfigNode {
                row: Some(index),
                text: key.clone(),
                key,
                is_negative: true,
                ..ConfigNode::default()
            })
            .collect()
    }

    /// The lines that are in effect without being configured.
    pub(super) fn defaults(&self) -> Vec<ConfigNode> {
        let mut defaults = Vec::new();
        for (index, row) in self.grammar.rows_of(self.mode) {
            let is_on = self.is_on(row);
            let Some(key) = row
                .constant_text()
                .filter(|_| is_on || row.default_value().is_some())
            else {
                continue;
            };
            if !self.is_available(row) || self.block.child(&key).is_some() {
                continue;
            }
            let text = match row.default_value() {
                Some(value) => format!("{key} {value}"),
                None => key.clone(),
            };
            defaults.push(ConfigNode {
                row: Some(index),
                key,
                text,
                ..ConfigNode::default()
            });
        }
        defaults
    }
}

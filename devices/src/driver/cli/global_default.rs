//! Defaults of attributes that a global line sets: all ports of a switch have the MTU of `system
//! mtu` unless their block has another one.

use std::ops::Range;

use super::CliType;
use super::instances::nodes_of;
use super::rules::{CliAttributeRule, DefaultLine};
use super::template::LineTemplate;
use crate::document::Table;
use crate::pattern::Pattern;
use crate::read::State;
use crate::read::indent::Node;
use crate::value::{Attributes, Value};

impl CliType {
    /// The default of an attribute of the instance with these names, if a global line sets it. The
    /// line is searched once.
    pub(super) fn global_default(
        &self,
        rule: &CliAttributeRule,
        names: &Attributes,
        state: &State,
    ) -> Option<Value> {
        let DefaultLine { line, only } = rule.default_line.as_deref()?;
        let from = &self.instance.from;
        let value = state.derived_from_top_level((&self.model.name, &rule.name), from, || {
            self.line_value(rule, line, nodes_of(state.tree(from)))
        });
        // Few devices have the line.
        let value = value.as_ref().as_ref()?;
        is_about(only, names).then(|| value.clone())
    }

    fn line_value(
        &self,
        rule: &CliAttributeRule,
        line: &LineTemplate,
        nodes: &[Node],
    ) -> Option<Value> {
        let mut bindings = nodes.iter().find_map(|node| line.read(&node.text, self))?;
        let at = bindings.iter().position(|(name, _)| *name == rule.name)?;
        Some(self.finished(&rule.name, bindings.swap_remove(at).1))
    }
}

impl CliAttributeRule {
    /// The value without a line of an instance with these names and values, if it is not `absent`.
    pub(super) fn default_value(&self, values: &Attributes) -> Option<&Value> {
        let mut all = self.default_values.iter();
        let default = all.find(|default| is_about(&default.only, values))?;
        Some(&default.value)
    }
}

/// Whether all patterns match the values.
pub(super) fn is_about(only: &[(String, Pattern)], names: &Attributes) -> bool {
    let fits = |(name, pattern): &(String, Pattern)| {
        let text = names.get(name).and_then(Value::scalar_text);
        text.is_some_and(|text| pattern.is_match(&text))
    };
    only.iter().all(fits)
}

/// A default from a global line requires that the attribute has its own line in a block, and a
/// value for devices without the global line.
pub(super) fn check(cli: &CliType, root: &Table<'_>) {
    let error = |span: &Range<usize>, message: String, help: &str| {
        root.findings
            .error_with_help("else", span.clone(), message, help);
    };
    for rule in cli.attributes.values() {
        let name = &rule.name;
        if rule.absent.is_none() && !rule.default_values.is_empty() {
            error(
                &rule.span,
                format!("`{name}` has `else.value` and no `absent`"),
                "add the value of all other instances without a line",
            );
        }
        let Some(DefaultLine { line, only }) = rule.default_line.as_deref() else {
            continue;
        };
        let in_block = cli.instance.kind.blocks().is_some();
        let alone = rule.with.is_empty() && rule.inside.is_none() && rule.sub.is_empty();
        if !in_block || !alone || rule.many || !rule.has_own_lines() {
            error(
                &rule.span,
                format!(
                    "`else.line` of `{name}` requires a separate line for the value in a block"
                ),
                "remove it, or use a table with `from`, `key` and `column`",
            );
        }
        if line.attributes() != [name.as_str()] {
            error(
                &rule.span,
                format!("`else.line` of `{name}` must have `{{{name}}}` as its only value"),
                "write the line as in the configuration, with this value only",
            );
        }
        if rule.absent.is_none() {
            error(
                &rule.span,
                format!("`{name}` has `else.line` and no `absent`"),
                "add the value of a device without that line",
            );
        }
        for (other, _) in only.iter().filter(|(other, _)| !cli.is_namevar(other)) {
            error(
                &rule.span,
                format!("`else.only` of `{name}` uses `{other}`, which is not a namevar"),
                "use attributes with the role namevar",
            );
        }
    }
}

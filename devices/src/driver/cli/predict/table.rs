//! The predicted instances of a table, and their lines for the diff.

use super::read;
use crate::driver::cli::attribute_lines::begins_with;
use crate::driver::cli::rules::{CONFIG, CliAttributeRule, CliLocation, InstanceKind};
use crate::driver::cli::template::LineTemplate;
use crate::driver::cli::{CliType, is_unset};
use crate::operation::ConfigLine;
use crate::read::State;
use crate::read::indent::Node;
use crate::secret::Text;
use crate::value::{Attributes, Value};

impl CliType {
    pub(super) fn apply_to_table(&self, state: &mut State, line: &ConfigLine) {
        let InstanceKind::Row { enter, .. } = &self.instance.kind else {
            return;
        };
        let text = line.text.as_ref().map(Text::reveal);
        let headers: Vec<String> = line.mode.iter().map(Text::reveal).collect();
        let mode = self.instance.mode.as_ref();
        let names = mode.and_then(|mode| mode.read(&headers, self));
        let names = names.or_else(|| enter.as_ref()?.read(headers.first()?, self));
        let Some(names) = names else {
            let removed = text.and_then(|text| read(&self.instance.remove, &text, self));
            if let Some(names) = removed {
                let names: Attributes = names.into_iter().collect();
                state.predict(&self.model.name, &self.instance_name(&names), None);
            }
            return;
        };
        let names: Attributes = names
            .into_iter()
            .map(|(name, value)| (name.clone(), self.finished(&name, value)))
            .collect();
        let name = self.instance_name(&names);
        let mut attributes = match self.find_all(state, Some(&names)).pop() {
            Some(found) => found.attributes,
            None => names,
        };
        if let Some(text) = text {
            for rule in self.attributes.values() {
                let CliLocation::Cell(_) = rule.location else {
                    continue;
                };
                if let Some(bindings) = self.read_line(&rule.in_lines(), &Node::new(&text)) {
                    for (name, value) in bindings {
                        let value = match attributes.get(&name) {
                            Some(before) if self.adds(rule, &text) => {
                                self.codecs.get(name.as_str()).map_or_else(
                                    || value.clone(),
                                    |codec| {
                                        let change = Value::List(vec!["add".into(), value.clone()]);
                                        codec.resolve(&change, Some(before))
                                    },
                                )
                            }
                            _ => value,
                        };
                        let value = self.finished(&name, value);
                        attributes.insert(name, value);
                    }
                    break;
                }
                let is_removed = self.negation.positive(&text).is_some_and(|rest| {
                    rule.lines.iter().any(|line| begins_with(&line.text, &rest))
                });
                if is_removed {
                    match &rule.absent {
                        Some(absent) => attributes.insert(rule.name.clone(), absent.clone()),
                        None => attributes.remove(&rule.name),
                    };
                    break;
                }
            }
        }
        state.predict(&self.model.name, &name, Some(attributes));
    }

    pub(super) fn adds(&self, rule: &CliAttributeRule, text: &str) -> bool {
        rule.more
            .as_ref()
            .is_some_and(|more| more.read(text, self).is_some())
    }

    /// Renders instances of a table as the lines that create them, for the diff. Only instances
    /// that operations changed are rendered.
    pub(in crate::driver::cli) fn table_as_configuration(
        &self,
        enter: &LineTemplate,
        state: &State,
    ) -> String {
        let in_configuration = |header: &str| {
            let tree = state.tree(CONFIG);
            tree.is_some_and(|tree| tree.nodes.iter().any(|node| node.text == header))
        };
        let mut text = String::new();
        for found in self.find_all(state, None) {
            let attributes = &found.attributes;
            let values = |name: &str| attributes.get(name);
            let Some(header) = enter.write(&values, self) else {
                continue;
            };
            let header = header.reveal();
            if in_configuration(&header) {
                continue;
            }
            text.push_str(&header);
            text.push('\n');
            for rule in self.attributes.values() {
                let Some(value) = attributes.get(&rule.name) else {
                    continue;
                };
                if is_unset(value) || *value == Value::Bool(false) {
                    continue;
                }
                let line = self.named(&rule.set, &rule.name, value);
                let line = line.cloned().flatten();
                let line = line.or_else(|| rule.lines.first().cloned());
                if let Some(line) = line.and_then(|line| line.write(&values, self)) {
                    text.push(' ');
                    text.push_str(&line.reveal());
                    text.push('\n');
                }
            }
        }
        text
    }
}

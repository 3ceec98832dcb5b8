//! Instances that are told as such: several with one name, and those that the device does not use.

use super::super::found::FoundInstance;
use super::super::instances::Instances;
use super::survey::Survey;
use crate::not_understood::{Extent, NotUnderstood};
use crate::read::State;

impl Survey<'_> {
    /// Adds the instances that have the names of others.
    pub(super) fn equal_names(&mut self, instances: &Instances) {
        let cli = self.cli;
        if cli.adds_lines() {
            return;
        }
        let all: Vec<&FoundInstance> = instances.iter().map(|indexed| &indexed.found).collect();
        for index in cli.with_equal_names(all.iter().copied()) {
            let found = all[index];
            let names = cli.names_of(&found.attributes);
            let blocks = match &found.line {
                Some(_) => found.block.as_slice(),
                None => found.block.split_last().map_or(&[][..], |(_, outer)| outer),
            };
            let text = cli.text_of(found);
            self.add_instance_line(blocks.to_vec(), &text, names, Extent::Instance);
        }
    }

    /// Adds the parts that the device does not use. A mark that also stands for others hinders the
    /// activation of one of them.
    pub(super) fn inactive(&mut self, state: &State) {
        let cli = self.cli;
        let active = cli.indexed_instances(state);
        for (found, attribute, line, is_wide) in cli.inactive_texts(state, &active) {
            let names = cli.names_of(&found.attributes);
            let rule = attribute
                .as_ref()
                .and_then(|name| cli.attributes.get(name.as_str()));
            let text = cli.masked(&line, rule.and_then(|rule| rule.lines.first()));
            let type_name = cli.model.name.clone();
            let mut text =
                NotUnderstood::inactive(type_name, attribute, names, (found.block, &text));
            if is_wide {
                text.extent = Extent::Line;
            }
            self.found.push(text);
        }
    }
}

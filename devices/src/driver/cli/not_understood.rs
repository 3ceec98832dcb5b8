//! Lines and rows that a type recognizes and does not read completely
//! ([`crate::not_understood`]).
//!
//! The lines of a type are those that the [walk](super::walk) visits.

mod instances;
mod second_lines;
mod survey;

use foldhash::HashMap;

use self::survey::Survey;
use super::CliType;
use super::found::OTHER_WORDS;
use super::instances::nodes_of;
use super::row_rule::table_rows;
use super::rules::{CONFIG, CliAttributeRule, CliInstanceRule};
use super::template::{LineTemplate, Vocabulary};
use super::walk::Walk;
use crate::driver::implementation::IsReadByOther;
use crate::not_understood::{Extent, InstanceNames, NotUnderstood};
use crate::read::State;
use crate::secret::MASK;
use crate::value::{Attributes, Name};

impl CliType {
    /// The lines and rows that the type recognizes and does not read completely. A line that only
    /// begins like an instance, and that another type reads, is that type's. The value of an
    /// attribute that only another type understands is unknown to this one.
    pub(super) fn unread(
        &self,
        state: &State,
        is_read_by_other: &IsReadByOther<'_>,
    ) -> Vec<NotUnderstood> {
        let mut survey = Survey {
            cli: self,
            is_read_by_other,
            found: Vec::new(),
            first_lines: HashMap::default(),
        };
        let CliInstanceRule { from, kind, .. } = &self.instance;
        let is_line = kind.is_line();
        survey.rows(&self.rows(state), kind.key());
        Walk::new(self, &mut |node, context, found| {
            survey.line(node, context, found)
        })
        .instances(nodes_of(state.tree(from)));
        for indexed in self.indexed_instances(state).iter() {
            let found = &indexed.found;
            let Some(line) = &found.line else {
                continue;
            };
            let has_other_words = || is_line && found.unmanaged.contains_key(OTHER_WORDS);
            let extent = match found.is_not_understood {
                true => Extent::Line,
                false if !has_other_words() => continue,
                false if self.instance.keep_unmanaged => Extent::Nothing,
                false => Extent::Line,
            };
            let names = self.names_of(&found.attributes);
            survey.add_instance_line(found.block.clone(), line, names, extent);
        }
        survey.equal_names(&self.indexed_instances(state));
        survey.inactive(state);
        Walk::new(self, &mut |node, context, found| {
            survey.line(node, context, found)
        })
        .elsewhere(nodes_of(state.tree(CONFIG)));
        for rule in self.attributes.values() {
            if let Some(other) = &rule.default_cell {
                let rows = state.get(&other.read).map(table_rows).unwrap_or_default();
                survey.default_cells(rows, rule, other);
            }
        }
        survey.found
    }

    fn names_of(&self, attributes: &Attributes) -> InstanceNames {
        let names = self.model.namevars();
        let names = names.filter_map(|name| Some((name.to_owned(), attributes.get(name)?.clone())));
        InstanceNames::Named(names.collect())
    }

    fn has_all_names(&self, instance: &InstanceNames) -> bool {
        match instance {
            InstanceNames::Singleton => true,
            InstanceNames::Named(names) => {
                self.model.namevars().all(|name| names.contains_key(name))
            }
        }
    }

    /// The attributes of a line with this one.
    fn sharing(&self, rule: &CliAttributeRule) -> Vec<Name> {
        let inside = self.attributes.values();
        let inside = inside.filter(|other| other.inside.as_deref() == Some(rule.name.as_str()));
        let leader = rule.inside.as_deref().map(Name::from);
        let names = [rule.name.clone()].into_iter().chain(leader);
        names
            .chain(rule.with.iter().cloned())
            .chain(inside.map(|other| other.name.clone()))
            .collect()
    }

    /// A line without its secrets. If the template has a secret, and its place is unknown, only the words
    /// before it remain.
    fn masked(&self, text: &str, template: Option<&LineTemplate>) -> String {
        let secret = |template: &LineTemplate| {
            template
                .attributes()
                .iter()
                .any(|name| self.is_secret(name))
        };
        let masked = self.secrets.apply(text);
        match template.filter(|template| secret(template) && masked == text) {
            Some(template) => {
                let names = self.line_names().into_iter();
                let names: Vec<&str> = names.filter(|name| !self.is_secret(name)).collect();
                let head = template.head_of(&names, text, self);
                format!("{head} {MASK}").trim_start().to_owned()
            }
            None => masked,
        }
    }
}

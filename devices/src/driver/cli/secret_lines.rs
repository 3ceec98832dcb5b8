//! Where sensitive attributes stand in the lines and fields of a type. Text with them is masked also
//! if the rest of its line is not understood.

use super::CliType;
use super::block_path::BlockPath;
use super::outline::header;
use super::rules::CliAttributeRule;
use super::template::value_parts::{attribute_of, split};
use super::template::{LineTemplate, Vocabulary as _};
use crate::model::ValueSpec;
use crate::secret_text::{SecretPosition, SecretPositions};

impl CliType {
    /// The positions of sensitive attributes; none of the type if it has none.
    pub(super) fn positions_of_secrets(&self) -> SecretPositions {
        let mut attributes = self.model.attributes.keys();
        if !attributes.any(|name| self.is_secret(name)) {
            return SecretPositions::default();
        }
        let rules = self.attributes.values();
        let secret = rules.filter(|rule| self.is_secret(&rule.name));
        // The name in a path, or the last word before a colon.
        let fields = secret.filter_map(|rule| rule.cell()?.name.rsplit(['.', ' ']).next());
        let fields = fields.map(str::to_owned);
        SecretPositions {
            lines: self.secret_lines(),
            fields: fields.collect(),
        }
    }

    fn secret_lines(&self) -> Vec<SecretPosition> {
        let mut lines = SecretLines {
            cli: self,
            found: Vec::new(),
        };
        for (spelling, block) in self.outer_blocks().iter().enumerate() {
            let (outer, own) = self.lines_with_names(spelling, block);
            let own = own.into_iter().chain(&self.instance.create);
            for line in own.chain(self.instance.removal(spelling)) {
                lines.add(outer, line);
            }
            for rule in self.attributes.values() {
                let inner = match rule.member_block() {
                    Some(outer) => vec![header(outer)],
                    None => self.inner_block(rule, spelling, block),
                };
                lines.add_rule(rule, &inner);
            }
        }
        let paths = self.instance.kind.paths().iter().chain(&self.instance.mode);
        let elsewhere = paths.flat_map(BlockPath::templates);
        let elsewhere = elsewhere.chain(&self.instance.other_lines);
        let refresh = self.refresh.iter().flat_map(|refresh| refresh.templates());
        for line in elsewhere.chain(refresh).chain(&self.instance.remove_empty) {
            lines.add(&[], line);
        }
        lines.found
    }
}

/// The positions of a type that were found so far.
struct SecretLines<'a> {
    cli: &'a CliType,
    found: Vec<SecretPosition>,
}

impl SecretLines<'_> {
    fn add_rule(&mut self, rule: &CliAttributeRule, block: &[String]) {
        for line in rule.sent_lines() {
            self.add(block, line);
        }
        let order = rule.order().into_iter();
        let order = order.flat_map(|order| [&order.after, &order.before]);
        for line in order.chain(rule.default_line()).chain(&rule.follows) {
            self.add(&[], line);
        }
    }

    /// The digits of an attribute whose value is a number, also in the configuration.
    fn digits(&self, name: &str) -> Option<usize> {
        let model = self.cli.model.attributes.get(name);
        let values = model.map_or(&[][..], |model| &model.values);
        let digits = |spec: &ValueSpec| match spec {
            ValueSpec::Integer { high, .. } => Some(high.to_string().len()),
            _ => None,
        };
        let most: Option<Vec<usize>> = values.iter().map(digits).collect();
        most?
            .into_iter()
            .max()
            .filter(|_| !self.cli.codecs.contains_key(name))
    }

    /// Adds the positions in a line below these blocks, one for each placeholder.
    fn add(&mut self, block: &[String], line: &LineTemplate) {
        let mut names = line.placeholders();
        let numbers = names
            .iter()
            .filter_map(|name| Some((*name, self.digits(name)?)));
        let numbers: Vec<(&str, usize)> = numbers.collect();
        names.retain(|name| self.cli.is_secret(attribute_of(name)));
        for name in &names {
            let beginning = line.pattern_up_to(name, &names, &numbers);
            let is_part = split(name).is_some();
            let word = self.cli.negation.word();
            let position = SecretPosition::new(block, &beginning, word, is_part);
            self.found.extend(position);
        }
    }
}

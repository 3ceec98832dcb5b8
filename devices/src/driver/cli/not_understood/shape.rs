//! The beginnings by which lines of a type are recognized.

use std::borrow::Cow;

use super::super::CliType;
use super::super::attribute_lines::begins_with;
use super::super::rules::{CliAttributeRule, CliLocation, TextBody};
use super::super::template::{Bindings, LineTemplate};
use crate::model::ValueSpec;
use crate::read::indent::Node;

/// The beginning of the lines of an instance or an attribute.
pub(super) struct Shape<'a> {
    pub(super) opening: Opening<'a>,
    /// The attribute; `None` for the instance.
    pub(super) rule: Option<&'a CliAttributeRule>,
}

pub(super) enum Opening<'a> {
    Template(&'a LineTemplate),
    /// The header of a block, or the common beginning of lines.
    Header(&'a LineTemplate),
    Words(&'a str),
    /// The beginning of lines whose existence is the value.
    Beginning(&'a LineTemplate),
    /// The common beginning of lines that stand for values.
    ValueHead(&'a LineTemplate),
}

/// A line that begins like a shape.
pub(super) struct Candidate<'a> {
    pub(super) rule: Option<&'a CliAttributeRule>,
    pub(super) template: Option<&'a LineTemplate>,
    pub(super) bindings: Bindings,
    pub(super) is_header: bool,
    /// Only the words before the value match.
    pub(super) is_value_head: bool,
    /// All parts match, at least one of them with a value: the line has further words.
    pub(super) is_identified: bool,
}

impl CliType {
    /// Finds the common beginnings of lines that stand for values.
    pub(in crate::driver::cli) fn find_value_heads(&mut self) {
        let names: Vec<String> = self.line_names().into_iter().map(str::to_owned).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for rule in self.attributes.values_mut() {
            let lines: Vec<&LineTemplate> = rule.set.values().flatten().collect();
            let mut heads: Vec<LineTemplate> = Vec::new();
            for (index, line) in lines.iter().enumerate() {
                let others = lines[index + 1..].iter();
                for head in others.filter_map(|other| line.common_head(other, &names)) {
                    let is_known = heads.iter().any(|known| known.is_like(&head));
                    // Lines that remove are those of several attributes.
                    if !is_known && self.negation.positive(&head.text).is_none() {
                        heads.push(head);
                    }
                }
            }
            rule.value_heads = heads;
        }
    }

    /// Whether a line has a keyword where the template has a number, and other lines of the type have
    /// keywords there, too: `ip ospf prefix-suppression` beside `ip ospf {process}` and `ip ospf cost`.
    fn has_other_keyword(&self, template: &LineTemplate, text: &str) -> bool {
        let Some((head, attribute)) = template.placeholder_behind_head() else {
            return false;
        };
        let is_number = self
            .model
            .attributes
            .get(attribute)
            .is_some_and(|attribute| {
                let is_number = |spec: &ValueSpec| matches!(spec, ValueSpec::Integer { .. });
                let mut specs = attribute.values.iter();
                specs.clone().any(is_number)
                    && specs.all(|spec| {
                        is_number(spec) || attribute.default_word.as_deref() == Some(&*spec.name())
                    })
            });
        let words = head.split_whitespace().count();
        let word = text.split_whitespace().nth(words);
        let is_keyword =
            word.is_some_and(|word| !word.starts_with(|first: char| first.is_ascii_digit()));
        let lines = self.attributes.values().flat_map(|rule| &rule.lines);
        let mut heads = lines.map(LineTemplate::head);
        is_number && is_keyword && heads.any(|other| begins_with(&other, &head) && other != head)
    }

    /// The beginnings of the lines of attributes.
    pub(super) fn attribute_shapes<'a>(
        &'a self,
        concerned: &dyn Fn(&CliAttributeRule) -> bool,
    ) -> Vec<Shape<'a>> {
        let mut shapes = Vec::new();
        for rule in self.attributes.values().filter(|rule| concerned(rule)) {
            let mut add = |opening| {
                shapes.push(Shape {
                    opening,
                    rule: Some(rule),
                });
            };
            match &rule.location {
                CliLocation::Lines => {
                    let set = rule.set.values().flatten();
                    let lines = set.chain(&rule.lines).chain(&rule.more);
                    lines.for_each(|line| add(Opening::Template(line)));
                    let heads = rule.value_heads.iter();
                    heads.for_each(|head| add(Opening::ValueHead(head)));
                }
                CliLocation::Body(TextBody::After { words, .. }) => add(Opening::Words(words)),
                CliLocation::Exists(texts) => {
                    texts.iter().for_each(|text| add(Opening::Beginning(text)));
                }
                _ => {}
            }
        }
        shapes
    }
}

impl<'a> Shape<'a> {
    /// The line of an instance.
    pub(super) fn of_instance(template: &'a LineTemplate) -> Self {
        Self {
            opening: Opening::Template(template),
            rule: None,
        }
    }

    /// The header of a block, or the common beginning of lines.
    pub(super) fn of_header(template: &'a LineTemplate) -> Self {
        Self {
            opening: Opening::Header(template),
            rule: None,
        }
    }

    fn template(&self) -> Option<&'a LineTemplate> {
        match self.opening {
            Opening::Template(template)
            | Opening::Header(template)
            | Opening::ValueHead(template) => Some(template),
            Opening::Words(_) | Opening::Beginning(_) => None,
        }
    }

    /// The line without the `no` of an attribute whose `no` form the device prints.
    fn positive<'t>(&self, cli: &CliType, text: &'t str) -> Cow<'t, str> {
        let is_on = self.rule.is_some_and(|rule| rule.prints_only_no());
        let positive = cli.negation.positive(text).filter(|_| is_on);
        positive.unwrap_or(Cow::Borrowed(text))
    }

    pub(super) fn reads(&self, cli: &CliType, node: &Node) -> bool {
        match (&self.opening, self.rule) {
            (Opening::ValueHead(_), _) => false,
            (Opening::Template(template) | Opening::Header(template), Some(_)) => template
                .read_known(&self.positive(cli, &node.text), cli)
                .is_some(),
            (Opening::Template(template) | Opening::Header(template), None) => template
                .read(&self.positive(cli, &node.text), cli)
                .is_some(),
            (Opening::Words(_) | Opening::Beginning(_), rule) => {
                rule.is_some_and(|rule| cli.read_line(rule, node).is_some())
            }
        }
    }

    /// Whether a line has the literal words of the shape.
    pub(super) fn begins(&self, cli: &CliType, node: &Node) -> bool {
        let text = self.positive(cli, &node.text);
        match self.opening {
            Opening::Template(template) | Opening::ValueHead(template) => {
                template.begins_with_names(&cli.line_names(), &text, cli)
                    && !cli.has_other_keyword(template, &text)
            }
            Opening::Header(template) => template.begins(&text) && template.has_literals(&text),
            Opening::Words(words) => begins_with(&text, words),
            Opening::Beginning(template) => template.read_start(&text, cli).is_some(),
        }
    }

    /// A line that begins like the shape.
    pub(super) fn candidate(&self, cli: &CliType, node: &Node) -> Candidate<'a> {
        let partial = self
            .template()
            .map(|template| template.read_beginning(&self.positive(cli, &node.text), cli));
        Candidate {
            is_header: matches!(self.opening, Opening::Header(_)),
            is_value_head: matches!(self.opening, Opening::ValueHead(_)),
            rule: self.rule,
            template: self.template(),
            is_identified: !matches!(self.opening, Opening::ValueHead(_))
                && partial
                    .as_ref()
                    .is_some_and(|partial| partial.has_all_parts)
                && self.template().is_some_and(LineTemplate::has_placeholder),
            bindings: partial.map(|partial| partial.bindings).unwrap_or_default(),
        }
    }
}

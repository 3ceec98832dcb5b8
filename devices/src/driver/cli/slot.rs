//! Slots: the forms that lines of a type have.
//!
//! A slot reads a line of an attribute, or of an instance, and tells whether a line only begins like it.
//! Whatever reads, searches or claims lines goes through the slots.

use super::CliType;
use super::attribute_lines::begins_with;
use super::rules::CliAttributeRule;
use super::template::{Bindings, LineTemplate, Vocabulary, value_parts};
use crate::model::ValueSpec;
use crate::read::indent::Node;
use crate::value::{Name, Value};

/// A form of the lines of an attribute, or of the lines of an instance.
#[derive(Clone, Copy)]
pub(super) struct Slot<'a> {
    /// The attribute; `None` for the instance.
    pub(super) rule: Option<&'a CliAttributeRule>,
    pub(super) form: SlotForm<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum SlotForm<'a> {
    /// A line that has the value, or that stands for the value with this name.
    Line(&'a LineTemplate, Option<&'a str>),
    /// A global line with the default of instances.
    Default(&'a LineTemplate),
    /// The header of a block, or the common beginning of lines.
    Header(&'a LineTemplate),
    /// The header of an inner block.
    InnerHeader(&'a str),
    /// The words before a text.
    Text(&'a str),
    /// The beginning of lines whose existence is the value.
    Beginning(&'a LineTemplate),
    /// The common beginning of lines that stand for values.
    ValueHead(&'a LineTemplate),
}

/// The values in a line of a slot, as its template has them.
pub(super) struct SlotMatch {
    pub(super) bindings: Bindings,
    /// The line is the one that removes, and the device prints no other.
    is_negated: bool,
}

/// A line that begins like a slot.
pub(super) struct Candidate<'a> {
    pub(super) slot: Slot<'a>,
    pub(super) bindings: Bindings,
    /// All parts match, at least one of them with a value: the line has further words.
    pub(super) is_identified: bool,
}

impl Candidate<'_> {
    /// Whether only the words before the value match.
    pub(super) fn is_value_head(&self) -> bool {
        matches!(self.slot.form, SlotForm::ValueHead(_))
    }

    /// Whether a value is a word that belongs to another line. It may be no valid value of the attribute.
    pub(super) fn is_of_other_line(&self, cli: &CliType, node: &Node) -> bool {
        let template = self.slot.template();
        let first = template.and_then(|line| line.first_value(&node.text));
        cli.has_skipped(&self.bindings)
            || first.is_some_and(|(name, words)| {
                // A name may have several words.
                let mut names = (1..=words.len()).map(|length| words[..length].join(" "));
                words.first().is_some_and(|word| {
                    cli.skips(name, word)
                        || names.all(|text| cli.is_of_other_type(name, &text.into()))
                })
            })
    }

    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        self.is_identified && !other.is_identified || other.is_value_head() && !self.is_value_head()
    }
}

impl CliAttributeRule {
    /// The forms of its lines, in the order in which they are read.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot<'_>> {
        let set = self.set.iter();
        let set = set.filter_map(|(name, line)| Some((line.as_ref()?, Some(name.as_str()))));
        let lines = self.lines.iter().chain(&self.more).map(|line| (line, None));
        let lines = self
            .is_set_by_lines()
            .then(|| set.chain(lines))
            .into_iter()
            .flatten();
        let lines = lines.map(|(line, value)| SlotForm::Line(line, value));
        let heads = self.value_heads.iter().map(SlotForm::ValueHead);
        let beginnings = self.beginnings().iter().map(SlotForm::Beginning);
        let forms = lines.chain(heads).chain(beginnings);
        forms
            .chain(self.words_of_text().map(SlotForm::Text))
            .map(|form| Slot {
                rule: Some(self),
                form,
            })
    }
}

impl CliType {
    /// The values of an attribute in a line, and of the attributes that share its lines.
    pub(super) fn read_line(&self, rule: &CliAttributeRule, node: &Node) -> Option<Bindings> {
        let found = rule
            .slots()
            .find_map(|slot| Some((slot, slot.read(self, node)?)));
        match found {
            Some((slot, found)) => self.values_of(rule, slot.form, found),
            None => empty_text(rule, &node.text),
        }
    }

    fn values_of(
        &self,
        rule: &CliAttributeRule,
        form: SlotForm<'_>,
        found: SlotMatch,
    ) -> Option<Bindings> {
        let with_own = |value: Value, bindings: Bindings| {
            let own = [(rule.name.clone(), value)].into_iter();
            own.chain(bindings).collect::<Bindings>()
        };
        let SlotMatch {
            bindings,
            is_negated,
        } = found;
        let is_own = |(name, _): &(Name, Value)| value_parts::attribute_of(name) == &*rule.name;
        match form {
            _ if is_negated => Some(with_own(false.into(), bindings)),
            SlotForm::Line(line, Some(_)) if bindings.iter().any(is_own) => {
                self.own_value(rule, line, bindings)
            }
            SlotForm::Line(_, Some(value)) => {
                Some(with_own(self.named_value(&rule.name, value)?, bindings))
            }
            SlotForm::Line(line, None) => {
                let bindings = self.own_value(rule, line, bindings)?;
                let is_skipped = |(name, value): &(Name, Value)| {
                    let text = || self.write(name, value);
                    *name == rule.name && text().is_some_and(|text| rule.skip.contains(&text))
                };
                (rule.skip.is_empty() || !bindings.iter().any(is_skipped)).then_some(bindings)
            }
            SlotForm::Beginning(_) => Some(with_own(true.into(), Bindings::new())),
            SlotForm::Text(_) => Some(bindings),
            SlotForm::Default(_)
            | SlotForm::Header(_)
            | SlotForm::InnerHeader(_)
            | SlotForm::ValueHead(_) => None,
        }
    }

    /// The bindings of a line, with the parts of the attribute's value joined to one of its values.
    fn own_value(
        &self,
        rule: &CliAttributeRule,
        line: &LineTemplate,
        mut bindings: Bindings,
    ) -> Option<Bindings> {
        let own = match value_parts::joined(&rule.name, &mut bindings) {
            None if line.has_attribute(&rule.name) => return Some(bindings),
            None => Value::Bool(true),
            Some(joined) => {
                let model = self.model.attributes.get(&rule.name)?;
                match joined {
                    // The parts are the elements of the complete list.
                    Value::List(items) if model.array.is_some() && !rule.many => {
                        let items = items.iter().map(|item| model.canonicalize_element(item));
                        Value::List(items.collect::<Option<_>>()?)
                    }
                    one if rule.many => Value::List(vec![model.canonicalize_element(&one)?]),
                    one => model.canonicalize_element(&one)?,
                }
            }
        };
        bindings.insert(0, (rule.name.clone(), own));
        Some(bindings)
    }

    /// Finds the common beginnings of lines that stand for values.
    pub(super) fn find_value_heads(&mut self) {
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
}

/// Some devices keep the line of a text that became empty.
pub(super) fn empty_text(rule: &CliAttributeRule, text: &str) -> Option<Bindings> {
    let mut lines = rule
        .lines
        .iter()
        .filter(|_| !rule.many && rule.is_set_by_lines());
    let is_empty = lines.any(|line| line.is_without_text(&rule.name, text));
    let absent = rule.absent.clone().filter(|_| is_empty)?;
    Some(vec![(rule.name.clone(), absent)])
}

impl<'a> Slot<'a> {
    /// The line of an instance.
    pub(super) fn of_instance(template: &'a LineTemplate) -> Self {
        Self {
            rule: None,
            form: SlotForm::Line(template, None),
        }
    }

    /// The header of a block, or the common beginning of lines.
    pub(super) fn of_header(template: &'a LineTemplate) -> Self {
        Self {
            rule: None,
            form: SlotForm::Header(template),
        }
    }

    pub(super) fn template(&self) -> Option<&'a LineTemplate> {
        match self.form {
            SlotForm::Line(template, _)
            | SlotForm::Default(template)
            | SlotForm::Header(template)
            | SlotForm::ValueHead(template) => Some(template),
            SlotForm::InnerHeader(_) | SlotForm::Text(_) | SlotForm::Beginning(_) => None,
        }
    }

    /// What its template reads in a line; `None` if it is another line.
    pub(super) fn read(&self, cli: &CliType, node: &Node) -> Option<SlotMatch> {
        let found = |bindings| SlotMatch {
            bindings,
            is_negated: false,
        };
        match (self.form, self.rule) {
            (SlotForm::ValueHead(_) | SlotForm::InnerHeader(_), _) => None,
            (SlotForm::Line(line, value), Some(rule)) => {
                let off = rule.prints_only_no() && value.is_none();
                let positive = off.then(|| cli.negation.positive(&node.text)).flatten();
                if positive.is_some_and(|text| line.read(&text, cli).is_some()) {
                    return Some(SlotMatch {
                        bindings: Bindings::new(),
                        is_negated: true,
                    });
                }
                line.read_known(&node.text, cli).map(found)
            }
            (SlotForm::Line(line, _) | SlotForm::Header(line) | SlotForm::Default(line), _) => {
                line.read(&node.text, cli).map(found)
            }
            (SlotForm::Beginning(text), _) => {
                let (bindings, _) = text.read_start(&node.text, cli)?;
                Some(found(bindings))
            }
            (SlotForm::Text(words), rule) => {
                let body = node.body.as_deref()?;
                let start = node.text.get(..words.len())?;
                let value = Value::from(body.trim_matches('\n'));
                let own = rule.map(|rule| (rule.name.clone(), value));
                let is_own = start.eq_ignore_ascii_case(words);
                is_own.then(|| found(own.into_iter().collect()))
            }
        }
    }

    /// Whether a line has the literal words of the slot.
    pub(super) fn begins(&self, cli: &CliType, node: &Node) -> bool {
        let text = self.positive(cli, &node.text);
        match self.form {
            SlotForm::Line(template, _) | SlotForm::ValueHead(template) => {
                template.begins_with_names(&cli.line_names(), &text, cli)
                    && !cli.has_other_keyword(template, &text)
            }
            SlotForm::Default(template) => template.begins(&text),
            SlotForm::Header(template) => template.begins(&text) && template.has_literals(&text),
            SlotForm::InnerHeader(words) | SlotForm::Text(words) => begins_with(&text, words),
            SlotForm::Beginning(template) => template.read_start(&text, cli).is_some(),
        }
    }

    /// A line that begins like the slot.
    pub(super) fn candidate(self, cli: &CliType, node: &Node) -> Candidate<'a> {
        let template = self.template();
        let partial =
            template.map(|template| template.read_beginning(&self.positive(cli, &node.text), cli));
        let has_all_parts = partial
            .as_ref()
            .is_some_and(|partial| partial.has_all_parts);
        Candidate {
            slot: self,
            is_identified: has_all_parts
                && !matches!(self.form, SlotForm::ValueHead(_))
                && template.is_some_and(LineTemplate::has_placeholder),
            bindings: partial.map(|partial| partial.bindings).unwrap_or_default(),
        }
    }

    /// The line without the `no` of an attribute whose `no` form the device prints.
    fn positive<'t>(&self, cli: &CliType, text: &'t str) -> std::borrow::Cow<'t, str> {
        let is_on = self.rule.is_some_and(CliAttributeRule::prints_only_no);
        let positive = cli.negation.positive(text).filter(|_| is_on);
        positive.unwrap_or(text.into())
    }
}

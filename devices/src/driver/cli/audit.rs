//! Checks of a definition beyond loading.
//!
//! * Each value of the model has a command or is declared unsupported.
//! * A template reads back the values that it writes, for example values of each kind and for every
//!   subset of its optional parts (up to a limit).
//! * No two attributes match one line.
//! * The `no` form of a line removes the line that the template reads, and has one `no`.

use std::ops::Range;

use super::CliType;
use super::block_path::BlockPath;
use super::rules::CliAttributeRule;
use super::template::{
    Bindings, CAPTURE_MARK, LineTemplate, Vocabulary, trailing_number, value_parts,
};
use crate::diagnostic::Diagnostic;
use crate::model::{AttributeModel, Role, ValueSpec};
use crate::read::indent::Node;
use crate::value::{Attributes, Value};

/// Maximum number of attributes for which all subsets are tested. With more, each is omitted once.
const SUBSET_LIMIT: usize = 6;

impl CliType {
    pub(super) fn findings(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        self.check_values(&mut findings);
        self.check_words(&mut findings);
        self.check_round_trips(&mut findings);
        self.check_claims(&mut findings);
        self.check_shared_value_lines(&mut findings);
        self.check_doubled_negation(&mut findings);
        findings
    }

    pub(super) fn finding(
        &self,
        code: &'static str,
        span: &Range<usize>,
        message: String,
    ) -> Diagnostic {
        Diagnostic::error(code, message).at(&self.source, span.clone(), "")
    }

    /// Whether only the line that creates an instance sets the attribute.
    pub(super) fn is_set_on_creation(&self, name: &str) -> bool {
        let model = self.model.attributes.get(name);
        let mut create = self.instance.create.iter();
        model.is_some_and(|model| model.role == Role::InitOnly)
            && create.any(|line| line.has_attribute(name))
    }

    /// Checks read(write(v)) = v.
    fn check_round_trips(&self, findings: &mut Vec<Diagnostic>) {
        let kind = &self.instance.kind;
        let headers = kind.paths().iter().take(1).flat_map(BlockPath::templates);
        for template in headers.chain(kind.prefix()).chain(kind.lines().first()) {
            self.round_trip(template, &self.instance.span, findings);
        }
        for rule in self.attributes.values() {
            if !rule.is_applied() || rule.inside.is_some() {
                continue;
            }
            for template in rule.lines.iter().take(1) {
                self.round_trip(template, &rule.span, findings);
            }
            if let Some(line) = rule.default_line() {
                self.round_trip(line, &rule.span, findings);
            }
            if rule.has_own_lines() {
                self.check_no_form(rule, findings);
            }
        }
    }

    fn round_trip(
        &self,
        template: &LineTemplate,
        span: &Range<usize>,
        findings: &mut Vec<Diagnostic>,
    ) {
        let required = template.required();
        let mut optional = template.placeholders();
        optional.retain(|name| !required.contains(name));
        for left_out in subsets(&optional) {
            for variant in 0..3 {
                let mut values = self.examples_in(template, variant);
                values.retain(|name, _| !left_out.contains(&name.as_str()));
                let Some(written) = template.write(&|name| values.get(name), self) else {
                    continue;
                };
                let text = written.reveal();
                let read = template.read(&text, self);
                if read
                    .as_ref()
                    .is_some_and(|read| self.agrees(read, &values, &text, template))
                {
                    continue;
                }
                let message = "the line template does not read back what it writes".to_owned();
                let rendered = read.map_or_else(
                    || "nothing".to_owned(),
                    |read| {
                        let rendered = read
                            .iter()
                            .map(|(name, value)| format!("{name}={}", value.inspect()));
                        rendered.collect::<Vec<_>>().join(" ")
                    },
                );
                let help = format!("wrote  {text}\nread   {rendered}");
                findings.push(self.finding("round-trip", span, message).help(help));
                return;
            }
        }
    }

    /// Whether the read values equal the written ones. Alternatives write a part of the values.
    fn agrees(
        &self,
        read: &Bindings,
        values: &Attributes,
        text: &str,
        template: &LineTemplate,
    ) -> bool {
        let same = read.iter().all(|(name, value)| {
            if name.starts_with(CAPTURE_MARK) {
                return false;
            }
            if let Some(name) = name.strip_suffix("|number") {
                let own = values
                    .get(name)
                    .map(Value::unwrap_sensitive)
                    .and_then(Value::as_str)
                    .and_then(trailing_number);
                return own == value.as_str();
            }
            let value = self.finished(name, value.clone());
            match values.get(name) {
                Some(part) if value_parts::split(name).is_some() => {
                    part.scalar_text() == value.scalar_text()
                }
                Some(desired) => self.finished(name, desired.clone()) == value,
                None => value == Value::Bool(false),
            }
        });
        let values: Attributes = read
            .iter()
            .map(|(name, value)| (name.into(), value.clone()))
            .chain(values.iter().filter_map(|(name, value)| {
                let number = format!("{name}|number");
                let named = read.iter().any(|(name, _)| *name == number);
                named.then(|| (name.clone(), value.clone()))
            }))
            .collect();
        let again = template.write(&|name| values.get(name), self);
        same && again.is_some_and(|again| again.reveal() == text)
    }

    /// The `no` form must be a prefix of the line that the template reads, or a separate line. A line
    /// that begins with the negation has a form without it.
    fn check_no_form(&self, rule: &CliAttributeRule, findings: &mut Vec<Diagnostic>) {
        let (Some(no), Some(line)) = (rule.own_no(), rule.lines.first()) else {
            return;
        };
        let values = self.examples_in(line, 0);
        let write = |template: &LineTemplate| template.write(&|name| values.get(name), self);
        let (Some(text), Some(no)) = (write(line), write(no)) else {
            return;
        };
        let (text, no) = (text.reveal(), no.reveal());
        let target = self.negation.positive(&text);
        let target = target.as_deref().unwrap_or(&text);
        let positive = self.negation.positive(&no);
        let rest = positive
            .as_deref()
            .or_else(|| super::attribute_lines::without_default(&no));
        let removes = rest.is_some_and(|rest| super::attribute_lines::begins_with(target, rest));
        // Lines with the names may be removed by any word: `configure vlan x delete ports 1`.
        let has_own_verb = rest.is_none() && self.instance.kind.named().is_some();
        if !removes && !has_own_verb {
            let message = format!("the `no` form of {} does not remove its line", rule.name);
            let help = format!("line  {text}\nno    {no}");
            findings.push(self.finding("no-form", &rule.span, message).help(help));
        }
    }

    /// No line removes a line that removes, and each line can be removed.
    fn check_doubled_negation(&self, findings: &mut Vec<Diagnostic>) {
        let negation = &self.negation;
        let mut check = |span: &Range<usize>, line: &str| {
            if negation.is_doubled(line) {
                let message = format!("the line `{line}` has `{}` twice", negation.word());
                findings.push(self.finding("doubled-negation", span, message).help(
                    "write a line for each value with `set.VALUE`, or the line that removes with `no` or `remove`",
                ));
            }
        };
        let instance = &self.instance;
        if instance.remove.is_empty() && !instance.is_permanent && self.model.is_ensurable() {
            for line in instance
                .kind
                .lines()
                .first()
                .into_iter()
                .chain(instance.kind.prefix())
            {
                check(
                    &instance.span,
                    &negation.negative(line.text.as_str().into()).reveal(),
                );
            }
        }
        for line in instance.remove.iter().chain(&instance.create) {
            check(&instance.span, &line.text);
        }
        for rule in self.attributes.values().filter(|rule| rule.is_applied()) {
            let negated = || {
                let line = rule.lines.first().filter(|_| rule.inside.is_none());
                line.map(|line| negation.negative(line.text.as_str().into()).reveal())
            };
            let no = rule.own_no().map(|no| no.text.clone());
            let lines = rule.value_lines().map(|line| line.text.clone());
            for line in lines.chain(no.or_else(negated)) {
                check(&rule.span, &line);
            }
        }
        self.check_replaced_word(findings);
    }

    /// Lines that the word for the removal is put before begin with the word that it replaces.
    fn check_replaced_word(&self, findings: &mut Vec<Diagnostic>) {
        let Some(replaced) = self.negation.replaced() else {
            return;
        };
        for rule in self.attributes.values().filter(|rule| rule.is_applied()) {
            let is_negated = rule.own_no().is_none() && rule.inside.is_none();
            let mut lines = rule.lines.iter().take(1).filter(|_| is_negated);
            let other = lines.find(|line| {
                let first = line.text.split_whitespace().next();
                !first.is_some_and(|word| word.eq_ignore_ascii_case(replaced))
            });
            if let Some(line) = other {
                let message = format!(
                    "`{}` does not begin with `{replaced}`, which `{}` replaces",
                    line.text,
                    self.negation.word()
                );
                let help = format!(
                    "add the line that removes it as `no` of [attr.{}]",
                    rule.name
                );
                findings.push(self.finding("no-form", &rule.span, message).help(help));
            }
        }
    }

    /// No two values of an attribute have one line: the device shows the first of them.
    fn check_shared_value_lines(&self, findings: &mut Vec<Diagnostic>) {
        for rule in self.attributes.values().filter(|rule| rule.is_applied()) {
            let set = || {
                rule.set
                    .iter()
                    .filter_map(|(name, line)| Some((name, line.as_ref()?)))
            };
            for (index, (name, line)) in set().enumerate() {
                let mut before = set().take(index);
                let Some((other, _)) = before.find(|(_, other)| other.is_like(line)) else {
                    continue;
                };
                let message = format!(
                    "`{other}` and `{name}` of {} have the same line `{}`",
                    rule.name, line.text
                );
                findings.push(
                    self.finding("line-of-two-values", &rule.span, message)
                        .help("write another line for one of them, or remove it"),
                );
            }
        }
    }

    /// No two attributes match one line.
    fn check_claims(&self, findings: &mut Vec<Diagnostic>) {
        let rules: Vec<&CliAttributeRule> = self
            .attributes
            .values()
            .filter(|rule| rule.has_own_lines() && rule.inside.is_none())
            .collect();
        for rule in &rules {
            for template in rule.value_lines() {
                let values = self.examples_in(template, 0);
                let Some(text) = template.write(&|name| values.get(name), self) else {
                    continue;
                };
                let node = Node::new(text.reveal());
                let other = rules.iter().find(|other| {
                    other.name != rule.name
                        && self.share_block(rule, other)
                        && self.read_line(other, &node).is_some()
                });
                if let Some(other) = other {
                    let message = format!(
                        "{1} and {2} both match the line `{0}`",
                        node.text, rule.name, other.name
                    );
                    findings.push(self.finding("line-claimed-twice", &rule.span, message).at(
                        &self.source,
                        other.span.clone(),
                        "also here",
                    ));
                }
            }
        }
    }

    /// Whether the lines of two attributes can stand in one block.
    fn share_block(&self, rule: &CliAttributeRule, other: &CliAttributeRule) -> bool {
        let spellings = self.instance.kind.paths().len().max(1);
        (0..spellings).any(|spelling| rule.sub(spelling) == other.sub(spelling))
    }

    /// Example values of the placeholders of a line.
    fn examples_in(&self, template: &LineTemplate, variant: usize) -> Attributes {
        let names = template.placeholders().into_iter();
        let values = names.filter_map(|name| Some((name.to_owned(), self.example(name, variant)?)));
        values.collect()
    }

    /// An example value of an attribute as it appears in a line; `turn` selects its kind.
    pub(super) fn example(&self, name: &str, variant: usize) -> Option<Value> {
        if let Some((attribute, part)) = value_parts::split(name) {
            return self.example_of_part(attribute, part, variant);
        }
        let Some(model) = self.model.attributes.get(name) else {
            return Some("x1".into());
        };
        let examples = self.examples(name, model);
        if examples.is_empty() {
            return None;
        }
        let value = examples[variant % examples.len()].clone();
        let ranges = super::rules::range_set(self.codecs.get(name)).is_some();
        let is_in_words = model.array.is_some() && !ranges;
        Some(if is_in_words && self.takes_words(name) {
            Value::List(vec![value])
        } else {
            value
        })
    }

    /// An example of an element or a field.
    fn example_of_part(&self, attribute: &str, part: &str, variant: usize) -> Option<Value> {
        let model = self.model.attributes.get(attribute)?;
        let specs = model.values.iter().find_map(|spec| match spec {
            ValueSpec::Tuple { items, .. } => items.get(part.parse::<usize>().ok()?),
            ValueSpec::Struct { fields, .. } => Some(&fields.get(part)?.values),
            _ => None,
        });
        let values = specs.unwrap_or(&model.values).clone();
        let model = AttributeModel {
            values,
            array: None,
            ..model.clone()
        };
        let examples = self.examples(&format!("{attribute}.{part}"), &model);
        (!examples.is_empty()).then(|| examples[variant % examples.len()].clone())
    }

    /// Example values as they appear in a line.
    fn examples(&self, name: &str, model: &AttributeModel) -> Vec<Value> {
        let mut examples: Vec<Value> = Vec::new();
        for spec in &model.values {
            match spec {
                ValueSpec::Literal(Value::Bool(false)) => {}
                ValueSpec::Literal(value) if model.is_unset(value) => {}
                ValueSpec::Literal(value) => examples.push(value.clone()),
                ValueSpec::Integer { low, high, .. } => {
                    let low = (*low).max(1).min(*high);
                    examples.push(low.into());
                    examples.push((*high).min(low + 1000).into());
                }
                ValueSpec::Pattern { .. } => {
                    let texts = [
                        "text-1",
                        "7",
                        "10.0.0.1",
                        "2001:db8::1",
                        "10.0.0.0/8",
                        "1-3,5",
                        "Vlan10",
                        "A1",
                        "1:1",
                        "+ack",
                        "/Common/x",
                        "10g",
                        "Port-channel1",
                    ];
                    let accepted = texts.iter().map(|text| Value::from(*text));
                    examples.extend(accepted.filter(|text| {
                        model.kind_of(text).map(ValueSpec::name) == Some(spec.name())
                    }));
                }
                ValueSpec::Numbers { low, .. } => examples.push(low.to_string().into()),
                ValueSpec::Struct { .. } | ValueSpec::Tuple { .. } => {}
            }
        }
        if model.values.is_empty() {
            examples.push("text-1".into());
        }
        // The device's spelling of the value.
        let readable = examples.into_iter().filter_map(|value| {
            let canonical = match self.codecs.get(name) {
                Some(codec) => codec.canonicalize(&value).ok()?,
                None => value,
            };
            let text = self.write(name, &canonical)?;
            self.read(name, &text)
        });
        readable.collect()
    }

    fn takes_words(&self, name: &str) -> bool {
        let own = self.attributes.values().flat_map(|rule| &rule.lines);
        let mut lines = self.instance.kind.lines().iter().chain(own);
        lines.any(|line| line.takes_blanks(name))
    }
}

/// All subsets of the names; if these are too many, each name alone and all names.
fn subsets<'a>(names: &[&'a str]) -> Vec<Vec<&'a str>> {
    if names.len() > SUBSET_LIMIT {
        let each = names.iter().map(|name| vec![*name]);
        let others = names.iter().map(|chosen| {
            names
                .iter()
                .copied()
                .filter(|name| name != chosen)
                .collect()
        });
        return each
            .chain(others)
            .chain([Vec::new(), names.to_vec()])
            .collect();
    }
    (0..1usize << names.len())
        .map(|mask| {
            let chosen = names
                .iter()
                .enumerate()
                .filter(|(index, _)| mask >> index & 1 == 1);
            chosen.map(|(_, name)| *name).collect()
        })
        .collect()
}

//! How a type is read and written, as text for users.

use super::CliType;
use super::rules::{CliAttributeRule, CliLocation, InstanceKind, NamedLines, NoForm, TextBody};
use crate::driver::explanation::{AttributeExplanation, Explanation};
use crate::model::Role;
use crate::secret::Text;
use crate::value::Value;

impl CliType {
    pub(super) fn explanation(&self) -> Explanation {
        let rule = &self.instance;
        let mut instance = vec![("read from".to_owned(), rule.from.clone())];
        let mut add = |what: &str, text: String| instance.push((what.to_owned(), text));
        match &rule.kind {
            InstanceKind::Singleton(_) => {
                add("instance", "exactly one, under any title".to_owned())
            }
            InstanceKind::Row { key, enter, .. } => {
                for (attribute, column) in key {
                    add("key", format!("{attribute} from {column}"));
                }
                if let Some(enter) = enter {
                    add("create", enter.text.clone());
                }
            }
            kind => {
                if !kind.paths().is_empty() {
                    add("block", texts(kind.paths().iter().map(|path| &path.text)));
                }
                match kind.named() {
                    Some(NamedLines {
                        prefix: Some(prefix),
                        ..
                    }) => add("prefix", one_line(&prefix.text)),
                    Some(lines) => add("lines with", lines.names.join(", ")),
                    None => {}
                }
                if let InstanceKind::Line { spellings, .. } = kind {
                    add("line", texts(spellings.iter().map(|line| &line.text)));
                }
            }
        }
        if let Some(mode) = &rule.mode {
            add("mode", mode.text.clone());
        }
        if !rule.create.is_empty() {
            let lines: Vec<_> = rule.create.iter().map(|line| line.text.as_str()).collect();
            add("create", lines.join(", then "));
        }
        if !rule.remove.is_empty() {
            let lines: Vec<_> = rule.remove.iter().map(|line| line.text.as_str()).collect();
            add("remove", lines.join(", then "));
        }
        if let Some(reserved) = &rule.reserved {
            add(
                "reserved",
                format!("{} {}", reserved.attribute, reserved.text),
            );
        }
        if let Some(refresh) = &self.refresh {
            let lines: Vec<_> = refresh.templates().map(|line| line.text.trim()).collect();
            add("refresh", lines.join(", then "));
        }
        let attributes = self.model.attributes.values();
        Explanation {
            reads: self.requests.clone(),
            instance,
            attributes: attributes
                .filter(|model| model.role != Role::Parameter)
                .filter_map(|model| self.explain_attribute(&model.name))
                .collect(),
        }
    }

    /// A line that removes, for people.
    fn negative(&self, line: &str) -> String {
        self.negation.negative(Text::plain(line)).to_string()
    }

    /// Whether an attribute has a value that removes its line. A line of `set` for the value is sent instead.
    fn can_be_removed(&self, rule: &CliAttributeRule) -> bool {
        let Some(model) = self.model.attributes.get(&rule.name) else {
            return rule.absent.is_some() || rule.many || rule.replace_first;
        };
        let word = model.default_word.as_ref();
        let word = word.map(|word| Value::from(word.as_str()));
        let values = [rule.absent.clone(), word, Some(false.into())];
        let values = values.into_iter().flatten();
        let mut removing = values.filter_map(|value| model.canonicalize(&value).ok());
        let is_sent = |value: &Value| self.named(&rule.set, &rule.name, value).is_some();
        rule.many || rule.replace_first || removing.any(|value| !is_sent(&value))
    }

    fn explain_attribute(&self, name: &str) -> Option<AttributeExplanation> {
        let mut explanation = AttributeExplanation {
            name: name.to_owned(),
            ..AttributeExplanation::default()
        };
        let Some(rule) = self.attributes.get(name) else {
            if name == "ensure" {
                return None;
            }
            explanation.read.push("part of the instance".to_owned());
            return Some(explanation);
        };
        let read = &mut explanation.read;
        match &rule.location {
            CliLocation::Lines => {
                read.extend(rule.lines.iter().map(|line| line.text.clone()));
                if rule.prints_only_no() {
                    read.extend(rule.lines.iter().map(|line| self.negative(&line.text)));
                }
                let set = rule.set.values().flatten();
                read.extend(set.map(|line| line.text.clone()));
            }
            CliLocation::Instance => read.push("part of the instance's line".to_owned()),
            CliLocation::Cell(cell) => read.push(format!("column {}", cell.name)),
            CliLocation::Body(TextBody::After { words, .. }) => {
                read.push(format!("the text after `{words}`"))
            }
            CliLocation::Body(TextBody::UpTo { end }) => {
                read.push(format!("the text of the block up to `{end}`"))
            }
            CliLocation::Exists(texts) => {
                let texts: Vec<_> = texts.iter().map(|line| line.text.as_str()).collect();
                read.push(format!("any line that begins with {}", texts.join(" or ")))
            }
            CliLocation::Elsewhere(block) => {
                read.extend(
                    rule.lines
                        .iter()
                        .map(|line| format!("{} in {}", line.text, block.text)),
                );
            }
            CliLocation::InnerBlock => read.push("the inner block".to_owned()),
            CliLocation::Part { of, .. } => read.push(format!("a part of {of}")),
            CliLocation::Order(order) => {
                read.push("the instance before this one".to_owned());
                let write = &mut explanation.write;
                let none = rule.absent.as_ref().map(Value::inspect);
                write.push((none.unwrap_or_default(), order.before.text.clone()));
                write.push(("any".to_owned(), order.after.text.clone()));
            }
            CliLocation::Nowhere => {}
        }
        if let Some(other) = &rule.default_cell {
            read.push(format!("else {}, column {}", other.read, other.cell.name));
        }
        if let Some(line) = rule.default_line() {
            read.push(format!("else the global line {}", line.text));
        }
        for default in &rule.default_values {
            let only = default.only.iter();
            let only: Vec<_> = only
                .map(|(name, pattern)| format!("{name} matches {}", pattern.as_str()))
                .collect();
            let value = default.value.inspect();
            read.push(format!("else {value} if {}", only.join(" and ")));
        }
        let absent = rule.absent.as_ref();
        if let Some(absent) = absent.filter(|_| rule.order().is_none()) {
            read.push(format!("no line means {}", absent.inspect()));
        }
        for (value, line) in &rule.set {
            let line = line.as_ref().map(|line| line.text.clone());
            let line = line.unwrap_or_else(|| "nothing is sent".to_owned());
            explanation.write.push((value.clone(), line));
        }
        if let Some(line) = rule.lines.first() {
            let value = if rule.has_own_hole() { "any" } else { "true" };
            explanation
                .write
                .push((value.to_owned(), line.text.clone()));
            let no = match &rule.no {
                NoForm::Head => self.negative(&line.head_text(&self.line_names())),
                NoForm::Full if self.instance.kind.named().is_some() => self.negative(&line.text),
                NoForm::Full if rule.identity.is_some() => {
                    self.negative("BEGINNING-OF-CURRENT-LINE")
                }
                NoForm::Full => self.negative("CURRENT-LINE"),
                NoForm::Text(line) => line.text.clone(),
            };
            if self.can_be_removed(rule) {
                explanation.write.push(("removed".to_owned(), no));
            }
        }
        for sub in rule.sub.iter().filter(|sub| !sub.is_empty()) {
            explanation
                .notes
                .push(format!("in the inner block {}", sub.join(" / ")));
        }
        if let Some(outer) = &rule.inside {
            explanation
                .notes
                .push(format!("part of the line of {outer}"));
        }
        explanation.not_applied.clone_from(&rule.not_applied);
        if let Some(misleading) = &rule.misleading {
            explanation.notes.push(misleading.effect.clone());
        }
        if rule.write_only.is_some() {
            explanation.notes.push("cannot be read back".to_owned());
        }
        if rule.prompts {
            explanation
                .notes
                .push("the device may ask a question".to_owned());
        }
        Some(explanation)
    }
}

fn texts<'t>(templates: impl Iterator<Item = &'t String>) -> String {
    let texts: Vec<_> = templates.map(|template| one_line(template)).collect();
    texts.join(" or ")
}

/// A template that its file writes in several lines.
fn one_line(template: &str) -> String {
    let words: Vec<_> = template.split_whitespace().collect();
    words.join(" ")
}

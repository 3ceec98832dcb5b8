//! Problems of a resource that are found without the device.

use super::CliType;
use super::block_path::BlockPath;
use super::line_text::{LineTextError, RefusedText};
use super::render::Goal;
use super::rules::part_of;
use super::rules::{CliAttributeRule, CliLocation};
use super::template::LineTemplate;
use crate::change::{ChangeKind, Desired};
use crate::diagnostic::Severity;
use crate::driver::explanation::NotApplied;
use crate::driver::implementation::{ChangePlanner, RenderError};
use crate::driver::problem::{Problem, ProblemKind, narrowed_refusal, unsupported_refusal};
use crate::read::State;
use crate::value::{Attributes, Name, Value};

impl CliType {
    pub(super) fn problems(&self, desired: &Desired) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut error = |attribute: &str, kind: ProblemKind, message: String| {
            problems.push(problem(attribute, kind, message));
        };
        if let Some(reserved) = &self.instance.reserved
            && let Some(value) = desired.attributes.get(&reserved.attribute)
            && let Some(number) = value
                .scalar_text()
                .and_then(|text| text.parse::<i64>().ok())
            && reserved
                .ranges
                .iter()
                .any(|(low, high)| (*low..=*high).contains(&number))
        {
            error(
                &reserved.attribute,
                ProblemKind::Reserved,
                format!(
                    "{number} is reserved on {} ({})",
                    self.platform, reserved.text
                ),
            );
        }
        if self.instance.is_permanent && desired.is_absent() {
            let message = format!("an instance cannot be removed on {}", self.platform);
            error("ensure", ProblemKind::Unsupported, message);
        }
        if let Some((name, value)) = self
            .permanent_name(&desired.attributes)
            .filter(|_| desired.is_absent())
        {
            let word = self.model.default_word.as_deref();
            let help = word.map(|word| format!(": declare its attributes as `{word}`"));
            let message = format!(
                "{} belongs to the device and cannot be removed{}",
                value.inspect(),
                help.unwrap_or_default()
            );
            error(name, ProblemKind::Unsupported, message);
        }
        for (name, pattern) in &self.instance.only {
            let value = desired.attributes.get(name);
            if let Some(value) = value.filter(|value| self.is_of_other_type(name, value)) {
                let names = pattern.as_str();
                let names = names.strip_prefix("^(?:").unwrap_or(names);
                let message = format!(
                    "{} is no name of the type on {}; expected {}",
                    value.inspect(),
                    self.platform,
                    names.strip_suffix(")$").unwrap_or(names)
                );
                error(name, ProblemKind::Unsupported, message);
            }
        }
        let attributes = desired.attributes.iter();
        let attributes = attributes.map(|(name, value)| (name, value, self.attributes.get(name)));
        let attributes: Vec<(&Name, &Value, Option<&CliAttributeRule>)> = attributes.collect();
        for (name, value, rule) in &attributes {
            if let Some(rule) = rule {
                let lacking = self.model.attributes.get(*name);
                let lacking = lacking
                    .and_then(|model| unsupported_refusal(&rule.unsupported_values, model, value));
                if let Some(message) = lacking {
                    error(name, ProblemKind::Unsupported, message);
                }
                if let Some(message) = narrowed_refusal(rule.narrowed.as_deref(), value) {
                    error(name, ProblemKind::Unsupported, message);
                }
                let supplied = value.unwrap_sensitive().as_list().map_or(1, <[Value]>::len);
                if let Some(most) = rule.at_most.filter(|most| supplied > *most) {
                    error(
                        name,
                        ProblemKind::Unwritable,
                        format!("{supplied} values; the device stores at most {most}"),
                    );
                }
            }
            if let Some(CliLocation::Part { of, pattern }) = rule.map(|rule| &rule.location) {
                let complete = desired.attributes.get(of).and_then(Value::as_str);
                let complete = complete.unwrap_or_default();
                if value.scalar_text().as_deref() != part_of(complete, pattern) {
                    let message = format!("{} is not a part of {complete}", value.inspect());
                    error(name, ProblemKind::Unwritable, message);
                }
            }
            if let Some(body) = rule.and_then(CliAttributeRule::body)
                && let Some(text) = value.unwrap_sensitive().as_str()
                && let Some((kind, message)) = self.body_problem(body, text)
            {
                error(name, kind, message);
            }
            if let Some((kind, message)) = self.cannot_write(name, value, *rule) {
                error(name, kind, message);
            }
        }
        for (name, value, rule) in &attributes {
            let left_out = rule.and_then(|rule| rule.not_applied.as_ref());
            let is_missed = |left_out: &&NotApplied| {
                !self.is_unset(name, value) && !self.is_off(name, value, left_out.severity)
            };
            if let Some(left_out) = left_out.filter(is_missed) {
                let how = match left_out.severity {
                    Severity::Note | Severity::Warning => "is ignored",
                    Severity::Error => "is not supported",
                };
                let message = format!("{how} on {}: {}", self.platform, left_out.reason);
                problems.push(Problem {
                    severity: left_out.severity,
                    ..problem(name, ProblemKind::Unsupported, message)
                });
            }
        }
        problems.extend(self.misunderstandings(desired, &attributes));
        problems.extend(self.without_effect(desired, &attributes));
        let is_writable = problems.iter().all(|problem| {
            problem.severity != Severity::Error && problem.kind != ProblemKind::Unchangeable
        });
        if is_writable {
            problems.extend(self.unsendable(desired));
        }
        problems
    }

    /// The name of an instance that every device has.
    pub(super) fn permanent_name<'v>(
        &'v self,
        names: &'v Attributes,
    ) -> Option<(&'v str, &'v Value)> {
        self.instance.permanent.iter().find_map(|(name, pattern)| {
            let value = names.get(name)?;
            let is_permanent = pattern.is_match(&value.scalar_text()?);
            is_permanent.then_some((name.as_str(), value))
        })
    }

    /// Whether a value turns a feature off that the platform lacks: it has no effect to miss. One that
    /// is ignored, or that is the only value, has another meaning.
    fn is_off(&self, name: &str, value: &Value, severity: Severity) -> bool {
        let model = self.model.attributes.get(name);
        let is_switch = model.is_none_or(|model| model.canonicalize(&true.into()).is_ok());
        let has_more = model.is_some_and(|model| model.values.len() > 1);
        let is_lacking = severity != Severity::Note && (is_switch || has_more);
        *value.unwrap_sensitive() == Value::Bool(false) && is_lacking
    }

    /// Attributes without an effect beside declared values of others.
    fn without_effect(
        &self,
        desired: &Desired,
        attributes: &[(&Name, &Value, Option<&CliAttributeRule>)],
    ) -> impl Iterator<Item = Problem> {
        let values = |name: &str| desired.attributes.get(name);
        let supplied = attributes.iter().filter_map(|(name, value, rule)| {
            let rule = rule.filter(|rule| rule.misleading.is_none())?;
            self.is_printed(name, value).then_some((name, rule))
        });
        supplied.filter_map(move |(name, rule)| {
            let cause = self.effect_excluded_by(rule, &values)?;
            let message = format!("has no effect with {cause}");
            Some(Problem {
                severity: Severity::Warning,
                ..problem(name, ProblemKind::Unsupported, message)
            })
        })
    }

    /// Messages about declared attributes without an effect beside the values of the device. Those without
    /// an effect beside declared values are problems.
    pub(super) fn ineffective(
        &self,
        desired: &Desired,
        current: &Attributes,
    ) -> Vec<(Name, String)> {
        let declared = |name: &str| desired.attributes.get(name);
        let now = |name: &str| declared(name).or_else(|| current.get(name));
        let rules = self.attributes.values().filter(|rule| {
            let value = desired.attributes.get(&rule.name);
            value.is_some_and(|value| self.is_printed(&rule.name, value))
        });
        let causes = rules.filter_map(|rule| {
            let cause = self.effect_excluded_by(rule, &now)?;
            let is_known = self.effect_excluded_by(rule, &declared).is_some();
            (!is_known).then(|| {
                let message = format!("has no effect with {cause} of the device");
                (rule.name.clone(), message)
            })
        });
        causes.collect()
    }

    /// The values with which an attribute has no effect, if they are these: `mode access`.
    fn effect_excluded_by<'v>(
        &self,
        rule: &CliAttributeRule,
        values: &dyn Fn(&str) -> Option<&'v Value>,
    ) -> Option<String> {
        let is_excluded = self.has_no_effect(rule, values);
        let causes = rule.no_effect.iter().filter(|_| is_excluded);
        let causes = causes.filter_map(|(name, _)| {
            let named = self.value_name(name, values(name)?)?;
            Some(format!("{name} {named}"))
        });
        let causes: Vec<String> = causes.collect();
        (!causes.is_empty()).then(|| causes.join(" and "))
    }

    /// Values whose effect differs from what they suggest.
    fn misunderstandings(
        &self,
        desired: &Desired,
        attributes: &[(&Name, &Value, Option<&CliAttributeRule>)],
    ) -> impl Iterator<Item = Problem> {
        let named = |name: &str| {
            let value = desired.attributes.get(name)?;
            self.value_name(name, value)
        };
        let supplied = attributes.iter();
        let supplied = supplied.filter(|(name, value, _)| !self.is_unset(name, value));
        supplied.filter_map(move |(name, _, rule)| {
            let misleading = rule.as_ref()?.misleading.as_ref()?;
            let holds = misleading.when.iter().all(|(name, values)| {
                named(name).is_some_and(|named| values.iter().any(|value| *value == named))
            });
            holds.then(|| problem(name, ProblemKind::Misleading, misleading.effect.clone()))
        })
    }

    /// The reason why a value cannot be part of a command line.
    fn cannot_write(
        &self,
        name: &str,
        value: &Value,
        rule: Option<&CliAttributeRule>,
    ) -> Option<(ProblemKind, String)> {
        let is_sent_otherwise = rule.is_some_and(|rule| {
            let is_nowhere = matches!(rule.location, CliLocation::Nowhere);
            rule.body().is_some() || rule.is_part() || is_nowhere
        });
        if is_sent_otherwise || value.as_bool().is_some() {
            return None;
        }
        let is_secret = matches!(value, Value::Sensitive(_));
        let elements = match value.unwrap_sensitive() {
            Value::List(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        for element in elements {
            if !self.is_printed(name, element) {
                continue;
            }
            let Some(text) = super::template::Vocabulary::write(self, name, element) else {
                continue;
            };
            let never = |message| Some((ProblemKind::Unwritable, message));
            if let Some(message) = self.splits_word(name, &text, is_secret) {
                return never(message);
            }
            let is_printable = |c: char| !c.is_control() && !c.is_whitespace();
            let is_special = self
                .quoting
                .as_ref()
                .is_some_and(|quoting| quoting.has_special(&text));
            if !text.is_empty() && text.chars().all(is_printable) && !is_special {
                continue;
            }
            let templates = self.templates_with(name);
            // A member of other blocks is one word in the command that enters them.
            if templates.is_empty() && rule.is_none_or(|rule| rule.member_block().is_none()) {
                return None;
            }
            let rendered = if is_secret {
                "the value".to_owned()
            } else {
                format!("{text:?}")
            };
            if text.chars().any(char::is_control) {
                return never(format!("{rendered} contains a control character"));
            }
            let is_writable = |line: &&LineTemplate| {
                let quoting = self.quoting.as_ref().filter(|_| line.may_be_quoted(name));
                quoting.is_some_and(|quoting| quoting.escape(&text).is_some())
            };
            if is_special && !templates.iter().all(is_writable) {
                return never(format!(
                    "{rendered} contains a quotation mark or a character with a meaning in {}",
                    self.platform
                ));
            }
            let has_blanks = text.contains(char::is_whitespace);
            let words_only = !templates.iter().any(|line| line.takes_blanks(name));
            if has_blanks && words_only {
                // A table shows what another way of configuration has set.
                let kind = match rule.and_then(CliAttributeRule::cell) {
                    Some(_) => ProblemKind::Unchangeable,
                    None => ProblemKind::Unwritable,
                };
                let message = format!(
                    "{rendered} contains spaces; {} accepts one word",
                    self.platform
                );
                return Some((kind, message));
            }
            if text.is_empty() {
                let model = self.model.attributes.get(name);
                let word = model.and_then(|model| model.default_word.as_deref());
                let removes = word.map(|word| format!("; `{word}` removes it"));
                return never(format!(
                    "{} does not accept an empty text{}",
                    self.platform,
                    removes.unwrap_or_default()
                ));
            }
        }
        None
    }

    /// The reason why a value would end before its end in a word with several values.
    fn splits_word(&self, name: &str, text: &str, is_secret: bool) -> Option<String> {
        let mut ends = self.templates().filter_map(|line| line.text_after(name));
        let end = ends.find(|end| text.contains(end))?;
        let rendered = if is_secret {
            "the value".to_owned()
        } else {
            format!("{text:?}")
        };
        Some(format!(
            "{rendered} contains {end:?}, which ends the value in its line"
        ))
    }

    pub(super) fn templates_with(&self, name: &str) -> Vec<&LineTemplate> {
        let templates = self.templates();
        templates
            .filter(|template| template.has_attribute(name))
            .collect()
    }

    /// The templates of the blocks and lines that write an instance.
    fn templates(&self) -> impl Iterator<Item = &LineTemplate> {
        let own = self.attributes.values().flat_map(|rule| {
            let order = rule.order().map(|order| &order.after);
            rule.value_lines().chain(order)
        });
        let mode = self.instance.mode.iter().flat_map(BlockPath::templates);
        let all = self.instance.kind.templates().into_iter();
        all.chain(mode).chain(&self.instance.create).chain(own)
    }

    /// Names and lines that the device does not accept. The lines are found by rendering the
    /// resource as a new instance.
    fn unsendable(&self, desired: &Desired) -> Vec<Problem> {
        let names = self.unsendable_names(&desired.attributes);
        if desired.is_absent() || !names.is_empty() {
            return names.into_iter().map(refused).collect();
        }
        let desired = ChangePlanner::resolve(self, desired, None, &State::default());
        let names = desired.attributes.keys().map(Name::as_str);
        let names: Vec<&str> = names.filter(|name| !self.is_namevar(name)).collect();
        let goal = Goal {
            kind: ChangeKind::Create,
            desired: &desired.attributes,
            names: &names,
        };
        match self.rendered_unread(goal) {
            Ok(rendered) => {
                let lines = self.unsendable_lines(&rendered.operations);
                lines.into_iter().map(refused).collect()
            }
            Err(error) => vec![unwritable(ProblemKind::Unwritable, error)],
        }
    }
}

/// A text that is in no line that is sent. A device can have it, unless it ends its line.
fn refused(text: RefusedText) -> Problem {
    let kind = match text.error {
        LineTextError::ControlCharacter => ProblemKind::Unwritable,
        _ => ProblemKind::Unchangeable,
    };
    unwritable(kind, text.into())
}

fn unwritable(kind: ProblemKind, error: RenderError) -> Problem {
    problem(&error.attribute, kind, error.message)
}

fn problem(attribute: &str, kind: ProblemKind, message: String) -> Problem {
    let severity = match kind {
        ProblemKind::Reserved | ProblemKind::Unchangeable | ProblemKind::Misleading => {
            Severity::Warning
        }
        ProblemKind::Unsupported | ProblemKind::Unwritable => Severity::Error,
    };
    Problem {
        attribute: attribute.to_owned(),
        kind,
        severity,
        message,
        help: None,
    }
}

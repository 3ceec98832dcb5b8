//! Each value of the model has a command, and no word of the catalog is sent as a text.

use super::CliType;
use super::rules::CliAttributeRule;
use crate::diagnostic::Diagnostic;
use crate::model::{AttributeModel, Role, ValueSpec};
use crate::value::Value;

impl CliType {
    /// Every value of the model has a command.
    pub(super) fn check_values(&self, findings: &mut Vec<Diagnostic>) {
        for rule in self.attributes.values() {
            let Some(model) = self.model.attributes.get(&rule.name) else {
                continue;
            };
            if !self.needs_commands(rule, model) {
                continue;
            }
            for spec in &model.values {
                let name = spec.name();
                if self.has_meaning(rule, model, spec) || self.has_line_for(rule, model, spec) {
                    continue;
                }
                let message = format!(
                    "value `{name}` of {}.{} has no command",
                    self.model.name, rule.name
                );
                let help = format!(
                    "add set.{name} = \"…\" or unsupported = [\"{name}\"] to [attr.{}]",
                    rule.name
                );
                findings.push(
                    self.finding("value-without-command", &rule.span, message)
                        .help(help),
                );
            }
        }
    }

    fn needs_commands(&self, rule: &CliAttributeRule, model: &AttributeModel) -> bool {
        let has_lines = rule.is_set_by_lines() || !rule.beginnings().is_empty();
        let is_set = !matches!(model.role, Role::ReadOnly | Role::Parameter | Role::Namevar);
        rule.is_applied()
            && rule.inside.is_none()
            && !self.is_set_on_creation(&rule.name)
            && has_lines
            && is_set
    }

    /// Whether the definition says what a value means: it has a line, is refused, or is the value
    /// without a line.
    fn has_meaning(
        &self,
        rule: &CliAttributeRule,
        model: &AttributeModel,
        spec: &ValueSpec,
    ) -> bool {
        let name = spec.name();
        let is_special = match spec {
            ValueSpec::Literal(value) => {
                let canonical = model.canonicalize(value).ok();
                let narrowed = rule.narrowed.as_ref();
                canonical.is_some() && canonical == rule.absent
                    || narrowed.is_some_and(|narrowed| narrowed.canonicalize(value).is_err())
            }
            _ => false,
        };
        is_special
            || rule.set.contains_key(name.as_ref())
            || rule.unsupported_values.contains_key(name.as_ref())
    }

    /// Whether a line has the value, stands for it, or is removed for it.
    fn has_line_for(
        &self,
        rule: &CliAttributeRule,
        model: &AttributeModel,
        spec: &ValueSpec,
    ) -> bool {
        let is_unset = matches!(spec, ValueSpec::Literal(value) if model.is_unset(value));
        let is_removed_by_itself = rule.many || rule.own_no().is_some();
        let is_boolean = matches!(spec, ValueSpec::Literal(Value::Bool(_)));
        let has_line = !rule.lines.is_empty();
        is_unset && (is_removed_by_itself || has_line)
            || has_line && (rule.has_own_hole() || is_boolean)
    }

    /// No literal is sent because it is also a text: a line would have `unset` as its value.
    pub(super) fn check_words(&self, findings: &mut Vec<Diagnostic>) {
        for rule in self.attributes.values().filter(|rule| rule.is_applied()) {
            let Some(model) = self.model.attributes.get(&rule.name) else {
                continue;
            };
            self.check_words_of(rule, model, findings);
        }
        let nowhere = |model: &&AttributeModel| !self.attributes.contains_key(&model.name);
        for model in self.model.attributes.values().filter(nowhere) {
            let rule = CliAttributeRule::nowhere(&model.name, self.instance.span.clone());
            self.check_words_of(&rule, model, findings);
        }
    }

    fn check_words_of(
        &self,
        rule: &CliAttributeRule,
        model: &AttributeModel,
        findings: &mut Vec<Diagnostic>,
    ) {
        let name = rule.name.as_str();
        let templates = self.templates_with(name);
        let is_sent = !matches!(model.role, Role::Namevar | Role::ReadOnly | Role::Parameter);
        let is_one_text = !templates.iter().any(|line| line.takes_words(name));
        if !is_sent || templates.is_empty() || !is_one_text || self.codecs.contains_key(name) {
            return;
        }
        for spec in &model.values {
            let ValueSpec::Literal(literal) = spec else {
                continue;
            };
            let Some(word) = literal.as_str() else {
                continue;
            };
            let is_text = model.values.iter().any(
                |spec| matches!(spec, ValueSpec::Pattern { pattern, .. } if pattern.is_match(word)),
            );
            let is_named = rule.equivalents.contains_key(word)
                || rule.implied.as_ref() == Some(literal)
                || model.is_unset(literal)
                || self.has_meaning(rule, model, spec);
            if is_named || !is_text {
                continue;
            }
            let message = format!(
                "the word `{word}` of {}.{name} is also a text, so that a line has it as its value",
                self.model.name
            );
            let help = format!(
                "name it in `default_word` of the model, add `absent` or set.{word}, or remove it from `values`"
            );
            findings.push(self.finding("word-as-text", &rule.span, message).help(help));
        }
    }
}

//! Differences between desired and current state.

use super::CliType;
use super::found::FoundInstance;
use super::rules::{CliAttributeRule, WriteOnly};
use crate::change::{Desired, Instance};
use crate::driver::codec::{Codec, decode_type7};
use crate::driver::secret_history::SecretHistory;
use crate::model::Role;
use crate::value::{Attributes, Name, Value};

impl CliType {
    pub(super) fn out_of_sync(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
        secrets: &dyn SecretHistory,
    ) -> Vec<Name> {
        let ensurable = self.model.is_ensurable();
        let ensurable = ensurable && self.is_managed("ensure", &"present".into());
        if ensurable && desired.is_absent() {
            return match current {
                Some(_) => vec!["ensure".into()],
                None => Vec::new(),
            };
        }
        let mut names: Vec<Name> = Vec::new();
        let is_used = current.is_some_and(|current| !current.is_inactive("ensure"));
        if !is_used && desired.attributes.contains_key("ensure") && ensurable {
            names.push("ensure".into());
        }
        // Without `ensure` each attribute shows that the instance is activated.
        let is_activated = current.is_some() && !is_used && names.is_empty();
        for model in self.model.properties() {
            let Some(value) = desired.attributes.get(&model.name) else {
                continue;
            };
            let rule = self.attributes.get(&model.name);
            if model.name == "ensure" || !self.is_managed(&model.name, value) {
                continue;
            }
            let now = |name: &str| {
                let current = current.and_then(|current| current.attributes.get(name));
                desired.attributes.get(name).or(current)
            };
            if rule.is_some_and(|rule| {
                self.has_no_line(rule, desired, current) || self.has_no_effect(rule, &now)
            }) {
                continue;
            }
            let current_only =
                |name: &str| current.and_then(|current| current.attributes.get(name));
            // What the device has cannot be seen until other attributes change.
            let is_hidden = rule.is_some_and(|rule| self.has_no_effect(rule, &current_only));
            let differs = match (current, rule) {
                (Some(_), _) if is_activated => true,
                (Some(current), _) if current.is_inactive(&model.name) => true,
                (Some(_), _) if is_hidden => true,
                (Some(current), Some(rule)) if rule.write_only.is_some() => {
                    let is_hashed = rule.write_only == Some(WriteOnly::Hashed);
                    let has_hash = current.hashed.contains_key(&model.name);
                    if is_hashed && self.is_unset(&model.name, value) {
                        has_hash
                    } else {
                        let last = secrets.matches_last_set(&desired.reference, &model.name, value);
                        is_hashed && !has_hash || last != Some(true)
                    }
                }
                (Some(current), _) => !self.same((&model.name, value), rule, desired, current),
                (None, Some(rule)) => self.must_be_sent(rule, value, &desired.attributes),
                (None, None) => {
                    !self.is_unset(&model.name, value)
                        && *value.unwrap_sensitive() != Value::Bool(false)
                }
            };
            if differs && model.role != Role::ReadOnly {
                names.push(model.name.clone());
            }
        }
        names
    }

    /// The secrets in the line of an instance, each with whether the line has the word elsewhere too. A word can be
    /// one in some lines only: the community of a receiver is a secret, and its user is none.
    fn secrets_of_line(&self, found: &FoundInstance) -> Vec<(String, bool)> {
        let Some(line) = &found.line else {
            return Vec::new();
        };
        let blocks = found.block.iter().map(String::as_str);
        let ranges = self.secrets.ranges_below(blocks, line);
        let mut rest = line.clone();
        for range in ranges.iter().rev() {
            rest.replace_range(range.clone(), "");
        }
        let ranges = ranges.into_iter();
        let secrets = ranges.map(|range| {
            let secret = &line[range];
            let is_elsewhere = rest.split_whitespace().any(|word| word == secret);
            (secret.to_owned(), is_elsewhere)
        });
        secrets.collect()
    }

    /// Marks the values that contain a secret. Where the lines of a value are known, they decide: `community 12345` is
    /// a secret behind `snmp-server`, and none behind `set`.
    fn mark_secrets(&self, found: &mut FoundInstance) {
        let has_secret = |name: &str| {
            let blocks = || found.block.iter().map(String::as_str);
            let lines = found.lines.get(name);
            lines.is_none_or(|lines| {
                let mut lines = lines.iter();
                lines.any(|(_, line)| !self.secrets.ranges_below(blocks(), line).is_empty())
            })
        };
        let mut secret: Vec<Name> = Vec::new();
        for (name, value) in &found.attributes {
            if self.secrets.is_in(value) && has_secret(name) {
                secret.push(name.clone());
            }
        }
        for name in secret {
            if let Some(value) = found.attributes.get_mut(&name) {
                *value = std::mem::replace(value, Value::Undef).into_sensitive();
            }
        }
    }

    /// An instance without the values that cannot be read.
    pub(super) fn readable(&self, mut found: FoundInstance) -> Instance {
        let secrets = self.secrets_of_line(&found);
        self.mark_secrets(&mut found);
        let mut instance = found.into_instance();
        for (name, value) in instance.attributes.iter_mut() {
            // The name of a user whose password is the same word is no secret.
            let is_name = self.is_namevar(name);
            let mut secrets = secrets.iter();
            if secrets.any(|(secret, is_elsewhere)| {
                value.as_str() == Some(secret) && !(is_name && *is_elsewhere)
            }) {
                *value = std::mem::replace(value, Value::Undef).into_sensitive();
            }
        }
        for rule in self.attributes.values() {
            if rule.write_only.is_some()
                && let Some(form) = instance.attributes.remove(&rule.name)
                && !self.is_unset(&rule.name, &form)
            {
                instance
                    .hashed
                    .insert(rule.name.to_string(), form.into_sensitive());
            }
        }
        instance
    }

    /// Whether the platform applies the attribute and has a command for the value.
    pub(super) fn is_managed(&self, name: &str, value: &Value) -> bool {
        self.attributes.get(name).is_none_or(|rule| {
            let is_unsent = || matches!(self.set_line(rule, value), Some(None));
            rule.is_applied() && !rule.is_part() && !is_unsent()
        })
    }

    /// Whether an attribute is part of lines in the blocks of members, and there are none.
    fn has_no_line(
        &self,
        rule: &CliAttributeRule,
        desired: &Desired,
        current: Option<&Instance>,
    ) -> bool {
        let Some(members) = rule
            .inside
            .as_deref()
            .filter(|_| self.stands_elsewhere(rule))
        else {
            return false;
        };
        let now = current.and_then(|current| current.attributes.get(members));
        let members_after = desired.attributes.get(members).or(now);
        members_after.is_none_or(|value| self.is_unset(members, value))
    }

    /// Whether the device has the value of an attribute or an equivalent one.
    fn same(
        &self,
        (name, value): (&str, &Value),
        rule: Option<&CliAttributeRule>,
        desired: &Desired,
        current: &Instance,
    ) -> bool {
        let actual = current.attributes.get(name);
        let is_unset = self.is_unset(name, value);
        if let Some(actual) = actual {
            if equal_without_secrets(value, actual) {
                return true;
            }
        } else if is_unset || *value.unwrap_sensitive() == Value::Bool(false) {
            return true;
        }
        if is_unset && actual.is_some_and(|actual| self.is_unset(name, actual)) {
            return true;
        }
        if let Some(body) = rule.and_then(CliAttributeRule::body) {
            let text = |value: Option<&Value>| {
                let text = value?.unwrap_sensitive().as_str()?;
                Some(text.to_owned())
            };
            return match (text(Some(value)), text(actual)) {
                (Some(value), Some(actual)) => body.is_same(&value, &actual),
                (value, actual) => value == actual,
            };
        }
        if let Some(default) = current.defaults.get(name) {
            let in_table = rule.is_some_and(|rule| rule.default_cell.is_some());
            if in_table && (is_unset || value == default) {
                return true;
            }
            if is_unset {
                return actual == Some(default);
            }
        }
        // The default of the device is what it has without a line.
        let by_itself = rule.and_then(|rule| rule.absent.as_ref());
        if is_unset && actual.map(Value::unwrap_sensitive) == by_itself {
            return true;
        }
        // A list of several elements is more than its first element, after which it would be named.
        let has_name = value.as_list().is_none_or(|items| items.len() == 1);
        let model = self.model.attributes.get(name);
        let word = model.and_then(|model| model.default_word.as_deref());
        let alike = rule.and_then(|rule| match word.filter(|_| is_unset) {
            Some(word) => rule.equivalents.get(word),
            None if has_name => self.named(&rule.equivalents, name, value),
            None => None,
        });
        if alike.is_some_and(|others| others.iter().any(|other| other.is(actual))) {
            return true;
        }
        self.codecs
            .iter()
            .any(|(secret, codec)| match codec.as_ref() {
                Codec::Type7 { form } if secret == name || form == name => {
                    self.is_same_secret(secret, form, &desired.attributes, &current.attributes)
                }
                _ => false,
            })
    }

    /// Whether two secrets are equal after reversible obfuscation is removed.
    fn is_same_secret(&self, secret: &str, form: &str, a: &Attributes, b: &Attributes) -> bool {
        let rendered = |attributes: &Attributes| {
            let text = attributes.get(secret)?.scalar_text()?;
            match attributes.get(form).and_then(Value::scalar_text).as_deref() {
                Some("7") => decode_type7(&text),
                _ => Some(text),
            }
        };
        rendered(a).is_some() && rendered(a) == rendered(b)
    }
}

impl CliType {
    /// Whether a value must be sent to a new instance. The default of a new instance is sent only if it
    /// has a line.
    pub(super) fn must_be_sent(
        &self,
        rule: &CliAttributeRule,
        value: &Value,
        values: &Attributes,
    ) -> bool {
        let initial = rule.default_value(values).or(rule.absent.as_ref());
        if rule.is_always_printed && initial == Some(value) {
            return false;
        }
        // A new instance is the last one.
        if rule.order().is_some() {
            return true;
        }
        if let Some(line) = self.set_line(rule, value) {
            return line.is_some();
        }
        let by_itself = self.is_unset(&rule.name, value) || rule.absent.as_ref() == Some(value);
        !(by_itself || rule.is_in_instance() && *value == Value::Bool(false))
    }
}

/// Whether two values are equal without wrappers.
fn equal_without_secrets(a: &Value, b: &Value) -> bool {
    match (a.unwrap_sensitive(), b.unwrap_sensitive()) {
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal_without_secrets(a, b))
        }
        (Value::Hash(a), Value::Hash(b)) => {
            let same = |((a, x), (b, y)): (&(Value, Value), &(Value, Value))| {
                a == b && equal_without_secrets(x, y)
            };
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        (a, b) => a == b,
    }
}

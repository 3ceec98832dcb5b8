//! Validated attributes of a connection, and the errors of invalid ones.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use switchtender_devices::diagnostic::{Diagnostic, suggest};

use super::{Attribute, AttributeType};
use crate::device_conf::hocon::Mark;
use crate::device_conf::{RawAttribute, RawAttributeValue};

/// Valid values, and the errors of invalid ones.
#[derive(Default)]
pub(crate) struct CheckedAttributes {
    values: Vec<(&'static str, CheckedValue, Mark)>,
    pub(crate) errors: Vec<Diagnostic>,
}

enum CheckedValue {
    Text(SecretString),
    Boolean(bool),
    Integer(i64),
}

impl CheckedAttributes {
    pub(crate) fn add(&mut self, supplied: RawAttribute, attributes: &[&Attribute]) {
        let Some(attribute) = attributes.iter().find(|attribute| {
            attribute.name == supplied.key || attribute.aliases.contains(&supplied.key.as_str())
        }) else {
            let names = attributes.iter().map(|attribute| attribute.name);
            let all = names.clone().collect::<Vec<_>>().join(", ");
            let help = suggest(&supplied.key, names, format!("known attributes: {all}"));
            self.errors.push(
                Diagnostic::error(
                    "connection-unknown",
                    format!("Unknown attribute: {}", supplied.key),
                )
                .at(&supplied.key_mark.source, supplied.key_mark.span, "")
                .help(help),
            );
            return;
        };
        if let Some(first) = self.mark(attribute.name) {
            self.errors.push(
                Diagnostic::error(
                    "connection-twice",
                    format!("duplicate attribute `{}`", attribute.name),
                )
                .at(
                    &supplied.key_mark.source,
                    supplied.key_mark.span.clone(),
                    "",
                )
                .at(&first.source, first.span.clone(), "first definition")
                .help("remove one; two spellings can name the same attribute"),
            );
            return;
        }
        match fit(&supplied.value, attribute.kind) {
            Ok(value) => self.values.push((attribute.name, value, supplied.key_mark)),
            Err(expected) => {
                // Store a placeholder, so that the attribute is not reported as missing.
                self.errors.push(
                    Diagnostic::error(
                        "connection-type",
                        format!("Value type mismatch: `{}` expects {expected}", supplied.key),
                    )
                    .at(&supplied.mark.source, supplied.mark.span, ""),
                );
                let nothing = CheckedValue::Text(String::new().into());
                self.values
                    .push((attribute.name, nothing, supplied.key_mark));
            }
        }
    }

    pub(crate) fn mark(&self, name: &str) -> Option<&Mark> {
        self.values
            .iter()
            .find(|(key, _, _)| *key == name)
            .map(|(_, _, mark)| mark)
    }

    fn value(&self, name: &str) -> Option<&CheckedValue> {
        self.values
            .iter()
            .find(|(key, _, _)| *key == name)
            .map(|(_, value, _)| value)
    }

    pub(crate) fn secret(&self, name: &str) -> Option<SecretString> {
        match self.value(name) {
            Some(CheckedValue::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.secret(name)
            .map(|text| text.expose_secret().to_owned())
    }

    pub(crate) fn boolean(&self, name: &str, default: bool) -> bool {
        match self.value(name) {
            Some(CheckedValue::Boolean(truth)) => *truth,
            _ => default,
        }
    }

    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        match self.value(name) {
            Some(CheckedValue::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn seconds(&self, name: &str, default: u64) -> Duration {
        let duration = self.duration(name);
        duration.unwrap_or(Duration::from_secs(default))
    }

    /// A number of seconds, if it is set.
    pub(crate) fn duration(&self, name: &str) -> Option<Duration> {
        let number = self.integer(name)?;
        u64::try_from(number).ok().map(Duration::from_secs)
    }
}

/// What an attribute expects instead of its value.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct ExpectedValue(String);

/// Converts a value to the type of the attribute. Numbers and booleans may be text.
fn fit(value: &RawAttributeValue, kind: AttributeType) -> Result<CheckedValue, ExpectedValue> {
    let as_text = match value {
        RawAttributeValue::Text(text) => Some(text.expose_secret()),
        _ => None,
    };
    let expected = |text: String| Err(ExpectedValue(text));
    match kind {
        AttributeType::Text => match value {
            RawAttributeValue::Text(text) => Ok(CheckedValue::Text(text.clone())),
            // An unquoted password of digits is parsed as a number.
            RawAttributeValue::Integer(number) => Ok(CheckedValue::Text(number.to_string().into())),
            other => expected(format!("a string, got {}", kind_of(other))),
        },
        AttributeType::Boolean => match (value, as_text) {
            (RawAttributeValue::Bool(truth), _) => Ok(CheckedValue::Boolean(*truth)),
            (_, Some("true")) => Ok(CheckedValue::Boolean(true)),
            (_, Some("false")) => Ok(CheckedValue::Boolean(false)),
            _ => expected(format!("true or false, got {}", kind_of(value))),
        },
        AttributeType::Integer { low, high } => {
            let number = match value {
                RawAttributeValue::Integer(number) => Some(*number),
                _ => as_text.and_then(|text| text.trim().parse().ok()),
            };
            match number {
                Some(number) if (low..=high).contains(&number) => Ok(CheckedValue::Integer(number)),
                Some(_) => expected(format!("a number from {low} to {high}")),
                None => expected(format!(
                    "a number from {low} to {high}, got {}",
                    kind_of(value)
                )),
            }
        }
        AttributeType::OneOf(words) => match as_text {
            Some(text) if words.contains(&text) => Ok(CheckedValue::Text(text.to_owned().into())),
            _ => expected(format!("one of {}", words.join(", "))),
        },
    }
}

fn kind_of(value: &RawAttributeValue) -> &'static str {
    match value {
        RawAttributeValue::Bool(_) => "a boolean",
        RawAttributeValue::Integer(_) => "an integer",
        RawAttributeValue::Text(_) => "a string",
        RawAttributeValue::Other(kind) => kind,
    }
}

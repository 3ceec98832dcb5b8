//! Placeholders in settings: `{name}` is the name of the device, `{role}` its label, `{site}` and `{platform}` these settings.
//!
//! `{{…}}` and `${…}` are left as they are: they are templates of other programs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use switchtender_devices::diagnostic::nearest;

/// A placeholder, or text of another program that looks like one.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{\{[^}]*\}\}|\$\{[^}]*\}|\{(?<key>[A-Za-z_][A-Za-z0-9_.-]*)\}")
        .expect("the pattern is a constant")
});

/// What a text with placeholders is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextUse {
    /// A host name, or another text that its reader checks.
    Text,
    /// A path, the name of a program or of a secret: a value is one component.
    Path,
    /// An argument of a program: a value is no option.
    Argument,
}

/// The values of the placeholders of one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placeholders(BTreeMap<String, String>);

/// A placeholder that cannot be replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PlaceholderError {
    #[error("`{{{key}}}` is not known: device `{device}` has no label `{key}`")]
    Unknown {
        key: String,
        device: String,
        known: Vec<String>,
    },
    #[error("`{value}` of `{{{key}}}` {reason}")]
    Value {
        key: String,
        /// Escaped.
        value: String,
        reason: &'static str,
    },
}

impl PlaceholderError {
    /// What to do next.
    pub(crate) fn help(&self) -> String {
        match self {
            PlaceholderError::Unknown { key, known, .. } => {
                if let Some(near) = nearest(key, known.iter().map(String::as_str)) {
                    return format!("did you mean `{{{near}}}`?");
                }
                let known = known.iter().map(|key| format!("`{{{key}}}`"));
                format!("known are {}", Vec::from_iter(known).join(", "))
            }
            PlaceholderError::Value { key, .. } => {
                format!("change `{key}` of the device, or use another label")
            }
        }
    }
}

impl Placeholders {
    /// The placeholders of a device with these labels. A label can have the name of a setting, but not `name`.
    pub(crate) fn new<'a>(
        name: &str,
        settings: [(&str, Option<&str>); 2],
        labels: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let settings = settings.into_iter();
        let mut values: BTreeMap<String, String> = settings
            .filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())))
            .collect();
        values.extend(labels.map(|(key, value)| (key.to_owned(), value.to_owned())));
        values.insert("name".to_owned(), name.to_owned());
        Self(values)
    }

    /// The text with the values of its placeholders.
    ///
    /// # Errors
    /// A placeholder is not known, or has a value that the use refuses.
    pub(crate) fn fill(&self, text: &str, text_use: TextUse) -> Result<String, PlaceholderError> {
        let mut filled = String::with_capacity(text.len());
        let mut at = 0;
        for found in PLACEHOLDER.captures_iter(text) {
            let (range, Some(key)) = (found.get_match().range(), found.name("key")) else {
                continue;
            };
            let key = key.as_str();
            let value = self.0.get(key).ok_or_else(|| self.unknown(key))?;
            let is_first = range.start == 0;
            if let Some(reason) = refusal(value, text_use, is_first) {
                return Err(PlaceholderError::Value {
                    key: key.to_owned(),
                    value: value.escape_debug().to_string(),
                    reason,
                });
            }
            filled.push_str(&text[at..range.start]);
            filled.push_str(value);
            at = range.end;
        }
        filled.push_str(&text[at..]);
        Ok(filled)
    }

    fn unknown(&self, key: &str) -> PlaceholderError {
        PlaceholderError::Unknown {
            key: key.to_owned(),
            device: self.0.get("name").cloned().unwrap_or_default(),
            known: self.0.keys().cloned().collect(),
        }
    }
}

/// Whether a text has a placeholder.
pub(crate) fn has_placeholder(text: &str) -> bool {
    let mut found = PLACEHOLDER.captures_iter(text);
    found.any(|found| found.name("key").is_some())
}

/// The text with a word in place of each placeholder, to check the rest.
pub(crate) fn with_words(text: &str) -> String {
    let word = |found: &Captures<'_>| match found.name("key") {
        Some(_) => "word".to_owned(),
        None => found[0].to_owned(),
    };
    PLACEHOLDER.replace_all(text, word).into_owned()
}

/// Why a value is refused.
fn refusal(value: &str, text_use: TextUse, is_first: bool) -> Option<&'static str> {
    if value.chars().any(char::is_control) {
        return Some("has a control character");
    }
    match text_use {
        TextUse::Path if value.is_empty() => Some("is empty, and cannot be a part of a path"),
        TextUse::Path if value.contains('/') || value.contains("..") => {
            Some("cannot be a part of a path: it has `/` or `..`")
        }
        TextUse::Argument if is_first && value.starts_with('-') => {
            Some("would be an option of the program: it begins with `-`")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholders() -> Placeholders {
        let labels = [
            ("role", "access"),
            ("slash", "a/b"),
            ("up", ".."),
            ("none", ""),
            ("line", "a\nb"),
            ("option", "-x"),
            ("name", "other"),
        ];
        Placeholders::new(
            "sw1",
            [("site", Some("berlin")), ("platform", None)],
            labels.into_iter(),
        )
    }

    #[test]
    fn placeholders_have_values_of_the_device() {
        let cases = [
            ("secrets/{name}", "secrets/sw1"),
            ("{site}-{role}/{name}.key", "berlin-access/sw1.key"),
            ("{print $1} {\"a\": 1} {}", "{print $1} {\"a\": 1} {}"),
            ("${name} {{name}} {{ name }}", "${name} {{name}} {{ name }}"),
            ("{{.Password}}{name}", "{{.Password}}sw1"),
        ];
        for (text, expected) in cases {
            let filled = placeholders().fill(text, TextUse::Path);
            assert_eq!(filled.as_deref(), Ok(expected));
        }
        assert!(has_placeholder("a{b}") && !has_placeholder("${b}"));
        assert_eq!(with_words("{name}.{site}.test"), "word.word.test");
    }

    #[test]
    fn placeholders_are_refused() {
        let known = "known are `{line}`, `{name}`, `{none}`, `{option}`, `{role}`, `{site}`, `{slash}`, `{up}`";
        let cases = [
            (
                "{floor}",
                TextUse::Path,
                "`{floor}` is not known: device `sw1` has no label `floor`",
                known,
            ),
            (
                "{nam}",
                TextUse::Argument,
                "`{nam}` is not known: device `sw1` has no label `nam`",
                "did you mean `{name}`?",
            ),
            (
                "x/{slash}",
                TextUse::Path,
                "`a/b` of `{slash}` cannot be a part of a path: it has `/` or `..`",
                "change `slash` of the device, or use another label",
            ),
            (
                "{up}/x",
                TextUse::Path,
                "`..` of `{up}` cannot be a part of a path: it has `/` or `..`",
                "change `up` of the device, or use another label",
            ),
            (
                "x{none}",
                TextUse::Path,
                "`` of `{none}` is empty, and cannot be a part of a path",
                "change `none` of the device, or use another label",
            ),
            (
                "{line}",
                TextUse::Argument,
                "`a\\nb` of `{line}` has a control character",
                "change `line` of the device, or use another label",
            ),
            (
                "{option}",
                TextUse::Argument,
                "`-x` of `{option}` would be an option of the program: it begins with `-`",
                "change `option` of the device, or use another label",
            ),
        ];
        for (text, text_use, message, help) in cases {
            let error = placeholders().fill(text, text_use).expect_err(text);
            assert_eq!(
                (error.to_string(), error.help()),
                (message.to_owned(), help.to_owned())
            );
        }
        let filled = placeholders().fill("net/{slash} a{option}", TextUse::Argument);
        assert_eq!(filled.as_deref(), Ok("net/a/b a-x"));
    }
}

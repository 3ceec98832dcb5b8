//! Texts with placeholders that nothing fills.
//!
//! A loader marks each text whose placeholders it fills ([`Item::template`](super::Item::template)).
//! Any other text with `{word}` would be sent or compared as it is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Document;

/// Keys with text for people, and the root key of tests, whose texts are those of a device.
const FREE_KEYS: [&str; 8] = [
    "doc",
    "excluded",
    "hint",
    "ignored",
    "reason",
    "refused",
    "test",
    "unsupported",
];

/// The beginning of the placeholder for a value of a device: `{device.x}`.
pub(crate) const DEVICE_PLACEHOLDER: &str = "{device.";

impl Document<'_> {
    /// Fills the values of a device into all texts.
    pub(crate) fn fill(&mut self, values: &BTreeMap<String, String>) {
        if self.findings.source.text.contains(DEVICE_PLACEHOLDER) {
            fill_table(self.root.get_mut(), values, self.findings);
        }
    }

    /// Reports the placeholders that no loader fills.
    pub(crate) fn report_unfilled(&self) {
        self.report_in_table(self.root.get_ref(), "");
    }

    fn report_in_table(&self, table: &DeTable<'_>, path: &str) {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if FREE_KEYS.contains(&name) {
                continue;
            }
            let path = if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            };
            if let Some(found) = placeholders(name).next() {
                let message = format!("`{found}` in the key `{path}` is not filled");
                self.report(key.span(), message, "write the name itself");
            }
            self.report_in_value(value, &path);
        }
    }

    fn report_in_value(&self, value: &Spanned<DeValue<'_>>, path: &str) {
        match value.get_ref() {
            DeValue::String(text) => {
                if let Some(found) = placeholders(text).next()
                    && !self.findings.is_filled(&value.span())
                {
                    let message = format!("`{found}` in `{path}` is not filled");
                    let help = "write the text itself: this key has no placeholders";
                    self.report(value.span(), message, help);
                }
            }
            DeValue::Array(items) => {
                for item in items {
                    self.report_in_value(item, path);
                }
            }
            DeValue::Table(table) => self.report_in_table(table, path),
            _ => {}
        }
    }

    fn report(&self, span: Range<usize>, message: String, help: &str) {
        self.findings
            .error_with_help("unfilled", span, message, help);
    }
}

fn fill_table(
    table: &mut DeTable<'_>,
    values: &BTreeMap<String, String>,
    findings: &super::Findings,
) {
    for (key, value) in table.iter_mut() {
        if !FREE_KEYS.contains(&key.get_ref().as_ref()) {
            fill_value(value, values, findings);
        }
    }
}

fn fill_value(
    value: &mut Spanned<DeValue<'_>>,
    values: &BTreeMap<String, String>,
    findings: &super::Findings,
) {
    let span = value.span();
    match value.get_mut() {
        DeValue::String(text) if text.contains(DEVICE_PLACEHOLDER) => {
            let unknown = |name: &str| {
                let message = format!("the platform has no parameter `{name}`");
                let help = format!("declare [parameter.{name}] in platform.toml");
                findings.error_with_help("unknown-parameter", span.clone(), message, help);
            };
            *text = Cow::Owned(filled(text, values, &unknown));
        }
        DeValue::Array(items) => {
            for item in items.iter_mut() {
                fill_value(item, values, findings);
            }
        }
        DeValue::Table(table) => fill_table(table, values, findings),
        _ => {}
    }
}

/// A text with the values of a device.
fn filled(text: &str, values: &BTreeMap<String, String>, unknown: &dyn Fn(&str)) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(DEVICE_PLACEHOLDER) {
        filled.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            filled.push_str(DEVICE_PLACEHOLDER);
            rest = after;
            continue;
        };
        match values.get(name) {
            Some(value) => filled.push_str(value),
            None => unknown(name),
        }
        rest = after;
    }
    filled + rest
}

/// The placeholders in a text: an attribute or another word in braces, perhaps with filters. Neither
/// braces of JSON nor variables of a shell are placeholders.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter_map(|(start, _)| {
        let length = text[start..].find('}')?;
        let inner = &text[start + 1..start + length];
        let name = inner.strip_prefix('*').unwrap_or(inner);
        let is_word = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.:|-".contains(c));
        let is_variable = text[..start].ends_with('$');
        (is_word && !is_variable).then(|| &text[start..=start + length])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::document::Findings;

    #[test]
    fn placeholder_is_a_word_in_braces() {
        for (text, expected) in [
            ("interface {name}", Some("{name}")),
            ("/x/{name|base|percent}", Some("{name|base|percent}")),
            ("router bgp {*asn}", Some("{*asn}")),
            ("{text:rest}", Some("{text:rest}")),
            ("a {} { b } {\"c\":{\"d\":1}}", None),
            ("echo ${home} {HOME:-/x}", None),
            ("[a-z]{2,3}", None),
        ] {
            assert_eq!(placeholders(text).next(), expected, "{text}");
        }
    }

    #[test]
    fn document_has_the_values_of_a_device() {
        let text =
            "doc = \"{device.a}\"\npath = [\"/{device.a}/{name}?v={device.b}\", \"{device.c}\"]\n";
        let findings = Findings::new(&Source::new("t.toml", text));
        let mut document = Document::parse(&findings);
        let values = [("a", "1"), ("b", "2")].map(|(name, value)| (name.into(), value.into()));
        document.fill(&values.into());
        assert_eq!(
            document.root().strings("path"),
            Some(vec!["/1/{name}?v=2".to_owned(), String::new()])
        );
        let found = findings.into_list();
        assert_eq!(found[0].message, "the platform has no parameter `c`");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn document_reports_placeholders_that_no_loader_fills() {
        let text = "doc = \"{a}\"\nline = \"{b}\"\nfield = \"x.{c}\"\n[set]\nlist = [\"{d}\"]\n\"{e}\" = 1\n[[test]]\nx = \"{f}\"\n";
        let findings = Findings::new(&Source::new("t.toml", text));
        let document = Document::parse(&findings);
        document.root().get("line").map(|item| item.template());
        document.report_unfilled();
        let found = findings.into_list();
        let messages: Vec<_> = found.iter().map(|one| one.message.as_str()).collect();
        let expected = [
            "`{c}` in `field` is not filled",
            "`{e}` in the key `set.{e}` is not filled",
            "`{d}` in `set.list` is not filled",
        ];
        for message in expected {
            assert!(messages.contains(&message), "{messages:?}");
        }
        assert_eq!(messages.len(), expected.len(), "{messages:?}");
    }
}

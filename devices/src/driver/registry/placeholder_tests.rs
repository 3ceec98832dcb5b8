//! A placeholder that nothing fills, in each text of complete definitions.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Registry;
use crate::definitions::{self, DefinitionFile};

/// The definitions, with the texts of all transports.
const FILES: [&str; 9] = [
    "cisco_ios/platform.toml",
    "cisco_ios/ios_acl_entry.toml",
    "f5_bigip/platform.toml",
    "f5_bigip/f5_monitor.toml",
    "f5_bigip/f5_virtualserver.toml",
    "ietf_netconf/platform.toml",
    "ietf_netconf/ietf_interface.toml",
    "kea/platform.toml",
    "kea/kea_subnet4.toml",
];
/// Keys with text for people, and tests.
const FREE_KEYS: &[&str] = &["doc", "hint", "reason", "test", "unsupported"];

#[test]
fn placeholder_that_is_not_filled_is_an_error_in_each_text() {
    let shipped = definitions::shipped();
    let mut accepted = Vec::new();
    for path in FILES {
        let file = shipped.iter().find(|file| file.path == path);
        let file = file.unwrap_or_else(|| panic!("{path}"));
        let (folder, name) = super::parts(path).expect("a path of a definition");
        let needed = [
            format!("models/{name}.toml"),
            format!("{folder}/platform.toml"),
        ];
        let others: Vec<DefinitionFile> = shipped
            .iter()
            .filter(|other| needed.contains(&other.path) && other.path != path)
            .map(|other| DefinitionFile::new(&other.path, &other.source.text))
            .collect();
        let text = file.source.text.to_string();
        let (root, errors) = DeTable::parse_recoverable(&text);
        assert!(errors.is_empty(), "{path}");
        let mut texts = Vec::new();
        collect(root.get_ref(), "", &mut texts);
        for (key, span) in texts {
            let mut changed = text.clone();
            let quoted = &text[span.clone()];
            let quotes = if quoted.starts_with("'''") || quoted.starts_with("\"\"\"") {
                3
            } else {
                1
            };
            changed.insert_str(span.end - quotes, "{nowhere}");
            let own = [DefinitionFile::new(path, changed)];
            let is_refused = Registry::from_files(&others, &own).is_err();
            // Patterns have quotes without escapes.
            let is_pattern = quotes == 1 && quoted.starts_with('\'');
            if !is_refused && !is_pattern {
                accepted.push(format!("{path}: {key} = {quoted}"));
            }
        }
    }
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}

/// The texts of a table, each with its keys.
fn collect(table: &DeTable<'_>, path: &str, texts: &mut Vec<(String, Range<usize>)>) {
    for (key, value) in table {
        let key = key.get_ref().as_ref();
        if !FREE_KEYS.contains(&key) {
            collect_value(value, &format!("{path}.{key}"), texts);
        }
    }
}

fn collect_value(
    value: &Spanned<DeValue<'_>>,
    path: &str,
    texts: &mut Vec<(String, Range<usize>)>,
) {
    match value.get_ref() {
        DeValue::String(_) => texts.push((path.to_owned(), value.span())),
        DeValue::Array(items) => {
            for item in items {
                collect_value(item, path, texts);
            }
        }
        DeValue::Table(table) => collect(table, path, texts),
        _ => {}
    }
}

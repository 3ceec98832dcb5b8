//! Names of profiles from their content: `access-portfast-storm-control`.

use std::collections::BTreeSet;

use switchtender_devices::names::TypeName;
use switchtender_devices::value::Value;

use super::parts::{PartValue, Parts, TypeGroups};
use crate::desired_state::declared::DeclaredValue;

/// The most words of a name.
const MOST_WORDS: usize = 4;

/// A name that is not used yet.
pub(super) fn name(parts: &Parts, groups: &TypeGroups, used: &BTreeSet<String>) -> String {
    let mut words: Vec<String> = Vec::new();
    for type_name in super::parts::types(parts) {
        let word = word(parts, &type_name, groups);
        if let Some(word) = word.filter(|word| !words.contains(word)) {
            words.push(word);
        }
    }
    words.truncate(MOST_WORDS);
    let base = if words.is_empty() {
        "common".to_owned()
    } else {
        words.join("-")
    };
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    let mut names = [base.clone()].into_iter().chain(numbered);
    let name = names.find(|name| !used.contains(name));
    name.expect("numbers do not end")
}

/// The word for a type's attributes: a value that is a word, else the section, else an attribute.
fn word(parts: &Parts, type_name: &TypeName, groups: &TypeGroups) -> Option<String> {
    let own = || {
        parts
            .iter()
            .filter(|(part, _)| part.type_name == *type_name)
    };
    let mut values = own().filter_map(|(_, value)| match value {
        PartValue::Set(DeclaredValue::Value(value)) => value.as_str(),
        _ => None,
    });
    let is_word = |text: &&str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || matches!(c, '-' | '_');
        text.len() > 1 && text.len() <= 16 && text.chars().all(is_letter)
    };
    if let Some(value) = values.find(is_word) {
        return Some(value.replace('_', "-"));
    }
    if let Some(section) = groups.section(type_name) {
        return Some(section.replace('_', "-"));
    }
    let set = own().find_map(|(part, value)| match value {
        PartValue::Set(DeclaredValue::Value(Value::Bool(false))) => {
            let name = part.attribute.as_deref()?;
            Some(format!("no-{name}"))
        }
        _ => part.attribute.as_deref().map(str::to_owned),
    });
    set.map(|name| name.replace('_', "-"))
}

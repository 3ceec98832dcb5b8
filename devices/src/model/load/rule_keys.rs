//! The keys for offline rules, and the word for the default of the device.

use super::AttributeNames;
use super::model_keys::ShutdownKeys;
use crate::document::{At, Findings};
use crate::map::IndexMap;
use crate::model::{AttributeModel, Shutdown, ValueSpec};
use crate::value::{Name, Value};

/// `default_word = "unset"`: marks the attributes that have the word as a literal.
pub(super) fn mark_default_word(
    word: &At<String>,
    attributes: &mut IndexMap<Name, AttributeModel>,
    findings: &Findings,
) -> Name {
    let name = Name::from(word.as_str());
    let is_word = |spec: &ValueSpec| matches!(spec, ValueSpec::Literal(value) if value.as_str() == Some(word.as_str()));
    let mut is_used = false;
    for attribute in attributes.values_mut() {
        if attribute.values.iter().any(is_word) {
            attribute.default_word = Some(name.clone());
            is_used = true;
        }
    }
    if !is_used {
        findings.error_with_help(
            "default-word",
            word.span.clone(),
            format!("no attribute has the value `{name}`"),
            format!("remove `default_word`, or add \"{name}\" to the `values` of an attribute"),
        );
    }
    name
}

/// `shutdown = { attribute = "enable", when = false }`.
pub(super) fn shutdown(keys: ShutdownKeys, names: &AttributeNames<'_>) -> Shutdown {
    let attribute = names.checked(keys.attribute);
    if let Some(model) = names.attributes.get(attribute.as_str()) {
        check_value(&keys.when, model, names.findings);
    }
    Shutdown {
        attribute,
        when: keys.when.value,
    }
}

/// Reports an invalid value of the attribute.
fn check_value(value: &At<Value>, attribute: &AttributeModel, findings: &Findings) {
    let literals: Vec<String> = attribute
        .values
        .iter()
        .filter(|spec| matches!(spec, ValueSpec::Literal(_)))
        .map(|spec| format!("`{}`", spec.name()))
        .collect();
    if let Err(error) = attribute.canonicalize(value) {
        findings.error_with_help(
            "unknown-word",
            value.span.clone(),
            format!(
                "`{}` cannot have this value: {}",
                attribute.name, error.message
            ),
            format!("use one of {}", literals.join(", ")),
        );
    }
}

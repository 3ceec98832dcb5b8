//! Loads one `[attr.x]`: its role, values and notation.

use super::model_keys::ModelAttributeKeys;
use super::reference::reference;
use super::value_spec::ModelValues;
use crate::document::Findings;
use crate::model::{AttributeModel, Role, ValueSpec};
use crate::value::Value;

pub(crate) fn ensure(default: Option<&str>) -> AttributeModel {
    AttributeModel {
        name: "ensure".into(),
        doc: "Whether the instance exists on the device.".to_owned(),
        role: Role::Property,
        values: ["present", "absent"]
            .map(|name| ValueSpec::Literal(name.into()))
            .to_vec(),
        array: None,
        default: default.map(Value::from),
        default_word: None,
        puppet_default: None,
        required: false,
        sensitive: false,
        canon: Vec::new(),
        refers: Vec::new(),
        since: None,
    }
}

/// The attribute with these keys.
pub(super) fn attribute(
    name: &str,
    keys: ModelAttributeKeys,
    findings: &Findings,
) -> AttributeModel {
    let notation = match &keys.values {
        Some(ModelValues::Notation(notation)) => Some(notation),
        _ => None,
    };
    let array = keys.array.or(notation.and_then(|notation| notation.array));
    let sensitive = notation.is_some_and(|notation| notation.sensitive);
    let mut attribute = AttributeModel {
        name: name.into(),
        doc: keys.doc,
        role: keys.role,
        array,
        default: keys.default.as_ref().map(|default| default.value.clone()),
        default_word: None,
        puppet_default: keys
            .puppet_default
            .as_ref()
            .map(|default| default.value.clone()),
        required: keys.required,
        sensitive: keys.sensitive.unwrap_or(sensitive),
        values: match keys.values {
            Some(ModelValues::Notation(notation)) => notation.values,
            Some(ModelValues::List(values)) => values,
            None => Vec::new(),
        },
        canon: keys.canon,
        refers: Vec::new(),
        since: keys.since,
    };
    let refers = keys.refers.into_iter().flatten();
    let refers = refers.filter_map(|form| reference(form, (name, &attribute.values), findings));
    attribute.refers = refers.collect();
    for default in [keys.default, keys.puppet_default].into_iter().flatten() {
        if let Err(error) = attribute.canonicalize(&default) {
            let message = format!("the default is invalid: {}", error.message);
            findings.error("default", default.span, message);
        }
    }
    attribute
}

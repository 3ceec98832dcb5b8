//! Validation and normalization of the fields of a request.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::load_balancer::normalize;
use crate::load_balancer::refusal::Refusal;
use crate::load_balancer::schema::{Field, FieldType, ObjectKind};
use crate::load_balancer::tree::{Fields, Object};

/// Fields of every response; ignored in requests.
const BOOKKEEPING: [&str; 4] = ["kind", "selfLink", "generation", "fullPath"];

/// The validated and normalized fields of a request; `None` clears a field.
pub(super) fn checked(
    kind: &ObjectKind,
    body: &Fields,
    before: Option<&Object>,
) -> Result<BTreeMap<String, Option<Value>>, Refusal> {
    let mut supplied = BTreeMap::new();
    for (key, value) in body {
        let name = camel(key);
        let is_name = ["name", "partition", "subPath"].contains(&name.as_str())
            || kind.subs.contains_key(&name);
        if is_name || BOOKKEEPING.contains(&name.as_str()) {
            continue;
        }
        let field = kind
            .fields
            .get(&name)
            .ok_or_else(|| Refusal::unknown_property(key))?;
        let old = before.and_then(|object| object.fields.get(&name));
        let value = accept(&name, field, value, old)?;
        if let (true, Some(object)) = (field.fixed, before)
            && value.as_ref() != object.fields.get(&name)
        {
            return Err(Refusal::configuration(&format!(
                "The {name} of {} ({}) cannot be changed.",
                kind.title,
                object.path.text()
            )));
        }
        supplied.insert(name, value);
    }
    Ok(supplied)
}

/// The set fields, for normalization rules that depend on the request.
pub(super) fn set_fields(kind: &ObjectKind, supplied: &BTreeMap<String, Option<Value>>) -> Fields {
    let set = supplied.iter().map(|(name, value)| {
        let is_flag = kind
            .fields
            .get(name)
            .is_some_and(|field| field.field_type == FieldType::Bool);
        // The request set a cleared flag to false.
        let value = value
            .clone()
            .unwrap_or(if is_flag { json!(false) } else { Value::Null });
        (name.clone(), value)
    });
    set.collect()
}

fn camel(key: &str) -> String {
    let mut parts = key.split('-');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

fn accept(
    name: &str,
    field: &Field,
    value: &Value,
    old: Option<&Value>,
) -> Result<Option<Value>, Refusal> {
    let bad = || Refusal::invalid_value(name, value);
    let text = value.as_str();
    Ok(match &field.field_type {
        FieldType::Text => match value {
            Value::String(text)
                if text.is_empty() || (text == "none" && field.default.is_none()) =>
            {
                None
            }
            Value::String(text) => Some(json!(text)),
            Value::Number(number) => Some(json!(number.to_string())),
            _ => return Err(bad()),
        },
        FieldType::Secret => Some(json!(normalize::encrypted(text.ok_or_else(bad)?))),
        FieldType::Bool => match (value.as_bool(), text) {
            (Some(true), _) | (_, Some("true" | "yes" | "enabled")) => Some(json!(true)),
            (Some(false), _) | (_, Some("false" | "no" | "disabled")) => None,
            _ => return Err(bad()),
        },
        FieldType::Integer(low, high) => {
            let number = value
                .as_u64()
                .or_else(|| text?.parse().ok())
                .ok_or_else(bad)?;
            if !(*low..=*high).contains(&number) {
                return Err(bad());
            }
            Some(json!(number))
        }
        FieldType::OneOf(words) => {
            let word = match value {
                Value::Bool(flag) => flag.to_string(),
                _ => text.ok_or_else(bad)?.to_owned(),
            };
            if !words.contains(&word) {
                return Err(bad());
            }
            Some(json!(word))
        }
        FieldType::Monitor => normalize::monitor(text.ok_or_else(bad)?)?.map(|text| json!(text)),
        FieldType::Reference(_) => {
            normalize::reference(text.ok_or_else(bad)?).map(|path| json!(path))
        }
        FieldType::References(_) => match value {
            Value::Array(paths) => {
                let paths: Option<Vec<String>> = paths
                    .iter()
                    .map(|path| path.as_str().and_then(normalize::reference))
                    .collect();
                let paths = paths.ok_or_else(bad)?;
                (!paths.is_empty()).then(|| json!(paths))
            }
            Value::String(text) => normalize::reference(text).map(|path| json!([path])),
            _ => return Err(bad()),
        },
        FieldType::List => match value {
            Value::Array(items) => (!items.is_empty()).then(|| value.clone()),
            Value::String(text) => (!text.is_empty() && text != "none").then(|| json!([text])),
            _ => return Err(bad()),
        },
        FieldType::Object => Some(normalize::merged(
            old.or(field.default.as_ref()),
            value.as_object().ok_or_else(bad)?,
        )),
    })
}

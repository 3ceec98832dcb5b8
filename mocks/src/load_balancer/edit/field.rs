//! The fields of a request: which there are, which values they take, and how the box writes them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::load_balancer::refusal::Refusal;
use crate::load_balancer::rewrite;
use crate::load_balancer::schema::{Field, Kind, Takes};
use crate::load_balancer::tree::{Fields, Object};

/// Fields that every answer has; in a request they are passed over.
const BOOKKEEPING: [&str; 4] = ["kind", "selfLink", "generation", "fullPath"];

/// The fields of a request, each checked and written as the box does; `None` clears a field.
pub fn checked(
    kind: &Kind,
    body: &Fields,
    before: Option<&Object>,
) -> Result<BTreeMap<String, Option<Value>>, Refusal> {
    let mut given = BTreeMap::new();
    for (key, value) in body {
        let name = camel(key);
        let known = ["name", "partition", "subPath"].contains(&name.as_str())
            || kind.subs.contains_key(&name);
        if known || BOOKKEEPING.contains(&name.as_str()) {
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
        given.insert(name, value);
    }
    Ok(given)
}

/// Only the set fields, for rewriting rules that ask what was given.
pub fn plain(kind: &Kind, given: &BTreeMap<String, Option<Value>>) -> Fields {
    let set = given.iter().map(|(name, value)| {
        let is_flag = kind
            .fields
            .get(name)
            .is_some_and(|field| field.takes == Takes::Bool);
        // A flag that is cleared was given as false.
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
    Ok(match &field.takes {
        Takes::Text => match value {
            Value::String(text)
                if text.is_empty() || (text == "none" && field.default.is_none()) =>
            {
                None
            }
            Value::String(text) => Some(json!(text)),
            Value::Number(number) => Some(json!(number.to_string())),
            _ => return Err(bad()),
        },
        Takes::Secret => Some(json!(rewrite::encrypted(text.ok_or_else(bad)?))),
        Takes::Bool => match (value.as_bool(), text) {
            (Some(true), _) | (_, Some("true" | "yes" | "enabled")) => Some(json!(true)),
            (Some(false), _) | (_, Some("false" | "no" | "disabled")) => None,
            _ => return Err(bad()),
        },
        Takes::Integer(low, high) => {
            let number = value
                .as_u64()
                .or_else(|| text?.parse().ok())
                .ok_or_else(bad)?;
            if !(*low..=*high).contains(&number) {
                return Err(bad());
            }
            Some(json!(number))
        }
        Takes::OneOf(words) => {
            let word = match value {
                Value::Bool(flag) => flag.to_string(),
                _ => text.ok_or_else(bad)?.to_owned(),
            };
            if !words.contains(&word) {
                return Err(bad());
            }
            Some(json!(word))
        }
        Takes::Monitor => rewrite::monitor(text.ok_or_else(bad)?)?.map(|text| json!(text)),
        Takes::Reference(_) => rewrite::reference(text.ok_or_else(bad)?).map(|path| json!(path)),
        Takes::References(_) => match value {
            Value::Array(paths) => {
                let paths: Option<Vec<String>> = paths
                    .iter()
                    .map(|path| path.as_str().and_then(rewrite::reference))
                    .collect();
                let paths = paths.ok_or_else(bad)?;
                (!paths.is_empty()).then(|| json!(paths))
            }
            Value::String(text) => rewrite::reference(text).map(|path| json!([path])),
            _ => return Err(bad()),
        },
        Takes::List => match value {
            Value::Array(items) => (!items.is_empty()).then(|| value.clone()),
            Value::String(text) => (!text.is_empty() && text != "none").then(|| json!([text])),
            _ => return Err(bad()),
        },
        Takes::Object => Some(rewrite::merged(
            old.or(field.default.as_ref()),
            value.as_object().ok_or_else(bad)?,
        )),
    })
}

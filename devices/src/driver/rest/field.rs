//! Reads and writes a value in one field, and a value that represents several fields.

use crate::map::IndexMap;
use serde_json::Value as Json;

use super::codec::ValueCodec;
use super::definition::{FieldRule, RestLocation, StateFields};
use crate::driver::json_body::{Body, equivalent};
use crate::read::field_path::FieldPath;
use crate::secret::Text;
use crate::value::Value;

/// The path as in a definition.
impl std::fmt::Display for FieldRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.each {
            Some(each) => write!(f, "{}[*].{each}", self.path),
            None => write!(f, "{}", self.path),
        }
    }
}

/// Converts a scalar or list to an attribute value.
pub(crate) fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Undef,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => number
            .as_i64()
            .map_or_else(|| number.to_string().into(), Value::Integer),
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::List(items.iter().map(value_of).collect()),
        Json::Object(fields) => Value::Hash(
            fields
                .iter()
                .map(|(key, value)| (key.as_str().into(), value_of(value)))
                .collect(),
        ),
    }
}

/// The value of a field; its `absent` value if the field is missing or empty.
pub(crate) fn field_value(rule: &FieldRule, object: &Json) -> Option<Value> {
    let found = rule.path.get(object).filter(|json| match json {
        // An empty element of XML.
        Json::String(_) if rule.codec == Some(ValueCodec::Empty) => true,
        Json::String(text) => !text.trim().is_empty(),
        Json::Array(items) => !items.is_empty(),
        _ => true,
    });
    let Some(json) = found else {
        return rule.absent.clone();
    };
    if let Some((value, _)) = rule.map.iter().find(|(_, mapped)| equivalent(mapped, json)) {
        return Some(value.as_str().into());
    }
    let json = match (&rule.each, json) {
        (Some(each), Json::Array(items)) => items
            .iter()
            .map(|item| each.get(item).cloned().unwrap_or_default())
            .collect(),
        // One XML element has no list around it.
        (Some(each), Json::Object(_)) => each.get(json).cloned().unwrap_or_default(),
        _ => json.clone(),
    };
    let json = rule
        .codec
        .map_or_else(|| json.clone(), |codec| codec.read(&json));
    Some(match value_of(&json) {
        // Some text fields return trailing spaces.
        Value::String(text) => text.trim_end().into(),
        other => other,
    })
}

/// The value whose fields match the object.
pub(crate) fn state_value(states: &IndexMap<String, StateFields>, object: &Json) -> Option<Value> {
    let fits = |state: &StateFields| {
        state.when.as_ref().is_some_and(|when| {
            when.iter().all(|(path, any)| {
                path.get(object)
                    .is_some_and(|field| any.iter().any(|json| equivalent(field, json)))
            })
        })
    };
    states
        .iter()
        .find(|(_, state)| fits(state))
        .map(|(name, _)| name.as_str().into())
}

/// Sets a value at its path in a member.
pub(crate) fn put_location(body: &mut Body, location: &RestLocation, value: &Value) {
    match location {
        RestLocation::Field(rule) => body.put(&rule.path, field_body(rule, value, None)),
        RestLocation::States(states) => {
            for (path, json) in state_fields(states, Some(value)) {
                body.put(path, json.clone().into());
            }
        }
        _ => {}
    }
}

/// The fields that a value represents.
pub(crate) fn state_fields<'a>(
    states: &'a IndexMap<String, StateFields>,
    value: Option<&Value>,
) -> &'a [(FieldPath, Json)] {
    value
        .and_then(Value::scalar_text)
        .and_then(|text| states.get(&text))
        .map(|state| state.set.as_slice())
        .unwrap_or_default()
}

/// A value in the form of its field. Elements of a list of objects preserve the fields that they have
/// on the device.
pub(crate) fn field_body(rule: &FieldRule, value: &Value, current: Option<&Json>) -> Body {
    if let Some(text) = value.scalar_text()
        && let Some((_, json)) = rule.map.iter().find(|(name, _)| *name == text)
    {
        return json.clone().into();
    }
    // A list with only the word for "none" is an empty list. In a text the word has no special
    // meaning.
    if let (Value::List(items), Some(absent)) = (value, &rule.absent)
        && !rule.codec.is_some_and(ValueCodec::is_text)
        && items.as_slice() == std::slice::from_ref(absent)
    {
        return Json::Array(Vec::new()).into();
    }
    if let (Some(each), Value::List(items)) = (&rule.each, value) {
        let list = current.and_then(|object| rule.path.get(object));
        let list = list.and_then(Json::as_array);
        let element = |item: &Value| {
            let mut known = list.into_iter().flatten();
            let known = known.find(|one| each.get(one).is_some_and(|one| value_of(one) == *item));
            let mut element = known.map_or_else(Body::object, |one| one.clone().into());
            element.put(each, body_of(item));
            element
        };
        return Body::List(items.iter().map(element).collect());
    }
    match (body_of(value), rule.codec) {
        (Body::Plain(json), Some(codec)) => codec.write(json).into(),
        (body, _) => body,
    }
}

/// A value for sending. It is a number only if the model declares one. A value with secrets becomes
/// a tree with secret leaves.
fn body_of(value: &Value) -> Body {
    let are_plain = |bodies: &[Body]| bodies.iter().all(|body| matches!(body, Body::Plain(_)));
    let json = |body: Body| match body {
        Body::Plain(json) => json,
        _ => Json::Null,
    };
    match value {
        Value::Sensitive(inner) => match inner.scalar_text() {
            Some(text) => Body::Secret(Text::secret(text)),
            None => body_of(&wrap_leaves(inner)),
        },
        Value::List(items) => {
            let items: Vec<Body> = items.iter().map(body_of).collect();
            if are_plain(&items) {
                Json::Array(items.into_iter().map(json).collect()).into()
            } else {
                Body::List(items)
            }
        }
        Value::Hash(entries) => {
            let (names, bodies): (Vec<String>, Vec<Body>) = entries
                .iter()
                .filter_map(|(key, value)| Some((key.scalar_text()?, body_of(value))))
                .unzip();
            if are_plain(&bodies) {
                Json::Object(
                    names
                        .into_iter()
                        .zip(bodies.into_iter().map(json))
                        .collect(),
                )
                .into()
            } else {
                Body::Object(names.into_iter().zip(bodies).collect())
            }
        }
        Value::Bool(truth) => Json::Bool(*truth).into(),
        Value::Integer(number) => Json::from(*number).into(),
        Value::Float(number) => Json::from(*number).into(),
        other => other.as_str().map_or(Json::Null, Json::from).into(),
    }
}

/// Converts a secret list or hash to a list or hash of secrets.
fn wrap_leaves(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.iter().map(wrap_leaves).collect()),
        Value::Hash(entries) => Value::Hash(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), wrap_leaves(value)))
                .collect(),
        ),
        Value::Undef | Value::Absent | Value::Default => Value::Undef,
        leaf => Value::Sensitive(Box::new(leaf.scalar_text().unwrap_or_default().into())),
    }
}

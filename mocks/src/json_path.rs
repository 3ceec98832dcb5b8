//! Values at paths in JSON documents.

use serde_json::{Map, Value};
use switchtender_outline::{JsonPath, JsonStep};

/// Access to the value at a path.
pub(crate) trait Locate {
    /// The value, unless it is missing or `null`.
    fn get<'a>(&self, document: &'a Value) -> Option<&'a Value>;
    /// The value, unless it is missing.
    fn get_mut<'a>(&self, document: &'a mut Value) -> Option<&'a mut Value>;
    /// The value, made with the objects and arrays around it.
    fn get_or_insert<'a>(&self, document: &'a mut Value) -> &'a mut Value;
    /// Removes the value.
    fn remove(&self, document: &mut Value);
    /// A document with this value only.
    fn document_with(&self, value: Value) -> Value {
        let mut document = Value::Null;
        *self.get_or_insert(&mut document) = value;
        document
    }
}

impl Locate for JsonPath {
    fn get<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        let found = self.0.iter().try_fold(document, |at, step| match at {
            Value::Object(fields) => fields.get(member(step)?),
            Value::Array(items) => items.get(index(step, items)?),
            _ => None,
        });
        found.filter(|value| !value.is_null())
    }

    fn get_mut<'a>(&self, document: &'a mut Value) -> Option<&'a mut Value> {
        self.0.iter().try_fold(document, |at, step| match at {
            Value::Object(fields) => fields.get_mut(member(step)?),
            Value::Array(items) => {
                let index = index(step, items)?;
                items.get_mut(index)
            }
            _ => None,
        })
    }

    fn get_or_insert<'a>(&self, document: &'a mut Value) -> &'a mut Value {
        self.0.iter().fold(document, |at, step| {
            let JsonStep::Member(name) = step else {
                let items = array(at);
                let index = index(step, items).unwrap_or_else(|| {
                    items.push(new_element(step));
                    items.len() - 1
                });
                return &mut items[index];
            };
            object(at).entry(name.clone()).or_insert(Value::Null)
        })
    }

    fn remove(&self, document: &mut Value) {
        let Some((last, outer)) = self.0.split_last() else {
            return;
        };
        match Self(outer.to_vec()).get_mut(document) {
            Some(Value::Object(fields)) => {
                if let Some(name) = member(last) {
                    fields.shift_remove(name);
                }
            }
            Some(Value::Array(items)) => {
                if let Some(index) = index(last, items) {
                    items.remove(index);
                }
            }
            _ => {}
        }
    }
}

/// The text of a scalar.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_true) => Some(is_true.to_string()),
        _ => None,
    }
}

/// The value as an object; another value is replaced by an empty one.
pub(crate) fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("was just made an object")
}

/// The value as an array; another value is replaced by an empty one.
pub(crate) fn array(value: &mut Value) -> &mut Vec<Value> {
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    value.as_array_mut().expect("was just made an array")
}

fn member(step: &JsonStep) -> Option<&str> {
    match step {
        JsonStep::Member(name) => Some(name),
        JsonStep::Index(_) | JsonStep::Element { .. } => None,
    }
}

fn index(step: &JsonStep, items: &[Value]) -> Option<usize> {
    match step {
        JsonStep::Member(_) => None,
        JsonStep::Index(index) => (*index < items.len()).then_some(*index),
        JsonStep::Element { field, value } => items
            .iter()
            .position(|item| item.get(field).and_then(scalar).as_ref() == Some(value)),
    }
}

fn new_element(step: &JsonStep) -> Value {
    match step {
        JsonStep::Element { field, value } => {
            Value::Object(Map::from_iter([(field.clone(), value.clone().into())]))
        }
        JsonStep::Member(_) | JsonStep::Index(_) => Value::Null,
    }
}

//! The one form of a value on this platform, whether it comes from a catalog or from the device.

use super::definition::{AttributeRule, Definition, Place};
use crate::model::TypeModel;
use crate::value::Value;

/// Canonical form of an attribute's value: spellings, then the codec, then the model.
///
/// A value from the device that the model does not know is kept as it is, so that people see it.
pub fn canonical(
    definition: &Definition,
    model: &TypeModel,
    name: &str,
    value: &Value,
    domain: u32,
) -> Value {
    let (key, _) = &definition.instance.key;
    let mut value = value.clone();
    if name == key {
        if let Some(singleton) = &definition.instance.singleton {
            value = singleton.as_str().into();
        }
        if let Some(codec) = definition.instance.key_codec {
            value = codec.canonical(&value, domain);
        }
    }
    if let Some(rule) = definition.attributes.get(name) {
        value = by_codec(definition, name, rule, &value, domain);
        value = same(rule, value);
        value = kept(rule, value);
    }
    match model.canonicalize(name, &value) {
        Ok(known) => known,
        Err(_) => value,
    }
}

fn by_codec(
    definition: &Definition,
    name: &str,
    rule: &AttributeRule,
    value: &Value,
    domain: u32,
) -> Value {
    match &rule.place {
        Place::Field(field) => field
            .codec
            .map_or_else(|| value.clone(), |codec| codec.canonical(value, domain)),
        Place::Group { codec, .. } => codec.canonical(0, value, domain),
        Place::Inside(leader) => match definition
            .attributes
            .get(leader.as_str())
            .map(|rule| &rule.place)
        {
            Some(Place::Group { codec, with, .. }) => {
                let index = with.iter().position(|member| member == name);
                codec.canonical(index.map_or(0, |index| index + 1), value, domain)
            }
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

/// A value as the device keeps it: several fields come back with blanks at the end of a text, and
/// an empty list is the word for none.
fn kept(rule: &AttributeRule, value: Value) -> Value {
    match (value, &rule.place) {
        (Value::String(text), Place::Field(_)) if !rule.write_only => text.trim_end().into(),
        (Value::List(items), place) if items.is_empty() => {
            let none = match place {
                Place::Field(field) => field.absent.clone(),
                Place::Members(members) => members.none.clone(),
                Place::Entries(entries) => entries.absent.clone(),
                Place::Group { codec, .. } => codec.none().map(Value::from),
                Place::Inside(_) | Place::States(_) | Place::Unsupported(_) => None,
            };
            none.unwrap_or(Value::List(items))
        }
        (other, _) => other,
    }
}

fn same(rule: &AttributeRule, value: Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.into_iter().map(|item| same(rule, item)).collect()),
        other => {
            let text = other.scalar_text();
            let meant = rule
                .same
                .iter()
                .find(|(spelling, _)| Some(spelling) == text.as_ref());
            meant.map_or(other, |(_, value)| value.clone())
        }
    }
}

//! The canonical form of a value on this platform, from a catalog or from the device.

use super::definition::{KeySplit, MemberCodec, RestAttributeRule, RestDefinition, RestLocation};
use crate::model::TypeModel;
use crate::value::{Attributes, Value};

/// Converts an attribute's value: spellings, then the codec, then the model. `domain` is the default
/// route domain of the object's partition; `None` before it was read, so that a value keeps its own.
///
/// A device value that the model does not accept is unchanged, so that it is visible.
pub(crate) fn canonical(
    definition: &RestDefinition,
    model: &TypeModel,
    name: &str,
    value: &Value,
    domain: Option<u32>,
) -> Value {
    let mut value = value.clone();
    if definition.instance.is_key(name) {
        if let Some(singleton) = &definition.instance.singleton {
            value = singleton.as_str().into();
        }
        if let Some(codec) = definition.instance.key_codec {
            value = codec.canonical(&value, domain);
        }
    }
    if let Some(rule) = definition.attributes.get(name) {
        value = by_codec(definition, name, rule, &value, domain);
        value = meant_value(rule, value);
        let is_unset = model.is_unset(name, &value);
        value = stored_value(rule, value, is_unset);
    }
    match model.canonicalize(name, &value) {
        Ok(canonical) => canonical,
        Err(_) => value,
    }
}

/// Converts the keys of members, whose format may depend on another attribute of the object.
pub(crate) fn canonical_members(
    definition: &RestDefinition,
    model: &TypeModel,
    attributes: &mut Attributes,
    domain: Option<u32>,
) {
    for (name, rule) in &definition.attributes {
        let RestLocation::Members(members) = &rule.location else {
            continue;
        };
        let codec = match &members.codec {
            None => None,
            Some(MemberCodec::Always(codec)) => Some(codec),
            Some(MemberCodec::By { attribute, codecs }) => {
                let value = attributes.get(attribute).and_then(Value::scalar_text);
                value.and_then(|value| codecs.get(&value))
            }
        };
        let (Some(codec), Some(Value::List(items))) = (codec, attributes.get(name)) else {
            continue;
        };
        let key_field = match &members.split {
            KeySplit::Complete => None,
            KeySplit::Field(field) | KeySplit::HostPort(field, _) => Some(field.as_str()),
        };
        let items = items.iter().map(|item| match (item, key_field) {
            (Value::Hash(fields), Some(key_field)) => {
                let fields = fields.iter().map(|(field, value)| {
                    let is_key = field.as_str() == Some(key_field);
                    let value = if is_key {
                        codec.canonical(value, domain)
                    } else {
                        value.clone()
                    };
                    (field.clone(), value)
                });
                Value::Hash(fields.collect())
            }
            (item, _) => codec.canonical(item, domain),
        });
        let value = Value::List(items.collect());
        let value = model.canonicalize(name, &value).unwrap_or(value);
        attributes.insert(name.clone(), value);
    }
}

fn by_codec(
    definition: &RestDefinition,
    name: &str,
    rule: &RestAttributeRule,
    value: &Value,
    domain: Option<u32>,
) -> Value {
    match &rule.location {
        location @ (RestLocation::Field(_) | RestLocation::Chosen(_)) => {
            let codec = location.field_format().and_then(|field| field.codec);
            codec.map_or_else(|| value.clone(), |codec| codec.canonical(value, domain))
        }
        RestLocation::Group { codec, .. } => codec.canonical(0, value, domain),
        RestLocation::Inside(leader) => match definition
            .attributes
            .get(leader.as_str())
            .map(|rule| &rule.location)
        {
            Some(RestLocation::Group { codec, with, .. }) => {
                let index = with.iter().position(|member| member == name);
                codec.canonical(index.map_or(0, |index| index + 1), value, domain)
            }
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

/// A value as the device stores it: some fields return trailing spaces, and the word for the default
/// or an empty list stands for the value without the field.
fn stored_value(rule: &RestAttributeRule, value: Value, is_unset: bool) -> Value {
    match (value, &rule.location) {
        (value, location) if is_unset => {
            let none = match location {
                RestLocation::Field(_) | RestLocation::Chosen(_) => location
                    .field_format()
                    .and_then(|field| field.absent.clone()),
                RestLocation::Members(members) => members.none.clone(),
                RestLocation::Entries(entries) => entries.absent.clone(),
                RestLocation::Group { codec, .. } => codec.none().map(Value::from),
                RestLocation::Inside(_)
                | RestLocation::Upload(_)
                | RestLocation::Order(_)
                | RestLocation::States(_)
                | RestLocation::Choice(_)
                | RestLocation::Unsupported(_) => None,
            };
            none.unwrap_or(value)
        }
        (Value::String(text), RestLocation::Field(_) | RestLocation::Chosen(_))
            if !rule.write_only =>
        {
            text.trim_end().into()
        }
        (other, _) => other,
    }
}

fn meant_value(rule: &RestAttributeRule, value: Value) -> Value {
    match value {
        Value::List(items) => Value::List(
            items
                .into_iter()
                .map(|item| meant_value(rule, item))
                .collect(),
        ),
        other => {
            let text = other.scalar_text();
            let meant = rule
                .spellings
                .iter()
                .find(|(spelling, _)| Some(spelling) == text.as_ref());
            meant.map_or(other, |(_, value)| value.clone())
        }
    }
}

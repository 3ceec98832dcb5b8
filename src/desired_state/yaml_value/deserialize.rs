//! YAML values as the parser returns them. The texts of plain scalars are inserted afterwards.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};
use switchtender_devices::value::Value;

use super::{YamlKey, YamlNode, YamlValue};

impl<'de> Deserialize<'de> for YamlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(YamlVisitor)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = YamlValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_none<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<YamlValue, E> {
        Ok(YamlValue::plain(Value::Bool(truth)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<YamlValue, E> {
        Ok(YamlValue::plain(Value::Integer(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<YamlValue, E> {
        // A larger number is a text only.
        let number = i64::try_from(number).map_or(Value::Float(f64::INFINITY), Value::Integer);
        Ok(YamlValue::plain(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<YamlValue, E> {
        Ok(YamlValue::plain(Value::Float(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<YamlValue, E> {
        Ok(YamlValue::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<YamlValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<YamlValue>>()? {
            list.push(node(item));
        }
        Ok(YamlValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlValue, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Spanned<YamlValue>>()? {
            let key = YamlKey {
                span: span(&key.referenced),
                name: key.value,
            };
            entries.push((key, node(value)));
        }
        Ok(YamlValue::Map(entries))
    }
}

fn node(item: Spanned<YamlValue>) -> YamlNode {
    let mut value = item.value;
    if let YamlValue::Plain(plain) = &mut value {
        plain.definition = span(&item.defined);
    }
    YamlNode {
        span: span(&item.referenced),
        value,
    }
}

fn span(location: &Location) -> Range<usize> {
    let span = location.span();
    let start = span.byte_offset().unwrap_or(0);
    let end = start + span.byte_len().unwrap_or(0);
    usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0)
}

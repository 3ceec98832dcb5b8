//! Puppet's rich data: values without a JSON equivalent (`docs/reference/transaction.md`, section 1).
//!
//! An object with the key `__ptype` is a typed value. Reading follows references within a value.
//! Writing is used for stored state.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json, json};
use switchtender_devices::map::IndexMap;
use switchtender_devices::value::{Deferred, Typed, Value};

/// A value that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RichDataError {
    /// The `__ptype` is no type of rich data.
    #[error("No implementation mapping found for Puppet Type {0}")]
    UnknownType(String),
    /// A part of the value is missing or has the wrong form.
    #[error("a value of type {kind} requires {needs}")]
    Payload {
        /// The `__ptype` of the value.
        kind: String,
        /// The missing or invalid part, such as `a string as __pvalue`.
        needs: &'static str,
    },
    /// The number does not fit in 64 bits.
    #[error("number {0} does not fit in 64 bits")]
    Number(String),
    /// The path of a `LocalRef` has no earlier value.
    #[error("reference {0:?} does not point to an earlier value")]
    LocalRef(String),
}

/// Kinds with a string as payload.
const TEXT_KINDS: [&str; 7] = [
    "Regexp",
    "Timestamp",
    "Timespan",
    "SemVer",
    "SemVerRange",
    "URI",
    "Type",
];

/// Parsed JSON: a value, or JSON that contains typed values.
pub(super) enum Parsed {
    Plain(Value),
    Rich(Json),
}

impl Parsed {
    /// The value with typed values decoded.
    ///
    /// # Errors
    /// As [`read`].
    pub(crate) fn value(self) -> Result<Value, RichDataError> {
        match self {
            Parsed::Plain(value) => Ok(value),
            Parsed::Rich(json) => read(&json),
        }
    }

    fn json(self) -> Json {
        match self {
            Parsed::Plain(value) => write(&value),
            Parsed::Rich(json) => json,
        }
    }
}

impl<'de> Deserialize<'de> for Parsed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParsedVisitor)
    }
}

struct ParsedVisitor;

impl<'de> Visitor<'de> for ParsedVisitor {
    type Value = Parsed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<Parsed, E> {
        Ok(Parsed::Plain(Value::Undef))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Parsed, E> {
        Ok(Parsed::Plain(truth.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Parsed, E> {
        Ok(Parsed::Plain(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Parsed, E> {
        Ok(match i64::try_from(number) {
            Ok(number) => Parsed::Plain(number.into()),
            // The error is reported when the value is decoded, where its owner is known.
            Err(_) => Parsed::Rich(number.into()),
        })
    }

    fn visit_f64<E>(self, number: f64) -> Result<Parsed, E> {
        Ok(Parsed::Plain(Value::Float(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Parsed, E> {
        Ok(Parsed::Plain(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Parsed, E> {
        Ok(Parsed::Plain(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Parsed, A::Error> {
        let mut values = Vec::new();
        while let Some(item) = items.next_element()? {
            match item {
                Parsed::Plain(value) => values.push(value),
                Parsed::Rich(json) => {
                    let mut all: Vec<Json> = values.iter().map(write).collect();
                    all.push(json);
                    while let Some(item) = items.next_element::<Parsed>()? {
                        all.push(item.json());
                    }
                    return Ok(Parsed::Rich(all.into()));
                }
            }
        }
        Ok(Parsed::Plain(Value::List(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Parsed, A::Error> {
        let mut values: IndexMap<String, Value> = IndexMap::default();
        while let Some((name, value)) = entries.next_entry::<String, Parsed>()? {
            match value {
                Parsed::Plain(value) if name != "__ptype" => {
                    values.insert(name, value);
                }
                value => {
                    let mut all: Map<String, Json> = values
                        .into_iter()
                        .map(|(name, value)| (name, write(&value)))
                        .collect();
                    all.insert(name, value.json());
                    while let Some((name, value)) = entries.next_entry::<String, Parsed>()? {
                        all.insert(name, value.json());
                    }
                    return Ok(Parsed::Rich(all.into()));
                }
            }
        }
        Ok(Parsed::Plain(Value::Hash(
            values
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
        )))
    }
}

/// Decodes a JSON value with rich data.
///
/// # Errors
/// A typed value has an unknown type or an invalid payload.
pub fn read(json: &Json) -> Result<Value, RichDataError> {
    read_in(json, json, 0)
}

/// The maximum number of references that follow each other; more count as a loop.
const MAX_REFERENCES: usize = 16;

fn read_in(json: &Json, root: &Json, references: usize) -> Result<Value, RichDataError> {
    Ok(match json {
        Json::Null => Value::Undef,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Value::Integer(integer),
            (None, Some(decimal)) if !number.is_u64() => Value::Float(decimal),
            _ => return Err(RichDataError::Number(number.to_string())),
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::List(
            items
                .iter()
                .map(|item| read_in(item, root, references))
                .collect::<Result<_, _>>()?,
        ),
        Json::Object(object) => match object.get("__ptype") {
            None => Value::Hash(
                object
                    .iter()
                    .map(|(key, value)| {
                        Ok((
                            Value::String(key.clone()),
                            read_in(value, root, references)?,
                        ))
                    })
                    .collect::<Result<_, _>>()?,
            ),
            Some(kind) => typed(kind, object, root, references)?,
        },
    })
}

fn typed(
    kind: &Json,
    object: &Map<String, Json>,
    root: &Json,
    references: usize,
) -> Result<Value, RichDataError> {
    let Some(kind) = kind.as_str() else {
        return Err(RichDataError::UnknownType(kind.to_string()));
    };
    let payload = object.get("__pvalue");
    let needs = |needs| RichDataError::Payload {
        kind: kind.to_owned(),
        needs,
    };
    let text = || {
        payload
            .and_then(Json::as_str)
            .ok_or_else(|| needs("a string as __pvalue"))
    };
    Ok(match kind {
        "Default" => Value::Default,
        "Symbol" => Value::Symbol(text()?.to_owned()),
        "Sensitive" => {
            let payload = payload.ok_or_else(|| needs("a __pvalue"))?;
            Value::Sensitive(Box::new(read_in(payload, root, references)?))
        }
        "Hash" => {
            let flat = payload
                .and_then(Json::as_array)
                .filter(|flat| flat.len() % 2 == 0)
                .ok_or_else(|| needs("a list of keys and values as __pvalue"))?;
            Value::Hash(
                flat.chunks_exact(2)
                    .map(|pair| {
                        Ok((
                            read_in(&pair[0], root, references)?,
                            read_in(&pair[1], root, references)?,
                        ))
                    })
                    .collect::<Result<_, _>>()?,
            )
        }
        "Binary" => Value::Binary(
            BASE64
                .decode(text()?.replace(['\n', '\r'], ""))
                .map_err(|_| needs("base64 as __pvalue"))?,
        ),
        "Deferred" => Value::Deferred(Box::new(Deferred {
            name: object
                .get("name")
                .and_then(Json::as_str)
                .ok_or_else(|| needs("a name"))?
                .to_owned(),
            arguments: object
                .get("arguments")
                .and_then(Json::as_array)
                .map_or(&[][..], Vec::as_slice)
                .iter()
                .map(|argument| read_in(argument, root, references))
                .collect::<Result<_, _>>()?,
        })),
        "LocalRef" => {
            let path = text()?;
            let target = (references < MAX_REFERENCES)
                .then(|| follow(root, path))
                .flatten()
                .ok_or_else(|| RichDataError::LocalRef(path.to_owned()))?;
            read_in(target, root, references + 1)?
        }
        kind if TEXT_KINDS.contains(&kind) => Value::Typed(Box::new(Typed {
            kind: kind.to_owned(),
            text: text()?.to_owned(),
        })),
        other => match pcore_type(other, object) {
            Some(text) => Value::Typed(Box::new(Typed {
                kind: "Type".to_owned(),
                text,
            })),
            None => return Err(RichDataError::UnknownType(other.to_owned())),
        },
    })
}

/// Puppet's notation of a type object: `Pcore::IntegerType` with `from` and `to` is `Integer[1,
/// 9]`.
fn pcore_type(kind: &str, object: &Map<String, Json>) -> Option<String> {
    let name = kind.strip_prefix("Pcore::")?.strip_suffix("Type")?;
    let parameters: Vec<String> = object
        .iter()
        .filter(|(key, _)| *key != "__ptype")
        .map(|(_, value)| match value.as_object() {
            Some(inner) => inner
                .get("__ptype")
                .and_then(Json::as_str)
                .and_then(|kind| pcore_type(kind, inner))
                .unwrap_or_else(|| value.to_string()),
            None => value.to_string(),
        })
        .collect();
    Some(if parameters.is_empty() {
        name.to_owned()
    } else {
        format!("{name}[{}]", parameters.join(", "))
    })
}

/// The value at a JSON path such as `$['a'][0]` or `$.a`.
fn follow<'a>(root: &'a Json, path: &str) -> Option<&'a Json> {
    let mut value = root;
    let mut rest = path.strip_prefix('$')?;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (inside, after) = after.split_once(']')?;
            let key = inside.trim_matches(|c| c == '\'' || c == '"');
            value = match value {
                Json::Array(items) => items.get(key.parse::<usize>().ok()?)?,
                Json::Object(object) => object.get(key)?,
                _ => return None,
            };
            rest = after;
        } else {
            let after = rest.strip_prefix('.')?;
            let end = after.find(['.', '[']).unwrap_or(after.len());
            value = value.get(&after[..end])?;
            rest = &after[end..];
        }
    }
    Some(value)
}

/// Encodes a value as JSON that [`read`] decodes to the same value. Sensitive values are written in
/// clear text inside their wrapper: use it only where secrets may be stored.
pub(crate) fn write(value: &Value) -> Json {
    let typed = |kind: &str, payload: Json| json!({"__ptype": kind, "__pvalue": payload});
    match value {
        Value::Absent => typed("Symbol", "absent".into()),
        Value::Symbol(name) => typed("Symbol", name.as_str().into()),
        Value::Default => json!({"__ptype": "Default"}),
        Value::Sensitive(inner) => typed("Sensitive", write(inner)),
        Value::Typed(value) => typed(&value.kind, value.text.as_str().into()),
        Value::Binary(bytes) => typed("Binary", BASE64.encode(bytes).into()),
        Value::Deferred(call) => json!({
            "__ptype": "Deferred",
            "name": call.name,
            "arguments": call.arguments.iter().map(write).collect::<Vec<_>>(),
        }),
        Value::List(items) => items.iter().map(write).collect(),
        Value::Hash(entries) => {
            let has_text_keys = entries
                .iter()
                .all(|(key, _)| matches!(key, Value::String(name) if name != "__ptype"));
            if has_text_keys {
                entries
                    .iter()
                    .map(|(key, value)| (key.ruby_to_s(), write(value)))
                    .collect::<Map<_, _>>()
                    .into()
            } else {
                let flat: Vec<Json> = entries
                    .iter()
                    .flat_map(|(key, value)| [write(key), write(value)])
                    .collect();
                typed("Hash", flat.into())
            }
        }
        simple => write_plain(simple),
    }
}

/// A value as JSON for reports: typed values, symbols and hash keys as strings, sensitive values
/// redacted.
pub fn write_plain(value: &Value) -> Json {
    match value {
        Value::Undef => Json::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => serde_json::Number::from_f64(*number)
            .map_or_else(|| Json::String(number.to_string()), Json::Number),
        Value::String(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(write_plain).collect(),
        Value::Hash(entries) => entries
            .iter()
            .map(|(key, value)| (key.ruby_to_s(), write_plain(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Typed(typed) if typed.kind == "Regexp" => format!("/{}/", typed.text).into(),
        Value::Binary(bytes) => BASE64.encode(bytes).into(),
        other => other.ruby_to_s().into(),
    }
}

/// The value of plain JSON, as [`write_plain`] writes it.
pub(crate) fn read_plain(json: Json) -> Value {
    match json {
        Json::Null => Value::Undef,
        Json::Bool(truth) => Value::Bool(truth),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Value::Integer(integer),
            None => Value::Float(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::List(items.into_iter().map(read_plain).collect()),
        Json::Object(entries) => Value::Hash(
            entries
                .into_iter()
                .map(|(key, value)| (Value::from(key.as_str()), read_plain(value)))
                .collect(),
        ),
    }
}

/// A value that may be missing, in plain JSON.
pub(crate) mod plain {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use serde_json::Value as Json;
    use switchtender_devices::value::Value;

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let json = value.as_ref().map(super::write_plain);
        json.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Value>, D::Error> {
        let json = Option::<Json>::deserialize(deserializer)?;
        Ok(json.map(super::read_plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rich_data_of_every_kind_is_read_and_written_back() {
        let kinds = [
            json!(null),
            json!([1, 1.5, true, "x"]),
            json!({"a": {"b": []}}),
            json!({"__ptype": "Default"}),
            json!({"__ptype": "Symbol", "__pvalue": "sym"}),
            json!({"__ptype": "Sensitive", "__pvalue": ["x"]}),
            json!({"__ptype": "Hash", "__pvalue": [1, "one", {"__ptype": "Default"}, 2]}),
            json!({"__ptype": "Regexp", "__pvalue": "^a"}),
            json!({"__ptype": "Timestamp", "__pvalue": "2024-01-02T03:04:05.000000000 UTC"}),
            json!({"__ptype": "Binary", "__pvalue": "aGVsbG8="}),
            json!({"__ptype": "Deferred", "name": "upcase", "arguments": ["a"]}),
        ];
        for json in kinds {
            let value = read(&json).unwrap();
            assert_eq!(write(&value), json, "{value:?}");
        }
    }

    #[test]
    fn rich_data_references_are_followed_and_loops_refused() {
        let json =
            json!({"a": [{"k": "v"}], "b": {"__ptype": "LocalRef", "__pvalue": "$['a'][0]"}});
        let value = read(&json).unwrap();
        assert_eq!(value.get("b").unwrap().get("k"), Some(&"v".into()));
        let looped = json!({"a": {"__ptype": "LocalRef", "__pvalue": "$.a"}});
        assert!(matches!(read(&looped), Err(RichDataError::LocalRef(_))));
    }

    #[test]
    fn rich_data_with_bad_payloads_is_an_error() {
        let cases = [
            json!({"__ptype": 7}),
            json!({"__ptype": "Symbol"}),
            json!({"__ptype": "Hash", "__pvalue": [1]}),
            json!({"__ptype": "Binary", "__pvalue": "?"}),
            json!({"__ptype": "Deferred"}),
            json!({"__ptype": "My::Type", "x": 1}),
            json!(18446744073709551615u64),
        ];
        for json in cases {
            assert!(read(&json).is_err(), "{json}");
        }
        let unknown = read(&json!({"__ptype": "My::Type"})).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "No implementation mapping found for Puppet Type My::Type"
        );
    }
}

//! The values of a YAML file with their positions.

mod deserialize;

use std::ops::Range;

use serde_json::{Value as Json, json};
use switchtender_devices::value::Value;

/// A YAML value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum YamlValue {
    Null,
    Plain(PlainScalar),
    Text(String),
    List(Vec<YamlNode>),
    /// In the order of the file.
    Map(Vec<(YamlKey, YamlNode)>),
}

/// A number or boolean of YAML. The type of its attribute decides whether it is one, or text.
#[derive(Clone, Debug)]
pub(crate) struct PlainScalar {
    /// The text in the file: `0x1F`, `1_000`.
    pub(crate) written: String,
    /// What YAML makes of it.
    pub(crate) value: Value,
    /// The bytes of the text, those of its anchor for an alias.
    definition: Range<usize>,
}

impl PlainScalar {
    /// The value where no attribute decides: numbers and booleans in their usual notation, and the
    /// text as written otherwise.
    pub(crate) fn as_variable(&self) -> Json {
        let json = match &self.value {
            Value::Bool(truth) => json!(truth),
            Value::Integer(number) => json!(number),
            Value::Float(number) => json!(number),
            _ => Json::Null,
        };
        let usual = json.to_string();
        if usual == self.written {
            json
        } else {
            json!(self.written)
        }
    }
}

/// A value with the bytes where it starts.
#[derive(Clone, Debug)]
pub(crate) struct YamlNode {
    pub(crate) value: YamlValue,
    pub(crate) span: Range<usize>,
}

/// A key of a map.
#[derive(Clone, Debug)]
pub(crate) struct YamlKey {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
}

/// Values are equal wherever they are written.
impl PartialEq for PlainScalar {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written && self.value == other.value
    }
}

impl PartialEq for YamlNode {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialEq for YamlKey {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl YamlValue {
    /// The text of a scalar as it is written.
    pub(super) fn written(&self) -> Option<&str> {
        match self {
            YamlValue::Text(text) => Some(text),
            YamlValue::Plain(plain) => Some(&plain.written),
            YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) => None,
        }
    }

    /// A value of the program as YAML.
    pub(super) fn of_value(value: &Value) -> Self {
        let node = |value: &Value| YamlNode {
            value: Self::of_value(value),
            span: 0..0,
        };
        match value {
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) => Self::Plain(PlainScalar {
                written: value.ruby_to_s(),
                value: value.clone(),
                definition: 0..0,
            }),
            Value::List(items) => Self::List(items.iter().map(node).collect()),
            Value::Hash(entries) => {
                let entries = entries.iter().map(|(name, value)| {
                    let key = YamlKey {
                        name: name.ruby_to_s(),
                        span: 0..0,
                    };
                    (key, node(value))
                });
                Self::Map(entries.collect())
            }
            other => Self::Text(other.ruby_to_s()),
        }
    }

    /// The value as the program has it, without templates and secrets.
    pub(super) fn plain_value(&self) -> Value {
        match self {
            Self::Null => Value::Undef,
            Self::Plain(plain) => plain.value.clone(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => {
                Value::List(items.iter().map(|item| item.value.plain_value()).collect())
            }
            Self::Map(entries) => {
                let entries = entries.iter();
                let entries =
                    entries.map(|(key, node)| (key.name.as_str().into(), node.value.plain_value()));
                Value::Hash(entries.collect())
            }
        }
    }

    /// Bytes of the value.
    pub(super) fn size(&self) -> usize {
        const NODE: usize = 8;
        NODE + match self {
            YamlValue::Null => 0,
            YamlValue::Text(text) => text.len(),
            YamlValue::Plain(plain) => plain.written.len(),
            YamlValue::List(items) => items.iter().map(|item| item.value.size()).sum(),
            YamlValue::Map(entries) => entries
                .iter()
                .map(|(key, node)| key.name.len() + node.value.size())
                .sum(),
        }
    }

    /// A plain scalar; its text is inserted after parsing.
    fn plain(value: Value) -> Self {
        Self::Plain(PlainScalar {
            written: String::new(),
            value,
            definition: 0..0,
        })
    }

    /// Inserts the texts of plain scalars.
    pub(super) fn insert_written(&mut self, text: &str) {
        match self {
            Self::Null | Self::Text(_) => {}
            Self::Plain(plain) => {
                let written = text.get(plain.definition.clone()).unwrap_or_default();
                // `!!int "5"` is in quotation marks.
                written
                    .trim_matches(['"', '\''])
                    .clone_into(&mut plain.written);
            }
            Self::List(items) => items
                .iter_mut()
                .for_each(|item| item.value.insert_written(text)),
            Self::Map(entries) => entries
                .iter_mut()
                .for_each(|(_, node)| node.value.insert_written(text)),
        }
    }
}

//! Codecs: named translations between attribute values and JSON, where a field path and a map are
//! insufficient.
//!
//! A [`ValueCodec`] translates one value in one field. A [`GroupCodec`] translates several
//! attributes that share fields. Each codec reads back what it writes. [`f5`] has the formats of
//! BIG-IP.

pub(super) mod f5;
mod text;

use serde_json::Value as Json;

pub(crate) use self::f5::{GroupCodec, ObjectContext};
use self::f5::{address, application, variables};
use crate::value::Value;

/// Translates the value of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueCodec {
    /// A BIG-IP address with optional route domain and prefix length.
    Address,
    /// A BIG-IP network: an address without host bits, a single host with its complete length.
    Network,
    /// Digits without leading zeros.
    Decimal,
    /// A multi-line text. Surrounding blank lines and the kind of line ends are ignored.
    Block,
    /// A script of BIG-IP: a block without comments after its last command, which the device drops.
    Rule,
    /// A text with control characters escaped once.
    Escaped,
    /// A list as space-separated words.
    Words,
    /// A list as lines of a text.
    Lines,
    /// The last part of a path.
    Base,
    /// One value in a list with one element.
    Single,
    /// A leaf of the YANG type `empty`: `[null]` for true.
    Empty,
    /// A hash as fields of BIG-IP with the name `userDefined NAME`.
    Variables,
    /// A hash as variables of an application service of BIG-IP.
    ApplicationVariables,
    /// A hash of lists of hashes as tables of an application service of BIG-IP.
    ApplicationTables,
}

impl ValueCodec {
    pub(crate) const ALL: [(&'static str, ValueCodec); 14] = [
        ("f5-address", ValueCodec::Address),
        ("f5-network", ValueCodec::Network),
        ("decimal", ValueCodec::Decimal),
        ("block", ValueCodec::Block),
        ("f5-rule", ValueCodec::Rule),
        ("escaped", ValueCodec::Escaped),
        ("words", ValueCodec::Words),
        ("lines", ValueCodec::Lines),
        ("base", ValueCodec::Base),
        ("single", ValueCodec::Single),
        ("empty", ValueCodec::Empty),
        ("f5-variables", ValueCodec::Variables),
        ("f5-application-variables", ValueCodec::ApplicationVariables),
        ("f5-application-tables", ValueCodec::ApplicationTables),
    ];

    /// The canonical form of a value from catalog or device.
    pub(crate) fn canonical(self, value: &Value, domain: Option<u32>) -> Value {
        match value {
            Value::String(text) => Value::String(match self {
                ValueCodec::Address => address::canonical(text, domain),
                ValueCodec::Network => address::canonical_network(text, domain),
                ValueCodec::Decimal => text::decimal(text),
                ValueCodec::Block => text::block(text),
                ValueCodec::Rule => text::rule(text),
                ValueCodec::Escaped => text::escaped(text),
                ValueCodec::Lines => text.trim().to_owned(),
                ValueCodec::Base => text.rsplit('/').next().unwrap_or(text).to_owned(),
                _ => text.clone(),
            }),
            Value::List(items) => Value::List(
                items
                    .iter()
                    .map(|item| self.canonical(item, domain))
                    .filter(|item| self != ValueCodec::Lines || item.as_str() != Some(""))
                    .collect(),
            ),
            Value::Hash(_) if self == ValueCodec::ApplicationTables => {
                application::canonical_tables(value)
            }
            Value::Hash(_) if self.is_hash() => variables::canonical(value),
            Value::Sensitive(inner) => Value::Sensitive(Box::new(self.canonical(inner, domain))),
            other => other.clone(),
        }
    }

    /// Whether the field has a list as text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, ValueCodec::Words | ValueCodec::Lines)
    }

    /// Whether the value is a hash.
    fn is_hash(self) -> bool {
        matches!(
            self,
            ValueCodec::Variables
                | ValueCodec::ApplicationVariables
                | ValueCodec::ApplicationTables
        )
    }

    /// The problem of a value that the model accepts and the codec does not.
    pub(crate) fn check(self, value: &Value) -> Option<String> {
        let hash = matches!(value.unwrap_sensitive(), Value::Hash(_));
        (self.is_hash() && !hash).then(|| match self {
            ValueCodec::ApplicationTables => "is not a hash of names and lists of rows".to_owned(),
            _ => "is not a hash of names and texts".to_owned(),
        })
    }

    /// Converts the field to JSON with the attribute's structure.
    pub(crate) fn read(self, field: &Json) -> Json {
        match (self, field) {
            (ValueCodec::Words, Json::String(text)) => text.split_whitespace().collect(),
            (ValueCodec::Lines, Json::String(text)) => text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .collect(),
            (ValueCodec::Single, Json::Array(items)) => items.first().cloned().unwrap_or_default(),
            (ValueCodec::Empty, Json::Array(items)) if items == &[Json::Null] => true.into(),
            // An empty element of XML.
            (ValueCodec::Empty, Json::String(text)) if text.is_empty() => true.into(),
            (ValueCodec::Variables, Json::Object(fields)) => variables::read(fields),
            (ValueCodec::ApplicationVariables, Json::Array(list)) => {
                application::read_variables(list)
            }
            (ValueCodec::ApplicationTables, Json::Array(list)) => application::read_tables(list),
            (_, other) => other.clone(),
        }
    }

    /// Converts JSON with the attribute's structure to the field.
    pub(crate) fn write(self, value: Json) -> Json {
        let separator = match self {
            ValueCodec::Words => " ",
            ValueCodec::Lines => "\n",
            ValueCodec::Single => return Json::Array(vec![value]),
            ValueCodec::Empty if value == Json::Bool(true) => return Json::Array(vec![Json::Null]),
            ValueCodec::Variables => return variables::write(value),
            ValueCodec::ApplicationVariables => return application::write_variables(value),
            ValueCodec::ApplicationTables => return application::write_tables(value),
            _ => return value,
        };
        match value {
            Json::Array(items) => items
                .iter()
                .map(|item| {
                    item.as_str()
                        .map_or_else(|| item.to_string(), str::to_owned)
                })
                .collect::<Vec<_>>()
                .join(separator)
                .into(),
            other => other,
        }
    }
}

//! Named translations between attribute values and JSON that a field path and a map cannot say.
//!
//! A [`ValueCodec`] translates one value in one field. A [`GroupCodec`] translates the values of
//! several attributes that share fields (`with`/`inside`), or one attribute that is spread over
//! several fields. Both directions of each stand together, and what one writes it reads back.
//! Formats: `docs/devices/f5_bigip.md`, sections 9 and 11.

mod address;
mod clone_pools;
pub(super) mod destination;
mod lockdown;
mod monitor;
mod persistence;
mod snat;
mod text;
mod variables;
mod vlans;

use serde_json::Value as Json;

use super::json::FieldPath;
use crate::value::Value;

/// Translates the value of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueCodec {
    /// An address with optional route domain and prefix length.
    Address,
    /// A text of several lines: blank lines around it and kinds of line ends do not matter.
    Block,
    /// A text in which control characters are escaped once.
    Escaped,
    /// A list as words in one text.
    Words,
    /// A list as lines in one text.
    Lines,
    /// The last part of a path.
    Base,
    /// One value in a list of one.
    Single,
    /// A hash as fields that are called `userDefined NAME`.
    Variables,
}

impl ValueCodec {
    pub const ALL: [(&'static str, ValueCodec); 8] = [
        ("address", ValueCodec::Address),
        ("block", ValueCodec::Block),
        ("escaped", ValueCodec::Escaped),
        ("words", ValueCodec::Words),
        ("lines", ValueCodec::Lines),
        ("base", ValueCodec::Base),
        ("single", ValueCodec::Single),
        ("f5-variables", ValueCodec::Variables),
    ];

    /// The one form of all spellings of a value, from catalog or device.
    pub fn canonical(self, value: &Value, domain: u32) -> Value {
        match value {
            Value::String(text) => Value::String(match self {
                ValueCodec::Address => address::canonical(text, domain),
                ValueCodec::Block => text::block(text),
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
            Value::Hash(_) if self == ValueCodec::Variables => variables::canonical(value),
            Value::Sensitive(inner) => Value::Sensitive(Box::new(self.canonical(inner, domain))),
            other => other.clone(),
        }
    }

    /// Whether the field has a list as one text.
    pub fn is_text(self) -> bool {
        matches!(self, ValueCodec::Words | ValueCodec::Lines)
    }

    /// What is wrong with a value that the model takes.
    pub fn check(self, value: &Value) -> Option<String> {
        let hash = matches!(value.unwrap_sensitive(), Value::Hash(_));
        (self == ValueCodec::Variables && !hash)
            .then(|| "is not a hash of names and texts".to_owned())
    }

    /// The field as plain JSON of the attribute's shape.
    pub fn read(self, field: &Json) -> Json {
        match (self, field) {
            (ValueCodec::Words, Json::String(text)) => text.split_whitespace().collect(),
            (ValueCodec::Lines, Json::String(text)) => text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .collect(),
            (ValueCodec::Single, Json::Array(items)) => items.first().cloned().unwrap_or_default(),
            (ValueCodec::Variables, Json::Object(fields)) => variables::read(fields),
            (_, other) => other.clone(),
        }
    }

    /// JSON of the attribute's shape as the field has it.
    pub fn write(self, value: Json) -> Json {
        let separator = match self {
            ValueCodec::Words => " ",
            ValueCodec::Lines => "\n",
            ValueCodec::Single => return Json::Array(vec![value]),
            ValueCodec::Variables => return variables::write(value),
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

/// Translates the values of a group of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupCodec {
    /// Monitors and how many of them must be up.
    Monitor,
    /// Address and port of a virtual server, in its partition.
    Destination,
    /// Address and port that a monitor probes.
    Alias,
    /// Source address translation.
    Snat,
    /// VLANs on which a virtual server listens, or does not.
    Vlans,
    /// Services that a self IP accepts.
    Lockdown,
    /// The default persistence profile.
    Persistence,
    /// Pools that get a copy of the traffic, client side and server side.
    ClonePools,
}

/// What a group codec may know about the object beside its fields.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Partition of the object.
    pub partition: &'a str,
    /// Default route domain of that partition.
    pub domain: u32,
}

impl GroupCodec {
    pub const ALL: [(&'static str, GroupCodec, usize); 8] = [
        ("f5-monitor", GroupCodec::Monitor, 2),
        ("f5-destination", GroupCodec::Destination, 2),
        ("f5-alias", GroupCodec::Alias, 2),
        ("f5-snat", GroupCodec::Snat, 1),
        ("f5-vlans", GroupCodec::Vlans, 1),
        ("f5-lockdown", GroupCodec::Lockdown, 1),
        ("f5-persistence", GroupCodec::Persistence, 1),
        ("f5-clone-pools", GroupCodec::ClonePools, 2),
    ];

    /// How many attributes the codec serves.
    pub fn arity(self) -> usize {
        Self::ALL
            .iter()
            .find(|(_, codec, _)| *codec == self)
            .map_or(1, |(.., arity)| *arity)
    }

    /// The canonical form of the value of the group's attribute number `index`.
    pub fn canonical(self, index: usize, value: &Value, domain: u32) -> Value {
        match self {
            GroupCodec::Destination | GroupCodec::Alias if index == 0 => {
                ValueCodec::Address.canonical(value, domain)
            }
            GroupCodec::Vlans => vlans::canonical(value),
            _ => value.clone(),
        }
    }

    /// The word for an empty list of what the group is about.
    pub fn none(self) -> Option<&'static str> {
        matches!(self, GroupCodec::Monitor | GroupCodec::Lockdown).then_some("none")
    }

    /// The values of the group's attributes; `None` for one that the object does not tell.
    pub fn read(
        self,
        field: &FieldPath,
        object: &Json,
        around: Surroundings,
    ) -> Vec<Option<Value>> {
        match self {
            GroupCodec::Monitor => monitor::read(field.get(object)),
            GroupCodec::Destination | GroupCodec::Alias => {
                destination::read(field.get(object), around.domain)
            }
            GroupCodec::Snat => vec![Some(snat::read(field.get(object)))],
            GroupCodec::Vlans => vec![Some(vlans::read(field, object))],
            GroupCodec::Lockdown => vec![Some(lockdown::read(field.get(object)))],
            GroupCodec::Persistence => vec![Some(persistence::read(field.get(object)))],
            GroupCodec::ClonePools => clone_pools::read(field.get(object)),
        }
    }

    /// What is wrong with values that go together.
    pub fn check(self, values: &[Option<&Value>]) -> Option<String> {
        match (self, values) {
            (GroupCodec::Monitor, [monitors, Some(Value::Integer(needed))]) => {
                let count = monitor::paths(*monitors).len();
                (usize::try_from(*needed).unwrap_or(usize::MAX) > count)
                    .then(|| format!("{needed} monitors must be up, of {count}"))
            }
            _ => None,
        }
    }

    /// Fields of which the device keeps only the one that was set last.
    pub fn alternatives(self, field: &FieldPath) -> Vec<FieldPath> {
        match self {
            GroupCodec::Vlans => vlans::flags(field).to_vec(),
            _ => Vec::new(),
        }
    }

    /// The fields that give the attributes these values; `None` for one that has none.
    pub fn write(
        self,
        field: &FieldPath,
        values: &[Option<Value>],
        around: Surroundings,
    ) -> Vec<(FieldPath, Json)> {
        let value = |index: usize| values.get(index).and_then(Option::as_ref);
        let json = match self {
            GroupCodec::Monitor => monitor::write(value(0), value(1)),
            GroupCodec::Destination => {
                let target = destination::write(value(0), value(1));
                Json::from(format!("/{}/{target}", around.partition))
            }
            GroupCodec::Alias => destination::write(value(0), value(1)).into(),
            GroupCodec::Snat => snat::write(value(0)),
            GroupCodec::Vlans => return vlans::write(field, value(0)),
            GroupCodec::Lockdown => lockdown::write(value(0)),
            GroupCodec::Persistence => persistence::write(value(0)),
            GroupCodec::ClonePools => clone_pools::write(value(0), value(1)),
        };
        vec![(field.clone(), json)]
    }
}

/// The texts of a list, or of one value that stands for a list.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::List(items)) => items.iter().filter_map(Value::scalar_text).collect(),
        Some(one) => one.scalar_text().into_iter().collect(),
        None => Vec::new(),
    }
}

/// A list of texts, or the word that stands for an empty one.
fn list_or(word: &str, items: Vec<String>) -> Value {
    if items.is_empty() {
        word.into()
    } else {
        items.into()
    }
}

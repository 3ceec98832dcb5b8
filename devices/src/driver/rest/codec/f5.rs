//! Value formats of BIG-IP that need code.
//!
//! A [`GroupCodec`] translates the values of several attributes that share fields (`with`,
//! `inside`), or one attribute that uses several fields. Formats: `docs/reference/devices/f5_bigip.md`,
//! sections 9 and 11.

pub(crate) mod address;
pub(crate) mod application;
mod clone_pools;
pub(crate) mod destination;
mod lockdown;
mod monitor;
mod persistence;
mod snat;
pub(crate) mod variables;
mod vlans;

use serde_json::Value as Json;

use super::ValueCodec;
use crate::read::field_path::FieldPath;
use crate::value::Value;

/// Translates the values of a group of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupCodec {
    /// Monitors and the number of them that must be up.
    Monitor,
    /// Address and port of a virtual server, in its partition.
    Destination,
    /// Address and port that a monitor probes.
    Alias,
    /// Source address translation.
    Snat,
    /// VLANs on which a virtual server is enabled or disabled.
    Vlans,
    /// Services that a self IP allows.
    Lockdown,
    /// The default persistence profile.
    Persistence,
    /// Pools that receive a copy of the traffic, client side and server side.
    ClonePools,
}

/// Context of an object for group codecs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectContext<'a> {
    /// Partition of the object.
    pub partition: &'a str,
    /// Default route domain of that partition, if the device listed it.
    pub domain: Option<u32>,
}

impl GroupCodec {
    pub(crate) const ALL: [(&'static str, GroupCodec, usize); 8] = [
        ("f5-monitor", GroupCodec::Monitor, 2),
        ("f5-destination", GroupCodec::Destination, 2),
        ("f5-alias", GroupCodec::Alias, 2),
        ("f5-snat", GroupCodec::Snat, 1),
        ("f5-vlans", GroupCodec::Vlans, 1),
        ("f5-lockdown", GroupCodec::Lockdown, 1),
        ("f5-persistence", GroupCodec::Persistence, 1),
        ("f5-clone-pools", GroupCodec::ClonePools, 2),
    ];

    /// The canonical form of the value of the group's attribute number `index`.
    pub(crate) fn canonical(self, index: usize, value: &Value, domain: Option<u32>) -> Value {
        match self {
            GroupCodec::Destination | GroupCodec::Alias if index == 0 => {
                ValueCodec::Address.canonical(value, domain)
            }
            GroupCodec::Vlans => vlans::canonical(value),
            _ => value.clone(),
        }
    }

    /// The word for an empty list.
    pub(crate) fn none(self) -> Option<&'static str> {
        matches!(self, GroupCodec::Monitor | GroupCodec::Lockdown).then_some("none")
    }

    /// The values of the group's attributes; `None` for missing ones.
    pub(crate) fn read(
        self,
        field: &FieldPath,
        object: &Json,
        context: ObjectContext<'_>,
    ) -> Vec<Option<Value>> {
        match self {
            GroupCodec::Monitor => monitor::read(field.get(object)),
            GroupCodec::Destination | GroupCodec::Alias => {
                destination::read(field.get(object), context.domain)
            }
            GroupCodec::Snat => vec![Some(snat::read(field.get(object)))],
            GroupCodec::Vlans => vec![Some(vlans::read(field, object))],
            GroupCodec::Lockdown => vec![Some(lockdown::read(field.get(object)))],
            GroupCodec::Persistence => vec![persistence::read(field.get(object))],
            GroupCodec::ClonePools => clone_pools::read(field.get(object)),
        }
    }

    /// The reason why these values cannot be combined.
    pub(crate) fn check(self, values: &[Option<&Value>]) -> Option<String> {
        match (self, values) {
            (GroupCodec::Monitor, [monitors, Some(Value::Integer(needed))]) => {
                let count = monitor::paths(*monitors).len();
                (usize::try_from(*needed).unwrap_or(usize::MAX) > count)
                    .then(|| format!("{needed} monitors must be up, of {count}"))
            }
            _ => None,
        }
    }

    /// Exclusive fields: the device has only the one that was set last.
    pub(crate) fn alternatives(self, field: &FieldPath) -> Vec<FieldPath> {
        match self {
            GroupCodec::Vlans => vlans::flags(field).to_vec(),
            _ => Vec::new(),
        }
    }

    /// The fields for these values of the attributes; `None` for attributes without a value.
    pub(crate) fn write(
        self,
        field: &FieldPath,
        values: &[Option<Value>],
        context: ObjectContext<'_>,
    ) -> Vec<(FieldPath, Json)> {
        let value = |index: usize| values.get(index).and_then(Option::as_ref);
        let json = match self {
            GroupCodec::Monitor => monitor::write(value(0), value(1)),
            GroupCodec::Destination => {
                let target = destination::write(value(0), value(1));
                Json::from(format!("/{}/{target}", context.partition))
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

/// The texts of a list, or of a single value as a list.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::List(items)) => items.iter().filter_map(Value::scalar_text).collect(),
        Some(one) => one.scalar_text().into_iter().collect(),
        None => Vec::new(),
    }
}

/// A list of texts, or the word for an empty list.
fn list_or(word: &str, items: Vec<String>) -> Value {
    if items.is_empty() {
        word.into()
    } else {
        items.into()
    }
}

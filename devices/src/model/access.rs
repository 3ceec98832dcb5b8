//! What logins and the path of a session need: users, routes, lists of addresses, settings of logins.

use std::net::IpAddr;

use crate::pattern::Pattern;
use crate::value::{Attributes, Value};

/// The key `access` of a model: which instances a session can need.
#[derive(Clone, Debug)]
pub enum AccessKey {
    /// Those whose attribute matches: they affect every login.
    Login {
        /// Name of the attribute.
        attribute: String,
        /// A part of its value.
        pattern: Pattern,
        /// The attributes on which logins depend; empty: every one.
        changes: Vec<String>,
        /// The attribute with the name of a list that only some lines use. `None`: all use the instance.
        list: Option<String>,
    },
    /// The one whose attribute is the user of the session.
    User {
        /// Name of the attribute.
        attribute: String,
    },
    /// Those whose attribute is a list that `[session_use]` of the platform finds.
    Filter {
        /// Name of the attribute.
        attribute: String,
    },
    /// Those that the session uses, if one of these attributes changes.
    Changes {
        /// Names of the attributes.
        attributes: Vec<String>,
    },
    /// Ports that carry the VLANs of lists (`refers` with `numbers`) while an attribute matches.
    Trunk {
        /// Name of the attribute.
        attribute: String,
        /// A part of its value.
        pattern: Pattern,
        /// The attribute with the VLAN of frames without a tag.
        native: Option<String>,
    },
    /// The one with the longest prefix that contains the address of the proxy host.
    Route {
        /// The attribute with the network; with the prefix length, unless there is a mask.
        network: String,
        /// The attribute with the mask.
        mask: Option<String>,
    },
}

/// A network of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutePrefix {
    address: IpAddr,
    length: u32,
}

impl RoutePrefix {
    /// Reads `192.0.2.0/24`, `default` or `default-inet6`, or an address and its mask.
    pub fn parse(network: &str, mask: Option<&str>) -> Option<Self> {
        let network = match network {
            "default" => "0.0.0.0/0",
            "default-inet6" => "::/0",
            network => network,
        };
        let (address, length) = match mask {
            Some(mask) => {
                let IpAddr::V4(mask) = mask.parse().ok()? else {
                    return None;
                };
                (network, mask.to_bits().leading_ones())
            }
            None => {
                let (address, length) = network.split_once('/')?;
                (address, length.parse().ok()?)
            }
        };
        let address = address.split('%').next()?.parse().ok()?;
        Some(Self { address, length })
    }

    /// Whether an address is in the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        let is_equal = |one: u128, other: u128, bits: u32| {
            let shift = bits.saturating_sub(self.length);
            one.checked_shr(shift).unwrap_or(0) == other.checked_shr(shift).unwrap_or(0)
        };
        match (self.address, address) {
            (IpAddr::V4(one), IpAddr::V4(other)) => {
                is_equal(one.to_bits().into(), other.to_bits().into(), 32)
            }
            (IpAddr::V6(one), IpAddr::V6(other)) => is_equal(one.to_bits(), other.to_bits(), 128),
            _ => false,
        }
    }

    /// Whether the prefix is longer than the other one.
    pub fn is_longer_than(&self, other: &Self) -> bool {
        self.length > other.length
    }
}

/// The list that lines without a name of their own use.
pub const DEFAULT_LIST: &str = "default";

impl AccessKey {
    /// Whether a change of one of these attributes can affect the session or a login.
    pub fn is_affected_by<'n>(&self, mut changed: impl Iterator<Item = &'n str>) -> bool {
        match self {
            AccessKey::Login { changes, .. } if !changes.is_empty() => {
                changed.any(|name| name == "ensure" || changes.iter().any(|change| change == name))
            }
            _ => true,
        }
    }

    /// Whether an instance is a port that carries the VLANs of its lists.
    pub fn is_trunk(&self, attributes: &Attributes) -> bool {
        let AccessKey::Trunk {
            attribute, pattern, ..
        } = self
        else {
            return false;
        };
        let value = attributes.get(attribute.as_str());
        value.is_some_and(|value| pattern.is_match(&value.unwrap_sensitive().ruby_to_s()))
    }

    /// The network of an instance, if the type is one of routes.
    pub fn prefix(&self, attributes: &Attributes) -> Option<RoutePrefix> {
        let AccessKey::Route { network, mask } = self else {
            return None;
        };
        let text = |name: &String| {
            let value = attributes.get(name)?;
            Some(value.unwrap_sensitive().ruby_to_s())
        };
        let mask = match mask {
            Some(mask) => Some(text(mask)?),
            None => None,
        };
        RoutePrefix::parse(&text(network)?, mask.as_deref())
    }
}

/// Whether a list of VLANs contains one. `before`: whether the list did before a relative change.
pub fn carries_vlan(value: &Value, vlan: u64, before: bool) -> bool {
    let is_in = |text: &str| {
        let mut ranges = text.split([',', ' ']).filter(|range| !range.is_empty());
        ranges.any(|range| {
            let (low, high) = range.split_once('-').unwrap_or((range, range));
            let bounds = low.trim().parse().ok().zip(high.trim().parse().ok());
            bounds.is_some_and(|(low, high): (u64, u64)| (low..=high).contains(&vlan))
        })
    };
    match value.unwrap_sensitive() {
        Value::List(items) => match items.as_slice() {
            [word, list] if word.as_str() == Some("add") => {
                before || carries_vlan(list, vlan, false)
            }
            [word, list] if word.as_str() == Some("remove") => {
                before && !carries_vlan(list, vlan, false)
            }
            [word, list] if word.as_str() == Some("except") => !carries_vlan(list, vlan, false),
            items => items.iter().any(|item| carries_vlan(item, vlan, before)),
        },
        Value::Undef | Value::Absent | Value::Bool(false) => true,
        value => match value.ruby_to_s().as_str() {
            "all" => true,
            text => is_in(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_prefix_contains_addresses() {
        for (network, mask, address, expected) in [
            ("192.0.2.0", Some("255.255.255.0"), "192.0.2.9", true),
            ("192.0.2.0/24", None, "192.0.3.9", false),
            ("default", None, "203.0.113.1", true),
            ("default", None, "2001:db8::1", false),
            ("default-inet6", None, "2001:db8::1", true),
            ("2001:db8::%1/32", None, "2001:db8::1", true),
            ("192.0.2.7/32", None, "192.0.2.8", false),
        ] {
            let prefix = RoutePrefix::parse(network, mask).expect("a prefix");
            let found = prefix.contains(address.parse().expect("an address"));
            assert_eq!(found, expected, "{network} {address}");
        }
    }

    #[test]
    fn access_vlan_lists_have_ranges_and_relative_changes() {
        let text = |text: &str| Value::String(text.to_owned());
        let change = |word: &str| Value::List(vec![text(word), text("10-12")]);
        for (value, before, expected) in [
            (text("1,9-11"), false, true),
            (text("1,12"), true, false),
            (text("all"), false, true),
            (text("none"), true, false),
            (Value::Bool(false), true, true),
            (change("add"), false, true),
            (change("remove"), true, false),
            (change("except"), true, false),
            (Value::List(vec![text("1"), text("10")]), false, true),
        ] {
            assert_eq!(carries_vlan(&value, 10, before), expected, "{value:?}");
        }
    }
}

//! Normalizations of a value that hold on all platforms.

use std::net::Ipv4Addr;

use super::address::{canonical_address, canonical_network};
use crate::value::Value;

/// The largest number of an OSPF area whose canonical form is a number.
const LARGEST_AREA_NUMBER: u32 = 65_535;

/// A canonicalizer that does not depend on the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canon {
    /// The part of a path behind its last slash.
    Base,
    /// Decimal number without leading zeros, as text.
    Decimal,
    /// IPv4 or IPv6 address (RFC 5952), with or without prefix length.
    Ip,
    /// Like `Ip`, with host bits cleared.
    Network,
    /// A list that begins with an address and a wildcard mask: the address without host bits.
    Wildcard,
    /// An OSPF area: a number up to 65535, else in the form of an address.
    Area,
    /// An OSPF area in the form of an address.
    AreaAddress,
    /// A MAC address, `0011.2233.44ab`.
    MacDots,
    /// A MAC address, `00:11:22:33:44:ab`.
    MacColons,
    /// Letters in lower case.
    Lower,
    /// Letters in upper case.
    Upper,
    /// Without white space at both ends.
    Trim,
}

impl Canon {
    /// The words of definitions.
    pub(super) const ALL: [(&'static str, Canon); 12] = [
        ("base", Canon::Base),
        ("decimal", Canon::Decimal),
        ("ip", Canon::Ip),
        ("network", Canon::Network),
        ("wildcard", Canon::Wildcard),
        ("area", Canon::Area),
        ("area-address", Canon::AreaAddress),
        ("mac-dots", Canon::MacDots),
        ("mac-colons", Canon::MacColons),
        ("lower", Canon::Lower),
        ("upper", Canon::Upper),
        ("trim", Canon::Trim),
    ];

    /// The canonical form of a text. One that the canonicalizer does not know is unchanged.
    pub(super) fn text(self, text: String) -> String {
        match self {
            Canon::Lower => text.to_lowercase(),
            Canon::Upper => text.to_uppercase(),
            Canon::Trim => text.trim().to_owned(),
            Canon::Ip => canonical_address(&text).unwrap_or(text),
            Canon::Network => canonical_network(&text).unwrap_or(text),
            Canon::Base => match text.rsplit_once('/') {
                Some((_, base)) => base.to_owned(),
                None => text,
            },
            Canon::Area => area(&text).unwrap_or(text),
            Canon::AreaAddress => area_address(&text).map_or(text, |area| area.to_string()),
            Canon::MacDots => mac(&text, 4, ".").unwrap_or(text),
            Canon::MacColons => mac(&text, 2, ":").unwrap_or(text),
            Canon::Decimal => decimal(text),
            Canon::Wildcard => text,
        }
    }

    /// The canonical form of a list with canonical elements.
    pub(super) fn list(self, mut items: Vec<Value>) -> Vec<Value> {
        if self == Canon::Wildcard
            && let [address, wildcard, ..] = &mut items[..]
            && let Some(network) = without_host_bits(address, wildcard)
        {
            *address = network;
        }
        items
    }
}

/// An address without the bits of its wildcard mask; `None` if one of them is no IPv4 address.
pub(crate) fn without_host_bits(address: &Value, wildcard: &Value) -> Option<Value> {
    let parse = |value: &Value| value.as_str()?.parse::<Ipv4Addr>().ok();
    let network = parse(address)?.to_bits() & !parse(wildcard)?.to_bits();
    Some(Ipv4Addr::from_bits(network).to_string().into())
}

/// Digits without leading zeros.
fn decimal(text: String) -> String {
    let is_number = !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit());
    match text.trim_start_matches('0') {
        "" if is_number => "0".to_owned(),
        number if is_number => number.to_owned(),
        _ => text,
    }
}

fn area(text: &str) -> Option<String> {
    let number = area_address(text)?.to_bits();
    Some(if number <= LARGEST_AREA_NUMBER {
        number.to_string()
    } else {
        Ipv4Addr::from_bits(number).to_string()
    })
}

fn area_address(text: &str) -> Option<Ipv4Addr> {
    let address = text.parse().ok();
    address.or_else(|| text.parse().ok().map(Ipv4Addr::from_bits))
}

/// A MAC address in groups of digits. Words after it are unchanged.
fn mac(text: &str, group: usize, separator: &str) -> Option<String> {
    let (address, rest) = match text.find(' ') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let digits: String = address
        .chars()
        .filter(|character| !matches!(character, ':' | '.' | '-'))
        .map(|character| character.to_ascii_lowercase())
        .collect();
    let is_mac = digits.len() == 12 && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    let groups = digits.as_bytes().chunks(group).map(String::from_utf8_lossy);
    is_mac.then(|| format!("{}{rest}", groups.collect::<Vec<_>>().join(separator)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canon_has_one_form_for_each_value() {
        let cases = [
            (Canon::Decimal, "010", "10"),
            (Canon::Decimal, "000", "0"),
            (Canon::Decimal, "0x10", "0x10"),
            (Canon::AreaAddress, "0", "0.0.0.0"),
            (Canon::AreaAddress, "10.0.0.1", "10.0.0.1"),
            (Canon::AreaAddress, "backbone", "backbone"),
            (Canon::Area, "0", "0"),
            (Canon::Area, "0.0.0.0", "0"),
            (Canon::Area, "007", "7"),
            (Canon::Area, "0.0.255.255", "65535"),
            (Canon::Area, "167772161", "10.0.0.1"),
            (Canon::Area, "10.0.0.1", "10.0.0.1"),
            (Canon::Area, "backbone", "backbone"),
            (Canon::MacDots, "00:11:22:33:44:AB", "0011.2233.44ab"),
            (Canon::MacDots, "0011.2233.44aB", "0011.2233.44ab"),
            (Canon::MacColons, "00-11-22-33-44-ab", "00:11:22:33:44:ab"),
            (Canon::MacColons, "00:11:22", "00:11:22"),
            (Canon::Ip, "2001:DB8:0::1/64", "2001:db8::1/64"),
        ];
        for (canon, text, expected) in cases {
            assert_eq!(canon.text(text.to_owned()), expected, "{canon:?} {text}");
        }
    }

    #[test]
    fn wildcard_clears_host_bits() {
        let list = |items: [&str; 3]| items.map(Value::from).to_vec();
        let cases = [
            (
                ["192.0.2.77", "0.0.0.255", "1"],
                ["192.0.2.0", "0.0.0.255", "1"],
            ),
            (
                ["192.0.2.77", "0.0.255.0", "1"],
                ["192.0.0.77", "0.0.255.0", "1"],
            ),
            (["x", "0.0.0.255", "1"], ["x", "0.0.0.255", "1"]),
        ];
        for (items, expected) in cases {
            assert_eq!(Canon::Wildcard.list(list(items)), list(expected));
        }
    }
}

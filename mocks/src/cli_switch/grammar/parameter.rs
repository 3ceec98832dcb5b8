//! The kinds of parameters in a pattern: what they accept and how the device prints it.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::cli_switch::interface_name::InterfaceName;
use crate::cli_switch::ports;
use crate::cli_switch::reload::parse_delay;
use crate::cli_switch::vlan_list::VlanList;

/// Names of severities, by number.
pub(crate) const SEVERITIES: [&str; 8] = [
    "emergencies",
    "alerts",
    "critical",
    "errors",
    "warnings",
    "notifications",
    "informational",
    "debugging",
];

/// A community of BGP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Community(pub(crate) u32);

impl Community {
    /// The largest number that is not reserved.
    const HIGHEST: u32 = 4_294_967_200;

    /// Reads one number, or two with a colon.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        let digits = word.bytes().all(|b| b.is_ascii_digit() || b == b':');
        let number = match word.split_once(':').filter(|_| digits) {
            Some((high, low)) => {
                let (high, low): (u16, u16) = (high.parse().ok()?, low.parse().ok()?);
                u32::from(high) << 16 | u32::from(low)
            }
            None => word.parse().ok().filter(|_| digits)?,
        };
        (1..=Self::HIGHEST)
            .contains(&number)
            .then_some(Self(number))
    }

    /// Its two halves.
    pub(crate) fn in_two_numbers(self) -> String {
        format!("{}:{}", self.0 >> 16, self.0 & 0xffff)
    }
}

/// A kind of parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// A decimal number in a range, printed without leading zeros.
    Integer(u64, u64),
    /// Any word.
    Word,
    /// The rest of the line, without trailing spaces.
    Line,
    /// The rest of the line, as typed.
    Raw,
    /// An IPv4 address.
    Ipv4,
    /// A contiguous IPv4 mask.
    Mask,
    /// An IPv6 address, printed in upper case.
    Ipv6,
    /// An IPv6 address and a prefix length.
    Ipv6Prefix,
    /// An address or a host name.
    Host,
    /// A host name, not an address.
    HostName,
    /// An interface, in one or two words.
    Interface,
    /// VLAN numbers.
    VlanList,
    /// A severity by name or number, printed by name.
    Severity,
    /// `ASN:number` or `address:number`.
    RouteDistinguisher,
    /// A name of letters, digits and some punctuation that does not start with a digit.
    Name,
    /// A word of at most 32 characters.
    VlanName,
    /// Nothing: only the `no` form of the line exists.
    Never,
    /// A TCP or UDP port by number or name; the line's protocol decides how it is printed.
    Port,
    /// A DSCP by number or name, printed by name.
    Dscp,
    /// `+ack`, `-fin`.
    Flag,
    /// A MAC address, printed in lower case.
    Mac,
    /// A number or an address, an area of OSPF.
    Area,
    /// A percentage, printed with two decimals.
    Percent,
    /// An IPv4 prefix, printed without host bits.
    Prefix,
    /// A community of BGP: one number or two.
    Community,
    /// A time of `reload in`.
    Delay,
    /// Hours from UTC.
    Hours,
}

/// The result of reading a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// The word as the device prints it.
    Word(String),
    /// This word and the rest of the line.
    Rest(String),
    /// The first part; the next word completes it.
    Partial(String),
}

impl Parameter {
    /// The parameter called `name` in a pattern.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if let Some((low, high)) = name.split_once('-')
            && let (Ok(low), Ok(high)) = (low.parse(), high.parse())
        {
            return Some(Parameter::Integer(low, high));
        }
        Some(match name {
            "word" => Parameter::Word,
            "line" => Parameter::Line,
            "raw" => Parameter::Raw,
            "ipv4" => Parameter::Ipv4,
            "mask" => Parameter::Mask,
            "ipv6" => Parameter::Ipv6,
            "ipv6-prefix" => Parameter::Ipv6Prefix,
            "host" => Parameter::Host,
            "hostname" => Parameter::HostName,
            "interface" => Parameter::Interface,
            "vlan-list" => Parameter::VlanList,
            "severity" => Parameter::Severity,
            "rd" => Parameter::RouteDistinguisher,
            "name" => Parameter::Name,
            "vlan-name" => Parameter::VlanName,
            "never" => Parameter::Never,
            "port" => Parameter::Port,
            "dscp" => Parameter::Dscp,
            "flag" => Parameter::Flag,
            "mac" => Parameter::Mac,
            "area" => Parameter::Area,
            "percent" => Parameter::Percent,
            "prefix" => Parameter::Prefix,
            "community" => Parameter::Community,
            "delay" => Parameter::Delay,
            "hours" => Parameter::Hours,
            _ => return None,
        })
    }

    /// Its name in the help of the device.
    pub(crate) fn help(&self) -> &'static str {
        match self {
            Parameter::Integer(..) => "<0-n>",
            Parameter::Line | Parameter::Raw => "LINE",
            Parameter::Ipv4 | Parameter::Mask => "A.B.C.D",
            Parameter::Ipv6 => "X:X:X:X::X",
            Parameter::Ipv6Prefix => "X:X:X:X::X/<0-128>",
            _ => "WORD",
        }
    }

    /// Reads a word; `rest` is the line from the word on.
    pub(crate) fn accept(&self, word: &str, rest: &str) -> Option<Accepted> {
        Some(Accepted::Word(match self {
            Parameter::Integer(low, high) => {
                let digits = word.bytes().all(|byte| byte.is_ascii_digit());
                let number = digits.then(|| word.parse::<u64>().ok()).flatten()?;
                (*low..=*high)
                    .contains(&number)
                    .then(|| number.to_string())?
            }
            Parameter::Word => word.to_owned(),
            Parameter::Hours => {
                let hours: i32 = word.parse().ok()?;
                (-23..=23).contains(&hours).then(|| hours.to_string())?
            }
            Parameter::Delay => parse_delay(word).map(|_| word.to_owned())?,
            Parameter::Line => return Some(Accepted::Rest(rest.trim_end().to_owned())),
            Parameter::Raw => return Some(Accepted::Rest(rest.to_owned())),
            Parameter::Ipv4 => word.parse::<Ipv4Addr>().ok()?.to_string(),
            Parameter::Mask => {
                let mask = u32::from(word.parse::<Ipv4Addr>().ok()?);
                (mask.leading_ones() + mask.trailing_zeros() >= 32).then(|| word.to_owned())?
            }
            Parameter::Ipv6 => ipv6(word)?,
            Parameter::Ipv6Prefix => {
                let (address, length) = word.split_once('/')?;
                let length: u8 = length.parse().ok().filter(|length| *length <= 128)?;
                format!("{}/{length}", ipv6(address)?)
            }
            Parameter::Host => match ipv6(word) {
                Some(address) => address,
                None if word.parse::<Ipv4Addr>().is_ok() => word.to_owned(),
                None => host_name(word)?,
            },
            Parameter::HostName => host_name(word)?,
            Parameter::Interface => match InterfaceName::parse(word) {
                Some(name) => name.to_string(),
                None if InterfaceName::is_type(word) => {
                    return Some(Accepted::Partial(word.to_owned()));
                }
                None => return None,
            },
            Parameter::VlanList => VlanList::parse(word)?.to_string(),
            Parameter::Severity => severity(word)?.to_owned(),
            Parameter::RouteDistinguisher => {
                let (left, right) = word.split_once(':')?;
                let left_is_fine = left.parse::<u32>().is_ok() || left.parse::<Ipv4Addr>().is_ok();
                (left_is_fine && right.parse::<u32>().is_ok()).then(|| word.to_owned())?
            }
            Parameter::Name => word
                .starts_with(|first: char| first.is_alphabetic() || first == '_')
                .then(|| word.to_owned())?,
            Parameter::VlanName => (word.len() <= 32).then(|| word.to_owned())?,
            Parameter::Never => return None,
            Parameter::Port => {
                let lower = word.to_ascii_lowercase();
                (word.parse::<u16>().is_ok() || ports::is_name(&lower)).then_some(lower)?
            }
            Parameter::Dscp => ports::dscp(word)?,
            Parameter::Mac => {
                let groups: Vec<&str> = word.split('.').collect();
                let is_group = |group: &&str| {
                    group.len() == 4 && group.bytes().all(|byte| byte.is_ascii_hexdigit())
                };
                let is_address = groups.len() == 3 && groups.iter().all(is_group);
                is_address.then(|| word.to_ascii_lowercase())?
            }
            Parameter::Area => {
                let is_area = word.parse::<u32>().is_ok() || word.parse::<Ipv4Addr>().is_ok();
                is_area.then(|| word.to_owned())?
            }
            Parameter::Percent => {
                let percent: f64 = word.parse().ok()?;
                (0.0..=100.0)
                    .contains(&percent)
                    .then(|| format!("{percent:.2}"))?
            }
            Parameter::Prefix => {
                let (address, length) = word.split_once('/')?;
                let address: Ipv4Addr = address.parse().ok()?;
                let length: u32 = length.parse().ok().filter(|length| *length <= 32)?;
                let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
                format!("{}/{length}", Ipv4Addr::from(u32::from(address) & mask))
            }
            Parameter::Community => Community::parse(word).map(|_| word.to_owned())?,
            Parameter::Flag => {
                let name = word.strip_prefix(['+', '-'])?;
                ["ack", "fin", "psh", "rst", "syn", "urg"]
                    .contains(&name)
                    .then(|| word.to_owned())?
            }
        }))
    }
}

/// The address in upper case, as the device prints it.
fn ipv6(word: &str) -> Option<String> {
    word.parse::<Ipv6Addr>()
        .ok()
        .map(|address| address.to_string().to_ascii_uppercase())
}

fn host_name(word: &str) -> Option<String> {
    // A word in address format is never a name: 192.0.2.300 is refused.
    let numeric = word
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let clean = word
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    (!numeric && clean).then(|| word.to_owned())
}

fn severity(word: &str) -> Option<&'static str> {
    if let Ok(number) = word.parse::<usize>() {
        return SEVERITIES.get(number).copied();
    }
    let word = word.to_ascii_lowercase();
    let mut found = SEVERITIES.iter().filter(|name| name.starts_with(&word));
    let first = found.next()?;
    found.next().is_none().then_some(*first)
}

//! The types of arguments, and their values as the device prints them.

use std::net::{Ipv4Addr, Ipv6Addr};

use regex::Regex;

use super::interface_kind::InterfaceKind;
use super::number_list::NumberList;
use super::typed_line::TypedLine;

/// The kinds of interfaces of a platform.
pub(super) type InterfaceKinds = Vec<InterfaceKind>;

/// The type of an argument.
#[derive(Debug)]
pub(super) enum ArgumentType {
    /// A number of a range.
    Number(u64, u64),
    /// A list of numbers and ranges of them.
    Numbers(u64, u64),
    /// One word with a maximum length.
    Word(usize),
    /// The rest of the line with a maximum length.
    Line(usize),
    Ip,
    Ip6,
    /// An address with a length or a mask.
    Prefix,
    Prefix6,
    /// A prefix without host bits.
    Network,
    Network6,
    /// An address and a wildcard, which is printed as a prefix if it is one.
    Wildcard,
    /// `host` and an address, which is printed as a prefix.
    Host,
    /// A number of an area, which is printed as an address.
    Area,
    Mac(MacForm),
    Asn,
    /// A route distinguisher or route target.
    Target,
    Community,
    Time,
    /// A word that matches a pattern completely.
    Pattern(Box<Regex>),
    /// Text between two equal letters.
    Delimited,
    /// An interface of one of these kinds.
    Interface(InterfaceKinds),
    /// Several interfaces of these kinds.
    Interfaces(InterfaceKinds),
}

/// How a hardware address is printed.
#[derive(Debug, Clone, Copy)]
pub(super) enum MacForm {
    /// `0011.2233.4455`
    Dots,
    /// `00:11:22:33:44:55`
    Colons,
}

/// A type of an argument is unknown.
#[derive(Debug, thiserror::Error)]
#[error("unknown type `<{0}>` of an argument")]
pub struct ArgumentTypeError(String);

/// An argument in a typed line.
#[derive(Debug)]
pub(super) struct FoundArgument {
    /// Number of typed words.
    pub(super) words: usize,
    /// The value as the device prints it.
    pub(super) text: String,
}

const LONGEST_WORD: usize = 255;
const VLANS: (u64, u64) = (1, 4094);

impl ArgumentType {
    /// Parses the text between the angle brackets.
    pub(super) fn parse(text: &str, kinds: &InterfaceKinds) -> Result<Self, ArgumentTypeError> {
        let unknown = || ArgumentTypeError(text.to_owned());
        let (name, detail) = text.split_once(':').unwrap_or((text, ""));
        if let Some(pattern) = text.strip_prefix('~') {
            let pattern = Regex::new(&format!("^(?:{pattern})$")).map_err(|_| unknown())?;
            return Ok(Self::Pattern(Box::new(pattern)));
        }
        let length = || match detail {
            "" => Ok(LONGEST_WORD),
            number => number.parse().map_err(|_| unknown()),
        };
        if let Some((low, high)) = range(name) {
            return Ok(Self::Number(low, high));
        }
        Ok(match name {
            "word" => Self::Word(length()?),
            "line" => Self::Line(length()?),
            "numbers" => {
                let (low, high) = range(detail).ok_or_else(unknown)?;
                Self::Numbers(low, high)
            }
            "vlans" => Self::Numbers(VLANS.0, VLANS.1),
            "ip" => Self::Ip,
            "ip6" => Self::Ip6,
            "prefix" => Self::Prefix,
            "prefix6" => Self::Prefix6,
            "network" => Self::Network,
            "network6" => Self::Network6,
            "wildcard" => Self::Wildcard,
            "host" => Self::Host,
            "area" => Self::Area,
            "mac" if detail == "colons" => Self::Mac(MacForm::Colons),
            "mac" => Self::Mac(MacForm::Dots),
            "asn" => Self::Asn,
            "target" => Self::Target,
            "community" => Self::Community,
            "time" => Self::Time,
            "delimited" => Self::Delimited,
            "interface" => Self::Interface(selected(kinds, detail).ok_or_else(unknown)?),
            "interfaces" => Self::Interfaces(selected(kinds, detail).ok_or_else(unknown)?),
            _ => return Err(unknown()),
        })
    }

    /// Keywords are preferred to arguments, and numbers and addresses to words.
    pub(super) fn distance(&self) -> usize {
        match self {
            Self::Word(_) | Self::Line(_) | Self::Delimited | Self::Pattern(_) => 2,
            _ => 1,
        }
    }

    /// The separate values of a printed list; a value that is none is returned as it is.
    pub(super) fn values(&self, text: &str) -> Vec<String> {
        match self {
            Self::Numbers(low, high) => NumberList::parse(text, (*low, *high)).map_or_else(
                || vec![text.to_owned()],
                |list| list.numbers().map(|number| number.to_string()).collect(),
            ),
            Self::Interfaces(_) => text.split(',').map(str::to_owned).collect(),
            _ => vec![text.to_owned()],
        }
    }

    /// The readings of the line from a word on.
    pub(super) fn read(&self, line: &TypedLine<'_>, at: usize) -> Vec<FoundArgument> {
        let word = line.word(at).unwrap_or_default();
        let one = |text: Option<String>| {
            let found = text.map(|text| FoundArgument { words: 1, text });
            found.into_iter().collect::<Vec<_>>()
        };
        match self {
            Self::Number(low, high) => one(word
                .parse::<u64>()
                .ok()
                .filter(|number| low <= number && number <= high)
                .map(|number| number.to_string())),
            Self::Numbers(low, high) => {
                one(NumberList::parse(word, (*low, *high)).map(|list| list.to_string()))
            }
            Self::Word(length) => one((word.len() <= *length).then(|| word.to_owned())),
            Self::Line(length) => {
                let text = line.rest(at);
                let words = line.words().len() - at;
                let found = (text.len() <= *length).then(|| FoundArgument {
                    words,
                    text: text.to_owned(),
                });
                found.into_iter().collect()
            }
            Self::Delimited => vec![FoundArgument {
                words: line.words().len() - at,
                text: line.rest(at).to_owned(),
            }],
            Self::Ip => one(word.parse::<Ipv4Addr>().ok().map(|ip| ip.to_string())),
            Self::Ip6 => one(ip6(word).map(|ip| ip.to_string())),
            Self::Prefix => prefix4(line, at, |ip, _| ip),
            Self::Network => prefix4(line, at, |ip, length| ip & mask(length)),
            Self::Wildcard => wildcard(line, at),
            Self::Host => {
                let ip = line
                    .word(at + 1)
                    .filter(|_| word.eq_ignore_ascii_case("host"));
                let ip = ip.and_then(|ip| ip.parse::<Ipv4Addr>().ok());
                let found = ip.map(|ip| FoundArgument {
                    words: 2,
                    text: format!("{ip}/32"),
                });
                found.into_iter().collect()
            }
            Self::Area => {
                let number = word.parse::<u32>().map(Ipv4Addr::from);
                one(number
                    .or_else(|_| word.parse())
                    .ok()
                    .map(|area| area.to_string()))
            }
            Self::Prefix6 => one(prefix6(word, u128::MAX)),
            Self::Network6 => one(prefix6(word, 0)),
            Self::Mac(form) => one(mac(word, *form)),
            Self::Asn => one(asn(word)),
            Self::Target => one(target(word)),
            Self::Community => one(community(word)),
            Self::Time => one(is_time(word).then(|| word.to_owned())),
            Self::Pattern(pattern) => one(pattern.is_match(word).then(|| word.to_owned())),
            Self::Interface(kinds) => kinds
                .iter()
                .filter_map(|kind| kind.read(line, at))
                .map(|(words, text)| FoundArgument { words, text })
                .collect(),
            Self::Interfaces(kinds) => InterfaceKind::read_list(kinds, line, at)
                .into_iter()
                .map(|(words, names)| FoundArgument {
                    words,
                    text: names.join(","),
                })
                .collect(),
        }
    }
}

/// The kinds with these names, or all.
fn selected(kinds: &InterfaceKinds, names: &str) -> Option<InterfaceKinds> {
    if names.is_empty() {
        return Some(kinds.clone());
    }
    let find = |name: &str| kinds.iter().find(|kind| kind.is_named(name)).cloned();
    names.split(',').map(find).collect()
}

fn range(text: &str) -> Option<(u64, u64)> {
    let (low, high) = text.split_once('-')?;
    Some((low.parse().ok()?, high.parse().ok()?))
}

fn mask(length: u32) -> u32 {
    u32::MAX.checked_shl(32 - length).unwrap_or(0)
}

/// The length of a mask, if it is one.
fn mask_length(text: &str) -> Option<u32> {
    let bits = u32::from(text.parse::<Ipv4Addr>().ok()?);
    (bits.leading_ones() + bits.trailing_zeros() == 32 || bits == 0).then(|| bits.leading_ones())
}

fn prefix4(
    line: &TypedLine<'_>,
    at: usize,
    address: impl Fn(u32, u32) -> u32,
) -> Vec<FoundArgument> {
    let word = line.word(at).unwrap_or_default();
    let (ip, length, words) = match word.split_once('/') {
        Some((ip, length)) => (ip, length.parse().ok().filter(|length| *length <= 32), 1),
        None => (word, line.word(at + 1).and_then(mask_length), 2),
    };
    let found = ip.parse::<Ipv4Addr>().ok().zip(length).map(|(ip, length)| {
        let ip = Ipv4Addr::from(address(u32::from(ip), length));
        FoundArgument {
            words,
            text: format!("{ip}/{length}"),
        }
    });
    found.into_iter().collect()
}

fn wildcard(line: &TypedLine<'_>, at: usize) -> Vec<FoundArgument> {
    let ip = line.word(at).and_then(|word| word.parse::<Ipv4Addr>().ok());
    let wildcard = line
        .word(at + 1)
        .and_then(|word| word.parse::<Ipv4Addr>().ok());
    let found = ip.zip(wildcard).map(|(ip, wildcard)| {
        let bits = !u32::from(wildcard);
        let text = match mask_length(&Ipv4Addr::from(bits).to_string()) {
            Some(length) => format!("{}/{length}", Ipv4Addr::from(u32::from(ip) & bits)),
            None => format!("{ip} {wildcard}"),
        };
        FoundArgument { words: 2, text }
    });
    found.into_iter().collect()
}

fn ip6(word: &str) -> Option<Ipv6Addr> {
    word.parse().ok()
}

/// A prefix of IPv6; `keep` has the bits of the host part that remain.
fn prefix6(word: &str, keep: u128) -> Option<String> {
    let (ip, length) = word.split_once('/')?;
    let length: u32 = length.parse().ok().filter(|length| *length <= 128)?;
    let network = u128::MAX.checked_shl(128 - length).unwrap_or(0);
    let ip = Ipv6Addr::from(u128::from(ip6(ip)?) & (network | keep));
    Some(format!("{ip}/{length}"))
}

fn mac(word: &str, form: MacForm) -> Option<String> {
    let digits: String = word
        .chars()
        .filter(|letter| !".:-".contains(*letter))
        .collect();
    let is_mac = digits.len() == 12
        && digits.chars().all(|digit| digit.is_ascii_hexdigit())
        && (word.len() == 14 || word.len() == 17);
    let (size, separator) = match form {
        MacForm::Dots => (4, "."),
        MacForm::Colons => (2, ":"),
    };
    let digits = digits.to_ascii_lowercase();
    let groups: Vec<&str> = (0..digits.len())
        .step_by(size)
        .map(|start| digits.get(start..start + size).unwrap_or_default())
        .collect();
    is_mac.then(|| groups.join(separator))
}

fn asn(word: &str) -> Option<String> {
    let is_asn = match word.split_once('.') {
        Some((high, low)) => high.parse::<u16>().is_ok() && low.parse::<u16>().is_ok(),
        None => word.parse::<u32>().is_ok_and(|number| number > 0),
    };
    is_asn.then(|| word.to_owned())
}

fn target(word: &str) -> Option<String> {
    let (high, low) = word.rsplit_once(':')?;
    let is_high =
        high.parse::<u32>().is_ok() || high.parse::<Ipv4Addr>().is_ok() || asn(high).is_some();
    (is_high && low.parse::<u32>().is_ok()).then(|| word.to_owned())
}

fn community(word: &str) -> Option<String> {
    let is_pair = word
        .split_once(':')
        .is_some_and(|(high, low)| high.parse::<u16>().is_ok() && low.parse::<u16>().is_ok());
    let is_name = matches!(
        word,
        "internet" | "local-as" | "no-advertise" | "no-export" | "graceful-shutdown"
    );
    (is_pair || is_name || word.parse::<u32>().is_ok()).then(|| word.to_owned())
}

fn is_time(word: &str) -> bool {
    let parts: Vec<&str> = word.split(':').collect();
    (2..=3).contains(&parts.len()) && parts.iter().all(|part| part.parse::<u32>().is_ok())
}

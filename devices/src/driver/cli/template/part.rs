//! The parts of a template: words, placeholders for attributes, and groups.

use std::collections::BTreeSet;

use super::{CAPTURE_MARK, value_parts};
use crate::value::{Name, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Word(String),
    Hole(Hole),
    /// Placeholders in one word, with text around them: `tag={tag}`, `{backend}/{server}`.
    Compound(Vec<Piece>),
    /// A condition without text: an attribute that was read before, or is written, has one of the
    /// values.
    Where {
        name: Name,
        values: Vec<String>,
    },
    Optional(Vec<Part>),
    AnyOrder {
        /// The attribute with the options in their order.
        list: Option<Hole>,
        options: Vec<Vec<Part>>,
    },
    Choice(Vec<Vec<Part>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Hole(Hole),
}

pub(super) fn holes_of(pieces: &[Piece]) -> impl Iterator<Item = &Hole> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Hole(hole) => Some(hole),
        Piece::Text(_) => None,
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    pub(crate) name: Name,
    pub(crate) kind: HoleKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HoleKind {
    Word,
    /// A word that may stand between quotation marks.
    Quoted,
    Address(Address),
    Rest,
    /// As `Rest`: numbers and ranges with a blank behind each comma.
    Numbers,
    Words,
    /// The word before each element of a list.
    Each(String),
    /// A value of this many words, some of which are literal.
    Phrase(Vec<Option<String>>),
    Flag(String),
    Mark(String),
    Number,
}

/// Whether the words have the literal ones of a phrase.
pub(super) fn is_phrase(phrase: &[Option<String>], words: &[&str]) -> bool {
    let fits = |(expected, word): (&Option<String>, &&str)| match expected {
        Some(expected) => expected.eq_ignore_ascii_case(word),
        None => true,
    };
    phrase.len() == words.len() && phrase.iter().zip(words).all(fits)
}

/// The required kind of address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Any,
    Ipv4,
    Ipv6,
}

impl Address {
    pub(super) fn is(self, text: &str) -> bool {
        let address = match (self, text.split_once('/')) {
            (Address::Any, _) | (_, None) => text,
            (_, Some((address, length))) if length.parse::<u8>().is_ok() => address,
            _ => return false,
        };
        match address.parse::<std::net::IpAddr>() {
            Ok(address) => match self {
                Address::Any => true,
                Address::Ipv4 => address.is_ipv4(),
                Address::Ipv6 => address.is_ipv6(),
            },
            Err(_) => false,
        }
    }
}

impl Part {
    /// The names of the placeholders of a word.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let (hole, pieces): (_, &[Piece]) = match self {
            Part::Hole(hole) => (Some(hole), &[]),
            Part::Compound(pieces) => (None, pieces),
            _ => (None, &[]),
        };
        let holes = hole.into_iter().chain(holes_of(pieces));
        holes.map(|hole| hole.name.as_str())
    }
}

/// Whether a value's text is one of these.
pub(super) fn is_one_of(value: Option<&Value>, texts: &[String]) -> bool {
    value
        .and_then(Value::scalar_text)
        .is_some_and(|text| texts.contains(&text))
}

pub(super) fn collect_holes<'a>(parts: &'a [Part], found: &mut dyn FnMut(&'a Hole)) {
    for part in parts {
        match part {
            Part::Word(_) | Part::Where { .. } => {}
            Part::Hole(hole) => found(hole),
            Part::Compound(pieces) => holes_of(pieces).for_each(&mut *found),
            Part::Optional(parts) => collect_holes(parts, found),
            Part::AnyOrder { list, options } => {
                list.iter().for_each(&mut *found);
                for option in options {
                    collect_holes(option, found);
                }
            }
            Part::Choice(options) => {
                for option in options {
                    collect_holes(option, found);
                }
            }
        }
    }
}

pub(super) fn collect_compounds<'a>(parts: &'a [Part], found: &mut dyn FnMut(&'a [Piece])) {
    for part in parts {
        match part {
            Part::Compound(pieces) => found(pieces),
            Part::Word(_) | Part::Hole(_) | Part::Where { .. } => {}
            Part::Optional(parts) => collect_compounds(parts, found),
            Part::AnyOrder { options, .. } | Part::Choice(options) => {
                for option in options {
                    collect_compounds(option, found);
                }
            }
        }
    }
}

/// The attributes of placeholders, then those of conditions, each once.
pub(super) fn attributes_of(parts: &[Part]) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut add = |name: &Name| {
        let name = match value_parts::split(name) {
            Some((attribute, _)) => attribute.into(),
            None => name.clone(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    };
    collect_holes(parts, &mut |hole| {
        // Elements that are not assigned to an attribute.
        let is_element = hole.name.parse::<usize>().is_ok();
        if !is_element && !hole.name.starts_with(CAPTURE_MARK) {
            add(&hole.name);
        }
    });
    collect_conditions(parts, &mut add);
    names
}

pub(super) fn collect_conditions<'a>(parts: &'a [Part], found: &mut dyn FnMut(&'a Name)) {
    for part in parts {
        match part {
            Part::Word(_) | Part::Hole(_) | Part::Compound(_) => {}
            Part::Where { name, .. } => found(name),
            Part::Optional(parts) => collect_conditions(parts, found),
            Part::AnyOrder { options, .. } | Part::Choice(options) => {
                for option in options {
                    collect_conditions(option, found);
                }
            }
        }
    }
}

/// Adds the attributes in each sequence that contains a bound word without an attribute.
pub(super) fn collect_companions<'a>(
    parts: &'a [Part],
    is_bound: &dyn Fn(&str) -> bool,
    found: &mut Vec<&'a str>,
) {
    let holes = || parts.iter().flat_map(Part::names);
    if holes().any(is_bound) {
        found.extend(holes());
    }
    for part in parts {
        match part {
            Part::Word(_) | Part::Hole(_) | Part::Compound(_) | Part::Where { .. } => {}
            Part::Optional(parts) => collect_companions(parts, is_bound, found),
            Part::AnyOrder { options, .. } | Part::Choice(options) => {
                for option in options {
                    collect_companions(option, is_bound, found);
                }
            }
        }
    }
}

pub(super) fn collect_literals(parts: &[Part], literals: &mut BTreeSet<String>) {
    for part in parts {
        match part {
            Part::Word(word) => {
                literals.insert(word.to_lowercase());
            }
            Part::Hole(hole) => {
                let words = match &hole.kind {
                    HoleKind::Flag(word) | HoleKind::Mark(word) | HoleKind::Each(word) => {
                        vec![word.clone()]
                    }
                    HoleKind::Phrase(words) => words.iter().flatten().cloned().collect(),
                    _ => Vec::new(),
                };
                literals.extend(words.iter().map(|word| word.to_lowercase()));
            }
            Part::Where { .. } | Part::Compound(_) => {}
            Part::Optional(parts) => collect_literals(parts, literals),
            Part::AnyOrder { options, .. } | Part::Choice(options) => {
                for option in options {
                    collect_literals(option, literals);
                }
            }
        }
    }
}

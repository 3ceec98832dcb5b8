//! Line templates: one notation to read and write a line.
//!
//! ```text
//! word             literal; compared without case when reading
//! {attr}           one word             {attr:rest}   the rest of the line, at least one word
//! {attr:numbers}   as {attr:rest}, numbers and ranges, `1-3, 5`
//! {attr:words}     one or more words, the elements of an array; ends before a literal
//! {attr:each w}    the elements of an array with `w` before each: `group a group b`
//! {attr?word}      `word` when the attribute is true; present = true, missing = false
//! {attr!word}      `word` when the attribute is true; missing = no value
//! {attr|number}    the number at the end of the attribute's value
//! {0} {1}          elements of the attribute's list
//! {attr.field}     a field of the attribute's hash
//! {attr:quoted}    one word, between quotation marks if it has blanks
//! a={b}c  {a}/{b}  one word with text before, between and after the placeholders
//! {attr:ip}        one word that is an IP address
//! {attr:ipv4}      one word that is an IPv4 address or prefix; {attr:ipv6} likewise
//! {*name}          one word without an attribute; preserved when the line is sent again
//! {*name!word}     `word` without an attribute; preserved as well
//! {attr=a|b}       no text; the parts after it apply only if the attribute has one of these values
//! {*}              other words; preserved as well
//! [ … ]            optional: printed when everything inside has a value
//! < … >            the optional parts inside may come in any order when read
//! <{attr} … >      the same; in another order than that of the template, the list has the words of the parts
//! ( … | … )        alternatives; the first that has all its values is printed
//! ```
//!
//! `parse` parses a template, `read` matches a line against it, `write` renders a line.

mod compound;
mod opening;
mod ordered;
mod outline;
mod parse;
mod part;
mod partial;
mod read;
#[cfg(test)]
mod tests;
pub(crate) mod value_parts;
mod write;

use std::collections::BTreeSet;

use self::part::{
    Hole, HoleKind, Part, Piece, collect_companions, collect_compounds, collect_holes,
};
use crate::driver::quoting::Quoting;
use crate::value::{Name, Value};

/// What the names begin with under which words are bound that no attribute tells.
pub(crate) const CAPTURE_MARK: char = '*';

/// The name under which an option is bound that `{*}` takes because its value is unknown. It is not
/// sent again.
pub(crate) const UNREAD: &str = "*?";

/// What a template read: attribute (or `name.0`, `name.field`, `name|number`, `*`) and value, in order.
pub(crate) type Bindings = Vec<(Name, Value)>;

/// The value of a placeholder.
pub(crate) fn bound<'b>(bindings: &'b Bindings, name: &str) -> Option<&'b Value> {
    let found = bindings.iter().find(|(bound, _)| bound == name);
    found.map(|(_, value)| value)
}

/// The value of a placeholder, of bindings that have no other use.
pub(crate) fn take_bound(bindings: Bindings, name: &str) -> Option<Value> {
    let found = bindings.into_iter().find(|(bound, _)| bound == name);
    found.map(|(_, value)| value)
}

/// The meaning of words, which is not part of a template.
pub(crate) trait Vocabulary {
    /// The value that a word (or the rest of a line) stands for; `None` when the attribute cannot
    /// have it.
    fn read(&self, attribute: &str, text: &str) -> Option<Value>;
    /// The words for a value; `None` when it has none.
    fn write(&self, attribute: &str, value: &Value) -> Option<String>;
    /// Whether the attribute's text is always masked.
    fn is_secret(&self, attribute: &str) -> bool;
    /// Whether each of several words is a value; otherwise they are one text.
    fn reads_each_word(&self, attribute: &str) -> bool {
        let _ = attribute;
        true
    }
    /// The quotation marks of the command line, if it has them.
    fn quoting(&self) -> Option<&Quoting> {
        None
    }
}

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineTemplate {
    /// As the author wrote it.
    pub(crate) text: String,
    parts: Vec<Part>,
    literals: BTreeSet<String>,
    /// Each once.
    attributes: Vec<Name>,
}

impl LineTemplate {
    /// The bindings of the first template that reads the text.
    pub(crate) fn first_match(
        templates: &[LineTemplate],
        text: &str,
        vocabulary: &impl Vocabulary,
    ) -> Option<Bindings> {
        templates
            .iter()
            .find_map(|template| template.read(text, vocabulary))
    }

    /// The attributes in it, each once.
    pub(crate) fn attributes(&self) -> Vec<&str> {
        self.attributes.iter().map(Name::as_str).collect()
    }

    pub(crate) fn has_attribute(&self, name: &str) -> bool {
        self.attributes.iter().any(|own| own == name)
    }

    /// The attributes without which it cannot be printed.
    pub(crate) fn required(&self) -> Vec<&str> {
        self.parts.iter().flat_map(Part::names).collect()
    }

    /// The attributes that stand together with a word that has no attribute, if the word is bound:
    /// `port` with `tcp` in `[transport {*tcp!tcp} port {port}]`.
    pub(crate) fn companions(&self, is_bound: &dyn Fn(&str) -> bool) -> Vec<&str> {
        let mut names = Vec::new();
        collect_companions(&self.parts, is_bound, &mut names);
        names
    }

    /// Names of words without an attribute.
    pub(crate) fn captures(&self) -> Vec<&str> {
        let mut names = Vec::new();
        collect_holes(&self.parts, &mut |hole| {
            if hole.name.starts_with(CAPTURE_MARK) {
                names.push(hole.name.as_str());
            }
        });
        names
    }

    /// Whether the attribute takes blanks.
    pub(crate) fn takes_blanks(&self, attribute: &str) -> bool {
        let mut takes = false;
        collect_holes(&self.parts, &mut |hole| {
            takes |= hole.name == attribute
                && !matches!(hole.kind, HoleKind::Word | HoleKind::Address(_));
        });
        takes
    }

    /// Whether the attribute takes several words without quotation marks.
    pub(crate) fn takes_rest(&self, attribute: &str) -> bool {
        self.takes_blanks(attribute) && !self.is_quoted(attribute)
    }

    /// The text that ends an attribute within its word.
    pub(crate) fn text_after(&self, attribute: &str) -> Option<&str> {
        let mut after = None;
        collect_compounds(&self.parts, &mut |pieces| {
            let texts = pieces.windows(2).zip(2..);
            after = after.or(texts.into_iter().find_map(|(pair, next)| match pair {
                [Piece::Hole(hole), Piece::Text(text)]
                    if hole.name == attribute && next < pieces.len() =>
                {
                    Some(text.as_str())
                }
                _ => None,
            }));
        });
        after
    }

    /// Whether the attribute may stand between quotation marks.
    pub(crate) fn is_quoted(&self, attribute: &str) -> bool {
        let mut is_quoted = false;
        collect_holes(&self.parts, &mut |hole| {
            is_quoted |= hole.name == attribute && hole.kind == HoleKind::Quoted;
        });
        is_quoted
    }

    /// Whether a platform with quotation marks writes them where a value of the attribute needs them.
    pub(crate) fn may_be_quoted(&self, attribute: &str) -> bool {
        let mut may_be = self.is_quoted(attribute);
        collect_holes(&self.parts, &mut |hole| {
            may_be |= hole.name == attribute && hole.kind == HoleKind::Words;
        });
        may_be
    }

    /// Whether the attribute takes several words, each of which has a meaning.
    pub(crate) fn takes_words(&self, attribute: &str) -> bool {
        let mut takes = false;
        collect_holes(&self.parts, &mut |hole| {
            takes |=
                hole.name == attribute && matches!(hole.kind, HoleKind::Words | HoleKind::Each(_));
        });
        takes
    }

    /// The literal words at the beginning, and the attribute of the one word behind them.
    pub(crate) fn placeholder_behind_head(&self) -> Option<(String, &str)> {
        let hole = self.hole_behind_head();
        let hole = hole.filter(|hole| hole.kind == HoleKind::Word)?;
        Some((self.head(), hole.name.as_str()))
    }

    /// The first placeholder, if only literal words are before it.
    fn hole_behind_head(&self) -> Option<&Hole> {
        let mut parts = self.parts.iter();
        match parts.find(|part| !matches!(part, Part::Word(_))) {
            Some(Part::Hole(hole)) => Some(hole),
            _ => None,
        }
    }

    /// The attribute of the first value of a line with the literal words before it, and the words from
    /// there on.
    pub(crate) fn first_value<'t>(&self, text: &'t str) -> Option<(&Name, Vec<&'t str>)> {
        let hole = self.hole_behind_head()?;
        let before = self.head().split_whitespace().count();
        Some((&hole.name, text.split_whitespace().skip(before).collect()))
    }

    /// The literal words before the first part that varies.
    pub(crate) fn head(&self) -> String {
        let words = self.parts.iter().map_while(|part| match part {
            Part::Word(word) => Some(word.as_str()),
            _ => None,
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The digits at the end of a name, `41` of `Port-channel41`.
pub(crate) fn trailing_number(name: &str) -> Option<&str> {
    let start = name
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + 1);
    let number = name.get(start..)?;
    (!number.is_empty()).then_some(number)
}

//! Line templates: one text from which a line is both read and written.
//!
//! ```text
//! word             literal; compared without case when reading
//! {attr}           one word             {attr:rest}   the rest of the line, at least one word
//! {attr:words}     one or more words, the elements of an array; ends before a literal
//! {attr?word}      `word` when the attribute is true; present = true, missing = false
//! {attr!word}      `word` when the attribute is true; missing = nothing is said
//! {attr|number}    the number at the end of the attribute's value
//! {0} {1}          elements of a tuple
//! {attr:ip}        one word that is an IP address
//! {attr:ipv4}      one word that is an IPv4 address or prefix; {attr:ipv6} likewise
//! {*name}          one word that no attribute tells; kept when the line is sent again
//! {attr=a|b}       nothing; the parts after it count only where the attribute is one of these
//! {*}              whatever else stands there; kept too
//! [ … ]            optional: printed when everything inside has a value
//! < … >            the optional parts inside may come in any order when read
//! ( … | … )        alternatives; the first that has all its values is printed
//! ```
//!
//! Matching goes by words from left to right and never goes back over what it took, so it is
//! linear in the line; a part that may be missing is taken when it matches.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::driver::codec::text_of;
use crate::secret::Text;
use crate::value::{Name, Value};

/// What the names begin with under which words are bound that no attribute tells.
pub const KEPT: char = '*';

/// What a template read: attribute (or `0`, `name|number`, `*`) and value, in order.
pub type Bindings = Vec<(Name, Value)>;

/// The meaning of words, which a template itself does not know.
pub trait Vocabulary {
    /// The value that a word (or the rest of a line) stands for; `None` when the attribute cannot
    /// have it.
    fn read(&self, attribute: &str, text: &str) -> Option<Value>;
    /// The words for a value; `None` when it has none.
    fn write(&self, attribute: &str, value: &Value) -> Option<String>;
    /// Whether the attribute's text is shown to nobody.
    fn is_secret(&self, attribute: &str) -> bool;
}

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// As the author wrote it.
    pub text: String,
    parts: Vec<Part>,
    literals: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Word(String),
    Hole(Hole),
    /// Nothing by itself; matches where an attribute that was read before, or is written, has one
    /// of the values.
    Where {
        name: Name,
        values: Vec<String>,
    },
    Optional(Vec<Part>),
    AnyOrder(Vec<Vec<Part>>),
    Choice(Vec<Vec<Part>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Hole {
    name: Name,
    kind: HoleKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HoleKind {
    Word,
    Address(Address),
    Rest,
    Words,
    Flag(String),
    Mark(String),
    Number,
}

/// What kind of address a word must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
    Any,
    Ipv4,
    Ipv6,
}

impl Address {
    fn is(self, text: &str) -> bool {
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

/// A line cut into words that remember their place.
struct Line<'a> {
    text: &'a str,
    words: Vec<(&'a str, usize)>,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let tokens = tokens(text)?;
        let mut at = 0;
        let parts = sequence(&tokens, &mut at, None)?;
        let mut literals = BTreeSet::new();
        collect_literals(&parts, &mut literals);
        if parts.is_empty() {
            return Err("a template cannot be empty".to_owned());
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
            literals,
        })
    }

    /// The attributes in it, each once.
    pub fn attributes(&self) -> Vec<&str> {
        let mut names = Vec::new();
        collect_holes(&self.parts, &mut |hole| {
            let name = hole.name.as_str();
            if !name.starts_with(KEPT) && name.parse::<usize>().is_err() && !names.contains(&name) {
                names.push(name);
            }
        });
        collect_conditions(&self.parts, &mut |name| {
            if !names.contains(&name) {
                names.push(name);
            }
        });
        names
    }

    /// The attributes without which it cannot be printed.
    pub fn required(&self) -> Vec<&str> {
        let holes = self.parts.iter().filter_map(|part| match part {
            Part::Hole(hole) => Some(hole.name.as_str()),
            _ => None,
        });
        holes.collect()
    }

    /// Whether nothing in it varies.
    pub fn is_literal(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Word(_)))
    }

    /// Whether it has elements of a tuple.
    pub fn is_tuple(&self) -> bool {
        let mut tuple = false;
        collect_holes(&self.parts, &mut |hole| {
            tuple |= hole.name.parse::<usize>().is_ok();
        });
        tuple
    }

    /// Whether the attribute takes all that is left of the line, blanks included.
    pub fn takes_blanks(&self, attribute: &str) -> bool {
        let mut takes = false;
        collect_holes(&self.parts, &mut |hole| {
            takes |= hole.name == attribute
                && !matches!(hole.kind, HoleKind::Word | HoleKind::Address(_));
        });
        takes
    }

    /// Whether the attribute takes several words, each of which has a meaning.
    pub fn takes_words(&self, attribute: &str) -> bool {
        let mut takes = false;
        collect_holes(&self.parts, &mut |hole| {
            takes |= hole.name == attribute && hole.kind == HoleKind::Words;
        });
        takes
    }

    /// The literal words before the first part that varies.
    pub fn head(&self) -> String {
        let words = self.parts.iter().map_while(|part| match part {
            Part::Word(word) => Some(word.as_str()),
            _ => None,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// What a line says, if it is one of this template's.
    pub fn read(&self, line: &str, vocabulary: &dyn Vocabulary) -> Option<Bindings> {
        // Most lines are another template's, which the first word tells.
        if let Some(Part::Word(word)) = self.parts.first()
            && let first = line.split_whitespace().next()
            && !first.is_some_and(|first| first.eq_ignore_ascii_case(word))
        {
            return None;
        }
        let words = line.split_whitespace();
        let words = words.map(|word| (word, word.as_ptr() as usize - line.as_ptr() as usize));
        let line = Line {
            text: line,
            words: words.collect(),
        };
        let matcher = Matcher {
            line: &line,
            vocabulary,
            literals: &self.literals,
        };
        let mut bindings = Bindings::new();
        let end = matcher.sequence(&self.parts, 0, false, &mut bindings)?;
        (end == line.words.len()).then_some(bindings)
    }

    /// The line for values; `None` when one that it needs is missing or cannot be written.
    pub fn write<'v>(
        &self,
        values: &dyn Fn(&str) -> Option<&'v Value>,
        vocabulary: &dyn Vocabulary,
    ) -> Option<Text> {
        let mut line = Text::new();
        let printer = Printer { values, vocabulary };
        printer.sequence(&self.parts, &mut line)?;
        Some(line)
    }
}

struct Matcher<'a> {
    line: &'a Line<'a>,
    vocabulary: &'a dyn Vocabulary,
    literals: &'a BTreeSet<String>,
}

impl Matcher<'_> {
    /// Matches parts from a word on; the word after the match. Leaves the bindings as they were
    /// when there is none.
    fn sequence(
        &self,
        parts: &[Part],
        from: usize,
        may_be_skipped: bool,
        bindings: &mut Bindings,
    ) -> Option<usize> {
        let before = bindings.len();
        let mut at = from;
        for part in parts {
            let first = may_be_skipped && at == from;
            match self.part(part, at, first, bindings) {
                Some(next) => at = next,
                None => {
                    bindings.truncate(before);
                    return None;
                }
            }
        }
        Some(at)
    }

    fn part(&self, part: &Part, at: usize, first: bool, bindings: &mut Bindings) -> Option<usize> {
        match part {
            Part::Word(word) => {
                let (actual, _) = self.line.words.get(at)?;
                actual.eq_ignore_ascii_case(word).then_some(at + 1)
            }
            Part::Hole(hole) => self.hole(hole, at, first, bindings),
            Part::Where { name, values } => {
                let bound = bindings.iter().find(|(known, _)| known == name);
                is_one_of(bound.map(|(_, value)| value), values).then_some(at)
            }
            Part::Optional(parts) => {
                let end = self.sequence(parts, at, true, bindings);
                if end.is_none() {
                    missing(parts, bindings);
                }
                Some(end.unwrap_or(at))
            }
            Part::AnyOrder(options) => {
                let mut left: Vec<&Vec<Part>> = options.iter().collect();
                let mut at = at;
                'next: while !left.is_empty() {
                    for (index, option) in left.iter().enumerate() {
                        if let Some(end) = self.sequence(option, at, true, bindings)
                            && end > at
                        {
                            at = end;
                            left.remove(index);
                            continue 'next;
                        }
                    }
                    break;
                }
                for option in left {
                    missing(option, bindings);
                }
                Some(at)
            }
            Part::Choice(options) => options
                .iter()
                .find_map(|option| self.sequence(option, at, first, bindings)),
        }
    }

    fn hole(&self, hole: &Hole, at: usize, first: bool, bindings: &mut Bindings) -> Option<usize> {
        let (word, offset) = *self.line.words.get(at)?;
        let is_literal = |word: &str| self.literals.contains(&word.to_lowercase());
        let read = |text: &str| self.vocabulary.read(&hole.name, text);
        let (value, end) = match &hole.kind {
            HoleKind::Flag(flag) | HoleKind::Mark(flag) => {
                if !word.eq_ignore_ascii_case(flag) {
                    return None;
                }
                (Value::Bool(true), at + 1)
            }
            _ if first && is_literal(word) => return None,
            HoleKind::Rest if hole.name.starts_with(KEPT) => {
                let text = self.line.text[offset..].trim_end();
                (text.into(), self.line.words.len())
            }
            HoleKind::Word if hole.name.starts_with(KEPT) => (word.into(), at + 1),
            HoleKind::Address(kind) if !kind.is(word) => return None,
            HoleKind::Rest => {
                let text = self.line.text[offset..].trim_end();
                (read(text)?, self.line.words.len())
            }
            HoleKind::Words => {
                let words = self.line.words[at..].iter();
                let values: Vec<Value> = words
                    .map_while(|(word, _)| if is_literal(word) { None } else { read(word) })
                    .collect();
                if values.is_empty() {
                    return None;
                }
                let end = at + values.len();
                (Value::List(values), end)
            }
            HoleKind::Number => {
                let name = format!("{}|number", hole.name);
                if !word.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                bindings.push((name.into(), word.into()));
                return Some(at + 1);
            }
            HoleKind::Word | HoleKind::Address(_) => (read(word)?, at + 1),
        };
        bindings.push((hole.name.clone(), value));
        Some(end)
    }
}

/// Binds the flags of a part that is not there.
fn missing(parts: &[Part], bindings: &mut Bindings) {
    collect_holes(parts, &mut |hole| {
        if let HoleKind::Flag(_) = hole.kind
            && bindings.iter().all(|(name, _)| *name != hole.name)
        {
            bindings.push((hole.name.clone(), Value::Bool(false)));
        }
    });
}

/// Whether a value's text is one of those.
fn is_one_of(value: Option<&Value>, texts: &[String]) -> bool {
    value
        .and_then(text_of)
        .is_some_and(|text| texts.contains(&text))
}

struct Printer<'a, 'v> {
    values: &'a dyn Fn(&str) -> Option<&'v Value>,
    vocabulary: &'a dyn Vocabulary,
}

impl Printer<'_, '_> {
    fn sequence(&self, parts: &[Part], line: &mut Text) -> Option<()> {
        for part in parts {
            match part {
                Part::Word(word) => {
                    separate(line);
                    line.push(word);
                }
                Part::Hole(hole) => add(line, self.hole(hole)?),
                Part::Where { name, values } => {
                    if !is_one_of((self.values)(name), values) {
                        return None;
                    }
                }
                Part::Optional(parts) => self.optional(parts, line),
                Part::AnyOrder(options) => {
                    for option in options {
                        self.optional(option, line);
                    }
                }
                Part::Choice(options) => {
                    let printed = options.iter().find_map(|option| {
                        let mut line = Text::new();
                        self.sequence(option, &mut line).map(|()| line)
                    });
                    add(line, printed?);
                }
            }
        }
        Some(())
    }

    fn optional(&self, parts: &[Part], line: &mut Text) {
        let mut part = Text::new();
        if self.sequence(parts, &mut part).is_some() {
            add(line, part);
        }
    }

    fn hole(&self, hole: &Hole) -> Option<Text> {
        let value = (self.values)(&hole.name)?;
        // One element of a list is as good as the element alone.
        let value = match (&hole.kind, value) {
            (HoleKind::Words, _) => value,
            (_, Value::List(items)) if items.len() == 1 => &items[0],
            _ => value,
        };
        let text = match &hole.kind {
            HoleKind::Flag(word) | HoleKind::Mark(word) => {
                let is_true = *value.unwrap_sensitive() == Value::Bool(true);
                return is_true.then(|| Text::plain(word));
            }
            HoleKind::Words => {
                let items = match value.unwrap_sensitive() {
                    Value::List(items) => items.as_slice(),
                    // An element of a list whose elements have lines of their own.
                    one => std::slice::from_ref(one),
                };
                let words: Option<Vec<String>> = items
                    .iter()
                    .map(|item| self.vocabulary.write(&hole.name, item))
                    .collect();
                words.filter(|words| !words.is_empty())?.join(" ")
            }
            HoleKind::Number => trailing_number(value.unwrap_sensitive().as_str()?)?.to_owned(),
            HoleKind::Address(kind) => {
                let text = self.vocabulary.write(&hole.name, value)?;
                kind.is(&text).then_some(text)?
            }
            HoleKind::Word | HoleKind::Rest => self.vocabulary.write(&hole.name, value)?,
        };
        if text.is_empty() {
            return None;
        }
        let secret = matches!(value, Value::Sensitive(_)) || self.vocabulary.is_secret(&hole.name);
        Some(if secret {
            Text::secret(text)
        } else {
            Text::plain(text)
        })
    }
}

/// The digits at the end of a name, `41` of `Port-channel41`.
pub fn trailing_number(name: &str) -> Option<&str> {
    let start = name
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + 1);
    let number = name.get(start..)?;
    (!number.is_empty()).then_some(number)
}

fn add(line: &mut Text, part: Text) {
    if !part.is_empty() {
        separate(line);
        line.append(part);
    }
}

fn separate(line: &mut Text) {
    if !line.is_empty() {
        line.push(" ");
    }
}

fn collect_holes<'a>(parts: &'a [Part], found: &mut dyn FnMut(&'a Hole)) {
    for part in parts {
        match part {
            Part::Word(_) | Part::Where { .. } => {}
            Part::Hole(hole) => found(hole),
            Part::Optional(parts) => collect_holes(parts, found),
            Part::AnyOrder(options) | Part::Choice(options) => {
                for option in options {
                    collect_holes(option, found);
                }
            }
        }
    }
}

fn collect_conditions<'a>(parts: &'a [Part], found: &mut dyn FnMut(&'a str)) {
    for part in parts {
        match part {
            Part::Word(_) | Part::Hole(_) => {}
            Part::Where { name, .. } => found(name),
            Part::Optional(parts) => collect_conditions(parts, found),
            Part::AnyOrder(options) | Part::Choice(options) => {
                for option in options {
                    collect_conditions(option, found);
                }
            }
        }
    }
}

fn collect_literals(parts: &[Part], literals: &mut BTreeSet<String>) {
    for part in parts {
        match part {
            Part::Word(word) => {
                literals.insert(word.to_lowercase());
            }
            Part::Hole(hole) => {
                if let HoleKind::Flag(word) | HoleKind::Mark(word) = &hole.kind {
                    literals.insert(word.to_lowercase());
                }
            }
            Part::Where { .. } => {}
            Part::Optional(parts) => collect_literals(parts, literals),
            Part::AnyOrder(options) | Part::Choice(options) => {
                for option in options {
                    collect_literals(option, literals);
                }
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Hole(String),
    Mark(char),
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if "[]<>()|".contains(first) {
            tokens.push(Token::Mark(first));
            rest = &rest[1..];
        } else if first == '{' {
            let end = rest.find('}').ok_or("a `{` has no `}`")?;
            tokens.push(Token::Hole(rest[1..end].to_owned()));
            rest = &rest[end + 1..];
        } else {
            let end = rest
                .find(|c: char| c.is_whitespace() || "[]<>()|{".contains(c))
                .unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        let trimmed = rest.trim_start();
        let glued = trimmed.len() == rest.len() && !rest.is_empty();
        let mark = |token: Option<&Token>| matches!(token, Some(Token::Mark(_)));
        if glued && !mark(tokens.last()) && !rest.starts_with(['[', ']', '<', '>', '(', ')', '|']) {
            return Err(format!("a blank is missing before `{rest}`"));
        }
        rest = trimmed;
    }
    Ok(tokens)
}

fn sequence(tokens: &[Token], at: &mut usize, close: Option<char>) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    loop {
        let Some(token) = tokens.get(*at) else {
            return match close {
                Some(close) => Err(format!("a `{close}` is missing")),
                None => Ok(parts),
            };
        };
        *at += 1;
        match token {
            Token::Word(word) => parts.push(Part::Word(word.clone())),
            Token::Hole(text) => parts.push(match text.split_once('=') {
                Some((name, values)) => Part::Where {
                    name: name.into(),
                    values: values.split('|').map(str::to_owned).collect(),
                },
                None => Part::Hole(hole(text)?),
            }),
            Token::Mark('[') => parts.push(Part::Optional(sequence(tokens, at, Some(']'))?)),
            Token::Mark('<') => {
                let inside = sequence(tokens, at, Some('>'))?;
                let options = inside.into_iter().map(|part| match part {
                    Part::Optional(parts) => Ok(parts),
                    _ => Err("only `[…]` may stand inside `<…>`".to_owned()),
                });
                parts.push(Part::AnyOrder(options.collect::<Result<_, _>>()?));
            }
            Token::Mark('(') => {
                let mut options = vec![];
                loop {
                    options.push(sequence(tokens, at, Some(')'))?);
                    // The closing mark is `)` or the `|` before a further alternative.
                    if tokens.get(*at - 1) == Some(&Token::Mark(')')) {
                        break;
                    }
                }
                parts.push(Part::Choice(options));
            }
            Token::Mark(mark) if Some(*mark) == close => return Ok(parts),
            Token::Mark('|') if close == Some(')') => return Ok(parts),
            Token::Mark(mark) => return Err(format!("`{mark}` does not fit here")),
        }
    }
}

fn hole(text: &str) -> Result<Hole, String> {
    if text.len() == KEPT.len_utf8() && text.starts_with(KEPT) {
        return Ok(Hole {
            name: text.into(),
            kind: HoleKind::Rest,
        });
    }
    let (name, kind) = if let Some((name, word)) = text.split_once('?') {
        (name, HoleKind::Flag(word.to_owned()))
    } else if let Some((name, word)) = text.split_once('!') {
        (name, HoleKind::Mark(word.to_owned()))
    } else if let Some((name, kind)) = text.split_once(':') {
        let kind = match kind {
            "rest" => HoleKind::Rest,
            "words" => HoleKind::Words,
            "ip" => HoleKind::Address(Address::Any),
            "ipv4" => HoleKind::Address(Address::Ipv4),
            "ipv6" => HoleKind::Address(Address::Ipv6),
            other => {
                return Err(format!(
                    "`:{other}` is not known; `:rest`, `:words`, `:ip`, `:ipv4` and `:ipv6` are"
                ));
            }
        };
        (name, kind)
    } else if let Some((name, filter)) = text.split_once('|') {
        if filter != "number" {
            return Err(format!("`|{filter}` is not known; `|number` is"));
        }
        (name, HoleKind::Number)
    } else {
        (text, HoleKind::Word)
    };
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(format!("`{{{text}}}` names no attribute"));
    }
    Ok(Hole {
        name: name.into(),
        kind,
    })
}

//! Text to a tree in which includes and substitutions are still to be done.

use std::ops::Range;

use switchtender_devices::diagnostic::Diagnostic;

use super::{Mark, Redacted};

/// A value as written.
#[derive(Clone)]
pub struct Raw {
    pub value: RawValue,
    pub mark: Mark,
}

#[derive(Clone)]
pub enum RawValue {
    /// Pieces of a simple value, joined as text when there are several.
    Text(Vec<Piece>),
    List(Vec<Vec<Raw>>),
    Object(Vec<RawEntry>),
    /// `${path}`, or `${?path}` which may be missing.
    Substitution {
        path: Vec<String>,
        optional: bool,
    },
}

#[derive(Clone)]
pub enum Piece {
    Quoted(String),
    /// Unquoted text, blanks between pieces included.
    Bare(String),
}

#[derive(Clone)]
pub enum RawEntry {
    Field(RawField),
    Include {
        path: String,
        required: bool,
        mark: Mark,
    },
}

/// `key: value`; a value of several parts is a concatenation.
#[derive(Clone)]
pub struct RawField {
    pub path: Vec<String>,
    pub mark: Mark,
    pub parts: Vec<Raw>,
    /// `+=`
    pub append: bool,
}

/// Parses a text into its root object.
pub fn parse(name: &str, text: &str) -> Result<Raw, Box<Diagnostic>> {
    // Once for the places of values, then again with places in the masked copy.
    let mut scan = Parser::new(text, Redacted::new(name, "", &[]));
    let outcome = scan.document();
    let mut values = std::mem::take(&mut scan.values);
    match outcome {
        Ok(_) => {
            let redacted = Redacted::new(name, text, &values);
            let mut parser = Parser::new(text, redacted);
            Ok(parser.document().expect("it was parsed a moment ago"))
        }
        Err(Syntax { at, message }) => {
            // What follows the mistake was not understood, so any of it may be a secret.
            let end = text[at..].find('\n').map_or(text.len(), |line| at + line);
            values.retain(|range| range.end <= at);
            values.push(at..text.len());
            let redacted = Redacted::new(name, text, &values);
            let (line, _) = switchtender_devices::diagnostic::Source::new("", text).position(at);
            Err(Box::new(
                Diagnostic::error("hocon-syntax", format!("{message} (line {line})")).at(
                    &redacted.source,
                    redacted.span(&(at..end)),
                    "",
                ),
            ))
        }
    }
}

#[derive(Debug)]
struct Syntax {
    at: usize,
    message: String,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    redacted: Redacted,
    values: Vec<Range<usize>>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, redacted: Redacted) -> Self {
        Self {
            text,
            at: 0,
            redacted,
            values: Vec::new(),
        }
    }

    fn document(&mut self) -> Result<Raw, Syntax> {
        self.blank_lines();
        let start = self.at;
        let entries = if self.eat('{') {
            let entries = self.entries(Some('}'))?;
            self.blank_lines();
            entries
        } else {
            self.entries(None)?
        };
        if self.peek().is_some() {
            return self.error("text after the end of the object");
        }
        Ok(Raw {
            value: RawValue::Object(entries),
            mark: self.mark(start..start + 1),
        })
    }

    /// The fields of an object up to its closing brace, or to the end of the text.
    fn entries(&mut self, close: Option<char>) -> Result<Vec<RawEntry>, Syntax> {
        let mut entries = Vec::new();
        loop {
            self.separators();
            match (self.peek(), close) {
                (None, None) => return Ok(entries),
                (None, Some(close)) => return self.error(&format!("`{close}` is missing")),
                (Some(next), Some(close)) if next == close => {
                    self.at += 1;
                    return Ok(entries);
                }
                _ => {}
            }
            entries.push(self.entry()?);
            self.blanks();
            match self.peek() {
                None | Some('\n' | ',' | '#') => {}
                Some('}') if close == Some('}') => {}
                _ if self.rest().starts_with("//") => {}
                _ => return self.error("a comma or a new line is missing"),
            }
        }
    }

    fn entry(&mut self) -> Result<RawEntry, Syntax> {
        if let Some(include) = self.include()? {
            return Ok(include);
        }
        let start = self.at;
        let path = self.path(&[':', '=', '{', '+'])?;
        let mark = self.mark(start..self.text[..self.at].trim_end().len());
        self.blanks();
        let append = if self.rest().starts_with("+=") {
            self.at += 2;
            true
        } else {
            if !self.eat(':') && !self.eat('=') && self.peek() != Some('{') {
                // What was taken for a key may be anything: it is masked with the rest.
                self.at = start;
                return self.error("`:` or `=` is missing after the key");
            }
            false
        };
        self.blank_lines();
        let parts = self.value()?;
        Ok(RawEntry::Field(RawField {
            path,
            mark,
            parts,
            append,
        }))
    }

    /// `include "file"`, also as `file("…")` and `required(…)`.
    fn include(&mut self) -> Result<Option<RawEntry>, Syntax> {
        let start = self.at;
        let Some(rest) = self.rest().strip_prefix("include") else {
            return Ok(None);
        };
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if blanks == 0 || rest[blanks..].starts_with([':', '=', '{']) {
            return Ok(None);
        }
        self.at += "include".len() + blanks;
        let mut required = false;
        let mut open = 0;
        for word in ["required(", "file("] {
            if self.rest().starts_with(word) {
                required |= word == "required(";
                open += 1;
                self.at += word.len();
                self.blanks();
            }
        }
        if self.peek() != Some('"') {
            return self.error("`include` wants a file name in quotes");
        }
        let path = self.quoted()?;
        for _ in 0..open {
            self.blanks();
            if !self.eat(')') {
                return self.error("`)` is missing");
            }
        }
        let mark = self.mark(start..self.at);
        Ok(Some(RawEntry::Include {
            path,
            required,
            mark,
        }))
    }

    /// A dotted key; quoted parts keep their dots.
    fn path(&mut self, end: &[char]) -> Result<Vec<String>, Syntax> {
        let mut parts = Vec::new();
        let mut part = String::new();
        let mut any = false;
        loop {
            match self.peek() {
                Some('"') => {
                    part.push_str(&self.quoted()?);
                    any = true;
                }
                Some('.') => {
                    self.at += 1;
                    parts.push(std::mem::take(&mut part).trim().to_owned());
                    any = false;
                }
                Some(next) if end.contains(&next) || next == '\n' => break,
                Some(next) if "$\"{}[]:=,+#`^?!@*&\\".contains(next) => {
                    return self.error("this cannot be part of a key without quotes");
                }
                Some(next) => {
                    part.push(next);
                    any |= !next.is_whitespace();
                    self.at += next.len_utf8();
                }
                None => break,
            }
        }
        if !any {
            return self.error("a key is missing");
        }
        parts.push(part.trim().to_owned());
        Ok(parts)
    }

    /// The parts of a value up to the end of its line, a comma or a closing bracket.
    fn value(&mut self) -> Result<Vec<Raw>, Syntax> {
        let mut parts: Vec<Raw> = Vec::new();
        loop {
            let before_blanks = self.at;
            self.blanks();
            let start = self.at;
            let gap = self.text[before_blanks..start].to_owned();
            let comment = self.rest().starts_with('#') || self.rest().starts_with("//");
            let value = match self.peek() {
                None | Some('\n' | ',' | '}' | ']') => break,
                _ if comment => break,
                Some('{') => {
                    self.at += 1;
                    RawValue::Object(self.entries(Some('}'))?)
                }
                Some('[') => RawValue::List(self.list()?),
                Some('$') => self.substitution()?,
                Some('"') => {
                    let text = self.quoted()?;
                    self.values.push(start..self.at);
                    self.text_value(&mut parts, &gap, Piece::Quoted(text))
                }
                Some(_) => {
                    let text = self.bare()?;
                    self.values.push(start..self.at);
                    self.text_value(&mut parts, &gap, Piece::Bare(text))
                }
            };
            let mark = self.mark(start..self.at);
            parts.push(Raw { value, mark });
        }
        if parts.is_empty() {
            return self.error("a value is missing");
        }
        Ok(parts)
    }

    /// Joins a text to the one before it, with the blanks between them.
    fn text_value(&self, parts: &mut Vec<Raw>, gap: &str, piece: Piece) -> RawValue {
        let mut pieces = Vec::new();
        let joins = parts.last().is_some_and(|last| {
            matches!(
                last.value,
                RawValue::Text(_) | RawValue::Substitution { .. }
            )
        });
        if joins {
            if !gap.is_empty() {
                pieces.push(Piece::Bare(gap.to_owned()));
            }
            if let Some(RawValue::Text(before)) = parts.last().map(|last| last.value.clone()) {
                parts.pop();
                let mut all = before;
                all.append(&mut pieces);
                pieces = all;
            }
        }
        pieces.push(piece);
        RawValue::Text(pieces)
    }

    fn list(&mut self) -> Result<Vec<Vec<Raw>>, Syntax> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.separators();
            match self.peek() {
                None => return self.error("`]` is missing"),
                Some(']') => {
                    self.at += 1;
                    return Ok(items);
                }
                Some(_) => items.push(self.value()?),
            }
        }
    }

    fn substitution(&mut self) -> Result<RawValue, Syntax> {
        if !self.rest().starts_with("${") {
            return self.error("`$` must be in quotes, or begin a substitution `${…}`");
        }
        self.at += 2;
        let optional = self.eat('?');
        let path = self.path(&['}'])?;
        if !self.eat('}') {
            return self.error("`}` is missing");
        }
        Ok(RawValue::Substitution { path, optional })
    }

    fn quoted(&mut self) -> Result<String, Syntax> {
        let start = self.at;
        if let Some(rest) = self.rest().strip_prefix("\"\"\"") {
            let Some(length) = rest.find("\"\"\"") else {
                return self.error("`\"\"\"` is missing at the end of the text");
            };
            // Quotes beyond three belong to the text.
            let extra = rest[length + 3..].chars().take_while(|c| *c == '"').count();
            self.at += 3 + length + extra + 3;
            return Ok(rest[..length + extra].to_owned());
        }
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(next) = self.peek() else {
                self.at = start;
                return self.error("the closing quote is missing");
            };
            self.at += next.len_utf8();
            match next {
                '"' => return Ok(text),
                '\n' => {
                    self.at = start;
                    return self.error("the closing quote is missing on this line");
                }
                '\\' => text.push(self.escape(start)?),
                other => text.push(other),
            }
        }
    }

    fn escape(&mut self, start: usize) -> Result<char, Syntax> {
        let code = self.peek();
        self.at += code.map_or(0, char::len_utf8);
        let character = match code {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('b') => Some('\u{8}'),
            Some('f') => Some('\u{c}'),
            Some(same @ ('"' | '\\' | '/')) => Some(same),
            Some('u') => self.unicode_escape(),
            _ => None,
        };
        match character {
            Some(character) => Ok(character),
            None => {
                self.at = start;
                self.error("this text has an escape that JSON does not know")
            }
        }
    }

    /// The character of `\uXXXX`, or of a surrogate pair of them.
    fn unicode_escape(&mut self) -> Option<char> {
        let first = self.hex4()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        self.text.get(self.at..)?.strip_prefix("\\u")?;
        self.at += 2;
        let second = self.hex4()?.checked_sub(0xDC00)?;
        char::from_u32(0x10000 + ((first - 0xD800) << 10) + second)
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    /// Unquoted text: no blanks at its ends, none of HOCON's reserved characters.
    fn bare(&mut self) -> Result<String, Syntax> {
        let rest = self.rest();
        let mut end = rest.len();
        for (index, character) in rest.char_indices() {
            let comment = character == '#' || rest[index..].starts_with("//");
            if comment || "$\"{}[]:=,+#`^?!@*&\\\n\r \t".contains(character) {
                end = index;
                break;
            }
        }
        if end == 0 {
            return self.error("a value with this character must be in quotes");
        }
        self.at += end;
        Ok(rest[..end].to_owned())
    }

    /// Skips blanks within a line.
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\r' | '\u{feff}' | '\u{a0}')) {
            self.at += self.peek().map_or(0, char::len_utf8);
        }
    }

    /// Skips blanks, line ends and comments. Comments are masked, too: people park values there.
    fn blank_lines(&mut self) {
        loop {
            self.blanks();
            if self.eat('\n') {
                continue;
            }
            let marker = if self.rest().starts_with('#') {
                1
            } else if self.rest().starts_with("//") {
                2
            } else {
                return;
            };
            let end = self.rest().find('\n').unwrap_or(self.rest().len());
            self.values.push(self.at + marker..self.at + end);
            self.at += end;
        }
    }

    fn separators(&mut self) {
        self.blank_lines();
        while self.eat(',') {
            self.blank_lines();
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn mark(&self, original: Range<usize>) -> Mark {
        Mark {
            source: self.redacted.source.clone(),
            span: self.redacted.span(&original),
        }
    }

    fn error<T>(&self, message: &str) -> Result<T, Syntax> {
        Err(Syntax {
            at: self.at,
            message: message.to_owned(),
        })
    }
}

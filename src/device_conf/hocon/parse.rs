//! Parses text to a tree with unresolved includes and substitutions.

use std::ops::Range;

use switchtender_devices::diagnostic::Diagnostic;

use super::raw::{Document, Include, Piece, Raw, RawEntry, RawField, RawValue};
use super::{Mark, Redacted};

/// Parses a text into its root object.
///
/// # Errors
/// The text is invalid. Everything after the error is masked, because it may be a secret.
pub(crate) fn parse(name: &str, text: &str) -> Result<Document, Box<Diagnostic>> {
    // The first pass finds the values to mask, the second has positions in the masked copy.
    let mut scan = Parser::new(text, Redacted::new(name, "", &[]));
    let outcome = scan.document();
    let mut values = std::mem::take(&mut scan.values);
    match outcome {
        Ok(_) => {
            let redacted = Redacted::new(name, text, &values);
            let mut parser = Parser::new(text, redacted);
            Ok(parser.document().expect("the first pass succeeded"))
        }
        Err(Syntax { at, message }) => {
            // The text after the error is not parsed, so it may contain secrets.
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

const JOINED: &str = "a list or an object cannot be joined with another value";

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

    fn document(&mut self) -> Result<Document, Syntax> {
        self.blank_lines();
        let start = self.at;
        let entries = if self.eat('{') {
            let entries = self.entries(Some('}'), Self::root_entry)?;
            self.blank_lines();
            entries
        } else {
            self.entries(None, Self::root_entry)?
        };
        if self.peek().is_some() {
            return self.error("text after the end of the object");
        }
        Ok(Document {
            entries,
            mark: self.mark(start..start + 1),
        })
    }

    /// The entries of an object up to its closing brace or the end of the text.
    fn entries<T>(
        &mut self,
        close: Option<char>,
        entry: fn(&mut Self) -> Result<T, Syntax>,
    ) -> Result<Vec<T>, Syntax> {
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
            entries.push(entry(self)?);
            self.blanks();
            let is_end = match self.peek() {
                Some('}') => close == Some('}'),
                Some(']') => false,
                _ => self.is_value_end(),
            };
            if !is_end {
                return self.error("a comma or a new line is missing");
            }
        }
    }

    fn root_entry(&mut self) -> Result<RawEntry, Syntax> {
        if self.is_include() {
            return self.include().map(RawEntry::Include);
        }
        self.field().map(RawEntry::Field)
    }

    fn field(&mut self) -> Result<RawField, Syntax> {
        if self.is_include() {
            return self.error("`include` is supported only at the top level of the file");
        }
        let start = self.at;
        let key = self.key(&[':', '=', '{', '+'])?;
        let mark = self.mark(start..self.text[..self.at].trim_end().len());
        self.blanks();
        if self.rest().starts_with("+=") {
            return self.error("`+=` is not supported: write the complete list");
        }
        if !self.eat(':') && !self.eat('=') && self.peek() != Some('{') {
            // The text that was parsed as a key may be a value: mask it, too.
            self.at = start;
            return self.error("`:` or `=` is missing after the key");
        }
        self.blank_lines();
        let value = self.value()?;
        Ok(RawField { key, mark, value })
    }

    fn is_include(&self) -> bool {
        self.rest().strip_prefix("include").is_some_and(|rest| {
            let path = rest.trim_start_matches([' ', '\t']);
            path.len() < rest.len() && !path.starts_with([':', '=', '{'])
        })
    }

    /// `include "file"`, also `file("…")` and `required(…)`.
    fn include(&mut self) -> Result<Include, Syntax> {
        let start = self.at;
        self.at += "include".len();
        self.blanks();
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
            return self.error("`include` requires a file name in quotes");
        }
        let path = self.quoted()?;
        for _ in 0..open {
            self.blanks();
            if !self.eat(')') {
                return self.error("`)` is missing");
            }
        }
        let mark = self.mark(start..self.at);
        Ok(Include {
            path,
            required,
            mark,
        })
    }

    /// A key or the name of a substitution.
    fn key(&mut self, end: &[char]) -> Result<String, Syntax> {
        if self.peek() == Some('"') {
            return self.quoted();
        }
        let start = self.at;
        while let Some(next) = self.peek() {
            if end.contains(&next) || next == '\n' {
                break;
            }
            if next == '.' {
                return self.error("names with dots are not supported: use `{ … }`, or quotes");
            }
            if "$\"{}[]:=,+#`^?!@*&\\".contains(next) {
                return self.error("this character requires quotes in a key");
            }
            self.at += next.len_utf8();
        }
        match self.text[start..self.at].trim() {
            "" => self.error("a key is missing"),
            key => Ok(key.to_owned()),
        }
    }

    fn value(&mut self) -> Result<Raw, Syntax> {
        self.blanks();
        let start = self.at;
        let value = match self.peek() {
            Some('{') => {
                self.at += 1;
                RawValue::Object(self.entries(Some('}'), Self::field)?)
            }
            Some('[') => RawValue::List(self.list()?),
            _ => return self.simple_value(),
        };
        let mark = self.mark(start..self.at);
        self.blanks();
        if !self.is_value_end() {
            return self.error(JOINED);
        }
        Ok(Raw { value, mark })
    }

    /// Texts and substitutions up to the end of the line, a comma or a closing bracket.
    fn simple_value(&mut self) -> Result<Raw, Syntax> {
        let start = self.at;
        let mut end = start;
        let mut pieces = Vec::new();
        loop {
            self.blanks();
            if self.is_value_end() {
                break;
            }
            if !pieces.is_empty() && self.at > end {
                pieces.push(Piece::Bare(self.text[end..self.at].to_owned()));
            }
            let piece_start = self.at;
            let piece = match self.peek() {
                Some('{' | '[') => return self.error(JOINED),
                Some('$') => self.substitution()?,
                Some('"') => Piece::Quoted(self.quoted()?),
                _ => Piece::Bare(self.bare()?),
            };
            if !matches!(piece, Piece::Substitution { .. }) {
                self.values.push(piece_start..self.at);
            }
            pieces.push(piece);
            end = self.at;
        }
        if pieces.is_empty() {
            return self.error("a value is missing");
        }
        Ok(Raw {
            value: RawValue::Text(pieces),
            mark: self.mark(start..end),
        })
    }

    fn is_value_end(&self) -> bool {
        matches!(self.peek(), None | Some('\n' | ',' | '}' | ']' | '#'))
            || self.rest().starts_with("//")
    }

    fn list(&mut self) -> Result<Vec<Raw>, Syntax> {
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

    fn substitution(&mut self) -> Result<Piece, Syntax> {
        let start = self.at;
        if !self.rest().starts_with("${") {
            return self.error("`$` requires quotes, except in a substitution `${…}`");
        }
        self.at += 2;
        let optional = self.eat('?');
        let name = self.key(&['}'])?;
        if !self.eat('}') {
            return self.error("`}` is missing");
        }
        Ok(Piece::Substitution {
            name,
            optional,
            mark: self.mark(start..self.at),
        })
    }

    fn quoted(&mut self) -> Result<String, Syntax> {
        let start = self.at;
        if let Some(rest) = self.rest().strip_prefix("\"\"\"") {
            let Some(length) = rest.find("\"\"\"") else {
                return self.error("`\"\"\"` is missing at the end of the text");
            };
            // More than three quotes: the first ones belong to the text.
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
                    return self.error("the closing quote is missing in this line");
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
                self.error("invalid escape sequence")
            }
        }
    }

    /// The character of `\uXXXX` or of a surrogate pair.
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

    /// Unquoted text without white space and reserved characters.
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
            return self.error("this character requires quotes");
        }
        self.at += end;
        Ok(rest[..end].to_owned())
    }

    /// Skips white space within a line.
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\r' | '\u{feff}' | '\u{a0}')) {
            self.at += self.peek().map_or(0, char::len_utf8);
        }
    }

    /// Skips white space, line ends and comments. Comments are masked: they may contain old values.
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

    fn eat(&mut self, desired: char) -> bool {
        let found = self.peek() == Some(desired);
        if found {
            self.at += desired.len_utf8();
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

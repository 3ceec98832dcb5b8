//! Parser of the notation: names with arguments in brackets.

use std::iter::Peekable;
use std::str::Chars;

/// Invalid syntax.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (character {at})")]
pub(crate) struct NotationError {
    pub(crate) message: String,
    /// From 1.
    pub(crate) at: usize,
}

/// Maximum nesting depth.
const DEEPEST: usize = 32;

/// # Errors
/// The syntax is invalid: unbalanced brackets or a missing name.
pub(crate) fn parse(text: &str) -> Result<NotationKind, NotationError> {
    let mut parser = Parser {
        rest: text.chars().peekable(),
        at: 1,
    };
    let parsed = parser.kind(0)?;
    parser.blank();
    if let Some(more) = parser.rest.peek() {
        let message = format!("`{more}` after the end of the type");
        return Err(parser.error(message));
    }
    Ok(parsed)
}

/// A name with its arguments.
#[derive(Debug)]
pub(crate) struct NotationKind {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Argument>,
}

#[derive(Debug)]
pub(crate) enum Argument {
    Kind(NotationKind),
    Number(i64),
    Text(String),
    Pattern(String),
    Hash(Vec<(Argument, Argument)>),
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    at: usize,
}

impl Parser<'_> {
    fn error(&self, message: impl Into<String>) -> NotationError {
        NotationError {
            message: message.into(),
            at: self.at,
        }
    }

    fn next(&mut self) -> Option<char> {
        self.at += 1;
        self.rest.next()
    }

    fn blank(&mut self) {
        while self.rest.peek().is_some_and(|c| c.is_whitespace()) {
            self.next();
        }
    }

    fn eat(&mut self, desired: char) -> bool {
        self.blank();
        let found = self.rest.peek() == Some(&desired);
        if found {
            self.next();
        }
        found
    }

    fn need(&mut self, desired: char) -> Result<(), NotationError> {
        if self.eat(desired) {
            return Ok(());
        }
        let found = match self.rest.peek() {
            Some(found) => format!("`{found}`"),
            None => "the end".to_owned(),
        };
        Err(self.error(format!("expected `{desired}`, found {found}")))
    }

    fn word(&mut self) -> String {
        self.blank();
        let mut word = String::new();
        while let Some(&next) = self.rest.peek()
            && (next.is_alphanumeric() || matches!(next, '_' | ':' | '-' | '+' | '.'))
        {
            word.push(next);
            self.next();
        }
        word
    }

    fn kind(&mut self, depth: usize) -> Result<NotationKind, NotationError> {
        let name = self.word();
        if name.is_empty() {
            return Err(self.error("expected a type"));
        }
        self.rest_of_kind(name, depth)
    }

    fn rest_of_kind(&mut self, name: String, depth: usize) -> Result<NotationKind, NotationError> {
        if depth > DEEPEST {
            return Err(self.error(format!("more than {DEEPEST} nested types")));
        }
        let mut arguments = Vec::new();
        if self.eat('[') {
            while !self.eat(']') {
                arguments.push(self.argument(depth + 1)?);
                if !self.eat(',') {
                    self.need(']')?;
                    break;
                }
            }
        }
        Ok(NotationKind { name, arguments })
    }

    fn argument(&mut self, depth: usize) -> Result<Argument, NotationError> {
        self.blank();
        match self.rest.peek().copied() {
            Some(quote @ ('\'' | '"')) => {
                self.next();
                self.until(quote).map(Argument::Text)
            }
            Some('/') => {
                self.next();
                self.until('/').map(Argument::Pattern)
            }
            Some('{') => {
                self.next();
                let mut entries = Vec::new();
                while !self.eat('}') {
                    let key = self.argument(depth)?;
                    self.need('=')?;
                    self.need('>')?;
                    entries.push((key, self.argument(depth)?));
                    if !self.eat(',') {
                        self.need('}')?;
                        break;
                    }
                }
                Ok(Argument::Hash(entries))
            }
            _ => {
                let word = self.word();
                if word.is_empty() {
                    return Err(self.error("expected a type, a number or a string"));
                }
                match word.replace('_', "").parse() {
                    Ok(number) => Ok(Argument::Number(number)),
                    Err(_) => self.rest_of_kind(word, depth).map(Argument::Kind),
                }
            }
        }
    }

    /// The text up to a closing delimiter. A backslash escapes the delimiter only.
    fn until(&mut self, end: char) -> Result<String, NotationError> {
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(self.error(format!("missing `{end}`"))),
                Some('\\') if self.rest.peek() == Some(&end) => {
                    text.push(end);
                    self.next();
                }
                Some('\\') => {
                    text.push('\\');
                    text.extend(self.next());
                }
                Some(next) if next == end => return Ok(text),
                Some(next) => text.push(next),
            }
        }
    }
}

//! Parser for literal Ruby hashes in type files.
//!
//! It reads strings, symbols, numbers, lists, hashes, word lists, patterns and here-documents.
//! Other values (a constant, a call, a block) are skipped and become [`Ruby::Unread`]. No code is
//! executed, and nesting is limited.

mod literal;

pub(crate) use literal::{Hash, Ruby, RubyEntry};

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RubyError {
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// Maximum nesting depth.
const DEEPEST: usize = 64;

/// The keyword arguments of a call whose name ends at this offset, with or without parentheses and
/// braces.
///
/// # Errors
/// They are not a literal hash or do not end.
pub(crate) fn arguments(text: &str, at: usize) -> Result<Hash, RubyError> {
    let mut reader = Reader {
        text,
        at,
        jump: None,
    };
    let parenthesis = reader.eat("(");
    let brace = reader.eat("{");
    let end = match (brace, parenthesis) {
        (true, _) => Some("}"),
        (false, true) => Some(")"),
        (false, false) => None,
    };
    reader.hash(end, 0)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Range of a here-document: from the end of a line to the end of its body.
    jump: Option<(usize, usize)>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    fn error(&self, message: impl Into<String>) -> RubyError {
        RubyError {
            line: self.line(),
            message: message.into(),
        }
    }

    fn forward(&mut self, by: usize) {
        self.at += by;
        if let Some((start, end)) = self.jump
            && self.at > start
        {
            self.at = self.at.max(end);
            self.jump = None;
        }
    }

    /// Skips white space, comments and line continuations.
    fn blank(&mut self) {
        loop {
            let rest = self.rest();
            let Some(next) = rest.chars().next() else {
                return;
            };
            if next.is_whitespace() {
                self.forward(next.len_utf8());
            } else if next == '#' {
                self.forward(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("\\\n") {
                self.forward(2);
            } else {
                return;
            }
        }
    }

    fn eat(&mut self, desired: &str) -> bool {
        self.blank();
        let found = self.rest().starts_with(desired);
        if found {
            self.forward(desired.len());
        }
        found
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        self.forward(end);
        &rest[..end]
    }

    fn hash(&mut self, end: Option<&str>, depth: usize) -> Result<Hash, RubyError> {
        if depth > DEEPEST {
            return Err(self.error(format!("more than {DEEPEST} nested levels")));
        }
        self.blank();
        let mut hash = Hash {
            line: self.line(),
            entries: Vec::new(),
        };
        loop {
            if end.is_some_and(|end| self.eat(end)) {
                return Ok(hash);
            }
            self.blank();
            let line = self.line();
            let key = self.key()?;
            let value = self.value(depth + 1)?;
            hash.entries.push(RubyEntry { key, line, value });
            if !self.eat(",") {
                match end {
                    Some(end) if self.eat(end) => return Ok(hash),
                    Some(end) => return Err(self.error(format!("missing `{end}`"))),
                    None => return Ok(hash),
                }
            }
        }
    }

    /// `key:`, `'key':`, `'key' =>`, `:key =>`.
    fn key(&mut self) -> Result<String, RubyError> {
        let symbol = self.eat(":");
        let next = self.rest().chars().next();
        let key = match next {
            Some(quote @ ('\'' | '"')) => {
                self.forward(1);
                self.string(quote)?
            }
            _ => Some(self.word().to_owned()).filter(|word| !word.is_empty()),
        };
        let Some(key) = key else {
            return Err(self.error("expected a hash key"));
        };
        let pair = if symbol || self.rest().starts_with(' ') {
            self.eat("=>")
        } else {
            self.eat(":") || self.eat("=>")
        };
        if pair {
            Ok(key)
        } else {
            Err(self.error(format!("`{key}` is not followed by `:` or `=>`")))
        }
    }

    fn value(&mut self, depth: usize) -> Result<Ruby, RubyError> {
        if depth > DEEPEST {
            return Err(self.error(format!("more than {DEEPEST} nested levels")));
        }
        let value = self.literal(depth)?;
        // A literal with a method call is not a literal.
        self.blank();
        let ended = self.rest().is_empty() || self.rest().starts_with([',', ')', ']', '}']);
        if ended {
            return Ok(value);
        }
        self.skip(depth)?;
        Ok(Ruby::Unread)
    }

    fn literal(&mut self, depth: usize) -> Result<Ruby, RubyError> {
        self.blank();
        let rest = self.rest();
        let Some(next) = rest.chars().next() else {
            return Err(self.error("expected a value"));
        };
        if next == '\'' || next == '"' {
            return self.strings();
        }
        if let Some(tag) = rest.strip_prefix("<<") {
            if let Some(text) = self.here_document(tag) {
                return Ok(Ruby::Text(text));
            }
            return Ok(Ruby::Unread);
        }
        if next == '[' {
            self.forward(1);
            return self.list(depth);
        }
        if next == '{' {
            self.forward(1);
            return self.hash(Some("}"), depth + 1).map(Ruby::Hash);
        }
        if next == '%' {
            return self.percent();
        }
        if next == '/' {
            self.forward(1);
            let pattern = self.raw('/', '/')?;
            self.word();
            return Ok(Ruby::Regex(pattern));
        }
        if next == ':' && !rest.starts_with("::") {
            self.forward(1);
            let next = self.rest().chars().next();
            if let Some(quote @ ('\'' | '"')) = next {
                self.forward(1);
                return Ok(self.string(quote)?.map_or(Ruby::Unread, Ruby::Symbol));
            }
            return Ok(Ruby::Symbol(self.word().to_owned()));
        }
        if next.is_ascii_digit() || next == '-' {
            let end = rest[1..]
                .find(|c: char| !(c.is_ascii_digit() || c == '_' || c == '.'))
                .map_or(rest.len(), |at| at + 1);
            self.forward(end);
            return Ok(Ruby::Number(rest[..end].to_owned()));
        }
        for (word, value) in [
            ("true", Ruby::Bool(true)),
            ("false", Ruby::Bool(false)),
            ("nil", Ruby::Nil),
        ] {
            if rest
                .strip_prefix(word)
                .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            {
                self.forward(word.len());
                return Ok(value);
            }
        }
        Ok(Ruby::Unread)
    }

    /// One or several strings, adjacent or joined by `+`.
    fn strings(&mut self) -> Result<Ruby, RubyError> {
        let mut all = Some(String::new());
        loop {
            self.blank();
            let Some(quote @ ('\'' | '"')) = self.rest().chars().next() else {
                return Ok(all.map_or(Ruby::Unread, Ruby::Text));
            };
            self.forward(1);
            let piece = self.string(quote)?;
            all = all.zip(piece).map(|(all, piece)| all + &piece);
            self.eat("+");
        }
    }

    /// The text of a string after its opening quote; `None` if it is interpolated.
    fn string(&mut self, quote: char) -> Result<Option<String>, RubyError> {
        let mut text = String::new();
        let mut computed = false;
        loop {
            let Some(next) = self.rest().chars().next() else {
                return Err(self.error("unterminated string"));
            };
            self.forward(next.len_utf8());
            if next == quote {
                return Ok(Some(text).filter(|_| !computed));
            }
            if quote == '"' && next == '#' && self.rest().starts_with('{') {
                computed = true;
            }
            if next != '\\' {
                text.push(next);
                continue;
            }
            let Some(escaped) = self.rest().chars().next() else {
                return Err(self.error("unterminated string"));
            };
            self.forward(escaped.len_utf8());
            match escaped {
                'n' if quote == '"' => text.push('\n'),
                't' if quote == '"' => text.push('\t'),
                '\\' => text.push('\\'),
                other if other == quote => text.push(other),
                other if quote == '"' => text.push(other),
                other => text.extend(['\\', other]),
            }
        }
    }

    /// The body of `<<-TAG`, `<<~TAG` or `<<TAG`, which starts on the next line.
    fn here_document(&mut self, tag: &str) -> Option<String> {
        let after = tag.trim_start_matches(['-', '~']);
        let quote = after.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let name = after.trim_start_matches(['\'', '"']);
        let end = name
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(name.len());
        let name = &name[..end];
        if name.is_empty() {
            return None;
        }
        let marks = usize::from(quote.is_some());
        let size = 2 + (tag.len() - after.len()) + name.len() + 2 * marks;
        let line_end = self.at + self.rest().find('\n')?;
        let mut at = line_end + 1;
        let mut body = Vec::new();
        loop {
            let line = self.text[at..].split('\n').next()?;
            let next = at + line.len() + 1;
            if line.trim() == name {
                self.jump = Some((line_end, next.min(self.text.len())));
                break;
            }
            if next > self.text.len() {
                return None;
            }
            body.push(line);
            at = next;
        }
        self.forward(size);
        let indent = body
            .iter()
            .filter(|line| !line.trim().is_empty())
            .map(|line| line.len() - line.trim_start().len())
            .min()
            .unwrap_or(0);
        let body: Vec<&str> = body
            .iter()
            .map(|line| line.get(indent..).unwrap_or_default())
            .collect();
        Some(body.join("\n"))
    }

    fn list(&mut self, depth: usize) -> Result<Ruby, RubyError> {
        let mut items = Vec::new();
        loop {
            if self.eat("]") {
                return Ok(Ruby::List(items));
            }
            items.push(self.value(depth + 1)?);
            if !self.eat(",") {
                if self.eat("]") {
                    return Ok(Ruby::List(items));
                }
                return Err(self.error("missing `]`"));
            }
        }
    }

    /// `%w[…]`, `%i[…]`, `%r{…}`, `%q(…)`, `%(…)`.
    fn percent(&mut self) -> Result<Ruby, RubyError> {
        self.forward(1);
        let kind = self.word().to_owned();
        let Some(open) = self.rest().chars().next() else {
            return Err(self.error("expected a value"));
        };
        self.forward(open.len_utf8());
        let close = match open {
            '[' => ']',
            '(' => ')',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let inside = self.raw(open, close)?;
        let words = || inside.split_whitespace().map(str::to_owned);
        Ok(match kind.as_str() {
            "w" | "W" => Ruby::List(words().map(Ruby::Text).collect()),
            "i" | "I" => Ruby::List(words().map(Ruby::Symbol).collect()),
            "r" => {
                self.word();
                Ruby::Regex(inside)
            }
            "q" | "Q" | "" if !inside.contains("#{") => Ruby::Text(inside),
            _ => Ruby::Unread,
        })
    }

    /// The text up to the closing delimiter, with balanced inner delimiters and unchanged
    /// backslashes.
    fn raw(&mut self, open: char, close: char) -> Result<String, RubyError> {
        let mut text = String::new();
        let mut depth = 1;
        loop {
            let Some(next) = self.rest().chars().next() else {
                return Err(self.error(format!("missing `{close}`")));
            };
            self.forward(next.len_utf8());
            if next == '\\' {
                text.push(next);
                if let Some(escaped) = self.rest().chars().next() {
                    self.forward(escaped.len_utf8());
                    text.push(escaped);
                }
                continue;
            }
            if next == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(text);
                }
            } else if next == open {
                depth += 1;
            }
            text.push(next);
        }
    }

    /// Skips to the comma or bracket that ends the value.
    fn skip(&mut self, depth: usize) -> Result<(), RubyError> {
        let mut open = Vec::new();
        loop {
            self.blank();
            let Some(next) = self.rest().chars().next() else {
                return if open.is_empty() {
                    Ok(())
                } else {
                    Err(self.error("unclosed bracket"))
                };
            };
            match next {
                ',' | ')' | ']' | '}' if open.is_empty() => return Ok(()),
                '(' | '[' | '{' => {
                    if open.len() + depth > DEEPEST {
                        return Err(self.error(format!("more than {DEEPEST} nested levels")));
                    }
                    open.push(next);
                    self.forward(1);
                }
                ')' | ']' | '}' => {
                    open.pop();
                    self.forward(1);
                }
                quote @ ('\'' | '"') => {
                    self.forward(1);
                    self.string(quote)?;
                }
                other => self.forward(other.len_utf8()),
            }
        }
    }
}

//! The syntax of expressions.

use std::ops::Range;

use super::{DeviceSelection, LabelTerm, TargetSyntaxError, TextPattern};

/// Parses an expression.
pub(super) fn parse(text: &str) -> Result<DeviceSelection, TargetSyntaxError> {
    let mut parser = ExpressionParser { text, at: 0 };
    let mut selection = DeviceSelection::default();
    loop {
        parser.term(&mut selection)?;
        parser.skip_space();
        if parser.rest().is_empty() {
            return Ok(selection);
        }
        if !parser.take(",") {
            return Err(parser.expected("`,`"));
        }
    }
}

/// What follows a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordEnd {
    /// Names and keys end before an operator.
    Operator,
    /// Values can have `=` and `!`.
    Value,
}

struct ExpressionParser<'a> {
    text: &'a str,
    /// Position in bytes.
    at: usize,
}

impl ExpressionParser<'_> {
    fn term(&mut self, selection: &mut DeviceSelection) -> Result<(), TargetSyntaxError> {
        self.skip_space();
        let start = self.at;
        let is_excluded = self.take("!");
        self.skip_space();
        let (word, span) = self.word(WordEnd::Operator)?;
        let Some(word) = word else {
            return Err(self.expected("a name of a device or a label"));
        };
        self.skip_space();
        if let Some(label) = self.label(&word)? {
            if is_excluded {
                let problem = "`!` excludes names: write `KEY != VALUE` or `KEY notin (VALUE, …)`";
                return Err(self.error(start..start + 1, problem));
            }
            selection.labels.push(label);
            return Ok(());
        }
        let name = self.pattern(word, span)?;
        if is_excluded {
            selection.excluded.push(name);
        } else {
            selection.names.push(name);
        }
        Ok(())
    }

    /// The operator and the values after a key. `None`: the word before is a name.
    fn label(&mut self, key: &Word) -> Result<Option<LabelTerm>, TargetSyntaxError> {
        let is_excluded = self.take("!=");
        let (is_excluded, values) = if is_excluded || self.take("==") || self.take("=") {
            self.skip_space();
            (is_excluded, vec![self.value()?])
        } else {
            let start = self.at;
            let (operator, _) = self.word(WordEnd::Operator)?;
            match operator.as_ref().map(|operator| operator.text.as_str()) {
                Some("in") => (false, self.values("in")?),
                Some("notin") => (true, self.values("notin")?),
                Some(_) => {
                    self.at = start;
                    return Err(self.expected("`,`, `=`, `!=`, `in` or `notin`"));
                }
                None => return Ok(None),
            }
        };
        Ok(Some(LabelTerm {
            key: key.text.clone(),
            values,
            is_excluded,
        }))
    }

    /// The values in parentheses.
    fn values(&mut self, operator: &str) -> Result<Vec<TextPattern>, TargetSyntaxError> {
        self.skip_space();
        if !self.take("(") {
            return Err(self.expected(&format!("`(` after `{operator}`")));
        }
        let mut values = Vec::new();
        loop {
            self.skip_space();
            values.push(self.value()?);
            self.skip_space();
            if self.take(")") {
                return Ok(values);
            }
            if !self.take(",") {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    /// A value; nothing is the empty value.
    fn value(&mut self) -> Result<TextPattern, TargetSyntaxError> {
        let (word, span) = self.word(WordEnd::Value)?;
        self.pattern(word.unwrap_or_default(), span)
    }

    fn pattern(&self, word: Word, span: Range<usize>) -> Result<TextPattern, TargetSyntaxError> {
        if word.is_quoted {
            return Ok(TextPattern::of_text(word.text));
        }
        let text = word.text.clone();
        TextPattern::parse(word.text).map_err(|error| {
            let problem = format!("`{text}` is not a pattern: {}", error.kind());
            self.error(span, problem)
        })
    }

    /// The next word; `None`: there is none here.
    fn word(&mut self, end: WordEnd) -> Result<(Option<Word>, Range<usize>), TargetSyntaxError> {
        let start = self.at;
        if let Some(mark) = self
            .rest()
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\''))
        {
            let inner = &self.rest()[1..];
            let Some(length) = inner.find(mark) else {
                return Err(self.error(start..start + 1, "the quotation mark is not closed"));
            };
            let text = inner[..length].to_owned();
            self.at += length + 2;
            let is_quoted = true;
            return Ok((Some(Word { text, is_quoted }), start..self.at));
        }
        let length = word_length(self.rest(), end);
        self.at += length;
        let span = start..self.at;
        let word = (length > 0).then(|| Word {
            text: self.text[span.clone()].to_owned(),
            is_quoted: false,
        });
        Ok((word, span))
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes a text if it is next.
    fn take(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    fn expected(&self, what: &str) -> TargetSyntaxError {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        self.error(self.at..self.at + length, format!("expected {what}"))
    }

    fn error(&self, span: Range<usize>, problem: impl Into<String>) -> TargetSyntaxError {
        TargetSyntaxError {
            text: self.text.to_owned(),
            span,
            problem: problem.into(),
        }
    }
}

/// A word of an expression.
#[derive(Default)]
struct Word {
    text: String,
    is_quoted: bool,
}

/// The length of the word at the start of a text. Commas in brackets and braces are parts of a range or pattern.
fn word_length(text: &str, end: WordEnd) -> usize {
    let mut depth = 0_usize;
    for (position, c) in text.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            ',' | '(' | ')' => return position,
            '=' if end == WordEnd::Operator => return position,
            '!' if end == WordEnd::Operator && text[position..].starts_with("!=") => {
                return position;
            }
            _ if c.is_whitespace() => return position,
            _ => {}
        }
    }
    text.len()
}

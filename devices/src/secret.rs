//! Text with secret parts, masked in every output.
//!
//! A command or a request body is a [`Text`]: a list of clear and secret pieces. `Display` and
//! `Debug` mask the secret ones. Only [`Text::reveal`] returns them; only sessions call it.

use std::fmt;
use std::ops::Range;

/// Replaces secrets in logs, plans, reports and errors.
pub const MASK: &str = "••••";

/// A piece of a [`Text`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum TextPiece {
    /// Printed as it is.
    Plain(String),
    /// Printed as [`MASK`].
    Secret(String),
}

/// Text with secret pieces.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Text(Vec<TextPiece>);

impl Text {
    /// An empty text.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A text without secrets.
    pub fn plain(text: impl Into<String> + AsRef<str>) -> Self {
        let mut new = Self::new();
        new.push(text);
        new
    }

    /// A text that is a secret.
    pub(crate) fn secret(text: impl Into<String>) -> Self {
        let mut new = Self::new();
        new.push_secret(text);
        new
    }

    /// Appends plain text.
    pub(crate) fn push(&mut self, text: impl Into<String> + AsRef<str>) {
        if let Some(TextPiece::Plain(last)) = self.0.last_mut() {
            last.push_str(text.as_ref());
        } else if !text.as_ref().is_empty() {
            self.0.push(TextPiece::Plain(text.into()));
        }
    }

    /// Appends a secret.
    pub(crate) fn push_secret(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.0.push(TextPiece::Secret(text));
        }
    }

    /// Appends another text.
    pub(crate) fn append(&mut self, other: Text) {
        for piece in other.0 {
            match piece {
                TextPiece::Plain(text) => self.push(text),
                TextPiece::Secret(text) => self.push_secret(text),
            }
        }
    }

    /// The text after its first word, if that is `word`.
    #[must_use]
    pub(crate) fn without_first_word(mut self, word: &str) -> Self {
        if let Some(TextPiece::Plain(first)) = self.0.first_mut()
            && let Some(rest) = first.strip_prefix(word)
            && rest.starts_with(' ')
        {
            *first = rest.trim_start().to_owned();
        }
        self
    }

    /// Its first bytes.
    #[must_use]
    pub(crate) fn beginning(mut self, length: usize) -> Self {
        let mut left = length;
        for piece in &mut self.0 {
            let (TextPiece::Plain(text) | TextPiece::Secret(text)) = piece;
            text.truncate(left.min(text.len()));
            left -= text.len();
        }
        self
    }

    /// Masks every word of the plain text that equals `secret`.
    #[must_use]
    pub(crate) fn mask_word(self, secret: &str) -> Self {
        let mut masked = Self::new();
        for piece in self.0 {
            let text = match piece {
                TextPiece::Secret(text) => {
                    masked.push_secret(text);
                    continue;
                }
                TextPiece::Plain(text) => text,
            };
            for (index, word) in text.split(' ').enumerate() {
                if index > 0 {
                    masked.push(" ");
                }
                if word == secret {
                    masked.push_secret(word);
                } else {
                    masked.push(word);
                }
            }
        }
        masked
    }

    /// Masks `secret` wherever the plain text has it.
    #[must_use]
    pub(crate) fn mask_part(self, secret: &str) -> Self {
        let mut masked = Self::new();
        for piece in self.0 {
            match piece {
                TextPiece::Plain(text) if !secret.is_empty() => {
                    for (index, part) in text.split(secret).enumerate() {
                        if index > 0 {
                            masked.push_secret(secret);
                        }
                        masked.push(part);
                    }
                }
                TextPiece::Plain(text) => masked.push(text),
                TextPiece::Secret(text) => masked.push_secret(text),
            }
        }
        masked
    }

    /// Masks the parts that `find` returns for the revealed text, in order.
    #[must_use]
    pub(crate) fn mask_parts(self, find: impl Fn(&str) -> Vec<Range<usize>>) -> Self {
        let parts = find(&self.reveal());
        let (mut masked, mut start) = (Self::new(), 0);
        for piece in self.0 {
            let (TextPiece::Plain(text) | TextPiece::Secret(text)) = &piece;
            let end = start + text.len();
            if let TextPiece::Secret(text) = piece {
                masked.push_secret(text);
            } else {
                let mut at = start;
                let overlapping = parts
                    .iter()
                    .filter(|part| part.start < end && start < part.end);
                for part in overlapping {
                    let secret = part.start.max(at)..part.end.min(end);
                    masked.push(&text[at - start..secret.start - start]);
                    masked.push_secret(&text[secret.start - start..secret.end - start]);
                    at = secret.end;
                }
                masked.push(&text[at - start..]);
            }
            start = end;
        }
        masked
    }

    /// The pieces, in order.
    pub(crate) fn pieces(&self) -> &[TextPiece] {
        &self.0
    }

    /// Whether there is no text.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with its secrets in clear, for sending only.
    pub fn reveal(&self) -> String {
        self.texts().collect()
    }

    /// The characters of the revealed text.
    pub(crate) fn chars(&self) -> impl Iterator<Item = char> {
        self.texts().flat_map(str::chars)
    }

    /// Length of the revealed text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.texts().map(str::len).sum()
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|piece| match piece {
            TextPiece::Plain(text) | TextPiece::Secret(text) => text.as_str(),
        })
    }

    /// The texts that are no secrets.
    pub(crate) fn plain_texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TextPiece::Plain(text) => Some(text.as_str()),
            TextPiece::Secret(_) => None,
        })
    }

    /// The secrets in clear, to mask them in the device's output.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TextPiece::Secret(text) => Some(text.as_str()),
            TextPiece::Plain(_) => None,
        })
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::plain(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::plain(text)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            f.write_str(match piece {
                TextPiece::Plain(text) => text,
                TextPiece::Secret(_) => MASK,
            })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mask_word_masks_a_secret_in_plain_text() {
        let text = Text::plain("no snmp-server community public RO").mask_word("public");
        assert_eq!(text.to_string(), "no snmp-server community •••• RO");
        assert_eq!(text.reveal(), "no snmp-server community public RO");
    }

    #[test]
    fn mask_part_masks_a_secret_in_quotation_marks() {
        let text = Text::plain("set user a key 'two words'").mask_part("two words");
        assert_eq!(text.to_string(), "set user a key '••••'");
        assert_eq!(text.reveal(), "set user a key 'two words'");
    }

    #[test]
    fn mask_parts_finds_in_the_complete_text() {
        let mut text = Text::plain("a b ");
        text.push_secret("c");
        text.push(" d e");
        let parts = |text: &str| {
            assert_eq!(text, "a b c d e");
            vec![2..3, 4..7]
        };
        let masked = text.mask_parts(parts);
        assert_eq!(masked.to_string(), "a •••• •••••••• e");
        assert_eq!(masked.reveal(), "a b c d e");
    }

    #[test]
    fn secret_is_masked_in_output_and_revealed_for_sending() {
        let mut text = Text::plain("snmp-server community ");
        text.push_secret("s3cret");
        text.push(" RO");
        assert_eq!(text.to_string(), "snmp-server community •••• RO");
        assert_eq!(format!("{text:?}"), "\"snmp-server community •••• RO\"");
        assert_eq!(text.reveal(), "snmp-server community s3cret RO");
    }
}

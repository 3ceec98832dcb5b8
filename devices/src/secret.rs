//! Text of which some parts are secret, redacted by construction.
//!
//! A command or a request body is a [`Text`]: a list of pieces, plain or secret. `Display` and
//! `Debug` mask the secret ones; only [`Text::reveal`] gives the words that go to the device, and
//! only the session calls it.

use std::fmt;

/// What stands in every log, plan, report and error where a secret was.
pub const MASK: &str = "••••";

/// A piece of a [`Text`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum TextPiece {
    Plain(String),
    Secret(String),
}

/// Text with secret pieces.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Text(Vec<TextPiece>);

impl Text {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn plain(text: impl Into<String> + AsRef<str>) -> Self {
        let mut new = Self::new();
        new.push(text);
        new
    }

    pub fn secret(text: impl Into<String>) -> Self {
        let mut new = Self::new();
        new.push_secret(text);
        new
    }

    pub fn push(&mut self, text: impl Into<String> + AsRef<str>) {
        if let Some(TextPiece::Plain(last)) = self.0.last_mut() {
            last.push_str(text.as_ref());
        } else if !text.as_ref().is_empty() {
            self.0.push(TextPiece::Plain(text.into()));
        }
    }

    pub fn push_secret(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.0.push(TextPiece::Secret(text));
        }
    }

    pub fn append(&mut self, other: Text) {
        for piece in other.0 {
            match piece {
                TextPiece::Plain(text) => self.push(text),
                TextPiece::Secret(text) => self.push_secret(text),
            }
        }
    }

    /// The text with every occurrence of a secret, where it stands as a word, made a secret piece.
    #[must_use]
    pub fn mask_word(self, secret: &str) -> Self {
        let mut hidden = Self::new();
        for piece in self.0 {
            let text = match piece {
                TextPiece::Secret(text) => {
                    hidden.push_secret(text);
                    continue;
                }
                TextPiece::Plain(text) => text,
            };
            for (index, word) in text.split(' ').enumerate() {
                if index > 0 {
                    hidden.push(" ");
                }
                if word == secret {
                    hidden.push_secret(word);
                } else {
                    hidden.push(word);
                }
            }
        }
        hidden
    }

    pub fn pieces(&self) -> &[TextPiece] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn has_secret(&self) -> bool {
        self.0
            .iter()
            .any(|piece| matches!(piece, TextPiece::Secret(_)))
    }

    /// The text with its secrets, as the device gets it. Never for people.
    pub fn reveal(&self) -> String {
        self.texts().collect()
    }

    /// The characters that the device gets, one by one.
    pub fn chars(&self) -> impl Iterator<Item = char> {
        self.texts().flat_map(str::chars)
    }

    /// How many bytes the device gets.
    pub fn len(&self) -> usize {
        self.texts().map(str::len).sum()
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|piece| match piece {
            TextPiece::Plain(text) | TextPiece::Secret(text) => text.as_str(),
        })
    }

    /// The secrets themselves, for whoever must mask them where the device prints them back.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
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
    fn a_secret_in_a_line_of_the_device_can_be_hidden() {
        let text = Text::plain("no snmp-server community public RO").mask_word("public");
        assert_eq!(text.to_string(), "no snmp-server community •••• RO");
        assert_eq!(text.reveal(), "no snmp-server community public RO");
    }

    #[test]
    fn a_secret_is_shown_nowhere_and_sent_as_it_is() {
        let mut text = Text::plain("snmp-server community ");
        text.push_secret("s3cret");
        text.push(" RO");
        assert_eq!(text.to_string(), "snmp-server community •••• RO");
        assert_eq!(format!("{text:?}"), "\"snmp-server community •••• RO\"");
        assert_eq!(text.reveal(), "snmp-server community s3cret RO");
    }
}

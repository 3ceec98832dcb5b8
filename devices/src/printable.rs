//! Escapes text from devices, servers and catalogs for one line of a terminal, a log or a transcript.
//!
//! This is the only function of its kind. Escape sequences of terminals begin with a control
//! character, so none of them remains in escaped text.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// Whether a terminal prints a character without another effect: it is no control character (C0, DEL,
/// C1), does not change the direction of text, and does not end a line. U+FFFE and U+FFFF are no
/// characters, and XML cannot have them.
pub fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{206f}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fffe}'..='\u{ffff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// The text in one line, with `\n`, `\r`, `\t` and `\u{…}` for characters that are not printable.
pub fn escape(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    let _ = EscapingWriter(&mut escaped).write_str(text);
    Cow::Owned(escaped)
}

/// Appends everything that is written to it in its escaped form.
#[derive(Debug)]
pub struct EscapingWriter<'a>(pub &'a mut String);

impl fmt::Write for EscapingWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(|character| !is_printable(character)) {
            let (printable, other) = rest.split_at(at);
            self.0.push_str(printable);
            let mut characters = other.chars();
            if let Some(character) = characters.next() {
                // A character that is not printable is never a quote or a backslash.
                self.0.extend(character.escape_default());
            }
            rest = characters.as_str();
        }
        self.0.push_str(rest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escape_covers_every_kind_of_terminal_control() {
        for (text, expected) in [
            ("Zürich \\ \"x\" 名 🙂", "Zürich \\ \"x\" 名 🙂"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{1b}[2J\u{9b}2J\u{7f}", "\\u{1b}[2J\\u{9b}2J\\u{7f}"),
            ("\u{202e}\u{2066}\u{61c}", "\\u{202e}\\u{2066}\\u{61c}"),
            ("\u{85}\u{2028}\u{2029}", "\\u{85}\\u{2028}\\u{2029}"),
        ] {
            assert_eq!(escape(text), expected);
        }
    }

    proptest! {
        #[test]
        fn escaped_text_is_printable(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            // As sessions read bytes, and each byte as a character (C1).
            let latin: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            for text in [String::from_utf8_lossy(&bytes).into_owned(), latin] {
                prop_assert!(escape(&text).chars().all(is_printable));
            }
        }

        #[test]
        fn escape_is_the_identity_for_printable_text(text in "\\PC*") {
            let text: String = text.chars().filter(|character| is_printable(*character)).collect();
            prop_assert_eq!(escape(&text), text.as_str());
        }

        #[test]
        fn escaped_text_has_no_character_of_any_plane(character in any::<char>()) {
            let text = character.to_string();
            prop_assert!(escape(&text).chars().all(is_printable));
        }
    }
}

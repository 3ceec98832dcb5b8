//! Words with blanks between quotation marks: `description "Uplink to spine 1"`.

use crate::document::{Item, KeyValue, keys};

/// Characters besides letters and digits that need no quotation marks on any device.
const PLAIN: &str = "-_.:/@+,";

/// The quotation marks of a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quoting {
    mark: char,
    /// Stands before marks and itself within quotation marks. Without it no text has a mark.
    escape: Option<char>,
    /// Further characters that need the escape.
    escaped: String,
    /// The device prints marks around each text.
    always: bool,
}

keys! {
    /// Quotation marks of the command line.
    pub(in crate::driver) struct QuoteKeys {
        /// The quotation mark.
        mark: char,
        /// The character before marks and itself.
        escape: Option<char>,
        /// Further characters that need the escape.
        escaped: String = String::new(),
        /// The device prints marks around each text.
        always: bool,
    }
}

impl Quoting {
    /// Reads the platform's section `[quote]`.
    pub(crate) fn load(item: &Item<'_>) -> Option<Self> {
        let keys = QuoteKeys::read(item)?;
        if keys.escape.is_none() && !keys.escaped.is_empty() {
            item.error("quote", "`escaped` requires `escape`");
        }
        Some(Self {
            mark: keys.mark,
            escape: keys.escape,
            escaped: keys.escaped,
            always: keys.always,
        })
    }

    /// The word for a text, between marks if it needs them; `None` if no word has the text.
    pub(crate) fn write(&self, text: &str) -> Option<String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
        if !self.always && !text.is_empty() && text.chars().all(is_plain) && !self.has_special(text)
        {
            return Some(text.to_owned());
        }
        let inner = self.escape(text)?;
        Some(format!("{0}{inner}{0}", self.mark))
    }

    /// A text as it stands between marks.
    pub(crate) fn escape(&self, text: &str) -> Option<String> {
        let mut inner = String::new();
        for c in text.chars() {
            if self.is_special(c) {
                inner.push(self.escape?);
            }
            inner.push(c);
        }
        Some(inner)
    }

    /// The text of a word with or without marks; `None` if the marks are not those of a word.
    pub(crate) fn read(&self, word: &str) -> Option<String> {
        if !word.starts_with(self.mark) {
            return (!word.contains(self.mark)).then(|| word.to_owned());
        }
        let end = self.quoted_length(word)?;
        let inner = &word[self.mark.len_utf8()..end - self.mark.len_utf8()];
        let mut text = String::new();
        let mut characters = inner.chars();
        while let Some(c) = characters.next() {
            let is_escape = Some(c) == self.escape;
            text.push(if is_escape {
                characters.next().filter(|next| self.is_special(*next))?
            } else {
                c
            });
        }
        (end == word.len()).then_some(text)
    }

    /// Whether a text outside of marks would begin or end a quotation, or escape a character.
    pub(crate) fn has_special(&self, text: &str) -> bool {
        text.chars().any(|c| self.is_special(c))
    }

    /// The length of the quotation at the beginning of a text, with its marks.
    pub(crate) fn quoted_length(&self, text: &str) -> Option<usize> {
        let mut characters = text.char_indices();
        characters.next().filter(|(_, first)| *first == self.mark)?;
        while let Some((at, c)) = characters.next() {
            if Some(c) == self.escape {
                characters.next();
            } else if c == self.mark {
                return Some(at + c.len_utf8());
            }
        }
        None
    }

    /// The words of a line with their positions; blanks between marks do not separate words.
    pub(crate) fn words<'t>(&self, line: &'t str) -> Vec<(&'t str, usize)> {
        let mut words = Vec::new();
        let mut start = None;
        let mut at = 0;
        while let Some(c) = line[at..].chars().next() {
            if c.is_whitespace() {
                words.extend(start.take().map(|start| (&line[start..at], start)));
                at += c.len_utf8();
                continue;
            }
            start.get_or_insert(at);
            at += self.quoted_length(&line[at..]).unwrap_or(c.len_utf8());
        }
        words.extend(start.map(|start| (&line[start..], start)));
        words
    }

    fn is_special(&self, c: char) -> bool {
        c == self.mark || Some(c) == self.escape || self.escaped.contains(c)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Quoting;

    fn double() -> Quoting {
        Quoting {
            mark: '"',
            escape: Some('\\'),
            escaped: "$".to_owned(),
            always: false,
        }
    }

    fn single() -> Quoting {
        Quoting {
            mark: '\'',
            escape: None,
            escaped: String::new(),
            always: false,
        }
    }

    fn always() -> Quoting {
        Quoting {
            always: true,
            ..double()
        }
    }

    #[test]
    fn text_is_quoted_where_needed_and_read_back() {
        let cases = [
            (double(), "spine-1", Some("spine-1")),
            (double(), "Uplink to spine 1", Some("\"Uplink to spine 1\"")),
            (double(), "a \"b\" c", Some("\"a \\\"b\\\" c\"")),
            (double(), "a\\", Some("\"a\\\\\"")),
            (double(), "$(reboot)", Some("\"\\$(reboot)\"")),
            (double(), "a;b", Some("\"a;b\"")),
            (always(), "spine-1", Some("\"spine-1\"")),
            (always(), "", Some("\"\"")),
            (single(), "a b;c", Some("'a b;c'")),
            (single(), "a\\b", Some("'a\\b'")),
            (single(), "it's", None),
        ];
        for (quoting, text, word) in cases {
            assert_eq!(quoting.write(text).as_deref(), word, "{text}");
            if let Some(word) = word {
                assert_eq!(quoting.read(word).as_deref(), Some(text));
                let line = format!("x {word} y");
                let words: Vec<&str> = quoting.words(&line).into_iter().map(|(w, _)| w).collect();
                assert_eq!(words, ["x", word, "y"]);
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_leaves_its_word(text in "[ -~äé]{0,20}", rest in "[ -~]{0,10}") {
            for quoting in [double(), single(), always()] {
                let Some(word) = quoting.write(&text) else {
                    continue;
                };
                prop_assert_eq!(quoting.read(&word), Some(text.clone()));
                let line = format!("x {word} {rest}");
                let words = quoting.words(&line);
                prop_assert_eq!(words[1], (word.as_str(), 2));
            }
        }
    }

    /// A shell reads each word as the text, where its rules are those of the platform.
    #[test]
    fn words_are_read_by_a_shell_as_their_texts() {
        let pieces = [
            "a", " ", "'", "\"", "\\", "$", "`", ";", "(x)", "*", "é", "&",
        ];
        let texts: Vec<String> = pieces
            .iter()
            .flat_map(|a| {
                pieces
                    .iter()
                    .flat_map(move |b| pieces.map(|c| [a, b, c].concat()))
            })
            .collect();
        let shell = Quoting {
            escaped: "$`".to_owned(),
            ..double()
        };
        for quoting in [shell, single()] {
            let pairs = texts
                .iter()
                .filter_map(|text| Some((text, quoting.write(text)?)));
            let (texts, words): (Vec<&String>, Vec<String>) = pairs.unzip();
            let script = format!("printf '%s\\n' {}", words.join(" "));
            let output = std::process::Command::new("sh")
                .args(["-c", &script])
                .output();
            let output = String::from_utf8(output.unwrap().stdout).unwrap();
            assert!(output.lines().eq(texts), "{output}");
        }
    }

    #[test]
    fn incomplete_quotations_are_no_text() {
        for word in ["\"a", "\"a\"b", "a\"b\"", "\"a\\n\"", "\"", "\"a\\\""] {
            assert_eq!(double().read(word), None, "{word}");
        }
    }
}

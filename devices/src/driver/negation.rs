//! How a command line spells the removal of a line.

use std::borrow::Cow;

use crate::document::{Item, KeyValue, ValueShape};
use crate::secret::Text;

/// The first word of the lines that remove: `no`, `undo`, `delete`, `unset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Negation {
    word: String,
    /// The first word of other lines, which `word` replaces: `delete` replaces `set`.
    replaced: Option<String>,
}

impl Default for Negation {
    fn default() -> Self {
        Self {
            word: "no".to_owned(),
            replaced: None,
        }
    }
}

/// One word.
#[derive(Clone, Debug)]
pub(in crate::driver) struct OneWord(pub(super) String);

impl KeyValue for OneWord {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let word = item.string()?;
        if word.is_empty() || word.contains(char::is_whitespace) {
            item.error("negate", format!("`{}` must be one word", item.path));
            return None;
        }
        Some(Self(word))
    }
}

impl Negation {
    /// The words of a platform; without one, `no`.
    pub(super) fn new(word: Option<OneWord>, replaced: Option<OneWord>) -> Self {
        Self {
            word: word.map_or_else(|| Self::default().word, |word| word.0),
            replaced: replaced.map(|word| word.0),
        }
    }

    /// The complete line for words behind a common beginning: `no neighbor {name} description` for
    /// `no description`.
    pub(crate) fn behind(&self, prefix: &str, line: &str) -> String {
        match line.split_once(' ') {
            Some((first, rest)) if first.eq_ignore_ascii_case(&self.word) => {
                let line = Text::plain(format!("{prefix} {rest}"));
                self.negative(line).reveal()
            }
            _ => format!("{prefix} {line}"),
        }
    }

    /// The keywords at the beginning of a line, at most two, without its number and the first word of all lines.
    pub(crate) fn keywords(&self, line: &str) -> String {
        /// Further words are names more often than keywords.
        const MOST: usize = 2;
        let is_first = |word: &&str| {
            let replaced = self.replaced.iter().any(|own| own == word);
            let is_number = word.chars().all(|digit| digit.is_ascii_digit());
            *word == self.word || replaced || is_number
        };
        let is_keyword = |word: &&str| {
            let mut letters = word.chars();
            letters.all(|letter| letter.is_ascii_lowercase() || matches!(letter, '-' | '_'))
        };
        let words = line.split_whitespace().skip_while(is_first);
        let keywords = words.clone().take(MOST).take_while(is_keyword);
        match keywords.collect::<Vec<_>>().join(" ") {
            none if none.is_empty() => words.take(1).collect(),
            keywords => keywords,
        }
    }

    /// Whether a line removes a line that removes.
    pub(crate) fn is_doubled(&self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        let mut is_word = || {
            words
                .next()
                .is_some_and(|word| word.eq_ignore_ascii_case(&self.word))
        };
        is_word() && is_word()
    }

    pub(crate) fn word(&self) -> &str {
        &self.word
    }

    pub(crate) fn replaced(&self) -> Option<&str> {
        self.replaced.as_deref()
    }

    /// The line that removes a line: `no mtu 9000`, `delete interfaces eth0` for
    /// `set interfaces eth0`.
    pub(crate) fn negative(&self, line: Text) -> Text {
        let mut negative = Text::plain(format!("{} ", self.word));
        negative.append(match &self.replaced {
            Some(replaced) => line.without_first_word(replaced),
            None => line,
        });
        negative
    }

    /// The line that a line removes; `None` if the line removes nothing.
    pub(crate) fn positive<'t>(&self, line: &'t str) -> Option<Cow<'t, str>> {
        let (first, rest) = line.split_once(' ')?;
        if !first.eq_ignore_ascii_case(&self.word) {
            return None;
        }
        let rest = rest.trim_start();
        Some(match &self.replaced {
            Some(replaced) => Cow::Owned(format!("{replaced} {rest}")),
            None => Cow::Borrowed(rest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Negation;
    use crate::secret::Text;

    fn negation(word: &str, replaced: Option<&str>) -> Negation {
        Negation {
            word: word.to_owned(),
            replaced: replaced.map(str::to_owned),
        }
    }

    #[test]
    fn negative_line_gives_the_line_back() {
        let cases = [
            (negation("no", None), "mtu 9000", "no mtu 9000"),
            (negation("undo", None), "mtu 9000", "undo mtu 9000"),
            (
                negation("delete", Some("set")),
                "set interfaces eth0",
                "delete interfaces eth0",
            ),
        ];
        for (negation, line, negative) in cases {
            assert_eq!(negation.negative(Text::plain(line)).reveal(), negative);
            assert_eq!(negation.positive(negative).as_deref(), Some(line));
            assert_eq!(negation.positive(line), None);
        }
    }

    #[test]
    fn keywords_have_no_names() {
        let no = negation("no", None);
        let delete = negation("delete", Some("set"));
        for (negation, line, keywords) in [
            (&no, "no ip http server", "ip http"),
            (&no, "interface GigabitEthernet1/0/1", "interface"),
            (&no, "10 permit ip any any", "permit ip"),
            (&no, "Warning: none", "Warning:"),
            (&delete, "set protocols bgp group A", "protocols bgp"),
        ] {
            assert_eq!(negation.keywords(line), keywords);
        }
    }

    #[test]
    fn words_behind_a_common_beginning_are_a_line() {
        let no = negation("no", None);
        assert_eq!(no.behind("neighbor a", "mtu 1"), "neighbor a mtu 1");
        assert_eq!(no.behind("neighbor a", "no mtu"), "no neighbor a mtu");
        let delete = negation("delete", Some("set"));
        assert_eq!(
            delete.behind("set port a", "delete mtu"),
            "delete port a mtu"
        );
    }

    #[test]
    fn negative_line_masks_secrets() {
        let line = Text::plain("set password hidden").mask_word("hidden");
        let negative = negation("delete", Some("set")).negative(line);
        assert_eq!(negative.to_string(), "delete password ••••");
    }
}

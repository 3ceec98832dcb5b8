//! The secrets of one device, masked in every text about it.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aho_corasick::AhoCorasick;

use crate::secret::{MASK, Text, TextPiece};
use crate::value::Value;

/// Shorter texts are masked only at their attribute: they occur in other words.
const SHORTEST: usize = 4;

/// Shorter secrets of ASCII letters and digits are masked only as words: `enable` is a part of `enabled`.
const SHORTEST_PART: usize = 8;

/// The secrets of one device. Clones share them: the session, the events and the report of a run use
/// the same.
#[derive(Clone, Default)]
pub struct SecretMask(Arc<Mutex<Secrets>>);

#[derive(Default)]
struct Secrets {
    texts: BTreeSet<String>,
    /// `None` after a secret was added.
    matcher: Option<AhoCorasick>,
    /// More secrets follow.
    is_incomplete: bool,
}

impl SecretMask {
    /// Adds the lines of a secret, as they are and as in JSON. Lines under four characters and the
    /// words `true` and `false` are not added.
    pub fn add(&self, secret: &str) {
        let lines = secret.lines().map(str::trim);
        for line in lines.filter(|line| is_maskable(line)) {
            let mut secrets = self.lock();
            if secrets.texts.contains(line) {
                continue;
            }
            let json = serde_json::Value::from(line).to_string();
            let json = json[1..json.len() - 1].to_owned();
            secrets.texts.extend([line.to_owned(), json]);
            secrets.matcher = None;
        }
    }

    /// Announces more secrets: transcripts hold their text back until [`complete`](Self::complete).
    pub fn expect_more(&self) {
        self.lock().is_incomplete = true;
    }

    /// Declares that no secrets are missing.
    pub fn complete(&self) {
        self.lock().is_incomplete = false;
    }

    /// Whether no secrets are missing.
    pub(crate) fn is_complete(&self) -> bool {
        !self.lock().is_incomplete
    }

    /// Adds the texts of a value. Numbers and booleans are not added.
    pub fn add_value(&self, value: &Value) {
        match value {
            Value::String(text) | Value::Symbol(text) => self.add(text),
            Value::Typed(typed) => self.add(&typed.text),
            Value::Sensitive(inner) => self.add_value(inner),
            Value::List(items) => items.iter().for_each(|item| self.add_value(item)),
            Value::Hash(entries) => entries.iter().for_each(|(_, value)| self.add_value(value)),
            _ => {}
        }
    }

    /// Adds the sensitive values within a value.
    pub fn add_sensitive(&self, value: &Value) {
        match value {
            Value::Sensitive(inner) => self.add_value(inner),
            Value::List(items) => items.iter().for_each(|item| self.add_sensitive(item)),
            Value::Hash(entries) => entries
                .iter()
                .for_each(|(_, value)| self.add_sensitive(value)),
            _ => {}
        }
    }

    /// Whether a text contains a secret.
    pub fn finds(&self, text: &str) -> bool {
        !self.ranges(text).is_empty()
    }

    /// The byte ranges of the secrets in a text. They do not overlap.
    pub(crate) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        self.matches(text, |range| {
            !is_word_only(&text[range.clone()]) || !is_within_word(text, range, is_part_of_word)
        })
    }

    /// The secrets in a text that a check accepts. Overlapping ones are one range.
    fn matches(&self, text: &str, is_masked: impl Fn(&Range<usize>) -> bool) -> Vec<Range<usize>> {
        let matcher = self.matcher();
        let all = matcher
            .iter()
            .flat_map(|matcher| matcher.find_overlapping_iter(text));
        let mut all: Vec<Range<usize>> = all.map(|found| found.range()).filter(is_masked).collect();
        all.sort_by_key(|range| range.start);
        all.dedup_by(|next, range| {
            let overlaps = next.start < range.end;
            range.end = if overlaps {
                range.end.max(next.end)
            } else {
                range.end
            };
            overlaps
        });
        all
    }

    /// The text with its secrets masked.
    pub fn apply(&self, text: &str) -> String {
        masked(text, self.ranges(text))
    }

    /// As [`apply`](Self::apply), but the first occurrence of a name remains: an attribute can have the name that
    /// is also a password.
    pub fn apply_except(&self, text: &str, name: &str) -> String {
        let mut ranges = self.ranges(text);
        if let Some(start) = text.find(name).filter(|_| !name.is_empty()) {
            let end = start + name.len();
            ranges.retain(|found| found.start < start || end < found.end);
        }
        masked(text, ranges)
    }

    /// As [`apply`](Self::apply), except for secrets of any length within longer words. For stored texts that other
    /// programs read.
    pub(crate) fn apply_to_words(&self, text: &str) -> String {
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        masked(
            text,
            self.matches(text, |range| !is_within_word(text, range, is_part)),
        )
    }

    /// The value with the secrets in its texts masked.
    #[must_use]
    pub fn apply_to_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.apply(text)),
            Value::Symbol(text) => Value::Symbol(self.apply(text)),
            Value::List(items) => {
                Value::List(items.iter().map(|item| self.apply_to_value(item)).collect())
            }
            Value::Hash(entries) => Value::Hash(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), self.apply_to_value(value)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }

    /// The text of a command or body with its secrets marked as secret.
    #[must_use]
    pub fn apply_to_text(&self, text: &Text) -> Text {
        let mut masked = Text::new();
        for piece in text.pieces() {
            let text = match piece {
                TextPiece::Secret(text) => {
                    masked.push_secret(text);
                    continue;
                }
                TextPiece::Plain(text) => text.as_str(),
            };
            let mut at = 0;
            for range in self.ranges(text) {
                masked.push(&text[at..range.start]);
                masked.push_secret(&text[range.clone()]);
                at = range.end;
            }
            masked.push(&text[at..]);
        }
        masked
    }

    /// Finds all secrets; `None` without secrets.
    fn matcher(&self) -> Option<AhoCorasick> {
        let mut secrets = self.lock();
        if secrets.matcher.is_none() && !secrets.texts.is_empty() {
            let built = AhoCorasick::new(&secrets.texts);
            secrets.matcher = Some(built.expect("secrets are shorter than 4 GiB"));
        }
        secrets.matcher.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Secrets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text with a mask in place of these ranges.
fn masked(text: &str, ranges: Vec<Range<usize>>) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        masked.push_str(&text[at..range.start]);
        masked.push_str(MASK);
        at = range.end;
    }
    masked + &text[at..]
}

/// Whether a secret is masked only as a word.
fn is_word_only(secret: &str) -> bool {
    secret.len() < SHORTEST_PART && secret.chars().all(|c| c.is_ascii_alphanumeric())
}

fn is_part_of_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-')
}

/// Whether a range continues a word of the text, or a word continues it.
fn is_within_word(text: &str, range: &Range<usize>, is_part: impl Fn(char) -> bool) -> bool {
    let (secret, before) = (&text[range.clone()], &text[..range.start]);
    let has_part = |character: Option<char>| character.is_some_and(&is_part);
    let continues = has_part(before.chars().next_back()) && !ends_with_escape(before);
    let is_continued = has_part(text[range.end..].chars().next());
    (continues && has_part(secret.chars().next()))
        || (is_continued && has_part(secret.chars().next_back()))
}

/// Whether a text ends with an escape, which is no part of a word: `\n` or `\u001b` of JSON, or a color of a terminal.
fn ends_with_escape(text: &str) -> bool {
    let is_json = |digits: usize| {
        let start = text.len().checked_sub(digits + 1);
        let last = start.and_then(|start| text.get(start..));
        last.is_some_and(|last| last.starts_with(['n', 'r', 't', 'b', 'f', 'u']))
            && start.is_some_and(|start| text[..start].ends_with('\\'))
    };
    let is_color = || {
        let parameters = text.strip_suffix(|last: char| last.is_ascii_alphabetic());
        parameters.is_some_and(|text| {
            let is_parameter = |c: char| c.is_ascii_digit() || matches!(c, ';' | '?');
            text.trim_end_matches(is_parameter).ends_with("\u{1b}[")
        })
    };
    is_json(0) || is_json(4) || is_color()
}

/// Whether a value contains the mask of a secret.
pub fn contains_mask(value: &Value) -> bool {
    match value {
        Value::String(text) | Value::Symbol(text) => text.contains(MASK),
        Value::List(items) => items.iter().any(contains_mask),
        Value::Hash(entries) => entries.iter().any(|(_, value)| contains_mask(value)),
        Value::Sensitive(inner) => contains_mask(inner),
        _ => false,
    }
}

/// Whether a text is masked wherever it occurs.
pub(crate) fn is_maskable(text: &str) -> bool {
    text.chars().count() >= SHORTEST && !matches!(text, "true" | "false")
}

impl fmt::Debug for SecretMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretMask({MASK})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mask_is_shared_by_clones() {
        let mask = SecretMask::default();
        let other = mask.clone();
        assert_eq!(other.apply("s3cret"), "s3cret");
        mask.add("s3cret");
        assert_eq!(other.apply("a s3cret b"), "a •••• b");
        assert!(!format!("{mask:?}").contains("s3cret"));
    }

    #[test]
    fn mask_of_a_text_keeps_what_is_sent() {
        let mask = SecretMask::default();
        mask.add("s3cret");
        let text = mask.apply_to_text(&Text::plain("description a s3cret text"));
        assert_eq!(text.to_string(), "description a •••• text");
        assert_eq!(text.reveal(), "description a s3cret text");
    }

    #[test]
    fn mask_covers_the_longest_secret() {
        let mask = SecretMask::default();
        mask.add("s3cret");
        mask.add("s3cret-longer");
        mask.add("longer-and-more");
        assert_eq!(
            mask.apply("s3cret-longer, s3cret and s3cret-longer-and-more"),
            "••••, •••• and ••••"
        );
    }

    /// A part of a longer word reveals the secret: `••••d` for `enabled`.
    #[test]
    fn mask_covers_short_secrets_only_as_words() {
        let mask = SecretMask::default();
        for secret in ["enable", "p@ss", "s3cretword"] {
            mask.add(secret);
        }
        for (text, expected) in [
            ("session=\"monitor-enabled\"", "session=\"monitor-enabled\""),
            ("reenable enable2 enableé", "reenable enable2 enableé"),
            ("enable", "••••"),
            ("key_enable:enable,'enable'", "key_enable:••••,'••••'"),
            ("enable_password re-enable", "enable_password re-enable"),
            (r#""a\nenable\u001benable""#, r#""a\n••••\u001b••••""#),
            ("\u{1b}[1;31menable\u{1b}[0m", "\u{1b}[1;31m••••\u{1b}[0m"),
            ("xp@ssx xs3cretwordx", "x••••x x••••x"),
        ] {
            assert_eq!(mask.apply(text), expected);
            assert_eq!(mask.finds(text), text != expected);
        }
        // A secret within a word does not hide another one that begins there.
        mask.add("abled-s3cret");
        assert_eq!(mask.apply("enabled-s3cret"), "en••••");
    }

    #[test]
    fn mask_omits_short_texts_numbers_and_booleans() {
        let mask = SecretMask::default();
        for value in [
            Value::Integer(12345),
            Value::Bool(true),
            "abc".into(),
            "true".into(),
            "}\nwhen HTTP_REQUEST {\n}".into(),
        ] {
            mask.add_sensitive(&Value::Sensitive(Box::new(value)));
        }
        mask.add_sensitive(&"plain".into());
        assert_eq!(
            mask.apply("12345 true abc } plain when HTTP_REQUEST {"),
            "12345 true abc } plain ••••"
        );
    }

    #[test]
    fn mask_of_words_keeps_longer_words() {
        let mask = SecretMask::default();
        mask.add("enable");
        mask.add("p@ss!");
        for (text, expected) in [
            ("state enabled, disenable", "state enabled, disenable"),
            ("enable secret 9 x", "•••• secret 9 x"),
            ("key=enable;re_enable", "key=••••;re_enable"),
            (r#""a\nenable\t\u001benable""#, r#""a\n••••\t\u001b••••""#),
            ("ap@ss!b", "ap@ss!b"),
            ("'p@ss!'", "'••••'"),
            ("p@ss!b", "••••b"),
        ] {
            assert_eq!(mask.apply_to_words(text), expected);
        }
    }

    #[test]
    fn mask_except_a_name_covers_the_rest() {
        let mask = SecretMask::default();
        mask.add("enable");
        mask.add("enable secret");
        for (text, name, expected) in [
            (
                "enable changed 'enable' to true",
                "enable",
                "enable changed '••••' to true",
            ),
            (
                "enable_secret changed enable secret",
                "enable_secret",
                "enable_secret changed ••••",
            ),
            ("defined 'mtu' as enable", "mtu", "defined 'mtu' as ••••"),
            ("enable secret was refused", "enable", "•••• was refused"),
            ("enable", "", "••••"),
        ] {
            assert_eq!(mask.apply_except(text, name), expected);
        }
    }

    #[test]
    fn mask_covers_secrets_in_json() {
        let mask = SecretMask::default();
        mask.add("a\"s3cret\"");
        assert_eq!(mask.apply(r#"{"x": "a\"s3cret\""}"#), r#"{"x": "••••"}"#);
    }
}

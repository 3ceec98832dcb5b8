//! Secrets in a line of commands: `key 7 SECRET`, `neighbor 192.0.2.1 password SECRET`.
//!
//! A word names a secret. Words and numbers behind it can be the form of the secret (`7`, `md5`, `ascii`), or show
//! that there is none (`key chain`, `password encryption`). The secret is the next word; more words belong to it
//! up to one that continues the command.

use std::net::IpAddr;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::blocks::Blocks;
use super::names::{WordKind, is_digest, is_number, is_small_number, kind};
use super::vocabulary::{
    CONTINUATIONS, FORMS, FORMS_WITH_VALUE, FREE_TEXT, METHODS, NO_KEYS, NO_SECRETS, NUMBERED,
    SIZES, Words,
};

/// The prompt of a command line, before a command of a transcript.
static PROMPT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\w.@/:+-]+(?:\([^)\s]*\)[#>]|#) ?").expect("is a pattern"));

/// The words before and behind one that can decide about it, so that the time is linear.
const WINDOW: usize = 64;

/// A word and its position. Quotation marks do not belong to it.
struct Word<'a> {
    text: &'a str,
    start: usize,
    is_quoted: bool,
}

impl Word<'_> {
    fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    fn is(&self, words: &[&str]) -> bool {
        !self.is_quoted
            && words
                .iter()
                .any(|word| self.text.eq_ignore_ascii_case(word))
    }

    fn is_in(&self, words: &Words) -> bool {
        !self.is_quoted && words.contains(self.text.to_ascii_lowercase().as_str())
    }
}

/// Whether a word is a method, an algorithm or the form of a secret.
pub(super) fn is_keyword(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    [&METHODS, &FORMS]
        .iter()
        .any(|words| words.contains(word.as_str()))
        || is_digest(&word)
        || kind(&word).is_some()
}

/// The prompt before a command of a transcript; empty without one.
pub(super) fn prompt_of(line: &str) -> &str {
    PROMPT.find(line).map_or("", |prompt| prompt.as_str())
}

/// Adds the secrets of a line without indentation.
pub(super) fn command_secrets(line: &str, blocks: &Blocks<'_>, found: &mut Vec<Range<usize>>) {
    let prompt = prompt_of(line);
    let command = &line[prompt.len()..];
    match prompt {
        "" => add_secrets(command, 0, blocks, found),
        prompt => {
            let mut below = Blocks::default();
            below.enter(0, prompt);
            add_secrets(command, prompt.len(), &below, found);
        }
    }
}

/// Adds the secrets of a command at an offset of the line.
fn add_secrets(line: &str, offset: usize, blocks: &Blocks<'_>, found: &mut Vec<Range<usize>>) {
    // Messages of the device.
    if line.starts_with('%') {
        return;
    }
    let moved = |part: Range<usize>| part.start + offset..part.end + offset;
    let words = words(line);
    let is_command = |word: &&Word<'_>| {
        word.is_quoted && word.text.contains(' ') && !word.text.starts_with("ssh-")
    };
    for word in words.iter().filter(is_command) {
        add_secrets(word.text, offset + word.start, &Blocks::default(), found);
    }
    for at in 0..words.len() {
        // No command has so many words.
        let (start, end) = if words.len() <= 2 * WINDOW {
            (0, words.len())
        } else {
            (at.saturating_sub(WINDOW), words.len().min(at + WINDOW))
        };
        let command = CommandWords {
            words: &words[start..end],
            blocks,
        };
        found.extend(command.secret_behind(at - start).map(moved));
        if at == 0 {
            found.extend(command.trap_community().map(moved));
        }
    }
}

/// The words of a line. Text between quotation marks is one word.
fn words(line: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(start) = line[at..]
        .find(|c: char| !c.is_whitespace())
        .map(|start| at + start)
    {
        let rest = &line[start..];
        let quote = ["\\\"", "\"", "'"]
            .into_iter()
            .find(|quote| rest.starts_with(quote));
        if let Some(quote) = quote
            && let Some(length) = rest[quote.len()..].find(quote)
        {
            let inner = start + quote.len();
            words.push(Word {
                text: &line[inner..inner + length],
                start: inner,
                is_quoted: true,
            });
            at = inner + length + quote.len();
            continue;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let text = rest[..end].trim_end_matches([';', ',']);
        let text = text.strip_suffix("\\\"").unwrap_or(text);
        words.push(Word {
            text,
            start,
            is_quoted: false,
        });
        at = start + end;
    }
    words
}

/// The words of a line and the blocks around it.
struct CommandWords<'c, 'a> {
    words: &'c [Word<'a>],
    blocks: &'c Blocks<'a>,
}

impl CommandWords<'_, '_> {
    fn is(&self, at: usize, words: &[&str]) -> bool {
        self.words.get(at).is_some_and(|word| word.is(words))
    }

    fn is_in(&self, at: usize, words: &Words) -> bool {
        self.words.get(at).is_some_and(|word| word.is_in(words))
    }

    /// Whether an earlier word is one of these.
    fn is_behind(&self, at: usize, words: &[&str]) -> bool {
        self.words[..at].iter().any(|word| word.is(words))
    }

    /// The index of the first word that does not remove a line.
    fn first(&self) -> usize {
        usize::from(self.is(
            0,
            &["no", "default", "undo", "unset", "delete", "set", "add"],
        ))
    }

    /// The secret that the word with this index names.
    fn secret_behind(&self, at: usize) -> Option<Range<usize>> {
        let word = &self.words[at];
        if word.is_quoted {
            return None;
        }
        let kind = kind(word.text)?;
        let is_free_text = self.is_in(self.first(), &FREE_TEXT)
            || self.is_behind(at, &["description", "remark"])
            || (self.is(self.first(), &["snmp-server"])
                && self.is_in(self.first() + 1, &FREE_TEXT));
        if (is_free_text && kind != WordKind::Secret)
            || self.is_behind(at, &["algorithm", "algorithms"])
        {
            return None;
        }
        match kind {
            WordKind::Secret if self.is(at, &["psk"]) && self.names_more(at + 2) => None,
            // `no ntp authentication-key 1`
            WordKind::Secret
                if self.is_in(self.first(), &NUMBERED) && self.is_last_number(at + 1) =>
            {
                None
            }
            WordKind::Secret => self.secret(at, self.skip_forms(at + 1), true),
            WordKind::Key => self.key(at),
            WordKind::Authentication => self.authentication(at),
            WordKind::Digest => self.digest(at),
            WordKind::Privacy => {
                let is_user = self.is_behind(at, &["auth"]) && !self.is_behind(at, &["host"]);
                is_user.then(|| self.secret(at, self.skip_digest(at + 1), false))?
            }
            WordKind::Community => self.community(at),
        }
    }

    /// Whether the word with this index is a number that ends the line.
    fn is_last_number(&self, at: usize) -> bool {
        at + 1 == self.words.len() && !self.words[at].is_quoted && is_number(self.words[at].text)
    }

    /// Whether the word with this index names a secret.
    fn names_more(&self, at: usize) -> bool {
        let word = self.words.get(at).filter(|word| !word.is_quoted);
        word.is_some_and(|word| kind(word.text) == Some(WordKind::Secret))
    }

    /// The index behind the form of a secret. At least one word remains.
    fn skip_forms(&self, from: usize) -> usize {
        let mut at = from;
        while at + 1 < self.words.len() {
            let word = self.words[at].text;
            let next = self.words[at + 1].text.to_ascii_lowercase();
            let has_value = self.is_in(at, &FORMS_WITH_VALUE) && at + 2 < self.words.len();
            at += if self.words[at].is_quoted {
                break;
            } else if self.is_in(at, &FORMS) || is_digest(&word.to_ascii_lowercase()) {
                1
            } else if self.is(at, &["option"]) && self.is(at + 2, &["for"]) {
                4.min(self.words.len() - 1 - at)
            } else if has_value {
                2
            } else if is_number(word) && next == "size" && at + 3 < self.words.len() {
                3
            } else if is_number(word)
                && (word.len() == 1 || word == "10" || is_digest(&next) || next == "type")
            {
                // The type of the encryption, or the number of the key.
                1
            } else {
                break;
            };
        }
        at
    }

    /// The secret with this index, if it is one. `from` is the word that names it.
    fn secret(&self, from: usize, at: usize, has_blanks: bool) -> Option<Range<usize>> {
        let word = self.words.get(at)?;
        let is_certain = word.is_quoted || at > from + 1;
        let is_no_secret =
            !is_certain && (word.is_in(&NO_SECRETS) || word.is(&["address", "hostname"]));
        let is_name = !word.is_quoted
            && (word.is(&["key-chain", "keychain", "keyring", "type", "|", "{"])
                || (!is_certain && self.names_more(at)));
        if !word.text.contains(|c: char| c.is_alphanumeric())
            || is_no_secret
            || is_name
            || word.text.starts_with('<')
        {
            return None;
        }
        let mut secret = word.range();
        for next in at + 1..self.words.len() {
            let other = &self.words[next];
            if !has_blanks
                || word.is_quoted
                || other.is_quoted
                || ends_secret(other)
                || self.is_last_number(next)
            {
                break;
            }
            secret.end = other.range().end;
        }
        Some(secret)
    }

    fn key(&self, at: usize) -> Option<Range<usize>> {
        if self.is_in(at + 1, &NO_KEYS) || self.is_behind(at, &["public-keys", "public-key"]) {
            return None;
        }
        if at > 0 && self.is(at - 1, &["public"]) {
            return None;
        }
        let next = self.words.get(at + 1)?;
        if at == self.first() {
            let header = self.blocks.innermost();
            let is_chain = |header: &str| {
                header.contains("key chain")
                    || header.contains("key-chain")
                    || header.contains("keychain")
            };
            if header.is_some_and(is_chain) {
                return None;
            }
            let is_only = at + 2 == self.words.len();
            let is_of_peer = header.is_some_and(|header| {
                ["server", "client", "crypto", "radius", "tacacs"]
                    .iter()
                    .any(|word| header.contains(word))
            });
            if is_only
                && is_number(next.text)
                && !is_of_peer
                && (header.is_some() || is_small_number(next.text))
            {
                return None;
            }
        }
        let is_numbered =
            self.is_in(self.first(), &NUMBERED) || self.is_behind(at, &["ntp", "sntp"]);
        let is_numbered = is_numbered && !next.is_quoted && is_number(next.text);
        let secret = self.skip_forms(at + 1);
        if is_numbered
            && (secret == at + 1
                || (secret == at + 2 && self.words.get(at + 2).is_none_or(continues)))
        {
            return None;
        }
        self.secret(at, secret, true)
    }

    fn authentication(&self, at: usize) -> Option<Range<usize>> {
        let others = [
            "debug",
            "aaa",
            "login",
            "ppp",
            "http",
            "dot1x",
            "snmp",
            "snmp-server",
            "trap",
            "traps",
            "accounting",
            "authorization",
        ];
        if self.is_behind(at, &others) {
            return None;
        }
        let is_form = self.is(at + 1, &["text", "string", "simple", "clear", "plaintext"])
            && at + 2 < self.words.len();
        if is_form && !self.is_in(at + 2, &METHODS) && !self.is_in(at + 2, &CONTINUATIONS) {
            return self.secret(at, at + 2, false);
        }
        let next = self.words.get(at + 1)?;
        let method = next.text.trim_end_matches(':').to_ascii_lowercase();
        if METHODS.contains(method.as_str())
            || next.text.ends_with(':')
            || is_digest(&next.text.to_ascii_lowercase())
            || kind(next.text).is_some()
        {
            return None;
        }
        let secret = if is_number(next.text) && next.text.len() == 1 && at + 2 < self.words.len() {
            at + 2
        } else {
            at + 1
        };
        let ends = self.words.get(secret + 1).is_none_or(continues);
        (ends && !self.words.get(secret)?.is_in(&METHODS))
            .then(|| self.secret(at, secret, false))?
    }

    /// The index behind algorithms, sizes and types. At least one word remains.
    fn skip_digest(&self, from: usize) -> usize {
        let mut at = from;
        while at + 1 < self.words.len() {
            let word = &self.words[at];
            // The type of the encryption, or the index of the key.
            let is_type = is_number(word.text) && !continues(&self.words[at + 1]);
            let is_type = is_type || (is_number(word.text) && word.text.len() == 1);
            let is_form = is_type
                || word.is_in(&SIZES)
                || word.is_in(&FORMS)
                || is_digest(&word.text.to_ascii_lowercase());
            if word.is_quoted || !is_form {
                break;
            }
            at += 1;
        }
        at
    }

    fn digest(&self, at: usize) -> Option<Range<usize>> {
        let subjects = [
            "auth",
            "priv",
            "message-digest-key",
            "spi",
            "session-key",
            "authentication",
            "password",
            "community",
        ];
        let is_method = |word: &Word<'_>| {
            word.text.starts_with("authentication-") || word.text.ends_with("-authentication")
        };
        let has_subject = self.is_behind(at, &subjects) || self.words[..at].iter().any(is_method);
        if !has_subject || self.is_behind(at, &["host"]) {
            return None;
        }
        let secret = self.skip_digest(at + 1);
        let word = self.words.get(secret)?;
        if !word.is_quoted
            && (continues(word)
                || kind(word.text).is_some()
                || word.is_in(&METHODS)
                || word.is_in(&SIZES))
        {
            let is_secret = is_number(word.text) && word.text.len() > 4;
            return is_secret.then(|| word.range());
        }
        self.secret(at, secret, false)
    }

    fn community(&self, at: usize) -> Option<Range<usize>> {
        if at > 0
            && self.is(
                at - 1,
                &[
                    "match",
                    "bgp",
                    "permit",
                    "deny",
                    "send",
                    "standard",
                    "expanded",
                    "large",
                    "as-path",
                    "policy-options",
                    "set",
                    "from",
                    "then",
                ],
            )
        {
            return None;
        }
        let secret = self.skip_forms(at + 1);
        let word = self.words.get(secret)?;
        let header = self.blocks.innermost().unwrap_or_default();
        let is_policy = ["from", "then", "term", "policy-options"]
            .iter()
            .any(|word| header.starts_with(word));
        let is_policy = is_policy
            || (self.is(secret, &["add", "delete", "remove", "set"])
                && secret + 1 < self.words.len())
            || self.words[secret + 1..]
                .iter()
                .any(|word| word.is(&["members"]));
        if is_policy {
            return None;
        }
        let is_bgp = word.text.contains(':') && word.text.split(':').all(is_number);
        let known = [
            "no-export",
            "no-advertise",
            "internet",
            "local-AS",
            "none",
            "additive",
            "list",
            "alias",
            "rt",
            "soo",
            "no-peer",
            "blackhole",
            "graceful-shutdown",
        ];
        (!is_bgp && !word.is(&known)).then(|| self.secret(at, secret, false))?
    }

    /// `snmp-server host ADDRESS [vrf NAME] [traps] [version 2c] COMMUNITY`. SNMPv3 has a user there.
    fn trap_community(&self) -> Option<Range<usize>> {
        let start = self.first();
        if !(self.is(start, &["snmp-server"]) && self.is(start + 1, &["host"])) {
            return None;
        }
        let mut at = start + 3;
        loop {
            at += if self.is(at, &["vrf", "use-vrf"]) {
                2
            } else if self.is(
                at,
                &["traps", "informs", "trap", "inform", "encrypted", "clear"],
            ) {
                1
            } else if self.is(at, &["version"]) && self.is(at + 1, &["3"]) {
                return None;
            } else if self.is(at, &["version"]) {
                2
            } else {
                break;
            };
        }
        let word = self.words.get(at)?;
        let is_option = word.is(&["source-interface", "filter-vrf", "udp-port", "community"]);
        (!is_option).then(|| word.range())
    }
}

/// Whether a word behind a secret continues the command.
fn continues(word: &Word<'_>) -> bool {
    ends_secret(word) || word.is_in(&NO_SECRETS) || is_number(word.text)
}

/// Whether a word is none of a secret with blanks.
fn ends_secret(word: &Word<'_>) -> bool {
    word.is_in(&CONTINUATIONS)
        || word.is(&[
            "is", "was", "are", "were", "has", "had", "must", "cannot", "does",
        ])
        || word.text.parse::<IpAddr>().is_ok()
        || word.text.starts_with(['|', '{', '}', ']', '#', '(', '!'])
        || kind(word.text).is_some()
}

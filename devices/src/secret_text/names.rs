//! Words that name a secret.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

/// One of these is in every line with a secret.
static STEMS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build([
            "key",
            "pass",
            "secret",
            "communit",
            "psk",
            "auth",
            "md5",
            "sha",
            "token",
            "pwd",
            "cred",
            "pw",
            "pin",
            "cipher",
            "snmp-server",
            "hmac",
            "@",
            "$",
            "phash",
        ])
        .expect("are texts")
});

/// Whether a line can have a secret, for a quick search.
pub(super) fn may_have_secrets(line: &str) -> bool {
    STEMS.is_match(line)
}

/// What stands behind a word of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordKind {
    /// A secret: `password`, `pre-shared-key`.
    Secret,
    /// A secret, the number of a key, or a command about keys: `key`.
    Key,
    /// A secret, or methods: `authentication`.
    Authentication,
    /// A secret, if the line is about authentication: `md5`, `aes`.
    Digest,
    /// A community of SNMP, or of BGP.
    Community,
    /// The privacy of a user of SNMP.
    Privacy,
}

/// The kind of a word of a command line.
pub(super) fn kind(word: &str) -> Option<WordKind> {
    if !may_have_secrets(word) && !word.starts_with(['a', 'A', 'd', 'D', 'p', 'P', '3']) {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    Some(match lower.as_str() {
        "key" => WordKind::Key,
        "authentication" => WordKind::Authentication,
        "community" => WordKind::Community,
        "priv" => WordKind::Privacy,
        word if is_digest(word) => WordKind::Digest,
        _ if is_secret_word(word) => WordKind::Secret,
        _ => return None,
    })
}

/// Algorithms of keys.
static DIGEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:(?:keyed-|ah-)?md5|(?:ah-)?sha(?:-?\d+)*|hmac(?:-[a-z0-9]+)*|aes(?:[-_]?[a-z0-9]+)*|3?des(?:56)?(?:-cbc)?|cmac(?:-[a-z0-9]+)*|cipher|authenticator)$",
    )
    .expect("is a pattern")
});

pub(super) fn is_digest(word: &str) -> bool {
    DIGEST.is_match(word)
}

/// Words that end the name of a secret.
const SECRETS: [&str; 15] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "secret",
    "psk",
    "psksecret",
    "passkey",
    "phash",
    "presharedkey",
    "sharedkey",
    "authkey",
    "apikey",
    "keystring",
];

/// Words that end the name of a secret, if another one is before them.
const SECRETS_OF: [&str; 4] = ["pass", "pw", "pin", "token"];

/// What a key is, if it is a secret.
const SECRET_KEYS: [&str; 23] = [
    "shared",
    "auth",
    "authentication",
    "session",
    "private",
    "secret",
    "api",
    "encryption",
    "wep",
    "set",
    "master",
    "md5",
    "hmac",
    "server",
    "preshared",
    "symmetric",
    "account",
    "mac",
    "ao",
    "tsig",
    "wpa",
    "access",
    "sha",
];

/// What a key is, if it is no secret.
const OPEN_KEYS: [&str; 23] = [
    "public",
    "host",
    "primary",
    "foreign",
    "sort",
    "match",
    "persist",
    "lookup",
    "cache",
    "index",
    "route",
    "trusted",
    "tunnel",
    "ssh",
    "partition",
    "cert",
    "gre",
    "hash",
    "unique",
    "row",
    "map",
    "authorized",
    "dh",
];

/// What follows the name of a secret in the name of a field: `passwordHash`.
const FORMS: [&str; 15] = [
    "hash",
    "hashed",
    "encrypted",
    "enc",
    "value",
    "plain",
    "text",
    "clear",
    "cleartext",
    "ciphertext",
    "string",
    "old",
    "new",
    "base64",
    "confirm",
];

/// Names of other things, although they end like secrets.
const OPEN_WORDS: [&str; 3] = ["config-key", "pre-share", "send-community"];

/// Whether a secret follows the word of a command line.
fn is_secret_word(word: &str) -> bool {
    if OPEN_WORDS.contains(&word.to_ascii_lowercase().as_str()) {
        return false;
    }
    if word.contains(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.')) {
        return false;
    }
    let parts = parts(word);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match without_forms(&parts) {
        [.., "key", "string"] => true,
        [.., "password", "encrypt"] => true,
        [one] => SECRETS.contains(one),
        [.., before, "key"] => SECRET_KEYS.contains(before),
        [.., "trap" | "snmp", "community"] | [.., "community", "string" | "map"] => true,
        [.., last] => SECRETS.contains(last) || SECRETS_OF.contains(last),
        [] => false,
    }
}

/// Whether the value of a field is a secret.
pub(super) fn is_secret_field(name: &str) -> bool {
    let name = name.rsplit(':').next().unwrap_or(name);
    let parts = parts(name);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match without_forms(&parts) {
        [.., "key" | "hexadecimal", "string"] => true,
        ["key" | "token" | "pass" | "pin" | "community"] => true,
        [.., before, "key"] => !OPEN_KEYS.contains(before),
        [
            ..,
            "trap" | "snmp" | "read" | "write" | "ro" | "rw",
            "community",
        ] => true,
        [_, .., last] => SECRETS.contains(last) || SECRETS_OF.contains(last),
        [one] => SECRETS.contains(one),
        [] => false,
    }
}

/// The parts of a name without the form of the secret: `passwordHash`, `presharedKeyEncrypted`.
fn without_forms<'p, 'n>(mut parts: &'p [&'n str]) -> &'p [&'n str] {
    loop {
        parts = match parts {
            [.., "key" | "hexadecimal", "string"] | ["key", _] => return parts,
            [rest @ .., "community", "name"] => &parts[..rest.len() + 1],
            [rest @ .., before, last] if FORMS.contains(last) && *before != "community" => {
                &parts[..rest.len() + 1]
            }
            _ => return parts,
        }
    }
}

/// The parts of a name: `adminPassword`, `auth-key`, `_pw`, without the digits at its end.
fn parts(name: &str) -> Vec<String> {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut parts: Vec<String> = vec![String::new()];
    let mut is_lower = false;
    for character in name.chars() {
        if !character.is_ascii_alphanumeric() {
            parts.push(String::new());
        } else {
            if character.is_ascii_uppercase() && is_lower {
                parts.push(String::new());
            }
            if let Some(part) = parts.last_mut() {
                part.push(character.to_ascii_lowercase());
            }
        }
        is_lower = character.is_ascii_lowercase() || character.is_ascii_digit();
    }
    let count = parts.len();
    parts.retain(|part| !part.is_empty());
    // `_pw` is a name with two parts.
    if parts.len() == 1 && count > 1 {
        parts.insert(0, "_".to_owned());
    }
    parts
}

/// A number that can be that of a key.
pub(crate) fn is_small_number(text: &str) -> bool {
    text.len() <= 4 && is_number(text)
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

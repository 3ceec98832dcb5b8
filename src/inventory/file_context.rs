//! The text of the inventory with its secrets, and the base of relative paths.
//!
//! All excerpts use the masked text, which has the same length. Only [`FileContext::literal`] reads
//! the original text.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use regex::{Captures, Regex};
use secrecy::SecretString;
use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::document::Item;
use switchtender_devices::secret::MASK;

use super::table_settings::TableSettings;

/// The inventory file.
#[derive(Clone, Copy)]
pub(crate) struct FileContext<'a> {
    pub(crate) base: &'a Path,
    /// The original text.
    pub(crate) text: &'a str,
}

impl FileContext<'_> {
    /// A path relative to the directory of the inventory; `~/` is the home directory.
    pub(crate) fn path(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), std::env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.base.join(text),
        }
    }

    /// The secret at the position of a masked string.
    pub(crate) fn literal(&self, item: &Item<'_>) -> SecretString {
        let written = self.text.get(item.span.clone()).unwrap_or_default();
        let parsed: Option<toml::Table> = toml::from_str(&format!("secret = {written}")).ok();
        let text = parsed
            .as_ref()
            .and_then(|table| table.get("secret")?.as_str())
            .or_else(|| item.as_str())
            .unwrap_or_default();
        SecretString::from(text.to_owned())
    }
}

static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        ( (?: password | passphrase | token | secret_id ) ["']? [\ \t]* = [\ \t]* )
        (?: """ (?<a> (?s:.)*? ) (?: """ | \z )
          | ''' (?<b> (?s:.)*? ) (?: ''' | \z )
          | "   (?<c> (?: [^"\\\n] | \\. )* )
          | '   (?<d> [^'\n]* )
        )"#,
    )
    .expect("the pattern is a constant")
});

/// User and password of a URL in a string; the password of an address that lacks the scheme.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        (?<before> :// | (?: address | jump | proxy ) ["']? [\ \t]* = [\ \t]* ["'] [^\s"'\\:@/]* : )
        (?<login> (?: (?: [^\s"'\\/] | /[^\s"'\\/] | \\. ) (?: [^\s"'\\] | \\. )* )? )
        @"#,
    )
    .expect("the pattern is a constant")
});

/// A line that is no table header: its key, and what follows.
static LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^[\ \t]*["']?(?<key>[\w.-]*)(?<rest>[^\[\n][^\n]*)$"#)
        .expect("the pattern is a constant")
});

/// The ranges of a text with syntax errors that can be secrets: in each line everything after the
/// key, except for keys of settings that are not secret.
pub(crate) fn possible_secrets(text: &str) -> Vec<Range<usize>> {
    let is_secret = |key: &str| {
        SECRET_KEYS.contains(&key) || key == "jump" || !TableSettings::KEYS.contains(&key)
    };
    LINE.captures_iter(text)
        .filter(|found| is_secret(&found["key"]))
        .filter_map(|found| Some(found.name("rest")?.range()))
        .collect()
}

/// The settings whose values are secrets. Other keys, such as those of `[vault]`, are no settings of devices.
const SECRET_KEYS: [&str; 4] = ["password", "enable_password", "passphrase", "token"];

/// The ranges of secrets in a text. It works on the text instead of the parsed file, because excerpts of
/// a file with a syntax error are shown, too.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let logins = LOGIN.captures_iter(text);
    let logins: Vec<_> = logins
        .filter_map(|found| Some(found.name("login")?.range()))
        .collect();
    let without_logins = overwritten(text, &logins);
    let literal = |found: Captures<'_>| {
        let mut names = ["a", "b", "c", "d"].into_iter();
        Some(names.find_map(|name| found.name(name))?.range())
    };
    let literals = LITERAL.captures_iter(&without_logins);
    logins
        .into_iter()
        .chain(literals.filter_map(literal))
        .collect()
}

/// The text with asterisks in place of the bytes of some ranges. Line feeds stay, so that line numbers do
/// not change.
fn overwritten(text: &str, ranges: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for byte in ranges.iter().flat_map(|range| range.clone()) {
        if bytes[byte] != b'\n' {
            bytes[byte] = b'*';
        }
    }
    // Ranges end at character boundaries, so the result is text.
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The source of a text with each secret overwritten by asterisks. Excerpts have masks of one length.
pub(crate) fn masked_source(name: &str, text: &str) -> Arc<Source> {
    let secrets = secrets(text);
    Source::new(name, overwritten(text, &secrets)).redacted(&secrets)
}

/// Errors about the secrets in clear text of an inventory, also of those in comments.
pub(crate) fn clear_secrets(name: &str, text: &str) -> Vec<Diagnostic> {
    let masked = masked_source(name, text);
    let has_password = |range: &Range<usize>| {
        let is_url = text[..range.start].ends_with("://");
        let password = match text[range.clone()].split_once(':') {
            Some((_, password)) if is_url => password,
            _ if is_url => "",
            _ => &text[range.clone()],
        };
        !password.is_empty()
    };
    let mut found: Vec<Range<usize>> = secrets(text).into_iter().filter(has_password).collect();
    found.sort_by_key(|range| range.start);
    let error = |range: Range<usize>| {
        Diagnostic::error("literal-secret", "a secret is in clear text in the inventory")
            .at(&masked, range, "")
            .help("use { env = \"…\" }, { file = \"…\" }, { command = [\"…\"] } or { vault = \"…\", field = \"…\" }")
    };
    found.into_iter().map(error).collect()
}

/// The text with a mask in place of each secret.
pub(crate) fn masked(text: &str) -> String {
    let mut secrets = secrets(text);
    secrets.retain(|range| !range.is_empty());
    secrets.sort_by_key(|range| range.start);
    let mut masked = String::new();
    let mut at = 0;
    // A login can be a part of a password.
    for range in secrets {
        if range.start >= at {
            masked.push_str(&text[at..range.start]);
            masked.push_str(MASK);
        }
        at = at.max(range.end);
    }
    masked + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_text_has_masks_of_one_length() {
        assert_eq!(
            masked("proxy = \"http://ops:s3cret@h\", token = \"s3c\\\"ret-longer\""),
            "proxy = \"http://••••@h\", token = \"••••\""
        );
    }

    #[test]
    fn clear_secrets_have_lines_and_no_secret() {
        let text = "[defaults]\npassword = { env = \"A\" }\nproxy = \"http://ops@proxy\"\n\
                    enable_password = \"\"\n[device.a]\ntoken = \"s3cret\"\n\
                    proxy = \"http://ops:s3cret@proxy\"\njump = \"ops:s3cret@jump\"\n\
                    # password = \"s3cret\"\n";
        let found = clear_secrets("inventory.toml", text);
        let lines = found.iter().map(|one| {
            let label = &one.labels[0];
            label.source.position(label.span.start).0
        });
        assert_eq!(lines.collect::<Vec<_>>(), [6, 7, 8, 9]);
        for one in &found {
            assert!(!one.labels[0].source.text.contains("s3cret"));
        }
    }

    #[test]
    fn masked_source_has_the_same_length() {
        let cases = [
            (
                r#"password = "s3c\"ret" # x"#,
                r#"password = "********" # x"#,
            ),
            ("enable_password='geheim'", "enable_password='******'"),
            (
                "passphrase = \"\"\"a\nü\"\"\"",
                "passphrase = \"\"\"*\n**\"\"\"",
            ),
            ("\"password\" = \"open", "\"password\" = \"****"),
            (
                "proxy = \"http://ops:s3cret@proxy:3128\"",
                "proxy = \"http://**********@proxy:3128\"",
            ),
            (
                "proxy = \"ops:s3cret@proxy:3128\"",
                "proxy = \"ops:******@proxy:3128\"",
            ),
            (
                "sw1 = { 'address' = 'u:/s3@h', jump = \"ops:s3@j\" }",
                "sw1 = { 'address' = 'u:***@h', jump = \"ops:**@j\" }",
            ),
            (
                "{ password = { env = \"NAME\" } }",
                "{ password = { env = \"NAME\" } }",
            ),
        ];
        for (text, expected) in cases {
            let source = masked_source("x", text);
            assert_eq!(source.text, expected);
            assert_eq!(source.text.len(), text.len());
        }
    }
}

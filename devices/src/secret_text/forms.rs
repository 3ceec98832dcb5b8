//! Secrets by their form: logins of URLs and hashes of passwords.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// `scheme://user:PASSWORD@host`.
static LOGIN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"://[^\s/@:"'<>]*:([^\s"'<>]+)@[^\s@]"#));

/// `user:PASSWORD@host` without a scheme.
static BARE_LOGIN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?:^|[\s"'=(])([\w.-]+):([^\s"'@/:<>]+)@[\w\[]"#));

/// The names of schemes that precede an address with `@`.
const SCHEMES: [&str; 6] = ["sip", "sips", "mailto", "xmpp", "git", "tel"];

/// `$6$SALT$HASH`, and the encrypted secrets of BIG-IP and Junos.
static HASH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?:^|[^\w$])(\$(?:\d{1,2}[abxy]?|y|gy|M|sha\d+|apr1|scrypt|argon2\w*|pbkdf2[\w-]*)\$[^\s"'<>,;:\\]{4,})"#,
    )
});

/// Credentials of HTTP.
static CREDENTIALS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:Basic|Bearer) ([A-Za-z0-9+/=._~-]{6,})"));

/// Adds the secrets of a line.
pub(super) fn secrets(line: &str, found: &mut Vec<Range<usize>>) {
    if line.contains('@') {
        let logins = LOGIN.captures_iter(line);
        found.extend(logins.filter_map(|login| Some(login.get(1)?.range())));
        for login in BARE_LOGIN.captures_iter(line) {
            if !SCHEMES.contains(&&login[1]) {
                found.extend(login.get(2).map(|password| password.range()));
            }
        }
    }
    let credentials = CREDENTIALS.captures_iter(line);
    found.extend(credentials.filter_map(|found| Some(found.get(1)?.range())));
    if line.contains('$') {
        let hashes = HASH.captures_iter(line);
        found.extend(hashes.filter_map(|hash| Some(hash.get(1)?.range())));
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("is a pattern")
}

//! URLs that can contain a user name, a password or a secret query.

use std::fmt;
use std::ops::Range;

use secrecy::{ExposeSecret as _, SecretString};

use crate::secret::MASK;

/// A URL whose secret parts are masked in every output.
#[derive(Clone)]
pub struct SecretUrl(SecretString);

impl SecretUrl {
    /// The URL with its secrets, for connecting only.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// The part with user name and password, or the password alone; empty if there is none.
    pub(crate) fn secrets(&self) -> Vec<SecretString> {
        let url = self.expose();
        let Some(range) = secret_range(url) else {
            return Vec::new();
        };
        let login = &url[range];
        let password = login.split_once(':').map(|(_, password)| password);
        let parts = [Some(login), password].into_iter().flatten();
        parts.map(SecretString::from).collect()
    }
}

impl From<SecretString> for SecretUrl {
    fn from(url: SecretString) -> Self {
        Self(url)
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact(self.expose()))
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The URL with all possible secrets masked.
pub fn redact(url: &str) -> String {
    match secret_range(url) {
        None => url.to_owned(),
        Some(range) => {
            let mut redacted = format!("{}{MASK}", &url[..range.start]);
            match url
                .rfind('@')
                .filter(|at| *at >= range.start && *at < url.len())
            {
                // The host is not a secret; a query may be.
                Some(at) if range.end == at => redacted.push_str(&url[at..]),
                Some(at) => {
                    let end = url[at..]
                        .find('?')
                        .map_or(url.len(), |query| at + query + 1);
                    redacted.push_str(&url[at..end]);
                    if end < url.len() {
                        redacted.push_str(MASK);
                    }
                }
                None => {}
            }
            redacted
        }
    }
}

/// The range of a URL that may contain secrets: user and password, or everything up to the end of a
/// query.
pub fn secret_range(url: &str) -> Option<Range<usize>> {
    let Some(scheme) = url.find("://") else {
        // An address with a login that lacks the scheme.
        let at = url.rfind('@')?;
        return url[..at].contains(':').then_some(0..at);
    };
    let start = scheme + 3;
    let query = url[start..].contains('?');
    match url[start..].rfind('@') {
        _ if query => Some(start..url.len()),
        Some(at) => Some(start..start + at),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redact_hides_secrets() {
        for (url, expected) in [
            ("https://admin:s3@lb1:8443/", "https://••••@lb1:8443/"),
            ("ssh://u:p@h/?enable=x", "ssh://••••@h/?••••"),
            ("ssh://h/?enable=x", "ssh://••••"),
            ("file:///etc/x.conf", "file:///etc/x.conf"),
            ("ops:s3@lb1:9", "••••@lb1:9"),
            ("ops@lb1:9", "ops@lb1:9"),
            ("lb1?x", "lb1?x"),
        ] {
            assert_eq!(redact(url), expected);
        }
    }

    #[test]
    fn secret_url_is_printed_without_its_login() {
        let url = SecretUrl::from(SecretString::from("http://ops:s3cret@proxy:3128"));
        assert_eq!(url.to_string(), "http://••••@proxy:3128");
        assert_eq!(format!("{url:?}"), "http://••••@proxy:3128");
        let secrets = url.secrets();
        let secrets: Vec<_> = secrets
            .iter()
            .map(|secret| secret.expose_secret())
            .collect();
        assert_eq!(secrets, ["ops:s3cret", "s3cret"]);
    }
}

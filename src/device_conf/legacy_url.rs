//! Legacy devices put everything into the URL: `ssh://user:pass@host:port/?enable=secret`.

use std::ops::Range;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::secret::MASK;

use super::hocon::Mark;
use super::{RawAttribute, RawAttributeValue, RawAttributes};

/// Reads the parts of a URL as the attributes that a credentials file would have.
pub fn read(url: &str, mark: &Mark) -> Result<RawAttributes, Box<Diagnostic>> {
    let bad = |why: &str| {
        Box::new(Diagnostic::error("device-url", format!("this is not a URL of a device: {why}"))
            .help("it looks like `scheme://user:password@host:port/`; special characters are written as %XX"))
    };
    let (_, rest) = url
        .split_once("://")
        .ok_or_else(|| bad("`://` is missing"))?;
    let (authority, tail) = match rest.find(['/', '?']) {
        Some(end) => rest.split_at(end),
        None => (rest, ""),
    };
    let query = tail.split_once('?').map_or("", |(_, query)| query);
    let (login, place) = authority
        .rsplit_once('@')
        .ok_or_else(|| bad("user and password are missing"))?;
    let (user, password) = match login.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (login, None),
    };
    let (host, port) = host_and_port(place).ok_or_else(|| bad("the host or port is malformed"))?;
    if host.is_empty() {
        return Err(bad("the host is missing"));
    }
    let mut texts = vec![
        ("host", host.to_owned()),
        (
            "user",
            decoded(user).ok_or_else(|| bad("the user name has a malformed %XX"))?,
        ),
    ];
    if let Some(password) = password {
        texts.push((
            "password",
            decoded(password).ok_or_else(|| bad("the password has a malformed %XX"))?,
        ));
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = decoded(value).ok_or_else(|| bad("the query has a malformed %XX"))?;
        match key {
            "enable" => texts.push(("enable_password", value)),
            // An encoding of the transport and a log of the peer's own: nothing to do for us.
            "crypt" | "log" => {}
            _ => {
                return Err(bad(&format!("the query has an unknown key `{key}`")));
            }
        }
    }
    let given = |key: &str, value| RawAttribute {
        key: key.to_owned(),
        key_mark: mark.clone(),
        mark: mark.clone(),
        value,
    };
    let mut values: Vec<RawAttribute> = texts
        .into_iter()
        .map(|(key, text)| given(key, RawAttributeValue::Text(text.into())))
        .collect();
    if let Some(port) = port {
        values.push(given("port", RawAttributeValue::Integer(port.into())));
    }
    Ok(RawAttributes {
        values,
        source: mark.source.clone(),
    })
}

/// The URL with everything masked that may be secret.
pub fn redact(url: &str) -> String {
    match secret_range(url) {
        None => url.to_owned(),
        Some(range) => {
            let mut redacted = format!("{}{MASK}", &url[..range.start]);
            match url
                .rfind('@')
                .filter(|at| *at >= range.start && *at < url.len())
            {
                // The host is no secret, a query may be.
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

/// The range of a URL that may hold secrets: user and password, and a query with what precedes it.
pub fn secret_range(url: &str) -> Option<Range<usize>> {
    let start = url.find("://")? + 3;
    let query = url[start..].contains('?');
    match url[start..].rfind('@') {
        _ if query => Some(start..url.len()),
        Some(at) => Some(start..start + at),
        None => None,
    }
}

fn host_and_port(place: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None if rest.is_empty() => Some((host, None)),
            None => None,
        };
    }
    match place.split_once(':') {
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((place, None)),
    }
}

/// Percent-decoded text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;
    use switchtender_devices::diagnostic::Source;

    use super::*;

    fn parts(url: &str) -> Result<Vec<(String, String)>, String> {
        let mark = Mark {
            source: Source::new("x", ""),
            span: 0..0,
        };
        Ok(read(url, &mark)
            .map_err(|found| found.message)?
            .values
            .into_iter()
            .map(|given| {
                let text = match given.value {
                    RawAttributeValue::Text(text) => text.expose_secret().to_owned(),
                    RawAttributeValue::Integer(number) => number.to_string(),
                    _ => unreachable!(),
                };
                (given.key, text)
            })
            .collect())
    }

    #[test]
    fn urls_are_taken_apart() {
        let cases: [(&str, &[(&str, &str)]); 3] = [
            (
                "ssh://ops:p%40ss@sw1:2222/?enable=en%26",
                &[
                    ("host", "sw1"),
                    ("user", "ops"),
                    ("password", "p@ss"),
                    ("enable_password", "en&"),
                    ("port", "2222"),
                ],
            ),
            (
                "https://admin:a@b:c@lb1.example.com/",
                &[
                    ("host", "lb1.example.com"),
                    ("user", "admin"),
                    ("password", "a@b:c"),
                ],
            ),
            (
                "ssh://ops@[2001:db8::1]:22",
                &[("host", "2001:db8::1"), ("user", "ops"), ("port", "22")],
            ),
        ];
        for (url, expected) in cases {
            let expected: Vec<_> = expected
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect();
            assert_eq!(parts(url).unwrap(), expected, "{url}");
        }
    }

    #[test]
    fn malformed_urls_are_refused_without_showing_them() {
        for (url, why) in [
            ("ssh:sw1", "`://` is missing"),
            ("ssh://sw1/", "user and password are missing"),
            ("ssh://u:s3cret@sw1:ssh/", "the host or port is malformed"),
            ("ssh://u:s3cret@/", "the host is missing"),
            ("ssh://u:s3cret%zz@sw1/", "the password has a malformed %XX"),
            (
                "ssh://u:s3cret@sw1/?enabel=x",
                "the query has an unknown key `enabel`",
            ),
        ] {
            let message = parts(url).unwrap_err();
            assert!(message.ends_with(why), "{message}");
            assert!(!message.contains("s3cret"));
        }
    }

    #[test]
    fn redact_hides_secrets() {
        for (url, expected) in [
            ("https://admin:s3@lb1:8443/", "https://••••@lb1:8443/"),
            ("ssh://u:p@h/?enable=x", "ssh://••••@h/?••••"),
            ("ssh://h/?enable=x", "ssh://••••"),
            ("file:///etc/x.conf", "file:///etc/x.conf"),
        ] {
            assert_eq!(redact(url), expected);
        }
    }
}

//! Legacy device URLs with all attributes: `ssh://user:pass@host:port/?enable=secret`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use switchtender_devices::diagnostic::Diagnostic;

use super::hocon::Mark;
use super::{RawAttribute, RawAttributeValue, RawAttributes};

/// Reads the parts of a URL as the attributes of a credentials file.
pub(crate) fn read(url: &str, mark: &Mark) -> Result<RawAttributes, Box<Diagnostic>> {
    let bad = |why: &str| {
        Box::new(
            Diagnostic::error("device-url", format!("invalid device URL: {why}"))
                .help("use `scheme://user:password@host:port/`, with special characters as %XX"),
        )
    };
    let (_, rest) = url
        .split_once("://")
        .ok_or_else(|| bad("`://` is missing"))?;
    let (authority, tail) = match rest.find(['/', '?']) {
        Some(end) => rest.split_at(end),
        None => (rest, ""),
    };
    let query = tail.split_once('?').map_or("", |(_, query)| query);
    let (login, host_port) = authority
        .rsplit_once('@')
        .ok_or_else(|| bad("user and password are missing"))?;
    let (user, password) = match login.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (login, None),
    };
    let (host, port) = host_and_port(host_port).ok_or_else(|| bad("invalid host or port"))?;
    if host.is_empty() {
        return Err(bad("the host is missing"));
    }
    let mut texts = vec![
        ("host", host.to_owned()),
        (
            "user",
            decoded(user).ok_or_else(|| bad("invalid %XX in the user name"))?,
        ),
    ];
    if let Some(password) = password {
        texts.push((
            "password",
            decoded(password).ok_or_else(|| bad("invalid %XX in the password"))?,
        ));
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = decoded(value).ok_or_else(|| bad("invalid %XX in the query"))?;
        match key {
            "enable" => texts.push(("enable_password", value)),
            // Options of transports in Puppet modules, without effect here.
            "crypt" | "log" => {}
            _ => {
                return Err(bad(&format!("unknown key `{key}` in the query")));
            }
        }
    }
    let supplied = |key: &str, value| RawAttribute {
        key: key.to_owned(),
        key_mark: mark.clone(),
        mark: mark.clone(),
        value,
    };
    let mut values: Vec<RawAttribute> = texts
        .into_iter()
        .map(|(key, text)| supplied(key, RawAttributeValue::Text(text.into())))
        .collect();
    if let Some(port) = port {
        values.push(supplied("port", RawAttributeValue::Integer(port.into())));
    }
    Ok(RawAttributes {
        values,
        source: mark.source.clone(),
    })
}

fn host_and_port(host_port: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = host_port.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None if rest.is_empty() => Some((host, None)),
            None => None,
        };
    }
    match host_port.split_once(':') {
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((host_port, None)),
    }
}

/// Percent-decoded text; `None` if an escape is invalid.
fn decoded(text: &str) -> Option<String> {
    let is_valid = text.match_indices('%').all(|(at, _)| {
        text.get(at + 1..at + 3)
            .is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    });
    let decoded = is_valid.then(|| percent_decode_str(text).decode_utf8().ok())?;
    decoded.map(Cow::into_owned)
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
            .map(|supplied| {
                let text = match supplied.value {
                    RawAttributeValue::Text(text) => text.expose_secret().to_owned(),
                    RawAttributeValue::Integer(number) => number.to_string(),
                    _ => unreachable!(),
                };
                (supplied.key, text)
            })
            .collect())
    }

    #[test]
    fn legacy_url_is_split_into_attributes() {
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
    fn legacy_url_errors_do_not_contain_the_url() {
        for (url, why) in [
            ("ssh:sw1", "`://` is missing"),
            ("ssh://sw1/", "user and password are missing"),
            ("ssh://u:s3cret@sw1:ssh/", "invalid host or port"),
            ("ssh://u:s3cret@/", "the host is missing"),
            ("ssh://u:s3cret%zz@sw1/", "invalid %XX in the password"),
            (
                "ssh://u:s3cret@sw1/?enabel=x",
                "unknown key `enabel` in the query",
            ),
        ] {
            let message = parts(url).unwrap_err();
            assert!(message.ends_with(why), "{message}");
            assert!(!message.contains("s3cret"));
        }
    }
}

//! Address and port in one text: `/Common/10.1.1.1:443`, `/Common/2001:db8::1.443`, `*:*`.
//!
//! IPv6 addresses have a dot before the port. Some releases print service names and `any`.

use serde_json::Value as Json;

use super::address;
use crate::value::Value;

/// Service names that releases print instead of port numbers.
const SERVICES: [(&str, i64); 24] = [
    ("any", 0),
    ("ftp-data", 20),
    ("ftp", 21),
    ("ssh", 22),
    ("telnet", 23),
    ("smtp", 25),
    ("domain", 53),
    ("tftp", 69),
    ("http", 80),
    ("pop3", 110),
    ("ntp", 123),
    ("imap", 143),
    ("snmp", 161),
    ("snmp-trap", 162),
    ("ldap", 389),
    ("https", 443),
    ("syslog", 514),
    ("ldaps", 636),
    ("imaps", 993),
    ("pop3s", 995),
    ("mysql", 3306),
    ("sip", 5060),
    ("webcache", 8080),
    ("pcsync-https", 8443),
];

/// Address and port. `*` and `any` are the wildcard address; port 0 is any port and prints as 0.
pub(crate) fn read(field: Option<&Json>, domain: Option<u32>) -> Vec<Option<Value>> {
    let Some(text) = field.and_then(Json::as_str) else {
        return vec![None, None];
    };
    let (host, port) = split(text.trim());
    let (word, suffix) = host.split_at(host.find('%').unwrap_or(host.len()));
    let any = match word {
        "any" => Some("0.0.0.0"),
        "any6" => Some("::"),
        _ => None,
    };
    let host = any.map_or_else(|| host.to_owned(), |any| format!("{any}{suffix}"));
    let host = address::canonical(&host, domain);
    vec![Some(host.into()), port.map(port_value)]
}

fn port_value(port: &str) -> Value {
    if port == "*" {
        return "*".into();
    }
    let named = SERVICES.iter().find(|(name, _)| *name == port);
    match (port.parse(), named) {
        (Ok(number), _) => Value::Integer(number),
        (_, Some((_, number))) => Value::Integer(*number),
        _ => port.into(),
    }
}

/// Host and port of a destination, without the partition.
pub(crate) fn split(text: &str) -> (&str, Option<&str>) {
    let text = text.rsplit('/').next().unwrap_or(text);
    let colons = text.matches(':').count();
    let separator = if colons > 1 || text.starts_with("any6") {
        '.'
    } else {
        ':'
    };
    match text.rsplit_once(separator) {
        // `10.0.0.1` has dots but no port, and is not an IPv6 address.
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    }
}

/// Joins host and port; a host with a colon gets a dot before its port.
pub(crate) fn join(host: &str, port: &str) -> String {
    let separator = if host.contains(':') { '.' } else { ':' };
    format!("{host}{separator}{port}")
}

pub(crate) fn write(address: Option<&Value>, port: Option<&Value>) -> String {
    let host = address
        .and_then(Value::scalar_text)
        .unwrap_or_else(|| "*".to_owned());
    match port.and_then(Value::scalar_text) {
        Some(port) => join(&host, &port),
        None => host,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn destination_is_read_with_optional_parts() {
        let cases = [
            (
                "/Common/10.1.1.1:443",
                "10.1.1.1",
                Some(Value::Integer(443)),
            ),
            (
                "/Common/10.1.1.1:https",
                "10.1.1.1",
                Some(Value::Integer(443)),
            ),
            (
                "/shop/10.1.1.1%2:80",
                "10.1.1.1%2",
                Some(Value::Integer(80)),
            ),
            (
                "/Common/2001:db8::1.443",
                "2001:db8::1",
                Some(Value::Integer(443)),
            ),
            (
                "/Common/2001:DB8:0::1%1.443",
                "2001:db8::1%1",
                Some(Value::Integer(443)),
            ),
            ("/Common/10.1.1.1:any", "10.1.1.1", Some(Value::Integer(0))),
            ("/Common/any:0", "0.0.0.0", Some(Value::Integer(0))),
            ("/Common/any6.0", "::", Some(Value::Integer(0))),
            ("/Common/any6%2.0", "::%2", Some(Value::Integer(0))),
            ("/Common/any%2:0", "0.0.0.0%2", Some(Value::Integer(0))),
            ("*:*", "*", Some("*".into())),
            ("*:8080", "*", Some(Value::Integer(8080))),
            ("192.0.2.1", "192.0.2.1", None),
            ("*", "*", None),
        ];
        for (text, host, port) in cases {
            assert_eq!(
                read(Some(&json!(text)), Some(0)),
                [Some(host.into()), port],
                "{text}"
            );
        }
    }

    #[test]
    fn destination_is_written() {
        for (host, port, expected) in [
            (Some("10.1.1.1"), Some(Value::Integer(443)), "10.1.1.1:443"),
            (
                Some("2001:db8::1"),
                Some(Value::Integer(443)),
                "2001:db8::1.443",
            ),
            (Some("192.0.2.1"), None, "192.0.2.1"),
            (None, Some(Value::Integer(80)), "*:80"),
        ] {
            let host = host.map(Value::from);
            assert_eq!(write(host.as_ref(), port.as_ref()), expected);
        }
    }
}

//! Syntax check of device addresses. Names are resolved when a session is opened.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A hint, if the text is neither a hostname nor an IP address.
pub(crate) fn check(text: &str) -> Option<&'static str> {
    if text.contains("://") || text.contains('/') {
        return Some("write only the host, without scheme and path; set `port` separately");
    }
    if text.contains('@') {
        return Some("write only the host; set `user` separately");
    }
    if text.starts_with('[') || text.matches(':').count() == 1 {
        return Some("write only the host, without brackets; set `port` separately");
    }
    if text.contains(':') {
        // A zone is an interface of this host: fe80::1%eth0.
        let (address, _) = text.split_once('%').unwrap_or((text, ""));
        return match address.parse::<Ipv6Addr>() {
            Ok(_) => None,
            Err(_) => Some("an IPv6 address has up to eight groups of hex digits: 2001:db8::1"),
        };
    }
    // The last label of a name is never a number (RFC 1123, section 2.1).
    let last = text.trim_end_matches('.').rsplit('.').next();
    if last.is_some_and(|label| !label.is_empty() && label.bytes().all(|b| b.is_ascii_digit())) {
        return match text.parse::<Ipv4Addr>() {
            Ok(_) => None,
            Err(_) => Some("an IPv4 address has four numbers from 0 to 255"),
        };
    }
    let named = |label: &str| {
        let is_allowed = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        !label.is_empty() && label.len() <= 63 && label.chars().all(is_allowed)
    };
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.split('.').all(named) {
        None
    } else {
        Some("a hostname has letters, digits, hyphens and dots")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_accepts_names_and_addresses_and_suggests_corrections() {
        for right in [
            "192.0.2.1",
            "2001:db8::1",
            "fe80::1%eth0",
            "sw1",
            "sw-1.lab_2.test",
            "sw1.lab.test.",
            "7-eleven",
            "4g",
        ] {
            assert_eq!(check(right), None, "{right}");
        }
        let cases = [
            ("192.0.2.300", "four numbers"),
            ("192.0.2", "four numbers"),
            ("192.0.2.1.1", "four numbers"),
            ("https://lb1.lab.test", "without scheme"),
            ("192.0.2.0/24", "without scheme"),
            ("sw1:2222", "set `port`"),
            ("[2001:db8::1]", "without brackets"),
            ("admin@sw1", "set `user`"),
            ("2001:db8::1::2", "eight groups"),
            ("sw 1", "letters, digits"),
            ("sw1..test", "letters, digits"),
            ("", "letters, digits"),
        ];
        for (text, help) in cases {
            assert!(check(text).unwrap_or("").contains(help), "{text}");
        }
    }
}

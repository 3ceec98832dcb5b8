//! Whether a text can be the address of a device. Names are looked up when a session is opened and
//! not before; what can be no name and no IP address is told earlier.

use std::net::{Ipv4Addr, Ipv6Addr};

/// What to write instead, if this is neither a host name nor an IP address.
pub fn wrong(text: &str) -> Option<&'static str> {
    if text.contains("://") || text.contains('/') {
        return Some("write the host alone, without scheme and path; `port` is a key of its own");
    }
    if text.contains('@') {
        return Some("write the host alone; `user` is a key of its own");
    }
    if text.starts_with('[') || text.matches(':').count() == 1 {
        return Some("write the host alone, without brackets; `port` is a key of its own");
    }
    if text.contains(':') {
        // The zone names an interface of this machine: fe80::1%eth0.
        let (plain, _) = text.split_once('%').unwrap_or((text, ""));
        return match plain.parse::<Ipv6Addr>() {
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
        let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        !label.is_empty() && label.len() <= 63 && label.chars().all(plain)
    };
    let name = text.strip_suffix('.').unwrap_or(text);
    match name.split('.').all(named) {
        true => None,
        false => Some("a host name has letters, digits, hyphens and dots"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_told_from_slips() {
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
            assert_eq!(wrong(right), None, "{right}");
        }
        let cases = [
            ("192.0.2.300", "four numbers"),
            ("192.0.2", "four numbers"),
            ("192.0.2.1.1", "four numbers"),
            ("https://lb1.lab.test", "without scheme"),
            ("192.0.2.0/24", "without scheme"),
            ("sw1:2222", "`port` is a key"),
            ("[2001:db8::1]", "without brackets"),
            ("admin@sw1", "`user` is a key"),
            ("2001:db8::1::2", "eight groups"),
            ("sw 1", "letters, digits"),
            ("sw1..test", "letters, digits"),
            ("", "letters, digits"),
        ];
        for (text, help) in cases {
            assert!(wrong(text).unwrap_or("").contains(help), "{text}");
        }
    }
}

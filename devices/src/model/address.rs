//! Addresses and prefixes in the canonical form of RFC 5952.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address or prefix in the form of RFC 5952; `None` if invalid.
pub(crate) fn canonical_address(text: &str) -> Option<String> {
    match text.split_once('/') {
        None => text
            .parse::<IpAddr>()
            .ok()
            .map(|address| address.to_string()),
        Some((address, length)) => {
            let address: IpAddr = address.parse().ok()?;
            let length: u8 = length.parse().ok()?;
            let limit = if address.is_ipv4() { 32 } else { 128 };
            (length <= limit).then(|| format!("{address}/{length}"))
        }
    }
}

/// A prefix in the form of RFC 5952 with host bits cleared; `None` if invalid.
pub(crate) fn canonical_network(text: &str) -> Option<String> {
    let (address, length) = text.split_once('/')?;
    let length: u32 = length.parse().ok()?;
    Some(match address.parse::<IpAddr>().ok()? {
        IpAddr::V4(address) if length <= 32 => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            format!("{}/{length}", Ipv4Addr::from(u32::from(address) & mask))
        }
        IpAddr::V6(address) if length <= 128 => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            format!("{}/{length}", Ipv6Addr::from(u128::from(address) & mask))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_a_network_has_no_host_bits() {
        let cases = [
            ("192.0.2.77/24", Some("192.0.2.0/24")),
            ("192.0.2.1/0", Some("0.0.0.0/0")),
            ("2001:DB8:1::1/32", Some("2001:db8::/32")),
            ("192.0.2.1/33", None),
            ("192.0.2.1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(canonical_network(text).as_deref(), expected, "{text}");
        }
    }
}

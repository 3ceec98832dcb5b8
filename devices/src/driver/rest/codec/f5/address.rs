//! BIG-IP addresses: `10.0.0.1%2/24`, with a route domain after `%`.

use std::net::IpAddr;

use crate::model::address::canonical_network as without_host_bits;

/// The RFC 5952 form without the default route domain of the partition, if that is known. The last part
/// of a path is an address, too. Other texts (`any`, a name) are unchanged.
pub(crate) fn canonical(text: &str, default_domain: Option<u32>) -> String {
    let text = text.trim();
    if text.starts_with('/')
        && let Some((folder, address)) = text.rsplit_once('/')
    {
        return format!("{folder}/{}", canonical(address, default_domain));
    }
    let (host, length) = match text.split_once('/') {
        Some((host, length)) => (host, Some(length)),
        None => (text, None),
    };
    let (address, domain) = match host.split_once('%') {
        Some((address, domain)) => (address, Some(domain)),
        None => (host, None),
    };
    let Ok(parsed) = address.parse::<IpAddr>() else {
        return text.to_owned();
    };
    let mut out = parsed.to_string();
    let number = domain.and_then(|domain| domain.parse().ok());
    if let Some(domain) = domain
        && (number.is_none() || number != default_domain)
    {
        let number = number.map(|number| number.to_string());
        out.push('%');
        out.push_str(number.as_deref().unwrap_or(domain));
    }
    if let Some(length) = length {
        out.push('/');
        out.push_str(length);
    }
    out
}

/// As [`canonical`], for a network: without host bits, and with the complete length for a single host.
pub(crate) fn canonical_network(text: &str, default_domain: Option<u32>) -> String {
    let text = canonical(text, default_domain);
    let (host, length) = match text.split_once('/') {
        Some((host, length)) => (host, Some(length)),
        None => (text.as_str(), None),
    };
    let (address, domain) = match host.find('%') {
        Some(at) => host.split_at(at),
        None => (host, ""),
    };
    let Ok(parsed) = address.parse::<IpAddr>() else {
        return text;
    };
    let longest = if parsed.is_ipv6() { "128" } else { "32" };
    let length = length.unwrap_or(longest);
    match without_host_bits(&format!("{address}/{length}")) {
        Some(network) => network.replace('/', &format!("{domain}/")),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{canonical, canonical_network};

    #[test]
    fn address_has_one_spelling() {
        for (text, default, expected) in [
            ("10.0.0.1", Some(0), "10.0.0.1"),
            ("10.0.0.1%0", Some(0), "10.0.0.1"),
            ("10.0.0.1%0", Some(2), "10.0.0.1%0"),
            ("10.0.0.1%0", None, "10.0.0.1%0"),
            ("10.0.0.1%2", Some(0), "10.0.0.1%2"),
            ("10.0.0.1%02", Some(0), "10.0.0.1%2"),
            ("10.0.0.1%2", Some(2), "10.0.0.1"),
            ("10.0.0.1%2/24", Some(2), "10.0.0.1/24"),
            ("2001:DB8:0:0::1/64", Some(0), "2001:db8::1/64"),
            ("2001:db8:0:0:0:0:0:1%3/64", Some(0), "2001:db8::1%3/64"),
            ("/shop/2001:DB8::1%2", Some(2), "/shop/2001:db8::1"),
            ("/shop/web", Some(2), "/shop/web"),
            ("any", Some(0), "any"),
            (
                "ffff:ffff:ffff:ffff:0:0:0:0",
                Some(0),
                "ffff:ffff:ffff:ffff::",
            ),
        ] {
            assert_eq!(canonical(text, default), expected, "{text}");
        }
    }

    #[test]
    fn network_has_a_length_and_no_host_bits() {
        for (text, expected) in [
            ("192.0.2.77", "192.0.2.77/32"),
            ("192.0.2.77/24", "192.0.2.0/24"),
            ("192.0.2.77%3/24", "192.0.2.0%3/24"),
            ("192.0.2.77%2/24", "192.0.2.0/24"),
            ("2001:DB8:0:0::1", "2001:db8::1/128"),
            ("2001:DB8::1/32", "2001:db8::/32"),
            ("192.0.2.77/33", "192.0.2.77/33"),
            ("example", "example"),
        ] {
            assert_eq!(canonical_network(text, Some(2)), expected, "{text}");
        }
    }
}

//! BIG-IP addresses: `10.0.0.1%2/24`, with a route domain after `%`.

use std::net::IpAddr;

/// The RFC 5952 form without the default route domain. Other texts (`any`, a name) are unchanged.
pub(crate) fn canonical(text: &str, default_domain: u32) -> String {
    let text = text.trim();
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
    if let Some(domain) = domain
        && domain.parse() != Ok(default_domain)
    {
        out.push('%');
        out.push_str(domain);
    }
    if let Some(length) = length {
        out.push('/');
        out.push_str(length);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn address_has_one_spelling() {
        for (text, default, expected) in [
            ("10.0.0.1", 0, "10.0.0.1"),
            ("10.0.0.1%0", 0, "10.0.0.1"),
            ("10.0.0.1%2", 0, "10.0.0.1%2"),
            ("10.0.0.1%2", 2, "10.0.0.1"),
            ("10.0.0.1%2/24", 2, "10.0.0.1/24"),
            ("2001:DB8:0:0::1/64", 0, "2001:db8::1/64"),
            ("2001:db8:0:0:0:0:0:1%3/64", 0, "2001:db8::1%3/64"),
            ("any", 0, "any"),
            ("ffff:ffff:ffff:ffff:0:0:0:0", 0, "ffff:ffff:ffff:ffff::"),
        ] {
            assert_eq!(canonical(text, default), expected, "{text}");
        }
    }
}

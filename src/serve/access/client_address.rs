//! The address of the client behind a trusted reverse proxy.
//!
//! A proxy appends the address of its client to `X-Forwarded-For`. Whoever sends the request chooses what
//! stands before, so the list is read from its end, and only as long as trusted proxies have written it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The client of a request: `peer` is the other end of the connection, `forwarded` the values of
/// `X-Forwarded-For` in the order of the request, `trusted` the addresses of the proxies.
pub(crate) fn client_address<'a>(
    peer: IpAddr,
    forwarded: impl DoubleEndedIterator<Item = &'a str>,
    trusted: &[IpAddr],
) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|one| one.to_canonical() == address);
    let mut client = peer.to_canonical();
    let mut entries = forwarded.flat_map(|value| value.split(',')).rev();
    while is_trusted(client) {
        match entries.next().and_then(parse_entry) {
            Some(address) => client = address,
            None => break,
        }
    }
    client
}

/// An address, also with a port.
fn parse_entry(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim();
    let address = entry.parse::<SocketAddr>().map(|found| found.ip());
    let address = address.or_else(|_| entry.trim_matches(['[', ']']).parse::<IpAddr>());
    address.ok().map(|found| found.to_canonical())
}

/// The network of a client, for limits: a host has a network of IPv6 addresses with 64 bits.
pub(crate) fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let bits = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(bits))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn client_address_is_what_the_last_trusted_proxy_has_written() {
        let trusted = [address("192.0.2.1"), address("192.0.2.2")];
        for (peer, forwarded, expected) in [
            // Anybody can send the header.
            ("198.51.100.9", &["203.0.113.1"][..], "198.51.100.9"),
            ("192.0.2.1", &["203.0.113.1"], "203.0.113.1"),
            // What the client sent stands before what the proxy appended.
            ("192.0.2.1", &["203.0.113.99, 203.0.113.1"], "203.0.113.1"),
            ("192.0.2.1", &["203.0.113.99", "203.0.113.1"], "203.0.113.1"),
            // Two proxies in a row.
            ("192.0.2.1", &["203.0.113.1, 192.0.2.2"], "203.0.113.1"),
            ("::ffff:192.0.2.1", &["203.0.113.1"], "203.0.113.1"),
            ("192.0.2.1", &["203.0.113.1:4711"], "203.0.113.1"),
            ("192.0.2.1", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("192.0.2.1", &["2001:db8::1"], "2001:db8::1"),
            ("192.0.2.1", &["unknown"], "192.0.2.1"),
            ("192.0.2.1", &[], "192.0.2.1"),
        ] {
            let found = client_address(address(peer), forwarded.iter().copied(), &trusted);
            assert_eq!(found, address(expected), "{peer} {forwarded:?}");
        }
    }

    #[test]
    fn client_network_has_64_bits_of_ipv6() {
        let network = |text: &str| client_network(address(text));
        assert_eq!(network("2001:db8::1"), network("2001:db8::2:3:4"));
        assert_ne!(network("2001:db8::1"), network("2001:db8:1::1"));
        assert_eq!(network("::ffff:192.0.2.1"), address("192.0.2.1"));
    }
}

//! URLs whose requests others can read.

use std::net::IpAddr;

use reqwest::Url;

/// Whether a request to this URL leaves the host without encryption, so that others can read its credentials.
pub fn sends_in_clear(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    // Another name can have any address.
    let is_local = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    url.scheme() == "http" && !is_local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_without_encryption_stay_on_this_host() {
        for (url, is_refused) in [
            ("http://127.0.0.1:8440", false),
            ("http://[::1]:8440", false),
            ("http://localhost:8440/", false),
            ("https://proxy.test:8440", false),
            ("http://192.0.2.1:8440", true),
            ("http://proxy.test:8440", true),
            ("HTTP://proxy.test:8440", true),
            ("http://localhost.evil.test", true),
            ("http://127.0.0.1@evil.test", true),
        ] {
            let url = Url::parse(url).expect("a URL");
            assert_eq!(sends_in_clear(&url), is_refused, "{url}");
        }
    }
}

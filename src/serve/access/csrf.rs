//! Protection against requests that another site makes in the name of a user.
//!
//! A request with side effects needs the header `X-CSRF-Token`. The token is derived from the session, so
//! that nothing is stored. Browsers also send the origin of a request, which is compared.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Derives tokens with a key that ends with the process.
pub(super) struct CsrfKey([u8; 32]);

impl CsrfKey {
    pub(super) fn random() -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the operating system has random numbers");
        Self(key)
    }

    pub(super) fn token(&self, subject: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.mac(subject).finalize().into_bytes())
    }

    pub(super) fn is_token(&self, subject: &str, token: &str) -> bool {
        let token = URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
        self.mac(subject).verify_slice(&token).is_ok()
    }

    fn mac(&self, subject: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(&self.0).expect("a key has any length");
        mac.update(subject.as_bytes());
        mac
    }
}

/// Whether the headers `Origin` and `Sec-Fetch-Site` permit a request with side effects. Programs send
/// neither.
pub(crate) fn is_same_origin(
    origin: Option<&str>,
    fetch_site: Option<&str>,
    host: Option<&str>,
) -> bool {
    let site = fetch_site.is_none_or(|site| site == "same-origin" || site == "none");
    let origin = origin.is_none_or(|origin| {
        let authority = origin.split_once("://").map(|(_, authority)| authority);
        authority.is_some() && authority == host
    });
    site && origin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csrf_token_belongs_to_its_session_and_process() {
        let key = CsrfKey::random();
        let token = key.token("session 1");
        assert!(key.is_token("session 1", &token));
        assert!(!key.is_token("session 2", &token));
        assert!(!key.is_token("session 1", ""));
        assert!(!CsrfKey::random().is_token("session 1", &token));
    }

    #[test]
    fn csrf_origins_of_other_sites_are_refused() {
        let host = Some("proxy.example:8140");
        assert!(is_same_origin(None, None, host));
        assert!(is_same_origin(
            Some("https://proxy.example:8140"),
            Some("same-origin"),
            host
        ));
        assert!(is_same_origin(None, Some("none"), host));
        for (origin, site) in [
            (Some("https://evil.example"), None),
            (Some("https://proxy.example"), None),
            (Some("null"), None),
            (None, Some("cross-site")),
            (None, Some("same-site")),
            (Some("https://proxy.example:8140"), Some("cross-site")),
        ] {
            assert!(!is_same_origin(origin, site, host), "{origin:?} {site:?}");
        }
    }
}

//! Protection against requests that another site makes in the name of a user.
//!
//! A request with side effects needs the header `X-CSRF-Token`. The token is derived from the session with a key of
//! the store, so that all processes with it accept it. Browsers also send the origin of a request, which is compared.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tokio::sync::OnceCell;

use crate::history::{HistoryError, HistoryStore};

/// The name of the key in the store.
const NAME: &str = "csrf";

/// The key of a store, from its first use on.
pub(super) struct StoredCsrfKey {
    history: HistoryStore,
    key: OnceCell<CsrfKey>,
}

impl StoredCsrfKey {
    pub(super) fn of(history: HistoryStore) -> Self {
        Self {
            history,
            key: OnceCell::new(),
        }
    }

    /// The token of a session or a sender.
    pub(super) async fn token(&self, subject: &str) -> Result<String, HistoryError> {
        let read = || async {
            let new = CsrfKey::random();
            let write = self
                .history
                .write(move |writer| writer.access_key(NAME, &new.0));
            write.await.map(CsrfKey)
        };
        Ok(self.key.get_or_try_init(read).await?.token(subject))
    }
}

/// Derives tokens.
struct CsrfKey(Vec<u8>);

impl CsrfKey {
    fn random() -> Self {
        let mut key = vec![0; 32];
        getrandom::fill(&mut key).expect("the operating system has random numbers");
        Self(key)
    }

    fn token(&self, subject: &str) -> String {
        let mut mac = <Hmac<Sha256>>::new_from_slice(&self.0).expect("a key has any length");
        mac.update(subject.as_bytes());
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
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
    use crate::history::HistoryOptions;

    #[tokio::test]
    async fn csrf_token_belongs_to_its_session_and_store() {
        let dir = tempfile::tempdir().unwrap();
        let key = |name: &str| {
            let options = HistoryOptions::at(dir.path().join(name));
            StoredCsrfKey::of(HistoryStore::open(options).unwrap())
        };
        let token = async |key: StoredCsrfKey, subject| key.token(subject).await.unwrap();
        let first = token(key("one.db"), "session 1").await;
        assert_eq!(token(key("one.db"), "session 1").await, first);
        assert_ne!(token(key("one.db"), "session 2").await, first);
        assert_ne!(token(key("other.db"), "session 1").await, first);
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

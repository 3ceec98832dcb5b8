//! Secrets that are valid once and for a short time, at any process with the store: codes for a login, and logins
//! that a browser has begun at the provider.

use jiff::{SignedDuration, Timestamp};

use super::token::TokenText;
use crate::history::access_state::OnceSecret;
use crate::history::{HistoryError, HistoryStore};

/// What secrets are for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purpose {
    pub(super) name: &'static str,
    /// Secrets are valid for this time.
    pub(super) valid: SignedDuration,
    /// Secrets that are valid at once; the oldest one ends first.
    pub(super) count: u32,
}

/// The operator of the host opens a link with a code, for one login without a password. Who can write to the store
/// can make one. An earlier one becomes invalid.
pub(crate) const LOGIN_CODE: Purpose = Purpose {
    name: "login code",
    valid: SignedDuration::from_mins(10),
    count: 1,
};

/// The secrets of a store.
#[derive(Clone)]
pub(crate) struct OnceSecrets {
    history: HistoryStore,
}

impl OnceSecrets {
    pub(crate) fn of(history: HistoryStore) -> Self {
        Self { history }
    }

    /// Makes a login code, on a thread that may wait.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) fn new_login_code(&self, now: Timestamp) -> Result<TokenText, HistoryError> {
        let code = TokenText::random();
        let secret = once_secret(LOGIN_CODE, &code, String::new(), now);
        let write = self
            .history
            .write_and_wait(move |writer| writer.add_once_secret(&secret, LOGIN_CODE.count, now));
        write.map(|()| code)
    }

    /// Adds a secret with what belongs to it.
    pub(super) async fn add(
        &self,
        purpose: Purpose,
        secret: &TokenText,
        body: String,
        now: Timestamp,
    ) -> Result<(), HistoryError> {
        let secret = once_secret(purpose, secret, body, now);
        let write = move |writer: &crate::history::HistoryWriter<'_>| {
            writer.add_once_secret(&secret, purpose.count, now)
        };
        self.history.write(write).await
    }

    /// What belongs to a valid secret. It is invalid from then on.
    pub(super) async fn take(
        &self,
        purpose: Purpose,
        secret: &TokenText,
        now: Timestamp,
    ) -> Result<Option<String>, HistoryError> {
        let digest = secret.digest();
        let write = move |writer: &crate::history::HistoryWriter<'_>| {
            writer.take_once_secret(purpose.name, &digest, now)
        };
        self.history.write(write).await
    }
}

fn once_secret(purpose: Purpose, secret: &TokenText, body: String, now: Timestamp) -> OnceSecret {
    OnceSecret {
        purpose: purpose.name,
        digest: secret.digest(),
        body,
        expires: now.saturating_add(purpose.valid).unwrap_or(now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::HistoryOptions;

    #[tokio::test]
    async fn login_code_is_valid_once_and_for_ten_minutes() {
        let dir = tempfile::tempdir().unwrap();
        let options = HistoryOptions::at(dir.path().join("history.db"));
        let codes = OnceSecrets::of(HistoryStore::open(options.clone()).unwrap());
        let other_process = OnceSecrets::of(HistoryStore::open(options).unwrap());
        let redeem = async |code: &TokenText, now| {
            let taken = other_process.take(LOGIN_CODE, code, now).await;
            taken.unwrap().is_some()
        };
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        assert!(!redeem(&TokenText::random(), start).await);
        let code = codes.new_login_code(start).unwrap();
        assert!(!redeem(&TokenText::random(), start).await);
        let other_purpose = Purpose {
            name: "other",
            ..LOGIN_CODE
        };
        let taken = codes.take(other_purpose, &code, start).await.unwrap();
        assert_eq!(taken, None);
        assert!(redeem(&code, start + LOGIN_CODE.valid).await);
        assert!(!redeem(&code, start).await);
        let late = codes.new_login_code(start).unwrap();
        let end = start + LOGIN_CODE.valid + SignedDuration::from_secs(1);
        assert!(!redeem(&late, end).await);
        let replaced = codes.new_login_code(start).unwrap();
        codes.new_login_code(start).unwrap();
        assert!(!redeem(&replaced, start).await);
    }
}

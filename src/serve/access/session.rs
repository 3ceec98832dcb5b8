//! Sessions of browsers. They are in the store: all processes with it know them, and they outlive a restart.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::access_rules::LocalUser;
use super::oidc::ProviderUser;
use super::token::TokenText;
use crate::error_chain::chain;
use crate::history::access_state::{BrowserSession, SessionBounds};
use crate::history::{HistoryError, HistoryStore, HistoryWriter};

/// A session ends after this time without requests.
const IDLE_LIMIT: SignedDuration = SignedDuration::from_hours(1);

/// A session ends after this time.
pub(crate) const SESSION_LIMIT: Duration = Duration::from_secs(12 * 60 * 60);

/// A use is stored only after this time since the last one.
const USE_INTERVAL: SignedDuration = SignedDuration::from_mins(1);

/// Maximum number of sessions; the one that was idle for the longest time ends first.
const MAX_SESSIONS: u32 = 1_000;

/// The sessions of a store.
pub(super) struct Sessions {
    history: HistoryStore,
}

/// The user of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SessionUser {
    /// The operator of the host, by a login code.
    Operator,
    /// A user with the digest of the entry at the login. The session ends when the entry changes.
    Local { name: String, entry: String },
    /// A user whom the provider identified, with the digest of its settings at the login. The session ends when they
    /// change.
    Provider {
        user: ProviderUser,
        settings: String,
    },
}

/// The digest of a user's entry.
pub(super) fn entry_digest(entry: &LocalUser) -> String {
    let entry = serde_json::to_vec(entry).expect("an entry is JSON");
    hex::encode(Sha256::digest(entry))
}

fn oldest_created(now: Timestamp) -> Timestamp {
    now.saturating_sub(SESSION_LIMIT).unwrap_or(now)
}

fn oldest_used(now: Timestamp) -> Timestamp {
    now.saturating_sub(IDLE_LIMIT).unwrap_or(now)
}

impl Sessions {
    pub(super) fn of(history: HistoryStore) -> Self {
        Self { history }
    }

    /// Opens a session and returns its secret.
    pub(super) async fn open(
        &self,
        user: &SessionUser,
        now: Timestamp,
    ) -> Result<TokenText, HistoryError> {
        let secret = TokenText::random();
        let session = BrowserSession {
            account: serde_json::to_string(user).expect("a user is JSON"),
            created: now,
            used: now,
        };
        let bounds = SessionBounds {
            oldest_created: oldest_created(now),
            oldest_used: oldest_used(now),
            count: MAX_SESSIONS,
        };
        let digest = secret.digest();
        let write =
            move |writer: &HistoryWriter<'_>| writer.add_browser_session(&digest, &session, bounds);
        self.history.write(write).await.map(|()| secret)
    }

    /// The user of a session that has not ended.
    pub(super) async fn user(
        &self,
        secret: &TokenText,
        now: Timestamp,
    ) -> Result<Option<SessionUser>, HistoryError> {
        let digest = secret.digest();
        let read = {
            let digest = digest.clone();
            self.history
                .query(move |reader| reader.browser_session(&digest))
        };
        let is_open = |session: &BrowserSession| {
            session.used >= oldest_used(now) && session.created >= oldest_created(now)
        };
        let Some(session) = read.await?.filter(is_open) else {
            return Ok(None);
        };
        if now.duration_since(session.used) >= USE_INTERVAL {
            let write = move |writer: &HistoryWriter<'_>| writer.use_browser_session(&digest, now);
            // A full store does not end sessions.
            if let Err(error) = self.history.write(write).await {
                tracing::debug!("cannot store the use of a session: {}", chain(&error));
            }
        }
        // A later program can have stored other users.
        Ok(serde_json::from_str(&session.account).ok())
    }

    /// Ends a session.
    pub(super) async fn close(&self, secret: &TokenText) -> Result<(), HistoryError> {
        let digest = secret.digest();
        let write = move |writer: &HistoryWriter<'_>| writer.remove_browser_session(&digest);
        self.history.write(write).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::HistoryOptions;

    fn options(dir: &tempfile::TempDir) -> HistoryOptions {
        HistoryOptions::at(dir.path().join("history.db"))
    }

    #[tokio::test]
    async fn session_ends_when_it_is_idle_old_or_closed() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::of(HistoryStore::open(options(&dir)).unwrap());
        // A second process, and the first one after a restart.
        let other = Sessions::of(HistoryStore::open(options(&dir)).unwrap());
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let minutes = |count: i64| start + SignedDuration::from_mins(count);
        let open = async || {
            let opened = sessions.open(&SessionUser::Operator, start).await;
            opened.unwrap()
        };
        let user = async |secret: &TokenText, now| other.user(secret, now).await.unwrap();
        let secret = open().await;
        assert_eq!(
            user(&secret, minutes(59)).await,
            Some(SessionUser::Operator)
        );
        assert_eq!(user(&TokenText::random(), start).await, None);
        // Used every 50 minutes, it ends after 12 hours.
        let mut last = 0;
        while user(&secret, minutes(last)).await.is_some() {
            last += 50;
        }
        assert_eq!(last, 750);
        let idle = open().await;
        assert_eq!(user(&idle, minutes(61)).await, None);
        let closed = open().await;
        sessions.close(&closed).await.unwrap();
        assert_eq!(user(&closed, start).await, None);
    }

    #[tokio::test]
    async fn sessions_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let history = HistoryStore::open(options(&dir)).unwrap();
        let sessions = Sessions::of(history.clone());
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let first = sessions.open(&SessionUser::Operator, start).await.unwrap();
        let fill = history.write(move |writer| {
            for number in 1..=i64::from(MAX_SESSIONS) {
                let later = start + SignedDuration::from_millis(number);
                let session = BrowserSession {
                    account: "\"operator\"".to_owned(),
                    created: later,
                    used: later,
                };
                let bounds = SessionBounds {
                    oldest_created: start,
                    oldest_used: start,
                    count: MAX_SESSIONS,
                };
                writer.add_browser_session(&number.to_string(), &session, bounds)?;
            }
            Ok(())
        });
        fill.await.unwrap();
        assert_eq!(sessions.user(&first, start).await.unwrap(), None);
        let second = history.query(|reader| reader.browser_session("1")).await;
        assert!(second.unwrap().is_some());
    }
}

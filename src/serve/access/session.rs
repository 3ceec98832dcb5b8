//! Sessions of browsers. They end with the process; the store has none.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use super::access_file::LocalUser;
use super::oidc::ProviderUser;
use super::token::TokenText;

/// A session ends after this time without requests.
const IDLE_LIMIT: Duration = Duration::from_secs(60 * 60);

/// A session ends after this time.
pub(crate) const SESSION_LIMIT: Duration = Duration::from_secs(12 * 60 * 60);

/// Maximum number of sessions; the one that was idle for the longest time ends first.
const MAX_SESSIONS: usize = 1_000;

/// The sessions by the digests of their secrets.
#[derive(Default)]
pub(super) struct Sessions {
    open: Mutex<HashMap<String, OpenSession>>,
}

#[derive(Clone)]
struct OpenSession {
    user: SessionUser,
    created: Instant,
    used: Instant,
}

/// The user of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SessionUser {
    /// The operator of the host, by a login code.
    Operator,
    /// A user with the entry of the login. The session ends when the entry changes.
    Local { name: String, entry: LocalUser },
    /// A user whom the provider identified.
    Provider(ProviderUser),
}

impl OpenSession {
    fn has_ended(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) > IDLE_LIMIT
            || now.saturating_duration_since(self.created) > SESSION_LIMIT
    }
}

impl Sessions {
    /// Opens a session and returns its secret.
    pub(super) fn open(&self, user: SessionUser, now: Instant) -> TokenText {
        let secret = TokenText::random();
        let mut open = self.open.lock().expect("no panic with the lock");
        open.retain(|_, session| !session.has_ended(now));
        if open.len() >= MAX_SESSIONS
            && let Some(oldest) = open.iter().min_by_key(|(_, session)| session.used)
        {
            let oldest = oldest.0.clone();
            open.remove(&oldest);
        }
        let session = OpenSession {
            user,
            created: now,
            used: now,
        };
        open.insert(secret.digest(), session);
        secret
    }

    /// The user of a session that has not ended.
    pub(super) fn user(&self, secret: &TokenText, now: Instant) -> Option<SessionUser> {
        let mut open = self.open.lock().expect("no panic with the lock");
        let digest = secret.digest();
        let session = open.get_mut(&digest)?;
        if session.has_ended(now) {
            open.remove(&digest);
            return None;
        }
        session.used = now;
        Some(session.user.clone())
    }

    /// Ends a session.
    pub(super) fn close(&self, secret: &TokenText) {
        let mut open = self.open.lock().expect("no panic with the lock");
        open.remove(&secret.digest());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn session_ends_when_it_is_idle_old_or_closed() {
        let sessions = Sessions::default();
        let start = clock::instant();
        let minutes = |count: u64| start + Duration::from_secs(60 * count);
        let open = |start| sessions.open(SessionUser::Operator, start);
        let secret = open(start);
        let user = sessions.user(&secret, minutes(59));
        assert_eq!(user, Some(SessionUser::Operator));
        assert_eq!(sessions.user(&TokenText::random(), start), None);
        // Used every 50 minutes, it ends after 12 hours.
        let mut last = 0;
        while sessions.user(&secret, minutes(last)).is_some() {
            last += 50;
        }
        assert_eq!(last, 750);
        let idle = open(start);
        assert_eq!(sessions.user(&idle, minutes(61)), None);
        let closed = open(start);
        sessions.close(&closed);
        assert_eq!(sessions.user(&closed, start), None);
    }

    #[test]
    fn sessions_are_bounded() {
        let sessions = Sessions::default();
        let start = clock::instant();
        let first = sessions.open(SessionUser::Operator, start);
        for number in 0..MAX_SESSIONS as u64 {
            let later = start + Duration::from_millis(number + 1);
            sessions.open(SessionUser::Operator, later);
        }
        assert_eq!(sessions.open.lock().unwrap().len(), MAX_SESSIONS);
        assert_eq!(sessions.user(&first, start), None);
    }
}

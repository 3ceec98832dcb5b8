//! The lock of the configuration, and the earlier sessions that may still have it.

use std::time::Duration;

use super::NetconfSession;
use crate::dialogue::netconf::{Capability, LIST_SESSIONS, listed_sessions};
use crate::secret::Text;
use crate::session::Access;
use crate::session::error::SessionErrorKind;
use crate::session::ledger::{EarlierSessions, ListedSession};

/// The lock of the configuration that the session changes. It is taken before the first read, so that nobody else
/// changes what a change is computed from, and ends with the session.
#[derive(Clone, Debug)]
pub(super) enum DatastoreLock {
    NotRequested,
    Held,
    /// Why the device refused it. The session reads, and changes nothing.
    Refused(String),
}

/// What a device says about a session.
enum Listed {
    Session(ListedSession),
    /// There is no session with this identifier.
    Unlisted,
    /// The device does not list its sessions.
    Unknown,
}

impl NetconfSession {
    /// Locks the configuration that the session may change, unless it was tried before. A refusal of the device is
    /// no error of a read.
    ///
    /// # Errors
    /// The session ended, it cannot be recorded, or the fence refused the lock.
    pub(super) async fn lock_before_read(&mut self) -> Result<(), SessionErrorKind> {
        let DatastoreLock::NotRequested = self.lock else {
            return Ok(());
        };
        let Some(target) = self.target().filter(|_| self.access == Access::ReadWrite) else {
            return Ok(());
        };
        let earlier = self.ledger.earlier();
        if earlier.is_some() && !self.server.session_id.is_empty() {
            self.record().await?;
        }
        self.lock = self
            .lock(target.name(), earlier.unwrap_or_default())
            .await?;
        Ok(())
    }

    /// Records the session before it can have the lock.
    async fn record(&mut self) -> Result<(), SessionErrorKind> {
        let id = self.server.session_id.clone();
        let own = match self.listed(&id).await? {
            Listed::Session(own) => own,
            Listed::Unknown | Listed::Unlisted => self.unlisted(&id),
        };
        let started = self.ledger.begin(&own).await;
        started.map_err(|reason| SessionErrorKind::SessionNotRecorded { reason })?;
        self.recorded = Some(own);
        Ok(())
    }

    /// A session of which only the identifier is known.
    fn unlisted(&self, id: &str) -> ListedSession {
        ListedSession {
            id: id.to_owned(),
            user: self.user.clone(),
            mark: String::new(),
        }
    }

    /// The session with an identifier, if the device lists its sessions.
    async fn listed(&mut self, id: &str) -> Result<Listed, SessionErrorKind> {
        if !self.server.has(Capability::Monitoring) {
            return Ok(Listed::Unknown);
        }
        let answer = self.send(Text::plain(LIST_SESSIONS)).await?;
        if !answer.reply.errors.is_empty() {
            return Ok(Listed::Unknown);
        }
        let mut sessions = listed_sessions(&answer.text).into_iter();
        let found = sessions.find(|session| session.id == id);
        Ok(found.map_or(Listed::Unlisted, Listed::Session))
    }

    /// The session with a lock, if it is an earlier one. An identifier alone can be that of a later session, so
    /// a device that lists its sessions has the last word.
    async fn earlier_session(
        &mut self,
        id: &str,
        earlier: &EarlierSessions,
    ) -> Result<Option<ListedSession>, SessionErrorKind> {
        if earlier.is_empty() {
            return Ok(None);
        }
        Ok(match self.listed(id).await? {
            Listed::Session(session) => {
                let own = self.recorded.as_ref();
                let is_of_login = earlier.all_of_login
                    && own.is_some_and(|own| own.user == session.user)
                    && !self.ledger.is_of_run(&session);
                let is_earlier = is_of_login || earlier.recorded.contains(&session);
                Some(session).filter(|_| is_earlier)
            }
            Listed::Unknown => {
                let session = self.unlisted(id);
                Some(session).filter(|session| earlier.recorded.contains(session))
            }
            Listed::Unlisted => None,
        })
    }

    /// Takes the lock. An earlier session that has it is ended; another one is waited for.
    async fn lock(
        &mut self,
        name: &str,
        earlier: EarlierSessions,
    ) -> Result<DatastoreLock, SessionErrorKind> {
        let request = format!("<lock><target><{name}/></target></lock>");
        let mut ended: Vec<ListedSession> = Vec::new();
        let mut waited = Duration::ZERO;
        loop {
            let reply = self.send(Text::plain(&request)).await?.reply;
            if reply.errors.is_empty() {
                if !earlier.is_empty() {
                    let recorded = self.ledger.earlier_ended(ended).await;
                    recorded.map_err(|reason| SessionErrorKind::SessionNotRecorded { reason })?;
                }
                return Ok(DatastoreLock::Held);
            }
            let output = reply.errors.join("; ");
            let refused =
                DatastoreLock::Refused(format!("cannot lock the {name} configuration: {output}"));
            let holder = match &reply.lock_holder {
                Some(id) => self.earlier_session(id, &earlier).await?,
                None => None,
            };
            if let Some(holder) = holder.filter(|holder| !ended.contains(holder)) {
                let id = &holder.id;
                let end = format!("<kill-session><session-id>{id}</session-id></kill-session>");
                let reply = self.send(Text::plain(&end)).await?.reply;
                if !reply.errors.is_empty() {
                    let reason = reply.errors.join("; ");
                    let sessions = vec![holder];
                    let remain = SessionErrorKind::SessionsRemain { sessions, reason };
                    return Ok(DatastoreLock::Refused(remain.to_string()));
                }
                ended.push(holder);
                continue;
            }
            if !self.lock_wait.goes_on(waited) || self.transport.is_stopped() {
                return Ok(refused);
            }
            tokio::time::sleep(self.lock_wait.interval).await;
            waited += self.lock_wait.interval;
        }
    }
}

//! The configurations of a NETCONF server, and its commits (RFC 6241, sections 7 and 8.4).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use switchtender_outline::NetconfInterface;

use super::datastore::{ConfigurationRules, EditError};
use super::element::{BASE, Element};

/// The time after which a commit is reverted, without another one in the request.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// A session that is no NETCONF session, as a user at the command line (RFC 6241, section 7.5).
const OTHER_SESSION: u64 = 0;

/// A commit that is reverted unless it is confirmed.
#[derive(Debug)]
struct PendingCommit {
    before: Vec<Element>,
    at: Instant,
    /// Without an identifier it ends with its session.
    persist: Option<String>,
    session: u64,
    /// A fault: it is not reverted.
    is_lost: bool,
}

/// What all sessions of a server share.
#[derive(Debug, Default)]
pub(crate) struct NetconfDevice {
    rules: ConfigurationRules,
    /// Operations with the content of their replies.
    answers: Vec<(Element, String)>,
    pub(super) running: Vec<Element>,
    candidate: Option<Vec<Element>>,
    /// The session with the lock of the candidate.
    lock: Option<u64>,
    /// The open sessions.
    sessions: BTreeSet<u64>,
    /// Sessions whose connection was lost stay open, as on a device whose peer has vanished.
    pub(super) keeps_lost: bool,
    /// A fault: another session takes the lock as soon as it is free.
    is_contended: bool,
    pending: Option<PendingCommit>,
    pub(super) clock_advance: Duration,
    /// A change has cut the path to the device.
    pub(super) is_cut_off: bool,
    pub(super) cut_off: Arc<Notify>,
}

/// The parameters of a commit.
#[derive(Debug, Default)]
pub(super) struct CommitRequest<'r> {
    pub(super) is_confirmed: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) persist: Option<&'r str>,
    pub(super) persist_id: Option<&'r str>,
}

fn refusal<T>(tag: &'static str, message: &str) -> Result<T, EditError> {
    Err((tag, message.to_owned()))
}

/// A part of a NETCONF configuration or a reply is no XML, or no valid edit.
#[derive(Debug, thiserror::Error)]
#[error("the configuration of the mock is not valid: {0}")]
pub struct InvalidConfiguration(String);

impl NetconfDevice {
    /// A device with a configuration.
    pub(crate) fn new(interface: &NetconfInterface) -> Result<Self, InvalidConfiguration> {
        let rules = ConfigurationRules::new(interface.lists.clone());
        let config = Element::parse(&format!("<config>{}</config>", interface.config));
        let config = config.map_err(InvalidConfiguration)?;
        let mut running = Vec::new();
        let merged = rules.edit(&[], &mut running, &config.children);
        merged.map_err(|(_, message)| InvalidConfiguration(message))?;
        let answers = interface.answers.iter().map(|(operation, reply)| {
            let operation = Element::parse(&format!("<rpc xmlns=\"{BASE}\">{operation}</rpc>"));
            let operation = operation
                .map_err(InvalidConfiguration)?
                .children
                .into_iter()
                .next();
            let operation =
                operation.ok_or_else(|| InvalidConfiguration("no operation".to_owned()))?;
            Ok((operation, reply.clone()))
        });
        Ok(Self {
            rules,
            answers: answers.collect::<Result<_, _>>()?,
            running,
            ..Self::default()
        })
    }

    /// The running configuration as XML.
    pub(crate) fn text(&mut self) -> String {
        self.expire();
        Element::write_all(&self.running, BASE)
    }

    /// The content of the reply to an operation.
    pub(super) fn answer(&self, operation: &Element) -> Option<&str> {
        let found = self.answers.iter().find(|(own, _)| own == operation);
        found.map(|(_, reply)| reply.as_str())
    }

    pub(super) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Restores the configuration from before a commit whose time is over.
    pub(super) fn expire(&mut self) {
        let now = crate::clock::instant() + self.clock_advance;
        if let Some(pending) = self.pending.take_if(|pending| pending.at <= now) {
            self.revert(pending);
        }
    }

    fn revert(&mut self, pending: PendingCommit) {
        if !pending.is_lost {
            self.running = pending.before;
            self.is_cut_off = false;
        }
    }

    /// A fault: the commit that waits for its confirmation is not reverted.
    pub(super) fn mark_revert_lost(&mut self) {
        if let Some(pending) = &mut self.pending {
            pending.is_lost = true;
        }
    }

    /// A restart: a commit that waits for its confirmation is reverted.
    pub(super) fn restart(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.revert(pending);
        }
        self.candidate = None;
        self.lock = None;
        self.is_contended = false;
    }

    /// A fault: another session takes the lock of the candidate as soon as it is free.
    pub(super) fn contend(&mut self) {
        self.is_contended = true;
        if self.lock.is_none() {
            self.release();
        }
    }

    pub(super) fn begin_session(&mut self, session: u64) {
        self.sessions.insert(session);
    }

    pub(super) fn is_open(&self, session: u64) -> bool {
        self.sessions.contains(&session)
    }

    /// Ends another session (RFC 6241, section 7.9).
    pub(super) fn kill(&mut self, own: u64, session: u64) -> Result<(), EditError> {
        if own == session || !self.is_open(session) {
            return refusal(
                "invalid-value",
                "there is no other session with this identifier",
            );
        }
        self.end_session(session);
        Ok(())
    }

    /// The session with the lock of the candidate.
    pub(super) fn lock_holder(&self) -> Option<u64> {
        self.lock
    }

    /// The end of a lock. The changes of its session end with it.
    fn release(&mut self) {
        self.candidate = None;
        self.lock = self.is_contended.then_some(OTHER_SESSION);
    }

    /// Locks the candidate. A changed candidate cannot be locked.
    pub(super) fn lock(&mut self, session: u64) -> Result<(), EditError> {
        if self.lock.is_some() {
            return refusal("lock-denied", "another session has the lock");
        }
        if self.candidate.is_some() {
            return refusal("lock-denied", "the candidate has been changed");
        }
        self.lock = Some(session);
        Ok(())
    }

    pub(super) fn unlock(&mut self, session: u64) -> Result<(), EditError> {
        if self.lock != Some(session) {
            return refusal("operation-failed", "the session does not have the lock");
        }
        self.release();
        Ok(())
    }

    fn permits(&self, session: u64) -> Result<(), EditError> {
        if self.lock.is_none_or(|holder| holder == session) {
            Ok(())
        } else {
            refusal("in-use", "another session has the lock")
        }
    }

    /// Changes the candidate, completely or not at all.
    pub(super) fn edit(&mut self, session: u64, changes: &[Element]) -> Result<(), EditError> {
        self.permits(session)?;
        let mut candidate = self
            .candidate
            .clone()
            .unwrap_or_else(|| self.running.clone());
        self.rules.edit(&[], &mut candidate, changes)?;
        self.candidate = Some(candidate);
        Ok(())
    }

    pub(super) fn discard(&mut self, session: u64) -> Result<(), EditError> {
        self.permits(session)?;
        self.candidate = None;
        Ok(())
    }

    pub(super) fn validate(&self) -> Result<(), EditError> {
        let candidate = self.candidate.as_ref().unwrap_or(&self.running);
        match self.rules.invalid(&[], candidate) {
            Some(message) => Err(("data-missing", message)),
            None => Ok(()),
        }
    }

    pub(super) fn commit(
        &mut self,
        session: u64,
        request: &CommitRequest<'_>,
    ) -> Result<(), EditError> {
        self.permits(session)?;
        self.validate()?;
        self.owns_pending(session, request.persist_id)?;
        let after = self.candidate.take();
        let before = std::mem::take(&mut self.running);
        self.running = after.unwrap_or_else(|| before.clone());
        let pending = self.pending.take();
        if request.is_confirmed {
            let is_lost = pending.as_ref().is_some_and(|pending| pending.is_lost);
            let timeout = request.timeout.unwrap_or(DEFAULT_TIMEOUT);
            self.pending = Some(PendingCommit {
                before: pending.map_or(before, |pending| pending.before),
                at: crate::clock::instant() + self.clock_advance + timeout,
                persist: request.persist.map(str::to_owned),
                session,
                is_lost,
            });
        }
        Ok(())
    }

    pub(super) fn cancel(
        &mut self,
        session: u64,
        persist_id: Option<&str>,
    ) -> Result<(), EditError> {
        self.owns_pending(session, persist_id)?;
        match self.pending.take() {
            Some(pending) => self.revert(pending),
            None => return refusal("operation-failed", "no commit waits for its confirmation"),
        }
        Ok(())
    }

    /// Whether a request belongs to the commit that waits for its confirmation, if there is one.
    fn owns_pending(&self, session: u64, persist_id: Option<&str>) -> Result<(), EditError> {
        let Some(pending) = &self.pending else {
            return match persist_id {
                Some(_) => refusal("invalid-value", "no commit has this identifier"),
                None => Ok(()),
            };
        };
        let is_owner = match &pending.persist {
            Some(persist) => persist_id == Some(persist.as_str()),
            None => persist_id.is_none() && pending.session == session,
        };
        if is_owner {
            Ok(())
        } else {
            refusal(
                "in-use",
                "a commit of another session waits for its confirmation",
            )
        }
    }

    /// The end of a session: its lock, its candidate and its commit without an identifier end too.
    pub(super) fn end_session(&mut self, session: u64) {
        self.sessions.remove(&session);
        if self.lock == Some(session) {
            self.release();
        }
        let is_own =
            |pending: &mut PendingCommit| pending.persist.is_none() && pending.session == session;
        if let Some(pending) = self.pending.take_if(is_own) {
            self.revert(pending);
        }
    }
}

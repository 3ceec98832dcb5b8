//! The sessions that write to a device, recorded by whoever runs it.
//!
//! A session is recorded before its first write and removed after an orderly end. What is still recorded when a
//! later run begins was left by a process that crashed or lost the device: its bytes may still be under way. The
//! next session that writes ends it first, sees in a second list that it is gone, and only then writes.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

pub use crate::dialogue::session_rules::ListedSession;

/// The earlier sessions that are ended before the first write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierSessions {
    /// Those that were recorded, and did not end in order.
    pub recorded: Vec<ListedSession>,
    /// All other sessions of the login, too.
    pub all_of_login: bool,
}

impl EarlierSessions {
    /// Whether there is nothing to end.
    pub(crate) fn is_empty(&self) -> bool {
        self.recorded.is_empty() && !self.all_of_login
    }
}

/// Records the sessions that write to one device.
#[async_trait]
pub trait SessionLedger: fmt::Debug + Send + Sync {
    /// The sessions to end before the first write. `None`: sessions are not recorded.
    fn earlier(&self) -> Option<EarlierSessions>;

    /// Whether this session was recorded since the run began.
    fn is_of_run(&self, session: &ListedSession) -> bool;

    /// Records a session; it may write when this has returned.
    ///
    /// # Errors
    /// The record cannot be written.
    async fn begin(&self, session: &ListedSession) -> Result<(), String>;

    /// Removes the record of a session that ended in order.
    async fn end(&self, session: &ListedSession);

    /// No earlier session is left. These were ended for it.
    ///
    /// # Errors
    /// The record cannot be written.
    async fn earlier_ended(&self, ended: Vec<ListedSession>) -> Result<(), String>;

    /// Says why a session is not recorded.
    fn note(&self, text: String);
}

/// Sessions that nobody records.
#[derive(Clone, Copy, Debug)]
pub struct NoLedger;

#[async_trait]
impl SessionLedger for NoLedger {
    fn earlier(&self) -> Option<EarlierSessions> {
        None
    }

    fn is_of_run(&self, _: &ListedSession) -> bool {
        false
    }

    async fn begin(&self, _: &ListedSession) -> Result<(), String> {
        Ok(())
    }

    async fn end(&self, _: &ListedSession) {}

    async fn earlier_ended(&self, _: Vec<ListedSession>) -> Result<(), String> {
        Ok(())
    }

    fn note(&self, _: String) {}
}

/// How long a run waits for a lock that somebody else has. By default it does not wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct LockWait {
    /// Interval between two attempts; zero: one attempt.
    pub interval: Duration,
    /// The longest time.
    pub limit: Option<Duration>,
}

impl LockWait {
    /// Whether there is another attempt after this time.
    pub fn goes_on(&self, waited: Duration) -> bool {
        !self.interval.is_zero() && self.limit.is_none_or(|limit| waited < limit)
    }
}

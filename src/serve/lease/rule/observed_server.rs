//! The server of the database as a node sees it: after another start it can have lost what the old one confirmed.

use std::time::Duration;

use crate::clock::BootTime;
use crate::history::leases::{LeaseAnswer, LeaseRequest};

/// The server of the last answer.
#[derive(Debug, Default)]
pub(super) struct ObservedServer {
    /// `None`: no answer has arrived.
    identity: Option<String>,
    /// The last request was about another server, so this one did not renew the leases.
    pub(super) is_new: bool,
    /// Since when the server is seen without the confirmation that earlier leases have expired.
    unconfirmed: Option<BootTime>,
}

impl ObservedServer {
    pub(super) fn identity(&self) -> Option<&String> {
        self.identity.as_ref()
    }

    /// Learns from an answer.
    pub(super) fn observe(&mut self, request: &LeaseRequest, answer: &LeaseAnswer, now: BootTime) {
        self.is_new = request.server.as_ref() != Some(&answer.server);
        let is_same = self.identity.as_ref() == Some(&answer.server);
        if answer.confirmed.as_ref() == Some(&answer.server) {
            self.unconfirmed = None;
        } else if !is_same || self.unconfirmed.is_none() {
            self.unconfirmed = Some(now);
        }
        self.identity = Some(answer.server.clone());
    }

    /// The time for which nobody may acquire, with the longest takeover of the fleet. `None`: they may. Zero: the server
    /// may be confirmed.
    pub(super) fn amnesty(&self, takeover: Duration, now: BootTime) -> Option<Duration> {
        let since = self.unconfirmed?;
        Some(takeover.saturating_sub(now.since(since)))
    }
}

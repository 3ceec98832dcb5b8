//! The claim of this process to the name of its node, and the beats that prove it.

use std::time::Duration;

use super::fleet_view::FleetView;
use crate::clock::BootTime;
use crate::history::leases::NodeRow;

/// Beats that rows of the node can have after a failover that lost the newest ones.
const OLD_BEATS: usize = 4;
/// Beats of requests without an answer.
const UNANSWERED_BEATS: usize = 64;

/// Whether this process is the node of its name.
#[derive(Debug, Default)]
pub(super) struct NameClaim {
    /// The store has accepted the name.
    pub(super) is_accepted: bool,
    /// It had accepted it before: who has the name since is another process, also with the same boot.
    pub(super) was_accepted: bool,
    /// The beats of this process, the newest last.
    pub(super) beats: Vec<i64>,
}

impl NameClaim {
    /// The store has accepted the name, with a beat.
    pub(super) fn accept(&mut self, beat: i64) {
        self.is_accepted = true;
        self.was_accepted = true;
        self.beats.push(beat);
        let old = self.beats.len().saturating_sub(OLD_BEATS);
        self.beats.drain(..old);
    }

    /// Another process has the name.
    pub(super) fn refuse(&mut self) {
        self.is_accepted = false;
        self.beats.clear();
    }

    /// The answer to a request with a beat is missing: the store can have it.
    pub(super) fn no_answer(&mut self, beat: i64) {
        if self.is_accepted {
            self.beats.push(beat);
            // The first are those of the last answers: the store has one of them if no request has arrived since.
            if self.beats.len() > UNANSWERED_BEATS {
                self.beats.remove(OLD_BEATS);
            }
        }
    }

    /// The other process with the name, and the time after which this one may take it.
    pub(super) fn rival<'v>(
        &self,
        view: &'v FleetView,
        now: BootTime,
    ) -> Option<(&'v NodeRow, Duration)> {
        if self.is_accepted {
            return None;
        }
        let found = view.own()?;
        let NodeRow {
            node, is_evicted, ..
        } = &found.row;
        let is_predecessor = node.boot == view.node.boot && !self.was_accepted;
        let wait = if is_predecessor || node.is_stopped || *is_evicted {
            Duration::ZERO
        } else {
            let takeover = view.node_times(node).takeover();
            takeover.saturating_sub(now.since(found.since))
        };
        Some((&found.row, wait))
    }
}

//! Events of runs in progress, for pages and the API.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::history::{RunEffect, RunId};
use crate::report::RunStatus;
use crate::run_kind::RunKind;
use crate::transaction::{LogEntry, ResourceStatus};

/// Events that a slow receiver may be behind.
const BACKLOG: usize = 4096;
/// Events of one run that are stored for receivers that come later.
const MAX_EVENTS: usize = 2000;

/// An event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LiveEvent {
    pub(crate) run: RunId,
    pub(crate) device: String,
    #[serde(flatten)]
    pub(crate) event: LiveEventKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum LiveEventKind {
    Queued,
    Started {
        kind: RunKind,
    },
    Log(Arc<LogEntry>),
    /// A resource was evaluated, or evaluated again by the verification.
    Resource(Arc<ResourceStatus>),
    /// The result is stored.
    Ended {
        status: RunStatus,
        effect: RunEffect,
    },
}

/// The events of all runs in progress.
pub(crate) struct LiveRuns {
    sender: broadcast::Sender<LiveEvent>,
    runs: Mutex<HashMap<RunId, Vec<LiveEvent>>>,
}

impl LiveRuns {
    pub(crate) fn new() -> Self {
        Self {
            sender: broadcast::Sender::new(BACKLOG),
            runs: Mutex::default(),
        }
    }

    /// Receives the events of all runs from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<LiveEvent> {
        self.sender.subscribe()
    }

    /// The events of a run until now, and a receiver of those that follow. `None`: it is not in
    /// progress, and the history has its result.
    pub(crate) fn of_run(
        &self,
        run: RunId,
    ) -> Option<(Vec<LiveEvent>, broadcast::Receiver<LiveEvent>)> {
        let runs = self.runs();
        let earlier = runs.get(&run)?.clone();
        Some((earlier, self.sender.subscribe()))
    }

    /// Whether a run has not started, as far as its events say.
    pub(super) fn is_waiting(&self, run: RunId) -> bool {
        self.runs()
            .get(&run)
            .is_some_and(|events| are_waiting(events))
    }

    /// The runs that have not started, as far as their events say.
    pub(super) fn waiting(&self) -> Vec<RunId> {
        let runs = self.runs();
        let waiting = runs.iter().filter(|(_, events)| are_waiting(events));
        waiting.map(|(run, _)| *run).collect()
    }

    /// Another node has the run: its events follow.
    pub(super) fn begin(&self, run: RunId) {
        self.runs().entry(run).or_default();
    }

    /// Nobody follows the run of another node any more.
    pub(super) fn forget(&self, run: RunId) {
        self.runs().remove(&run);
    }

    /// Passes an event on.
    pub(crate) fn emit(&self, event: LiveEvent) {
        let mut runs = self.runs();
        if matches!(event.event, LiveEventKind::Ended { .. }) {
            runs.remove(&event.run);
        } else {
            let events = runs.entry(event.run).or_default();
            if events.len() < MAX_EVENTS {
                events.push(event.clone());
            }
        }
        // Without a receiver, the event is only stored.
        let _ = self.sender.send(event);
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Vec<LiveEvent>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn are_waiting(events: &[LiveEvent]) -> bool {
    let mut events = events.iter();
    events.all(|event| event.event == LiveEventKind::Queued)
}

//! Which of the processes with one database runs devices.
//!
//! The first one takes the lock of the store and runs them. Those that start later only read, and write requests
//! that the first one finds. They never take over by themselves: nobody could tell whether the first one still
//! changes a device. An operator stops it, and restarts another one.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::run_store::RunStoreError;
use super::service::Service;
use crate::clock;
use crate::error_chain::chain;
use crate::history::{HistoryError, HistoryStore, RunsLock, RunsLockState};
use crate::store::blocking_io;

/// Interval between reads of what other processes have requested.
pub(super) const REQUEST_INTERVAL: Duration = Duration::from_secs(2);

/// The server notices within this time that the process before has ended.
const START_LIMIT: Duration = Duration::from_secs(5);
const START_PAUSE: Duration = Duration::from_millis(250);

/// What a process does with the devices.
pub(super) enum RunnerRole {
    /// It runs them. `None`: the lock is lost, and it takes it again.
    Runner(Mutex<Option<RunsLock>>),
    /// It only reads: this one runs them.
    Reader(String),
}

/// Why a process may not run devices.
pub(super) enum LockProblem {
    None,
    /// The database cannot be reached.
    Away(String),
    /// Another process has the lock.
    Other(String),
}

impl RunnerRole {
    /// Takes the lock of a store, or finds the process that has it.
    pub(super) async fn take(history: &HistoryStore) -> Result<Self, HistoryError> {
        let end = clock::instant() + START_LIMIT;
        loop {
            match take_lock(history).await? {
                RunsLockState::Held(lock) => return Ok(Self::Runner(Mutex::new(Some(lock)))),
                RunsLockState::Other(_) if clock::instant() < end => {
                    tokio::time::sleep(START_PAUSE).await;
                }
                RunsLockState::Other(holder) => return Ok(Self::Reader(holder)),
            }
        }
    }

    /// The process that runs devices, if it is another one.
    pub(super) fn runner(&self) -> Option<&str> {
        match self {
            Self::Runner(_) => None,
            Self::Reader(holder) => Some(holder),
        }
    }
}

async fn take_lock(history: &HistoryStore) -> Result<RunsLockState, HistoryError> {
    let history = history.clone();
    blocking_io::run(move || history.take_runs_lock()).await
}

impl Service {
    /// Whether another process runs the devices.
    pub(crate) fn is_reader(&self) -> bool {
        self.inner.role.runner().is_some()
    }

    /// Whether this process has the lock still, or takes it again.
    pub(super) async fn lock_problem(&self) -> LockProblem {
        let RunnerRole::Runner(lock) = &self.inner.role else {
            return LockProblem::None;
        };
        let held = lock.lock().unwrap_or_else(PoisonError::into_inner).take();
        let held = blocking_io::run(move || held.filter(RunsLock::is_held)).await;
        let (held, problem) = match held {
            Some(held) => (Some(held), LockProblem::None),
            None => match take_lock(self.history()).await {
                Ok(RunsLockState::Held(held)) => (Some(held), LockProblem::None),
                Ok(RunsLockState::Other(holder)) => (
                    None,
                    LockProblem::Other(format!("{holder} runs the devices of this store")),
                ),
                Err(error) => (None, LockProblem::Away(chain(&error))),
            },
        };
        *lock.lock().unwrap_or_else(PoisonError::into_inner) = held;
        problem
    }

    /// Finds what other processes with this database have requested and paused.
    pub(super) async fn find_requests(&self) {
        if let Err(error) = self.try_find_requests().await {
            tracing::warn!(
                "cannot read the requests of other processes: {}",
                chain(&error)
            );
        }
    }

    async fn try_find_requests(&self) -> Result<(), RunStoreError> {
        // A pause that this process stores meanwhile is not reverted.
        let _pauses = self.inner.pauses.lock().await;
        let requests = self.store().requests().await?;
        let schedules = self.store().schedules().await?;
        let now = clock::timestamp();
        let mut dispatcher = self.inner.dispatcher();
        for request in requests {
            let run = &request.run;
            if dispatcher.has_request(request.id) || !dispatcher.has_device(&run.device) {
                continue;
            }
            dispatcher.request(&run.device, request.cause(), run.priority, run.queued);
            self.emit_queued(request.id, &run.device);
        }
        for (device, schedule) in schedules {
            let is_paused = schedule.pause.is_some();
            if dispatcher
                .is_paused(&device)
                .is_some_and(|known| known != is_paused)
            {
                dispatcher.set_paused(&device, is_paused, now);
            }
        }
        Ok(())
    }
}

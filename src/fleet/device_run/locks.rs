//! The locks of a run, held until its end.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{DeviceRunError, Running};
use crate::fleet::run_request::LockWait;
use crate::store::{DeviceStore, HeldLocks, LockError, LockSubject, blocking_io};

/// The locks of a run.
pub(super) struct Locks<'a> {
    store: &'a DeviceStore,
    wait: LockWait,
    stop: CancellationToken,
    held: Arc<HeldLocks>,
}

impl<'a> Locks<'a> {
    pub(super) fn new(store: &'a DeviceStore, wait: LockWait, run: &Running<'_>) -> Self {
        Self {
            store,
            wait,
            stop: run.stop.clone(),
            held: Arc::clone(&run.locks),
        }
    }

    /// Takes a lock for the rest of the run.
    ///
    /// # Errors
    /// Another run has it, and does not end within the time of [`LockWait`].
    pub(super) async fn take(&mut self, subject: &LockSubject) -> Result<(), DeviceRunError> {
        let mut waited = Duration::ZERO;
        loop {
            match self.store.lock(subject) {
                Ok(lock) => {
                    self.held.add(Box::new(lock));
                    return Ok(());
                }
                Err(error) => self.wait_after(error, &mut waited).await?,
            }
        }
    }

    /// Takes the lock for all hosts of a store, if there is one, as [`Locks::take`].
    pub(super) async fn take_for_all_hosts(&mut self) -> Result<(), DeviceRunError> {
        let mut waited = Duration::ZERO;
        loop {
            let store = self.store.clone();
            match blocking_io::run(move || store.lock_for_all_hosts()).await {
                Ok(lock) => {
                    if let Some(lock) = lock {
                        self.held.add(lock);
                    }
                    return Ok(());
                }
                Err(error) => self.wait_after(error, &mut waited).await?,
            }
        }
    }

    /// Waits before another attempt.
    ///
    /// # Errors
    /// The error of the last attempt, if there is no other one.
    async fn wait_after(
        &self,
        error: LockError,
        waited: &mut Duration,
    ) -> Result<(), DeviceRunError> {
        if !error.is_held() || !self.wait.goes_on(*waited) || self.stop.is_cancelled() {
            return Err(error.into());
        }
        let interval = self.wait.interval;
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = tokio::time::sleep(interval) => {}
        }
        *waited += interval;
        Ok(())
    }
}

//! The locks of a run, held until its end.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{DeviceRunError, Running};
use crate::fleet::run_request::LockWait;
use crate::store::{DeviceStore, HeldLocks, LockError, LockSubject};

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
        let interval = self.wait.interval;
        let mut waited = Duration::ZERO;
        loop {
            match self.store.lock(subject) {
                Err(LockError::Held { .. })
                    if self.wait.goes_on(waited) && !self.stop.is_cancelled() => {}
                result => {
                    self.held.add(result?);
                    return Ok(());
                }
            }
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(interval) => {}
            }
            waited += interval;
        }
    }
}

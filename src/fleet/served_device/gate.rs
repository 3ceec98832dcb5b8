//! When a run may begin, and when it has to end: splay, disabled devices, locks, limits, stops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::ServedFleet;
use super::error::ServedError;
use crate::agent::disabled;
use crate::agent::layout::Layout;
use crate::error_chain::chain;
use crate::store::{DeviceLock, DeviceStore, LockError};

impl ServedFleet {
    /// Delays the start by a random time within `splay`.
    pub(super) async fn splay(&self) {
        if let Some(limit) = self.proxy.settings.splay {
            let wait = limit.mul_f64(rand::random());
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Takes the device, unless it is disabled or another run has it.
    pub(super) async fn begin(
        &self,
        layout: &Layout,
        store: &DeviceStore,
    ) -> Result<DeviceLock, String> {
        match disabled::reason(layout) {
            Err(error) => return Err(chain(&error)),
            Ok(Some(reason)) => {
                return Err(format!(
                    "Skipping run of {}; administratively disabled (Reason: '{reason}'); use `switchtender device --enable --target {}`",
                    layout.certname, layout.certname
                ));
            }
            Ok(None) => {}
        }
        let settings = &self.proxy.settings;
        let mut waited = Duration::ZERO;
        loop {
            match store.lock() {
                Ok(lock) => return Ok(lock),
                Err(error @ LockError::Held { .. }) => {
                    let over = settings.maxwaitforlock.is_some_and(|limit| waited >= limit);
                    if settings.waitforlock.is_zero() || over || self.stop.is_cancelled() {
                        return Err(chain(&error));
                    }
                }
                Err(error) => return Err(chain(&error)),
            }
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(settings.waitforlock) => {}
            }
            waited += settings.waitforlock;
        }
    }
}

/// Stops a run that takes too long, and never ends itself: the run decides when it is over.
pub(super) async fn expire(limit: Option<Duration>, stop: &CancellationToken, late: &AtomicBool) {
    if let Some(limit) = limit {
        tokio::time::sleep(limit).await;
        late.store(true, Ordering::Relaxed);
        stop.cancel();
    }
    std::future::pending().await
}

/// Waits for what may be dropped, as long as nobody says stop.
pub(super) async fn unless_stopped<T>(
    stop: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, ServedError> {
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(ServedError::Stopped("Cancelling startup: the run was stopped before the catalog was applied".to_owned())),
        done = work => Ok(done),
    }
}

//! The protocol of `Type=notify` services of systemd. Without systemd it does nothing.

use std::time::Duration;

use sd_notify::NotifyState;
use switchtender_devices::task;
use tokio_util::task::AbortOnDropHandle;

/// Reports that the process is ready.
pub(crate) fn ready(status: &str) {
    notify(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// Reports what the process does now.
pub(crate) fn status(status: &str) {
    notify(&[NotifyState::Status(status)]);
}

/// Reports that the process stops.
pub(crate) fn stopping() {
    notify(&[NotifyState::Stopping]);
}

/// Reports regularly that the process works, if systemd expects it.
pub(crate) fn start_watchdog() -> Option<AbortOnDropHandle<()>> {
    let limit = sd_notify::watchdog_enabled()?;
    let mut interval = tokio::time::interval((limit / 2).max(Duration::from_millis(1)));
    Some(task::spawn(async move {
        loop {
            interval.tick().await;
            notify(&[NotifyState::Watchdog]);
        }
    }))
}

fn notify(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!("cannot notify systemd: {error}");
    }
}

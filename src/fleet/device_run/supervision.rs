//! The end of a run by its time limit or by the user.

use std::time::Duration;

use switchtender_devices::session::deadline::{Deadline, StopCause};
use tokio_util::sync::CancellationToken;

use super::DeviceRunError;
use crate::clock;

/// The longest time for the current resource after a run was stopped.
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(10);
/// Time for the delivery of the report after the run has ended.
const DELIVERY_GRACE: Duration = Duration::from_secs(10);

/// Stops a run at its end, and ends it some time after it was stopped. Never returns: the run
/// decides when it is over.
pub(super) async fn supervise(
    deadline: &Deadline,
    stop: &CancellationToken,
    abort: &CancellationToken,
    grace: Duration,
) {
    let stop_at_the_end = async {
        deadline.passed().await;
        stop.cancel();
    };
    let end_after_grace = async {
        stop.cancelled().await;
        deadline.end_at(clock::instant() + grace, StopCause::Requested);
    };
    let end_now = async {
        abort.cancelled().await;
        deadline.end_at(clock::instant(), StopCause::Requested);
    };
    tokio::join!(stop_at_the_end, end_after_grace, end_now);
    std::future::pending().await
}

/// Waits for work that may be dropped, at most until `end`.
pub(super) async fn until<T>(
    end: impl Future,
    work: impl Future<Output = T>,
) -> Result<T, DeviceRunError> {
    tokio::select! {
        biased;
        _ = end => Err(DeviceRunError::Stopped),
        done = work => Ok(done),
    }
}

/// Some time after the end of the run.
pub(super) async fn delivery_end(deadline: &Deadline) {
    deadline.passed().await;
    tokio::time::sleep(DELIVERY_GRACE).await;
}

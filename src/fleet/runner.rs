//! Runs one future per device, under limits; a panic ends only the run of its device.

use std::future::{Future, ready};
use std::sync::Arc;

use futures_util::FutureExt as _;
use switchtender_devices::names::DeviceName;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::limits::{Limits, Membership, Permit};

/// Why the task of a device has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TaskError {
    /// A defect in this program: the run of this device is lost, the others continue.
    #[error("internal error: {0}")]
    Panicked(String),
    #[error("not started")]
    NotStarted(#[from] NotStarted),
}

/// Why a device was not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotStarted {
    #[error("the run was stopped")]
    Stopped,
    /// A device before it in the order of the inventory (`after`).
    #[error("{0} did not succeed, and this device comes after it")]
    After(DeviceName),
    #[error("the rollout stopped: {0}")]
    RolloutStopped(String),
}

/// Runs `work` for every device and passes each result to `done`, in order of completion.
///
/// # Cancellation
/// After `stop` no device is started. Running devices are awaited: they check the token between
/// resources.
pub(crate) async fn run<D, T, W, F>(
    devices: Vec<(D, Membership)>,
    limits: &Limits,
    stop: &CancellationToken,
    work: W,
    done: impl FnMut(D, Result<T, TaskError>),
) where
    D: Clone + Send + Sync + 'static,
    T: Send + 'static,
    W: Fn(D) -> F + Send + Sync + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let work = Arc::new(work);
    let with_permit = move |device, permit: Permit| {
        let work = Arc::clone(&work);
        async move {
            let _permit = permit;
            work(device).await
        }
    };
    run_when_ready(devices, limits, stop, |_| ready(Ok(())), with_permit, done).await;
}

/// As [`run`]; a device starts when its `is_ready` ends, unless that says why it must not start. The work has the
/// permit of its device.
pub(crate) async fn run_when_ready<D, T, R, G, W, F>(
    devices: Vec<(D, Membership)>,
    limits: &Limits,
    stop: &CancellationToken,
    is_ready: R,
    work: W,
    mut done: impl FnMut(D, Result<T, TaskError>),
) where
    D: Clone + Send + Sync + 'static,
    T: Send + 'static,
    R: Fn(&D) -> G,
    G: Future<Output = Result<(), NotStarted>> + Send + 'static,
    W: Fn(D, Permit) -> F + Send + Sync + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    let work = Arc::new(work);
    for (device, member) in devices {
        let (limits, stop, work) = (limits.clone(), stop.clone(), Arc::clone(&work));
        let is_ready = is_ready(&device);
        tasks.spawn(async move {
            let permit = tokio::select! {
                biased;
                () = stop.cancelled() => Err(NotStarted::Stopped),
                permit = async {
                    is_ready.await?;
                    Ok(limits.acquire(&member).await)
                } => permit,
            };
            let permit = match permit {
                Ok(permit) => permit,
                Err(reason) => return (device, Err(reason.into())),
            };
            // Memory is allocated only now: it follows the permits, not the inventory.
            let run = Box::pin(work(device.clone(), permit));
            let result = std::panic::AssertUnwindSafe(run).catch_unwind().await;
            (
                device,
                result.map_err(|panic| TaskError::Panicked(panic_message(panic.as_ref()))),
            )
        });
    }
    while let Some(ended) = tasks.join_next().await {
        let (device, result) = ended.expect("tasks are not aborted, and panics are caught inside");
        done(device, result);
    }
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown panic".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(names: &[&'static str]) -> Vec<(&'static str, Membership)> {
        names
            .iter()
            .map(|name| (*name, Membership::default()))
            .collect()
    }

    fn limits(all: usize) -> Limits {
        Limits::new(all, None, None, [])
    }

    #[tokio::test]
    async fn run_reports_a_panic_as_the_failure_of_its_device() {
        let mut results = Vec::new();
        run(
            devices(&["sw1", "sw2", "sw3"]),
            &limits(2),
            &CancellationToken::new(),
            |name| async move {
                assert!(name != "sw2", "driver defect");
                name.len()
            },
            |name, result| results.push((name, result)),
        )
        .await;
        results.sort_by_key(|(name, _)| *name);
        assert_eq!(
            results,
            [
                ("sw1", Ok(3)),
                ("sw2", Err(TaskError::Panicked("driver defect".to_owned()))),
                ("sw3", Ok(3))
            ]
        );
    }

    #[tokio::test]
    async fn run_starts_no_device_after_a_stop_and_awaits_running_devices() {
        let stop = CancellationToken::new();
        let mut results = Vec::new();
        let token = stop.clone();
        run(
            devices(&["sw1", "sw2"]),
            &limits(1),
            &stop,
            move |_| {
                let token = token.clone();
                async move {
                    token.cancel();
                    tokio::task::yield_now().await;
                }
            },
            |name, result| results.push((name, result)),
        )
        .await;
        results.sort_by_key(|(_, result)| result.is_err());
        assert_eq!(results[0].1, Ok(()));
        assert_eq!(
            results[1].1,
            Err(TaskError::NotStarted(NotStarted::Stopped))
        );
    }
}

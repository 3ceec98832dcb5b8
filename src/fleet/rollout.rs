//! A run in batches: the next batch starts when the one before it has ended well.

pub(crate) mod batches;
pub(crate) mod check;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use switchtender_devices::names::DeviceName;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::limits::{Limits, Membership, Permit};
use super::runner::{self, NotStarted, TaskError};
use crate::error_chain::chain;
use crate::store::rollout_log::RolloutLog;
use batches::Share;
use check::{CheckEnd, RolloutCheck};

/// The batches of a run, and what stops it.
#[derive(Debug, Default)]
pub(crate) struct Rollout {
    /// The devices in the order of their batches.
    pub(crate) batches: Vec<Vec<DeviceName>>,
    /// The devices that must succeed before a device starts.
    pub(crate) after: HashMap<DeviceName, Vec<DeviceName>>,
    /// Maximum number of failed devices; `None`: no limit.
    pub(crate) max_failures: Option<Share>,
    /// A command after each batch.
    pub(crate) check: Option<RolloutCheck>,
    /// The results, for `--resume`.
    pub(crate) log: Option<RolloutLog>,
}

/// A batch that starts.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) count: usize,
    pub(crate) devices: Vec<DeviceName>,
}

/// The end of a device in a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceEnd {
    Succeeded,
    Failed,
    /// The device has reverted its changes, which stops the rollout at once.
    Reverted,
    /// The user did not agree to its plan: nothing failed.
    NotConfirmed,
}

/// What a rollout tells about its devices.
pub(crate) trait RolloutSink<T> {
    fn batch(&mut self, batch: Batch);

    /// The command after a batch has ended.
    fn check(&mut self, end: CheckEnd);

    /// The task of a device has ended.
    fn device(&mut self, device: DeviceName, result: Result<T, TaskError>) -> DeviceEnd;
}

impl Rollout {
    /// Runs the devices batch by batch. Devices of later batches are reported as not started if the
    /// rollout stops.
    ///
    /// # Errors
    /// Why the rollout stopped before its end.
    ///
    /// # Cancellation
    /// As [`runner::run`].
    pub(crate) async fn run<T, W, F>(
        &self,
        members: &HashMap<DeviceName, Membership>,
        limits: &Limits,
        stop: &CancellationToken,
        work: W,
        sink: &mut impl RolloutSink<T>,
    ) -> Result<(), String>
    where
        T: Send + 'static,
        W: Fn(DeviceName, Permit) -> F + Send + Sync + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let work = Arc::new(work);
        let results = DeviceResults::new(&self.after, &self.batches);
        let all = self.batches.iter().map(Vec::len).sum();
        let mut failed = 0;
        let mut stopped: Option<String> = None;
        // A limit that is exceeded by the last devices has stopped nothing.
        let mut has_effect = false;
        for (index, batch) in self.batches.iter().enumerate() {
            if stopped.is_some() || stop.is_cancelled() {
                has_effect |= stopped.is_some();
                for device in batch {
                    sink.device(device.clone(), Err(not_started(stopped.as_ref()).into()));
                }
                continue;
            }
            let batch = Batch {
                number: index + 1,
                count: self.batches.len(),
                devices: batch.clone(),
            };
            sink.batch(batch.clone());
            let devices = batch.devices.iter().map(|device| {
                let member = members.get(device).cloned().unwrap_or_default();
                (device.clone(), member)
            });
            let batch_stop = stop.child_token();
            let work = Arc::clone(&work);
            runner::run_when_ready(
                devices.collect(),
                limits,
                &batch_stop,
                |device| results.wait_before(device),
                move |device, permit| work(device, permit),
                |device, result| {
                    let result = match result {
                        Err(TaskError::NotStarted(NotStarted::Stopped)) => {
                            Err(not_started(stopped.as_ref()).into())
                        }
                        other => other,
                    };
                    let was_started = !matches!(result, Err(TaskError::NotStarted(_)));
                    let end = sink.device(device.clone(), result);
                    let succeeded = end == DeviceEnd::Succeeded;
                    results.end(&device, succeeded);
                    if !was_started {
                        has_effect |= stopped.is_some();
                        return;
                    }
                    failed += usize::from(!succeeded && end != DeviceEnd::NotConfirmed);
                    let written = self.log.as_ref().map(|log| log.append(&device, succeeded));
                    let cause = match written {
                        Some(Err(error)) => Some(chain(&error)),
                        _ if end == DeviceEnd::Reverted && self.is_staged() => {
                            Some(format!("{device} has reverted its changes"))
                        }
                        _ => self.too_many(failed, all),
                    };
                    if let Some(cause) = cause {
                        stopped.get_or_insert(cause);
                        batch_stop.cancel();
                    }
                },
            )
            .await;
            if stopped.is_none()
                && let Some(check) = &self.check
            {
                let checked = stop.run_until_cancelled(check.run(&batch)).await;
                let failure = match checked {
                    Some(Ok(end)) => {
                        let failure = (!end.is_success).then(|| end.summary());
                        sink.check(end);
                        failure
                    }
                    Some(Err(error)) => Some(chain(&error)),
                    None => None,
                };
                if let Some(failure) = failure {
                    has_effect = true;
                    let Batch { number, count, .. } = batch;
                    stopped = Some(format!(
                        "the check failed after batch {number} of {count}: {failure}"
                    ));
                }
            }
        }
        stopped.filter(|_| has_effect).map_or(Ok(()), Err)
    }

    /// These devices again in the same order, as one batch that nothing stops.
    pub(crate) fn again(self, devices: &[DeviceName]) -> Self {
        Self {
            batches: vec![devices.to_vec()],
            max_failures: None,
            check: None,
            log: None,
            ..self
        }
    }

    /// Whether something can stop the run before its end.
    fn is_staged(&self) -> bool {
        self.batches.len() > 1 || self.max_failures.is_some() || self.check.is_some()
    }

    /// The message that more devices failed than allowed.
    fn too_many(&self, failed: usize, all: usize) -> Option<String> {
        let limit = self.max_failures?.of(all);
        let plural = if failed == 1 { "" } else { "s" };
        (failed > limit).then(|| format!("{failed} device{plural} failed, the limit is {limit}"))
    }
}

/// Why a device was not started: the rollout stopped, or all of the run.
fn not_started(cause: Option<&String>) -> NotStarted {
    cause.map_or(NotStarted::Stopped, |cause| {
        NotStarted::RolloutStopped(cause.clone())
    })
}

/// The results of the devices that others wait for.
struct DeviceResults<'a> {
    after: &'a HashMap<DeviceName, Vec<DeviceName>>,
    /// `None` until the device has ended.
    results: HashMap<&'a DeviceName, watch::Sender<Option<bool>>>,
}

impl<'a> DeviceResults<'a> {
    /// The devices of the run that others wait for. The run does not wait for other devices.
    fn new(
        after: &'a HashMap<DeviceName, Vec<DeviceName>>,
        batches: &'a [Vec<DeviceName>],
    ) -> Self {
        let awaited: HashSet<&DeviceName> = after.values().flatten().collect();
        let devices = batches.iter().flatten();
        let devices = devices.filter(|device| awaited.contains(device));
        let results = devices.map(|device| (device, watch::Sender::new(None)));
        Self {
            after,
            results: results.collect(),
        }
    }

    /// Waits for the devices before a device.
    fn wait_before(
        &self,
        device: &DeviceName,
    ) -> impl Future<Output = Result<(), NotStarted>> + Send + use<> {
        let before = self.after.get(device).into_iter().flatten();
        let waits: Vec<_> = before
            .filter_map(|name| Some((name.clone(), self.results.get(name)?.subscribe())))
            .collect();
        async move {
            for (name, mut result) in waits {
                let ended = result.wait_for(Option::is_some).await;
                if !ended.is_ok_and(|result| *result == Some(true)) {
                    return Err(NotStarted::After(name));
                }
            }
            Ok(())
        }
    }

    fn end(&self, device: &DeviceName, succeeded: bool) {
        if let Some(result) = self.results.get(device) {
            result.send_replace(Some(succeeded));
        }
    }
}

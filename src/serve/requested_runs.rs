//! Requested runs: they are stored, found by the process that has the device, queued, withdrawn and expire.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::dispatcher::RunCause;
use super::lease::leases::DeviceOwner;
use super::live::{LiveEvent, LiveEventKind};
use super::queue::WaitReason;
use super::request::{DeviceRequest, RequestedKind, RunRequestError};
use super::run_store::{CancelRequest, RunStoreError, within_limit};
use super::schedule::DeviceSchedule;
use super::service::Service;
use crate::clock;
use crate::error_chain::chain;
use crate::history::runs::RunEntry;
use crate::history::{AddedRequest, NewRun, RunEffect, RunId, RunUuid};
use crate::report::RunStatus;
use crate::run_kind::RunKind;

/// The priority of requests among each other.
pub(super) const REQUEST_PRIORITY: i32 = 0;

/// Interval between reads of what other processes have requested: a net for lost notifications.
pub(super) const REQUEST_INTERVAL: Duration = Duration::from_secs(2);
/// The topic of requests and pauses.
pub(super) const REQUEST_TOPIC: &str = "request";

impl Service {
    /// Requests a run. It is stored when this returns, and starts as soon as the limits permit it. A
    /// device has one waiting request of a kind: others join it.
    ///
    /// # Errors
    /// The device is unknown, or no run can start.
    pub(crate) async fn request(&self, request: DeviceRequest) -> Result<RunId, RunRequestError> {
        self.check_start()?;
        let now = clock::timestamp();
        let schedule = self.schedule_for(&request.device, request.kind)?;
        let RequestedKind(kind) = request.kind;
        let new_run = NewRun {
            uuid: RunUuid::new(now),
            device: request.device.clone(),
            kind: kind.unwrap_or_else(|| schedule.kind_at(now)),
            follows_windows: kind.is_none(),
            requester: request.requester,
            priority: REQUEST_PRIORITY,
            queued: now,
            started: None,
        };
        let (history, key) = (self.history(), request.key);
        let limit = self.fleet().settings.request_limit;
        let oldest = now.saturating_sub(limit).unwrap_or(now);
        let shard = self.shard_text(&request.device);
        let added = history.write(move |writer| {
            // Another process, or another request at the same time, can have had the key first.
            if let Some(key) = &key
                && let Some(earlier) = writer.earlier_request(key, now)?
            {
                let is_same = earlier.request == key.request;
                return Ok(is_same.then_some(AddedRequest::Waiting(earlier.run)));
            }
            let added = writer.add_request(&new_run, oldest)?;
            writer.notify(REQUEST_TOPIC, &shard)?;
            let (AddedRequest::New(run) | AddedRequest::Waiting(run)) = added;
            if let Some(key) = &key {
                writer.add_key(key, run, now)?;
            }
            Ok(Some(added))
        });
        let added = added.await?.ok_or(RunRequestError::OtherRequest)?;
        let run = match added {
            AddedRequest::New(run) => run,
            AddedRequest::Waiting(run) => return Ok(run),
        };
        let cause = RunCause::Request { run, kind };
        self.queue_request(&request.device, cause, now);
        self.inner.wake.notify_one();
        Ok(run)
    }

    /// Queues a stored request, if this process runs the device. Another one finds it in the store.
    pub(super) fn queue_request(&self, device: &str, cause: RunCause, now: Timestamp) {
        let mut dispatcher = self.inner.dispatcher();
        let RunCause::Request { run, .. } = cause else {
            return;
        };
        let is_own = self.leases().is_none() || dispatcher.has_device(device);
        // It was announced to this process, too.
        if is_own && !dispatcher.has_request(run) {
            self.emit_queued(run, device);
            dispatcher.request(device, cause, REQUEST_PRIORITY, now);
        }
    }

    /// Whether runs can start.
    ///
    /// # Errors
    /// Why they cannot.
    pub(super) fn check_start(&self) -> Result<(), RunRequestError> {
        if self.inner.stop.is_cancelled() {
            return Err(RunRequestError::Stopping);
        }
        match self.condition().no_runs {
            Some(problem) => Err(RunRequestError::NoSpace(problem)),
            None => Ok(()),
        }
    }

    /// Whether a run of a device can be requested.
    ///
    /// # Errors
    /// The device is unknown, or is never changed.
    pub(crate) fn check_request(
        &self,
        device: &str,
        kind: RequestedKind,
    ) -> Result<(), RunRequestError> {
        self.schedule_for(device, kind).map(|_| ())
    }

    fn schedule_for(
        &self,
        device: &str,
        kind: RequestedKind,
    ) -> Result<Arc<DeviceSchedule>, RunRequestError> {
        let schedule = self.fleet().schedule(device).cloned();
        match schedule {
            None => Err(RunRequestError::UnknownDevice(device.to_owned())),
            Some(schedule) if kind.0 == Some(RunKind::Apply) && !schedule.applies => {
                Err(RunRequestError::PlanOnly(device.to_owned()))
            }
            Some(schedule) if kind.0 == Some(RunKind::Apply) && schedule.needs_approval => {
                Err(RunRequestError::NeedsApproval(device.to_owned()))
            }
            Some(schedule) => Ok(schedule),
        }
    }

    /// Requests that did not start before the last process ended.
    pub(super) async fn restore_requests(&self) -> Result<(), RunStoreError> {
        if self.leases().is_some() {
            // They are found with the shards.
            return Ok(());
        }
        let requests = self.store().requests().await?;
        for request in &requests {
            self.emit_queued(request.id, &request.run.device);
        }
        let mut dispatcher = self.inner.dispatcher();
        for request in &requests {
            dispatcher.request(
                &request.run.device,
                request.cause(),
                request.run.priority,
                request.run.queued,
            );
        }
        Ok(())
    }

    /// Finds what other processes with this store have requested and paused.
    pub(super) async fn find_requests(&self) {
        if self.condition().no_applies.is_some() {
            // Requests wait for the store.
            return;
        }
        if let Err(error) = self.try_find_requests().await {
            tracing::warn!("cannot read the requests of other processes: {error}");
        }
    }

    /// As [`Service::find_requests`].
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) async fn try_find_requests(&self) -> Result<(), RunStoreError> {
        // A pause that this process stores meanwhile is not reverted.
        let _pauses = self.inner.pauses.lock().await;
        let known = self.live().waiting();
        let requests = within_limit(self.store().requests()).await?;
        let paused = within_limit(self.store().paused()).await?;
        let now = clock::timestamp();
        let mut dispatcher = self.inner.dispatcher();
        let mut own = BTreeSet::new();
        for request in requests {
            let run = &request.run;
            if !dispatcher.has_device(&run.device) {
                continue;
            }
            own.insert(request.id);
            if dispatcher.has_request(request.id) {
                continue;
            }
            dispatcher.request(&run.device, request.cause(), run.priority, run.queued);
            self.emit_queued(request.id, &run.device);
        }
        // Another process has withdrawn or started them.
        let gone: Vec<RunId> = known.into_iter().filter(|run| !own.contains(run)).collect();
        for run in &gone {
            dispatcher.cancel(*run);
        }
        dispatcher.set_all_paused(&paused, now);
        drop(dispatcher);
        for run in gone {
            self.forget_if_left(run);
        }
        Ok(())
    }

    /// A request that did not start is queued again: it is announced once.
    pub(super) fn emit_queued(&self, run: RunId, device: &str) {
        if self.inner.live.is_waiting(run) {
            return;
        }
        self.inner.live.emit(LiveEvent {
            run,
            device: device.to_owned(),
            event: LiveEventKind::Queued,
        });
    }

    /// Why a requested run has not started, although its owner starts runs.
    pub(crate) async fn wait_reason(&self, run: &RunEntry, owner: &DeviceOwner) -> Option<String> {
        let reason = self.inner.dispatcher().wait_reason(run.id);
        if let Some(reason) = reason.filter(|reason| *reason != WaitReason::Soon) {
            return Some(reason.to_string());
        }
        if let Some(refusal) = &run.error {
            return Some(refusal.clone());
        }
        let running = self.history().query(|reader| reader.running_devices());
        if running.await.ok()?.contains(&run.device) {
            return Some(WaitReason::DeviceRuns.to_string());
        }
        Some(match owner {
            DeviceOwner::Other { node, .. } => format!("the node {node} has it in its queue"),
            DeviceOwner::This | DeviceOwner::Nobody { .. } => WaitReason::Soon.to_string(),
        })
    }

    /// Withdraws a run that has not started. Returns false if it has.
    ///
    /// # Errors
    /// The history cannot be written.
    pub(crate) async fn cancel(&self, run: RunId) -> Result<bool, RunRequestError> {
        let is_own = self.inner.dispatcher().cancel(run);
        // Another process finds in the store that it was withdrawn.
        if !is_own && self.leases().is_none() {
            return Ok(false);
        }
        Ok(self.store_canceled(run, None).await?)
    }

    /// Stores the end of a request that did not start. `reason`: if nobody has withdrawn it.
    pub(super) async fn store_canceled(
        &self,
        run: RunId,
        reason: Option<String>,
    ) -> Result<bool, RunStoreError> {
        let cancel = CancelRequest {
            run,
            reason,
            time: clock::timestamp(),
        };
        let canceled = within_limit(self.store().cancel(cancel)).await?;
        if canceled.is_canceled {
            self.inner.live.emit(LiveEvent {
                run,
                device: canceled.device,
                event: LiveEventKind::Ended {
                    status: RunStatus::Canceled,
                    effect: RunEffect::default(),
                },
            });
        }
        Ok(canceled.is_canceled)
    }

    /// Ends requests that nobody expects to run any more.
    pub(super) async fn end_expired_requests(&self) {
        let limit = self.inner.fleet().settings.request_limit;
        let now = clock::timestamp();
        let oldest = now.saturating_sub(limit).unwrap_or(now);
        let expired = self.inner.dispatcher().take_expired(oldest);
        self.end_expired_runs(expired).await;
    }

    /// Ends requests that waited longer than the settings permit.
    pub(super) async fn end_expired_runs(&self, expired: Vec<RunId>) {
        let limit = self.inner.fleet().settings.request_limit;
        for run in expired {
            let limit = switchtender_devices::duration::render(limit);
            let reason = format!("the request expired: it waited longer than {limit}");
            tracing::warn!(run = run.0, "{reason}");
            if let Err(error) = self.store_canceled(run, Some(reason)).await {
                // It expires again at the next start.
                tracing::error!("cannot store the end of run {run}: {}", chain(&error));
            }
        }
    }
}

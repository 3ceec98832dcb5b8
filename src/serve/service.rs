//! Runs devices as the dispatcher decides, and stores the results.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::accept_drift::DriftReader;
use super::access::{AccessPaths, AuditLog};
use super::backup_writer::BackupWriter;
use super::dispatcher::{Dispatcher, RunCause};
use super::fleet::ServeFleet;
use super::held_devices::REQUEST_TOPIC;
use super::lease::leases::{DeviceOwner, LeaseNumbers, Leases};
use super::link::client::HubLink;
use super::link::protocol::Work;
use super::link::work::WorkFeed;
use super::live::{LiveEvent, LiveEventKind, LiveRuns};
use super::live_watch::LiveWatches;
use super::queue::WaitReason;
use super::request::{DeviceRequest, RequestedKind, RunRequestError};
use super::results::deliver;
use super::run_store::{
    CancelRequest, DELIVERY_LIMIT, DueTime, RunStore, RunStoreError, within, within_limit,
};
use super::schedule::DeviceSchedule;
use super::settings::ServeSettings;
use super::spool::{SPOOL_LIMIT, Spool, SpoolSize};
use crate::clock;
use crate::counted::counted;
use crate::history::device_state::Pause;
use crate::history::releases::ReleaseNumber;
use crate::history::runs::RunEntry;
use crate::history::{AddedRequest, HistoryStore, NewRun, RunEffect, RunId, RunUuid, Space};
use crate::report::RunStatus;
use crate::run_kind::RunKind;
use crate::store::StoreError;

/// The priority of requests among each other.
pub(super) const REQUEST_PRIORITY: i32 = 0;

/// The running process, for pages and the API. Clones share it.
#[derive(Clone)]
pub(crate) struct Service {
    pub(super) inner: Arc<ServiceState>,
}

pub(super) struct ServiceState {
    /// For pages, the API and what is done once for all devices.
    /// `None`: this process is a worker.
    pub(super) history: Option<HistoryStore>,
    /// The hubs of a worker.
    pub(super) link: Option<HubLink>,
    /// What workers wait for.
    pub(super) feed: WorkFeed,
    /// For the runs.
    pub(super) store: Arc<dyn RunStore>,
    /// Results that the store has not taken yet.
    pub(super) spool: Arc<Spool>,
    pub(super) audit: AuditLog,
    pub(super) live: LiveRuns,
    pub(super) watches: LiveWatches,
    pub(super) dispatcher: Mutex<Dispatcher>,
    /// Something can start now.
    pub(super) wake: Notify,
    /// Old data can be in the way of runs.
    pub(super) retention: Notify,
    /// No run starts any more; those in progress end in order.
    pub(super) stop: CancellationToken,
    pub(super) condition: Mutex<Condition>,
    pub(super) backups: BackupWriter,
    /// Reads the drift of a device for the desired state.
    pub(super) drift_reader: OnceLock<DriftReader>,
    /// Facts and reports are removed because PuppetDB does not accept them; it was logged.
    pub(super) loses_commands: AtomicBool,
    /// Sends after each attempt to load the settings again.
    pub(super) reloads: watch::Sender<()>,
    /// The settings of the start; some apply until the end of the process.
    start_settings: Arc<ServeSettings>,
    fleet: Mutex<Arc<ServeFleet>>,
    /// `None`: this process is the only one with its store.
    pub(super) leases: Option<Leases>,
    /// Another process has stored a request or a pause.
    pub(super) requested: Notify,
    /// A person has decided about a plan.
    pub(super) approvals: Notify,
    /// When a run has last checked the space.
    pub(super) space_checked: tokio::sync::Mutex<Option<Instant>>,
    /// Held while a pause is stored and applied.
    pub(super) pauses: tokio::sync::Mutex<()>,
}

/// The files of the process.
pub(crate) struct ServiceFiles {
    audit: AuditLog,
    spool: Arc<Spool>,
}

impl ServiceFiles {
    /// # Errors
    /// The directory of the process cannot be used.
    pub(crate) fn open(paths: &AccessPaths) -> Result<Self, StoreError> {
        Ok(Self {
            audit: AuditLog::at(paths.audit_log()),
            spool: Arc::new(Spool::open(paths.spool(), SPOOL_LIMIT)?),
        })
    }
}

/// What prevents the process from its work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct Condition {
    /// Why no run starts.
    pub(crate) no_runs: Option<String>,
    /// Why no run changes a device: the store is away or full. Scheduled runs are plans.
    pub(crate) no_applies: Option<String>,
    /// Why the last change of the settings was rejected.
    pub(crate) rejected_settings: Option<String>,
    /// Why the last backup was not written, committed or pushed.
    pub(crate) failed_backup: Option<String>,
    pub(crate) loaded: Option<Timestamp>,
    /// The release that the devices come from. `None`: files of the process.
    pub(crate) release: Option<ReleaseNumber>,
    /// Why the newest release is not used. Then runs only plan.
    pub(crate) rejected_release: Option<String>,
    /// Why this node may run no device of the fleet.
    pub(crate) refused: Option<String>,
    /// The sites of the fleet that no node may run.
    pub(crate) no_node: Option<String>,
}

/// What a service is made of, besides its devices.
pub(crate) struct ServiceParts {
    /// `None`: this process is a worker, and has a link.
    pub(crate) history: Option<HistoryStore>,
    pub(crate) link: Option<HubLink>,
    pub(crate) files: ServiceFiles,
    /// `None`: this process is the only one with its store.
    pub(crate) leases: Option<Leases>,
    pub(crate) stop: CancellationToken,
}

/// The state of the process, for `/readyz` and metrics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct ServiceReport {
    pub(crate) running: usize,
    pub(crate) waiting: usize,
    /// How late the scheduled run is that has waited longest.
    pub(crate) lateness_seconds: i64,
    pub(crate) is_stopping: bool,
    pub(crate) space: Option<Space>,
    /// Results that wait for the store.
    pub(crate) spool: SpoolSize,
    /// The leases of this node. `None`: it is alone.
    pub(crate) leases: Option<LeaseNumbers>,
    #[serde(flatten)]
    pub(crate) condition: Condition,
}

impl Service {
    /// Opens the history and restores what was scheduled and requested. No run starts before
    /// [`Service::work`].
    ///
    /// # Errors
    /// The history cannot be used.
    pub(crate) async fn start(
        fleet: ServeFleet,
        parts: ServiceParts,
    ) -> Result<Self, RunStoreError> {
        let ServiceParts {
            history,
            link,
            files,
            leases,
            stop,
        } = parts;
        let now = clock::timestamp();
        let limits = fleet.limits();
        let store: Arc<dyn RunStore> = match (&history, &link) {
            (Some(history), _) => Arc::new(history.clone()),
            (None, link) => Arc::new(link.clone().expect("a node has a store or a link")),
        };
        // Before runs are interrupted: these have ended.
        if let Err(error) = deliver(&*store, &files.spool, |_, _| {}).await {
            tracing::warn!("the spooled results wait: {error}");
        }
        // In a fleet, who acquires a shard ends the runs of its last owner.
        if leases.is_none() {
            let interrupted = store.interrupt(now).await?;
            if interrupted > 0 {
                let runs = counted(interrupted, "run");
                tracing::warn!("interrupted by the end of the last process: {runs}");
            }
        }
        let condition = Condition {
            loaded: Some(now),
            release: fleet.release,
            rejected_release: fleet.rejected_release.clone(),
            ..Condition::default()
        };
        let service = Self {
            inner: Arc::new(ServiceState {
                history,
                store,
                link,
                feed: WorkFeed::default(),
                spool: files.spool,
                audit: files.audit,
                live: LiveRuns::new(),
                watches: LiveWatches::default(),
                dispatcher: Mutex::new(Dispatcher::new(limits)),
                wake: Notify::new(),
                retention: Notify::new(),
                stop,
                condition: Mutex::new(condition),
                backups: BackupWriter::default(),
                drift_reader: OnceLock::new(),
                loses_commands: AtomicBool::new(false),
                reloads: watch::Sender::new(()),
                start_settings: Arc::clone(&fleet.settings),
                fleet: Mutex::new(Arc::new(fleet)),
                leases,
                requested: Notify::new(),
                approvals: Notify::new(),
                space_checked: tokio::sync::Mutex::default(),
                pauses: tokio::sync::Mutex::default(),
            }),
        };
        let fleet = service.inner.fleet();
        service.schedule(&fleet).await?;
        service.restore_requests().await?;
        Ok(service)
    }

    /// Replaces the devices and their settings. Runs in progress are not affected.
    pub(super) async fn use_fleet(&self, fleet: ServeFleet) -> Result<(), RunStoreError> {
        self.schedule(&fleet).await?;
        if let Some(history) = &self.inner.history {
            history.set_max_size(fleet.settings.max_size).await?;
        }
        for key in fleet
            .settings
            .changed_at_restart(&self.inner.start_settings)
        {
            tracing::warn!("restart to apply `{key}`");
        }
        let mut condition = self.inner.condition();
        condition.release = fleet.release;
        condition
            .rejected_release
            .clone_from(&fleet.rejected_release);
        *self.inner.lock_fleet() = Arc::new(fleet);
        Ok(())
    }

    /// Receives after each attempt to load the settings again.
    pub(crate) fn reloads(&self) -> watch::Receiver<()> {
        self.inner.reloads.subscribe()
    }

    async fn schedule(&self, fleet: &ServeFleet) -> Result<(), RunStoreError> {
        // The newest release can have other devices than an older one.
        if fleet.rejected_release.is_none() {
            let known = fleet.known();
            let used = self.store().use_devices(known, clock::timestamp());
            within(DELIVERY_LIMIT, used).await?;
        }
        self.schedule_held(fleet).await
    }

    /// Schedules the devices that this process runs.
    pub(super) async fn schedule_held(&self, fleet: &ServeFleet) -> Result<(), RunStoreError> {
        let now = clock::timestamp();
        let store = self.store();
        let stored = within_limit(store.schedules()).await?;
        let due = {
            let mut dispatcher = self.inner.dispatcher();
            dispatcher.set_devices(self.held(fleet), fleet.limits(), &stored, now);
            if let Some(leases) = self.leases() {
                dispatcher.set_shares(leases.shares());
                dispatcher.forget_requests();
            }
            dispatcher.all_due()
        };
        let is_stored = |device: &str, due: Option<Timestamp>, failures: u32| {
            let milliseconds = |time: Option<Timestamp>| time.map(Timestamp::as_millisecond);
            stored.get(device).is_some_and(|known| {
                known.failures == failures && milliseconds(known.next_due) == milliseconds(due)
            })
        };
        let due = due.into_iter();
        let due = due.filter(|(device, due, failures)| !is_stored(device, *due, *failures));
        let due = due.map(|(device, due, failures)| DueTime {
            device: device.to_string(),
            due,
            failures,
        });
        within(DELIVERY_LIMIT, store.set_due(due.collect(), now)).await
    }

    /// Requests that did not start before the last process ended.
    async fn restore_requests(&self) -> Result<(), RunStoreError> {
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

    pub(crate) fn history(&self) -> &HistoryStore {
        let history = self.inner.history.as_ref();
        history.expect("a worker has no pages, and asks the store of its runs only")
    }

    /// The store of the runs.
    pub(super) fn store(&self) -> &dyn RunStore {
        &*self.inner.store
    }

    /// The devices as they are loaded now.
    pub(crate) fn fleet(&self) -> Arc<ServeFleet> {
        self.inner.fleet()
    }

    /// What a worker with these sites waits for.
    pub(crate) async fn wait_for_work(&self, position: &str, sites: &BTreeSet<String>) -> Work {
        self.inner.feed.wait(position, sites).await
    }

    pub(crate) fn live(&self) -> &LiveRuns {
        &self.inner.live
    }

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

    /// Whether runs never change a device of the settings.
    pub(crate) fn is_plan_only(&self, device: &str) -> bool {
        let fleet = self.fleet();
        let schedule = fleet.schedule(device);
        schedule.is_some_and(|schedule| !schedule.applies)
    }

    pub(crate) fn has_device(&self, device: &str) -> bool {
        self.fleet().schedule(device).is_some()
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

    /// Who starts the runs of a device.
    pub(crate) fn device_owner(&self, device: &str) -> DeviceOwner {
        let Some(leases) = self.leases() else {
            return DeviceOwner::This;
        };
        leases.device_owner(device, self.fleet().site(device))
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

    /// Pauses the scheduled runs of a device, or resumes them.
    ///
    /// # Errors
    /// The device is unknown, or the history cannot be written.
    pub(crate) async fn set_pause(
        &self,
        device: &str,
        pause: Option<Pause>,
    ) -> Result<(), RunRequestError> {
        let now = clock::timestamp();
        if !self.has_device(device) {
            return Err(RunRequestError::UnknownDevice(device.to_owned()));
        }
        let _pauses = self.inner.pauses.lock().await;
        let (name, is_paused) = (device.to_owned(), pause.is_some());
        let shard = self.shard_text(device);
        let history = self.history();
        history
            .write(move |writer| {
                writer.notify(REQUEST_TOPIC, &shard)?;
                writer.set_pause(&name, pause.as_ref(), now)
            })
            .await?;
        let due = {
            let mut dispatcher = self.inner.dispatcher();
            dispatcher.set_paused(device, is_paused, now);
            dispatcher.due(device)
        };
        if let Some((due, failures)) = due {
            let due = DueTime {
                device: device.to_owned(),
                due,
                failures,
            };
            within_limit(self.store().set_due(vec![due], now)).await?;
        }
        self.inner.wake.notify_one();
        Ok(())
    }

    /// The state of the process.
    pub(crate) async fn report(&self) -> ServiceReport {
        ServiceReport {
            space: within_limit(self.store().space()).await.ok(),
            ..self.report_of_node()
        }
    }

    /// Whether a hub answered the last call of this worker.
    pub(crate) fn is_hub_reachable(&self) -> bool {
        self.inner.link.as_ref().is_some_and(HubLink::is_reachable)
    }

    /// What this process knows of itself, without its store.
    pub(crate) fn report_of_node(&self) -> ServiceReport {
        let dispatcher = self.inner.dispatcher();
        ServiceReport {
            running: dispatcher.running(),
            waiting: dispatcher.waiting(),
            lateness_seconds: dispatcher.lateness(clock::timestamp()).as_secs(),
            is_stopping: self.inner.stop.is_cancelled(),
            space: None,
            spool: self.inner.spool.size(),
            leases: self.leases().map(Leases::numbers),
            condition: self.condition(),
        }
    }

    pub(crate) fn condition(&self) -> Condition {
        Condition {
            refused: self.leases().and_then(Leases::refusal),
            no_node: self.leases().and_then(Leases::no_node),
            ..self.inner.condition().clone()
        }
    }
}

impl ServiceState {
    pub(super) fn fleet(&self) -> Arc<ServeFleet> {
        Arc::clone(&self.lock_fleet())
    }

    fn lock_fleet(&self) -> MutexGuard<'_, Arc<ServeFleet>> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn dispatcher(&self) -> MutexGuard<'_, Dispatcher> {
        self.dispatcher
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn condition(&self) -> MutexGuard<'_, Condition> {
        self.condition
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

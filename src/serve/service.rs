//! The running process, as its tasks, the pages and the API share it.

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
use super::condition::Condition;
use super::dispatcher::Dispatcher;
use super::fleet::ServeFleet;
use super::lease::leases::{DeviceOwner, LeaseNumbers, Leases};
use super::link::client::HubLink;
use super::link::protocol::Work;
use super::link::work::WorkFeed;
use super::live::LiveRuns;
use super::live_watch::LiveWatches;
use super::request::RunRequestError;
use super::requested_runs::REQUEST_TOPIC;
use super::results::deliver;
use super::run_store::{DELIVERY_LIMIT, DueTime, RunStore, RunStoreError, within, within_limit};
use super::settings::ServeSettings;
use super::spool::{SPOOL_LIMIT, Spool, SpoolSize};
use crate::clock;
use crate::counted::counted;
use crate::history::device_state::Pause;
use crate::history::{HistoryStore, Space};
use crate::store::StoreError;

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

    /// Whether runs never change a device of the settings.
    pub(crate) fn is_plan_only(&self, device: &str) -> bool {
        let fleet = self.fleet();
        let schedule = fleet.schedule(device);
        schedule.is_some_and(|schedule| !schedule.applies)
    }

    pub(crate) fn has_device(&self, device: &str) -> bool {
        self.fleet().schedule(device).is_some()
    }

    /// Who starts the runs of a device.
    pub(crate) fn device_owner(&self, device: &str) -> DeviceOwner {
        let Some(leases) = self.leases() else {
            return DeviceOwner::This;
        };
        leases.device_owner(device, self.fleet().site(device))
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

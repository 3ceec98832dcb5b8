//! One device, from its lock to its report.
//!
//! ```text
//! catalog ─► offline checks ─► lock ─► session, facts ─► state of the device
//!      ─► transaction with verification ─► graphs ─► save ─► close ─► state files ─► report
//! ```
//!
//! All commands that apply catalogs call [`run`]. They differ in their [`CatalogSource`], in their
//! [`ReportSink`](super::report_sink::ReportSink) and in the view that receives the events.
//! An error before the transaction is a [`DeviceRunError`]: the device was not changed.
//!
//! A run is a sequence of phases. Each consumes the value of the phase before, so that the compiler knows their
//! order: [`catalog`], [`connect`], [`protect`], [`preview`], [`confirm`], [`change`], the end of the protection, [`undo`],
//! [`save`], [`finish`], [`report`]. The source of the catalog ends before the report goes to its sink.

mod active_device;
mod catalog;
mod change;
mod confirm;
mod connect;
mod coverage;
mod error;
mod finish;
mod locks;
mod masked_event;
mod preview;
mod protect;
mod recorder;
mod report;
mod save;
mod supervision;
mod undo;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use switchtender_devices::names::DeviceName;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::deadline::{Deadline, StopCause};
use switchtender_devices::session::fence::{Fence, FenceError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::catalog_source::{CatalogSource, DeviceSettings, PreparedSource};
use super::own_sessions::{OwnSessions, SessionReport};
use super::run_request::RunRequest;
use super::state_files;
use crate::clock;
use crate::error_chain::chain;
use crate::history::{CatalogOrigin, CompletedRun};
use crate::report::{Context, RunRecord};
use crate::run_kind::RunKind;
use crate::store::{DeviceStore, HeldLocks, blocking_io};
use catalog::{Exchange, PreparedDevice};
use change::ChangedDevice;
use connect::{ConnectInput, ConnectedDevice, ReadyDevice};
use locks::Locks;
use preview::AdmittedDevice;
use protect::{ProtectedDevice, SettledDevice};
use recorder::EventRecorder;
use save::CompletedDevice;
use supervision::supervise;
use undo::DecidedDevice;

pub(crate) use error::DeviceRunError;
pub(crate) use recorder::{DeviceEvent, Observer};
pub(crate) use report::UnreportedRun;
pub(crate) use supervision::STOP_GRACE;

/// The end of a device's run.
#[derive(Debug)]
pub(crate) struct DeviceRun {
    /// The secrets of the device and its catalog.
    pub(crate) mask: SecretMask,
    pub(crate) record: RunRecord,
    /// Where the desired state comes from; `None` for an undo.
    pub(crate) origin: Option<String>,
    /// The run was stopped, or exceeded its time limit.
    pub(crate) stopped: bool,
    /// How long it waited for the user.
    pub(crate) waited: Duration,
    pub(crate) result: Result<(), DeviceRunError>,
}

impl DeviceRun {
    /// Whether the user did not agree to the plan: for reports and history, there was no run.
    pub(crate) fn is_declined(&self) -> bool {
        matches!(self.result, Err(DeviceRunError::NotConfirmed))
    }

    /// The run in the form of the history.
    pub(crate) fn completed(&self, ended: Timestamp) -> CompletedRun {
        let is_apply = self.record.kind == RunKind::Apply;
        CompletedRun {
            record: self.record.clone(),
            ended,
            configuration: None,
            line_classes: None,
            origin: self.origin.clone().map(|path| CatalogOrigin {
                path,
                is_authoritative: is_apply,
            }),
        }
    }
}

/// A device and the surroundings of its run.
pub(crate) struct RunSubject<'a> {
    pub(crate) device: &'a DeviceName,
    pub(crate) store: &'a DeviceStore,
    pub(crate) request: &'a RunRequest,
    pub(crate) observer: &'a Observer,
}

/// Runs one device. Its report has this context, without the values that follow from the catalog.
///
/// # Cancellation
/// Must not be dropped midway; it ends by itself soon after [`RunRequest::stop`] was cancelled.
pub(crate) async fn run<'a, S: CatalogSource>(
    subject: RunSubject<'a>,
    context: Context,
    source: S,
) -> UnreportedRun<'a> {
    let (store, request) = (subject.store, subject.request);
    let mut run = Running::new(subject, context, &source);
    let mut locks = Locks::new(store, request.lock_wait, &run);
    let locked = match source.wait_for_start(&run.stop).await {
        Ok(()) => locks.take(&source.directory_lock()).await,
        Err(error) => Err(error),
    };
    let origin = source.origin();
    let result = match locked {
        Ok(()) => run.run_within_limit(source, &mut locks).await,
        Err(error) => Err(error),
    };
    UnreportedRun {
        run,
        _locks: locks,
        origin,
        result,
    }
}

/// Checks what is known without the device: its files, catalog and credentials. Returns the run that would end with
/// an error of these.
///
/// # Cancellation
/// May be dropped at any time.
pub(crate) async fn check_offline<S: CatalogSource>(
    subject: RunSubject<'_>,
    context: Context,
    source: S,
) -> Option<DeviceRun> {
    let kind = subject.request.kind;
    let origin = source.origin();
    let mut run = Running::new(subject, context, &source);
    let checked = match PreparedDevice::prepare(&mut run, source).await {
        Ok(prepared) => {
            let catalog = prepared.catalog.as_ref();
            let access = catalog.map_or(kind.access(), |catalog| catalog.access(kind));
            let connector = prepared.source.connector(access).await;
            // A missing mock is no error of the device's files: a run with mocks leaves it out.
            connector
                .err()
                .filter(|error| !matches!(error, DeviceRunError::NoMock { .. }))
        }
        Err(error) => Some(error),
    };
    let error = checked?;
    run.events.record_error(&error);
    Some(run.end(origin, Err(error)))
}

/// What all phases of a run share.
struct Running<'a> {
    store: &'a DeviceStore,
    request: &'a RunRequest,
    stop: CancellationToken,
    /// The end of all waits for the device.
    deadline: Deadline,
    /// The fence of the sessions.
    locks: Arc<HeldLocks>,
    /// The sessions that write; `None` before the address of the device is locked.
    sessions: Option<Arc<OwnSessions>>,
    events: EventRecorder<'a>,
    /// The file that names the device, for people.
    inventory: String,
    /// The directory of the graphs of the run.
    graph_dir: Option<PathBuf>,
    began: Instant,
    /// How long the run waited for the user.
    waited: Duration,
}

/// The locks of a run with the right of its process.
#[derive(Debug)]
struct RunFence {
    locks: Arc<HeldLocks>,
    right: Arc<dyn Fence>,
}

impl Fence for RunFence {
    fn check(&self) -> Result<(), FenceError> {
        self.locks.check()?;
        // Last: its time is nearest to the write.
        self.right.check()
    }

    fn unacknowledged_limit(&self) -> Duration {
        self.right.unacknowledged_limit()
    }
}

impl<'a> Running<'a> {
    fn new(subject: RunSubject<'a>, context: Context, source: &impl CatalogSource) -> Self {
        let RunSubject {
            device,
            store,
            request,
            observer,
        } = subject;
        let record = RunRecord {
            kind: request.kind,
            run_name: Some(request.run.to_string()),
            ..RunRecord::new(context)
        };
        Self {
            store,
            request,
            stop: request.stop.child_token(),
            deadline: Deadline::default(),
            locks: Arc::default(),
            sessions: None,
            events: EventRecorder::new(device, observer, record, request.kind.is_noop()),
            inventory: source.inventory(),
            graph_dir: source.graph_dir(),
            began: clock::instant(),
            waited: Duration::ZERO,
        }
    }

    async fn run_within_limit<S: CatalogSource>(
        &mut self,
        source: S,
        locks: &mut Locks<'_>,
    ) -> Result<(), DeviceRunError> {
        if let Some(limit) = self.request.time_limit {
            let cause = StopCause::Limit {
                setting: "runtimeout",
                limit,
            };
            self.deadline.end_at(self.began + limit, cause);
        }
        let (stop, abort) = (self.stop.clone(), self.request.abort.clone());
        let grace = self.request.stop_grace.unwrap_or(STOP_GRACE);
        let deadline = self.deadline.clone();
        let result = tokio::select! {
            result = self.run_device(source, locks) => result,
            () = supervise(&deadline, &stop, &abort, grace) => unreachable!("never ends"),
        };
        if let Some(StopCause::Limit { setting, limit }) = deadline.passed_by() {
            self.events.run_log().error(format!(
                "The run did not end within {} s ({setting}) and was stopped",
                limit.as_secs()
            ));
        }
        self.report_sessions();
        self.events.record.measured("total", self.took());
        result
    }

    /// Reports the earlier sessions that were ended, and sessions that are not recorded.
    fn report_sessions(&mut self) {
        let report = self
            .sessions
            .as_ref()
            .map(|sessions| sessions.take_report());
        let SessionReport { ended, notes } = report.unwrap_or_default();
        for session in &ended {
            let text = format!("ended an earlier {session} before the first write");
            self.events.run_log().notice(text);
        }
        self.events.record.ended_sessions += ended.len();
        for note in notes {
            let text =
                format!("the session is not recorded, so that a crash cannot end it: {note}");
            self.events.run_log().warning(text);
        }
    }

    async fn run_device<S: CatalogSource>(
        &mut self,
        source: S,
        locks: &mut Locks<'_>,
    ) -> Result<(), DeviceRunError> {
        let store = self.store.clone();
        blocking_io::run(move || store.synchronize()).await?;
        let PreparedDevice {
            mut source,
            settings,
            catalog,
        } = PreparedDevice::prepare(self, source).await?;
        let prepared = ConnectInput {
            catalog: catalog.as_ref(),
            settings: &settings,
        };
        let device = ConnectedDevice::connect(self, &source, &prepared, locks).await?;
        let (ready, exchange) = match catalog {
            Some(catalog) => (device.with_catalog(self, Ok(catalog)).await, None),
            None => {
                let (ready, exchange) = Exchange::retrieve(self, &mut source, device).await;
                (ready, Some(exchange))
            }
        };
        let result = match ready {
            Ok(ready) => self.apply(&source, ready, settings).await,
            Err(error) => Err(error),
        };
        match exchange {
            Some(exchange) => exchange.end(self, &mut source, result).await,
            None => result,
        }
    }

    /// Applies the catalog of a device.
    ///
    /// # Errors
    /// The device was not changed.
    async fn apply<S: PreparedSource>(
        &mut self,
        source: &S,
        ready: ReadyDevice,
        settings: DeviceSettings,
    ) -> Result<(), DeviceRunError> {
        let ready = ready.with_needed_access(self, source).await?;
        ready.warn_of_hidden(self);
        let ready = ready.with_coverage(self).await?;
        let protected = ProtectedDevice::protect(self, ready, settings).await?;
        let admitted = AdmittedDevice::admit(self, protected).await?;
        let admitted = admitted.confirm(self, source).await?;
        // Nothing ends early from here on: a step that fails is a failure of the run, and the next step follows.
        let changed = ChangedDevice::change(self, admitted).await;
        let settled = SettledDevice::confirm_or_revert(self, changed).await;
        let decided = DecidedDevice::undo_failure(self, settled).await;
        let completed = CompletedDevice::save(self, decided).await;
        completed.finish(self).await;
        Ok(())
    }

    /// What the sessions ask before each write: the locks, and the right of the process.
    fn fence(&self) -> Arc<dyn Fence> {
        match &self.request.right {
            None => self.locks.clone(),
            Some(right) => Arc::new(RunFence {
                locks: Arc::clone(&self.locks),
                right: Arc::clone(right),
            }),
        }
    }

    /// The duration so far, without the wait for the user.
    fn took(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.waited)
    }

    /// Whether the run was stopped, or its time is over.
    fn is_stopped(&self) -> bool {
        self.stop.is_cancelled() || self.deadline.passed_by().is_some()
    }

    /// The file with the graph of dependency cycles, if graphs are written.
    fn cycles_file(&self) -> Option<String> {
        let file = self.graph_dir.as_ref()?.join("cycles.dot");
        Some(file.display().to_string())
    }

    /// Writes the graphs. An error fails the run, as that of the report does.
    async fn write_graphs(&mut self) {
        let Some(dir) = &self.graph_dir else {
            return;
        };
        let graphs = std::mem::take(&mut self.events.graphs).into_iter();
        let graphs: Vec<_> = graphs.map(|(file, text)| (dir.join(file), text)).collect();
        let written = blocking_io::run(move || state_files::write_graphs(&graphs)).await;
        if let Err(error) = written {
            self.events
                .fail(format!("cannot write a graph: {}", chain(&error)));
        }
    }
}

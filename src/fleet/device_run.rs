//! One device, from its lock to its report.
//!
//! ```text
//! catalog ─► offline checks ─► lock ─► session, facts ─► state of the device
//!      ─► transaction with verification ─► graphs ─► save ─► close ─► state files ─► report
//! ```
//!
//! All commands that apply catalogs call [`run`]. They differ in their [`CatalogSource`], in their
//! [`ReportSink`] and in the view that receives the events.
//! An error before the transaction is a [`DeviceRunError`]: the device was not changed.

mod apply;
mod error;
mod failure_undo;
mod incomplete_undo;
mod masked_event;
mod ownership;
mod protection;
mod recorder;
mod supervision;

use std::path::PathBuf;

use secrecy::ExposeSecret as _;
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::Facts;
use switchtender_devices::names::DeviceName;
use switchtender_devices::not_understood::NotUnderstood;
use switchtender_devices::provider::driver_provider::{PlannedUndo, PredictedDiff};
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::deadline::{Deadline, StopCause};
use switchtender_devices::session::{Access, Statistics};
use tokio_util::sync::CancellationToken;

use super::catalog_check::{PreparedCatalog, check_catalog};
use super::catalog_source::{CatalogSource, CatalogText, ReportSink};
use super::change_limits::ChangeLimits;
use super::connector::{DeviceConnector, OpenDevice};
use super::run_counts::RunCounts;
use super::run_request::RunRequest;
use super::state_files::{self, LastRun};
use crate::agent::run_log::RunLog as _;
use crate::clock;
use crate::error_chain::chain;
use crate::inventory::SavePolicy;
use crate::report::Report;
use crate::store::identity::{OwnedState, Owner};
use crate::store::{DeviceLock, DeviceStore, LockSubject, blocking_io};

pub(crate) use apply::APPLIED;
pub(crate) use error::DeviceRunError;
use recorder::EventRecorder;
pub(crate) use recorder::{DeviceEvent, Observer};
pub(crate) use supervision::STOP_GRACE;
use supervision::{delivery_end, supervise, until};

/// Catalogs above this size, in bytes, are checked on a thread of their own: each thread costs memory.
const LARGE_CATALOG: usize = 256 << 10;

/// The end of a device's run.
#[derive(Debug)]
pub(crate) struct DeviceRun {
    /// The secrets of the device and its catalog.
    pub(crate) mask: SecretMask,
    pub(crate) report: Report,
    /// Where the desired state comes from; `None` for an undo.
    pub(crate) origin: Option<String>,
    /// The run was stopped, or exceeded its time limit.
    pub(crate) stopped: bool,
    pub(crate) result: Result<DeviceRunResult, DeviceRunError>,
}

/// The result of a run that reached the transaction.
#[derive(Debug)]
pub(crate) struct DeviceRunResult {
    pub(crate) counts: RunCounts,
    /// The first failure after the transaction, or of its verification: a read, saving, files.
    pub(crate) failure: Option<String>,
    /// Text of the device that was not understood.
    pub(crate) not_understood: Vec<NotUnderstood>,
    /// The difference to the device's configuration that the commands make, for plans.
    pub(crate) predicted: Option<PredictedDiff>,
    /// What cannot be undone, and the commands that undo the changes, where they are shown; for plans.
    pub(crate) undo: Option<PlannedUndo>,
    pub(crate) facts: Facts,
    pub(crate) statistics: Statistics,
    /// The run changed the configuration and did not save it: the policy of the device.
    pub(crate) not_saved: Option<SavePolicy>,
    /// Findings about the catalog that did not prevent the run.
    pub(crate) findings: Vec<Diagnostic>,
}

/// Runs one device.
///
/// # Cancellation
/// Must not be dropped midway; it ends by itself soon after [`RunRequest::stop`] was cancelled.
pub(crate) async fn run<P: CatalogSource + ReportSink>(
    device: &DeviceName,
    store: &DeviceStore,
    peer: &mut P,
    request: &RunRequest,
    observer: &Observer,
) -> DeviceRun {
    let stop = request.stop.child_token();
    let deadline = Deadline::default();
    let events = EventRecorder::new(
        device,
        observer,
        Report::new(peer.report_context()),
        request.kind.is_noop(),
    );
    let mut run = Running {
        store,
        request,
        stop,
        deadline,
        events,
        graph_dir: None,
        limits: request.limits,
        locks: Vec::new(),
        owned: OwnedState {
            store: store.clone(),
            owner: Owner::default(),
            known: Vec::new(),
        },
    };
    let lock = match peer.wait_for_start(&run.stop).await {
        Ok(()) => run.lock(&peer.directory_lock()).await,
        Err(error) => Err(error),
    };
    let origin = peer.origin();
    let result = match lock {
        Ok(()) => run.run_within_limit(peer).await,
        Err(error) => Err(error),
    };
    run.finish(peer, origin, result).await
}

/// A run in progress.
struct Running<'a> {
    store: &'a DeviceStore,
    request: &'a RunRequest,
    stop: CancellationToken,
    /// The end of all waits for the device.
    deadline: Deadline,
    events: EventRecorder<'a>,
    /// The directory of the graphs of the run.
    graph_dir: Option<PathBuf>,
    limits: ChangeLimits,
    /// Held until the end of the run.
    locks: Vec<DeviceLock>,
    /// The state of the device; that of the name, until the device has answered.
    owned: OwnedState,
}

impl Running<'_> {
    async fn run_within_limit<P: CatalogSource>(
        &mut self,
        peer: &mut P,
    ) -> Result<DeviceRunResult, DeviceRunError> {
        let began = clock::instant();
        if let Some(limit) = self.request.time_limit {
            let cause = StopCause::Limit {
                setting: "runtimeout",
                limit,
            };
            self.deadline.end_at(began + limit, cause);
        }
        let (stop, abort) = (self.stop.clone(), self.request.abort.clone());
        let deadline = self.deadline.clone();
        let result = tokio::select! {
            result = async {
                let result = self.run_device(peer).await;
                let after = peer.after_run(&mut self.events);
                let after = match until(delivery_end(&deadline), after).await {
                    Ok(after) => after,
                    Err(_) => {
                        let text = "The steps after the run did not end in time and were stopped";
                        self.events.run_log().error(text);
                        Ok(())
                    }
                };
                match (result, after) {
                    (Ok(result), after) => after.map(|()| result),
                    (Err(error), Ok(())) => Err(error),
                    (Err(error), Err(second)) => {
                        self.events.run_log().error_chain(&second, None);
                        Err(error)
                    }
                }
            } => result,
            () = supervise(&deadline, &stop, &abort) => unreachable!("never ends"),
        };
        if let Some(StopCause::Limit { setting, limit }) = deadline.passed_by() {
            self.events.run_log().error(format!(
                "The run did not end within {} s ({setting}) and was stopped",
                limit.as_secs()
            ));
        }
        self.events.report.measured("total", began.elapsed());
        result
    }

    async fn run_device<P: CatalogSource>(
        &mut self,
        peer: &mut P,
    ) -> Result<DeviceRunResult, DeviceRunError> {
        let settings = until(self.stop.cancelled(), peer.prepare(&mut self.events)).await??;
        for secret in &settings.secrets {
            self.events.mask.add(secret.expose_secret());
        }
        self.graph_dir = settings.graph_dir;
        self.limits = self.request.limits.or(settings.limits);
        let early = until(self.stop.cancelled(), peer.catalog(None, &mut self.events)).await??;
        let early = early.map(|text| self.check(text)).transpose()?;
        let kind = self.request.kind;
        let access = early
            .as_ref()
            .map_or(kind.access(), |catalog| catalog.access(kind));
        if early.is_none() {
            self.events.mask.expect_more();
        }
        let mut closed_sessions = Vec::new();
        let mut connector = self.connector(peer, access).await?;
        if let Some(address) = connector.address() {
            self.lock(&LockSubject::Address(address)).await?;
        }
        let opened = until(self.stop.cancelled(), connector.open()).await??;
        let OpenDevice {
            mut session,
            mut facts,
            identity,
        } = opened;
        let owner = Owner {
            identity,
            address: connector.address().unwrap_or_default(),
            inventory: peer.inventory(),
        };
        let undone = early.as_ref().and_then(|catalog| catalog.undo.clone());
        let state = match self.find_state(owner, undone.as_deref()).await {
            Ok(state) => state,
            Err(error) => {
                session.close().await;
                return Err(error);
            }
        };
        let catalog = match early {
            Some(catalog) => Ok(catalog),
            None => loop {
                match self.late_catalog(peer, &facts).await {
                    Ok(Some(catalog)) => break Ok(catalog),
                    Err(error) => break Err(error),
                    Ok(None) => {
                        session.close().await;
                        closed_sessions.push(session);
                        connector = self.connector(peer, access).await?;
                        let again = until(self.stop.cancelled(), connector.open()).await??;
                        (session, facts) = (again.session, again.facts);
                    }
                }
            },
        };
        // The transcripts have waited for the secrets of the catalog.
        self.events.mask.complete();
        drop(closed_sessions);
        let masked_facts = self.events.mask.apply(&format!("{facts:?}"));
        tracing::info!(facts = %masked_facts, "the facts are read");
        let saved = if kind.writes_state() {
            let owner = self.owned.save_owner();
            owner.and_then(|()| state_files::save_facts(self.store, &facts))
        } else {
            Ok(())
        };
        let ready = match saved.map_err(DeviceRunError::from).and(catalog) {
            Ok(catalog) => {
                self.emit_findings(&catalog);
                let accepted = peer.before_transaction(&mut self.events);
                let accepted = until(self.deadline.passed(), accepted).await;
                accepted.flatten().map(|()| catalog)
            }
            Err(error) => Err(error),
        };
        let catalog = match ready {
            Ok(catalog) => catalog,
            Err(error) => {
                session.close().await;
                return Err(error);
            }
        };
        let access_needed = catalog.access(kind);
        if access_needed != access {
            session.close().await;
            connector = self.connector(peer, access_needed).await?;
            // An address of a pair can have moved to the other unit.
            session = self.open_again(&connector).await?;
        }
        let contact = apply::Contact {
            connector,
            session,
            facts,
            access: access_needed,
        };
        let files = apply::RunFiles {
            state,
            save: settings.save,
            protect: self.request.protect.unwrap_or(settings.protect),
            allows_reload: settings.allows_reload,
            on_failure: self.request.on_failure.unwrap_or(settings.on_failure),
            standby: settings.standby,
        };
        self.apply(catalog, contact, files).await
    }

    async fn connector<P: CatalogSource>(
        &self,
        peer: &mut P,
        access: Access,
    ) -> Result<DeviceConnector, DeviceRunError> {
        let mut connector = until(self.stop.cancelled(), peer.connector(access)).await??;
        connector.set_deadline(&self.deadline);
        connector.share_mask(&self.events.mask);
        Ok(connector)
    }

    /// The catalog of a source that needs the facts of the device. `None`: read the facts again.
    async fn late_catalog<P: CatalogSource>(
        &mut self,
        peer: &mut P,
        facts: &Facts,
    ) -> Result<Option<PreparedCatalog>, DeviceRunError> {
        let text = until(
            self.stop.cancelled(),
            peer.catalog(Some(facts), &mut self.events),
        )
        .await??;
        text.map(|text| self.check(text)).transpose()
    }

    fn check(&self, text: CatalogText) -> Result<PreparedCatalog, DeviceRunError> {
        if self.stop.is_cancelled() {
            return Err(DeviceRunError::Stopped);
        }
        let is_large = text.source.text.len() > LARGE_CATALOG;
        let check = || {
            let cycles_file = self.cycles_file();
            check_catalog(
                text,
                self.request,
                cycles_file.as_deref(),
                &self.events.mask,
            )
        };
        let prepared = if is_large {
            // It takes seconds: the other tasks of this thread continue on another one.
            tokio::task::block_in_place(check)
        } else {
            check()
        }?;
        tracing::info!(
            resources = prepared.resources.len(),
            "the catalog is loaded and checked"
        );
        Ok(prepared)
    }

    /// The file with the graph of dependency cycles, if graphs are written.
    fn cycles_file(&self) -> Option<String> {
        let file = self.graph_dir.as_ref()?.join("cycles.dot");
        Some(file.display().to_string())
    }

    fn emit_findings(&mut self, catalog: &PreparedCatalog) {
        for (level, text) in catalog.log_entries() {
            self.events.log(level, text);
        }
    }

    /// Completes and delivers the report.
    async fn finish<P: ReportSink>(
        mut self,
        peer: &mut P,
        origin: Option<String>,
        result: Result<DeviceRunResult, DeviceRunError>,
    ) -> DeviceRun {
        let has_lock = result
            .as_ref()
            .err()
            .is_none_or(|error| !error.is_before_lock());
        match &result {
            Err(error) => {
                self.events.record_error(error);
                self.write_graphs().await;
            }
            Ok(_) if self.events.is_cut_short() => self
                .events
                .run_log()
                .error("the run was stopped; the remaining resources were skipped"),
            Ok(_) => {}
        }
        peer.complete_report(&mut self.events.report);
        let exclude_unchanged = peer.excludes_unchanged_resources();
        let report = self.events.report.to_raw_json(exclude_unchanged);
        let error = result.as_ref().err();
        let delivery = peer.deliver(&report, error, &mut self.events);
        match until(delivery_end(&self.deadline), delivery).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let text = format!("cannot write the report: {}", chain(&error));
                self.events.fail(text);
            }
            Err(_) => self
                .events
                .run_log()
                .warning("Could not send report in time, it is stored and sent later"),
        }
        if self.request.kind.writes_state() && has_lock {
            let last_run = LastRun::new(&self.events.report, report);
            let store = self.store.clone();
            if let Err(error) = blocking_io::run(move || last_run.write(&store)).await {
                self.events.fail(format!(
                    "cannot write the state of the device: {}",
                    chain(&error)
                ));
            }
        }
        let stopped = self.stop.is_cancelled();
        let result = result.map(|result| self.events.complete(result));
        DeviceRun {
            mask: self.events.mask,
            origin,
            report: self.events.report,
            stopped,
            result,
        }
    }
}

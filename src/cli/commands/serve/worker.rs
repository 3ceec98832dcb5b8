//! `switchtender serve` as a worker of a fleet: it runs the devices of its sites, and has no database and no pages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{announce_stop, load_fleet, lock_error, own_files_error, server_error};
use crate::cli::exit::{CommandError, Exit, eprint_notice};
use crate::cli::interrupt::stop_process_on_signals;
use crate::cli::options::device_state::key_error;
use crate::cli::runtime::block_on;
use crate::error_chain::chain;
use crate::history::leases::NodeRecord;
use crate::serve::access::AccessPaths;
use crate::serve::fleet::LoadContext;
use crate::serve::lease::identity::node_record;
use crate::serve::lease::leases::Leases;
use crate::serve::lease::times::LeaseTimes;
use crate::serve::link::client::{HubLink, LinkSetupError};
use crate::serve::link::settings::JoinSettings;
use crate::serve::process_lock::ProcessLock;
use crate::serve::release::{FleetInputs, ReadReleaseError, ReleaseSource as _};
use crate::serve::run_store::{RunStore as _, RunStoreError, StoreProblem};
use crate::serve::service::{Service, ServiceFiles, ServiceParts};
use crate::serve::settings::ServeSettings;
use crate::serve::systemd;
use crate::serve::watched_files::WatchedFiles;
use crate::serve::web::WorkerPages;
use crate::store::{SharedState, Store, blocking_io};

/// The pause between attempts to reach a hub.
const PAUSE: Duration = Duration::from_secs(2);

/// The pause between two looks at what systemd is told.
const STATUS_INTERVAL: Duration = Duration::from_secs(5);

/// A worker that starts.
pub(super) struct WorkerStart<'a> {
    pub(super) settings: ServeSettings,
    pub(super) join: JoinSettings,
    /// `serve.toml`.
    pub(super) config: &'a Path,
    pub(super) state_dir: PathBuf,
    pub(super) files: WatchedFiles,
}

pub(super) fn run(worker: WorkerStart<'_>) -> Result<Exit, CommandError> {
    let paths = AccessPaths::in_state_directory(&worker.state_dir);
    block_on(async {
        let stopping = stop_process_on_signals();
        let _lock = ProcessLock::take(&paths, None).map_err(lock_error)?;
        let sites = &worker.settings.fleet.sites;
        let link = HubLink::new(&worker.join, sites)
            .await
            .map_err(link_error)?;
        let pages = match worker.settings.named_listen() {
            Some(address) => {
                let started = WorkerPages::start(address, stopping.stop.clone()).await;
                Some(started.map_err(server_error)?)
            }
            None => None,
        };
        // A worker waits for its hubs as long as it takes: it is up meanwhile.
        let watchdog = systemd::start_watchdog();
        systemd::ready("waits for a hub");
        let node = node_record(&worker.settings.fleet, &worker.state_dir, false)
            .map_err(|error| CommandError::new("cannot name this node").with_source(error))?;
        if !connect(&link, &node, &stopping.stop).await? {
            return Ok(Exit::SUCCESS);
        }
        let WorkerStart {
            settings,
            config,
            state_dir,
            mut files,
            ..
        } = worker;
        let (root, table) = (state_dir.clone(), Arc::new(link.clone()));
        let shared = blocking_io::run(move || SharedState::open(&root, table)).await;
        let store = Store::at(&state_dir).shared(Some(shared.map_err(key_error)?));
        let context = LoadContext {
            store,
            stop: stopping.stop.clone(),
            abort: stopping.abort.clone(),
            uses_mocks: false,
            inputs: inputs(&settings, &link, &state_dir).await?,
        };
        let fleet = load_fleet(settings, &context, &mut files).await?;
        let times = LeaseTimes {
            lease: fleet.settings.fleet.lease,
        };
        let name = node.name.clone();
        let leases = Leases::new(Arc::new(link.clone()), node, times, stopping.stop.clone());
        let opened = ServiceFiles::open(&paths);
        let opened =
            opened.map_err(|error| CommandError::new("cannot serve").with_source(error))?;
        let parts = ServiceParts {
            history: None,
            link: Some(link.clone()),
            files: opened,
            leases: Some(leases),
            stop: stopping.stop.clone(),
        };
        let service = Service::start(fleet, parts).await.map_err(store_error)?;
        let mut notice = format!("serving {}", status(&service, &link, &name));
        if let Some(pages) = &pages {
            pages.use_service(&service);
            notice = format!("{notice}, metrics {}", pages.url());
        }
        eprint_notice(&notice);
        tokio::join!(
            service.work(),
            service.hold_leases(),
            service.wait_at_hub(&link),
            service.copy_audit_log(),
            report_status(&service, &link, &name, &stopping.stop),
            service.reload_on_changes(config, &context, files),
            announce_stop(&stopping.stop),
        );
        drop(watchdog);
        Ok(Exit::SUCCESS)
    })
}

/// What the worker does, in a line.
fn status(service: &Service, link: &HubLink, name: &str) -> String {
    let report = service.report_of_node();
    let release = report.condition.release;
    let release = release.map(|release| format!(", release {release}"));
    let release = release.unwrap_or_default();
    let hub = if link.is_reachable() {
        format!("hub {}", link.hub())
    } else {
        "no hub answers, runs are plans".to_owned()
    };
    let waiting = match report.spool.results {
        0 => String::new(),
        results => format!(", results that wait: {results}"),
    };
    let not_taken = report.spool.not_taken;
    let not_taken = not_taken.map_or_else(String::new, |reason| format!(" ({reason})"));
    let problem = report
        .condition
        .no_runs
        .map(|reason| format!(", no run starts: {reason}"));
    let problem = problem.unwrap_or_default();
    format!("the devices of the worker {name}{release}, {hub}{waiting}{not_taken}{problem}")
}

/// Tells systemd when this changes, until the process stops.
async fn report_status(service: &Service, link: &HubLink, name: &str, stop: &CancellationToken) {
    let mut reported = ReportedStatus::default();
    loop {
        reported.update(status(service, link, name));
        if ends_within(STATUS_INTERVAL, stop).await {
            return;
        }
    }
}

/// What systemd knows of the process.
#[derive(Default)]
struct ReportedStatus(String);

impl ReportedStatus {
    /// Reports another status. False: it is the same.
    fn update(&mut self, status: String) -> bool {
        let is_other = status != self.0;
        if is_other {
            systemd::status(&status);
            self.0 = status;
        }
        is_other
    }
}

/// Pauses. True: the process stops.
async fn ends_within(pause: Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = stop.cancelled() => true,
        () = tokio::time::sleep(pause) => false,
    }
}

/// Waits until a hub answers. False: the process stops.
async fn connect(
    link: &HubLink,
    node: &NodeRecord,
    stop: &CancellationToken,
) -> Result<bool, CommandError> {
    let mut reported = ReportedStatus::default();
    loop {
        let answered = match link.identify().await {
            Ok(known) => {
                let checked = known.check(&node.name, &node.sites);
                checked.map_err(|error| {
                    let hint = error.hint();
                    let refused = CommandError::new("cannot join the fleet").with_source(error);
                    refused.hint(hint)
                })?;
                link.space().await
            }
            Err(error) => Err(error),
        };
        match answered {
            Ok(_) => return Ok(true),
            Err(error) if error.problem != StoreProblem::Unreachable => {
                return Err(store_error(error));
            }
            Err(error) => {
                let text = format!("waits for a hub: {}", chain(&error));
                if reported.update(text.clone()) {
                    tracing::warn!("{text}");
                }
            }
        }
        if ends_within(PAUSE, stop).await {
            return Ok(false);
        }
    }
}

/// Where the devices come from: releases, unless there is none and the worker has files of its own.
async fn inputs(
    settings: &ServeSettings,
    link: &HubLink,
    state_dir: &Path,
) -> Result<FleetInputs, CommandError> {
    if !settings.uses_own_files() {
        return Ok(FleetInputs::releases(Arc::new(link.clone()), state_dir));
    }
    match link.newest(None).await.map_err(release_error)? {
        Some(_) => Err(own_files_error(settings)),
        None => Ok(FleetInputs::OwnFiles),
    }
}

fn release_error(error: ReadReleaseError) -> CommandError {
    CommandError::new("cannot join the fleet").with_source(error)
}

fn link_error(error: LinkSetupError) -> CommandError {
    let hint = error.hint();
    CommandError::new("cannot use the link to the hubs")
        .with_source(error)
        .optional_hint(hint)
}

fn store_error(error: RunStoreError) -> CommandError {
    let hint = error.hint.clone();
    CommandError::new("cannot join the fleet")
        .with_source(error)
        .optional_hint(hint)
}

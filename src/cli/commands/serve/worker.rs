//! `switchtender serve` as a worker of a fleet: it runs the devices of its sites, and has no database and no pages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{announce_stop, load_fleet, lock_error, own_files_error};
use crate::cli::exit::{CommandError, Exit, eprint_notice};
use crate::cli::interrupt::stop_process_on_signals;
use crate::cli::options::device_state::key_error;
use crate::cli::runtime::block_on;
use crate::error_chain::chain;
use crate::serve::access::AccessPaths;
use crate::serve::fleet::LoadContext;
use crate::serve::lease::identity::node_record;
use crate::serve::lease::leases::Leases;
use crate::serve::lease::rule::LeaseTimes;
use crate::serve::link::client::{HubLink, LinkSetupError};
use crate::serve::link::settings::JoinSettings;
use crate::serve::process_lock::ProcessLock;
use crate::serve::release::{FleetInputs, ReadReleaseError, ReleaseSource as _};
use crate::serve::run_store::{RunStore as _, RunStoreError, StoreProblem};
use crate::serve::service::{Service, ServiceFiles, ServiceParts};
use crate::serve::settings::ServeSettings;
use crate::serve::systemd;
use crate::serve::watched_files::WatchedFiles;
use crate::store::{SharedState, Store, blocking_io};

/// The pause between attempts to reach a hub.
const PAUSE: Duration = Duration::from_secs(2);

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
        if !connect(&link, &stopping.stop).await? {
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
        let node = node_record(&fleet.settings.fleet, &state_dir, false)
            .map_err(|error| CommandError::new("cannot name this node").with_source(error))?;
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
        let watchdog = systemd::start_watchdog();
        let status = format!("the devices of the worker {name}, hub {}", link.hub());
        systemd::ready(&status);
        eprint_notice(&format!("serving {status}"));
        tokio::join!(
            service.work(),
            service.hold_leases(),
            service.wait_at_hub(&link),
            service.reload_on_changes(config, &context, files),
            announce_stop(&stopping.stop),
        );
        drop(watchdog);
        Ok(Exit::SUCCESS)
    })
}

/// Waits until a hub answers. False: the process stops.
async fn connect(link: &HubLink, stop: &CancellationToken) -> Result<bool, CommandError> {
    let mut is_reported = false;
    loop {
        match link.space().await {
            Ok(_) => return Ok(true),
            Err(error) if error.problem == StoreProblem::Refused => return Err(store_error(error)),
            Err(error) if !is_reported => {
                tracing::warn!("waits for a hub: {}", chain(&error));
                is_reported = true;
            }
            Err(_) => {}
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(false),
            () = tokio::time::sleep(PAUSE) => {}
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
    CommandError::new("cannot use the link to the hubs").with_source(error)
}

fn store_error(error: RunStoreError) -> CommandError {
    let hint = error.hint.clone();
    let error = CommandError::new("cannot join the fleet").with_source(error);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

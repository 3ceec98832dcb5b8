//! `switchtender serve`: the long-running process.

mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use self::worker::WorkerStart;
use crate::cli::commands::import::accept;
use crate::cli::exit::{CommandError, Exit, eprint_notice};
use crate::cli::interrupt::stop_process_on_signals;
use crate::cli::options::device_state;
use crate::cli::options::global::Global;
use crate::cli::options::serve_state;
use crate::cli::options::store_options::{cannot_open, store_error};
use crate::cli::runtime::block_on;
use crate::counted::counted;
use crate::fleet::device_run::STOP_GRACE;
use crate::history::{HistoryStore, StoreLocation};
use crate::serve::access::AccessPaths;
use crate::serve::demo::DemoDirectory;
use crate::serve::fleet::{LoadContext, LoadFleetError, ServeFleet};
use crate::serve::lease::identity::node_record;
use crate::serve::lease::leases::Leases;
use crate::serve::lease::times::LeaseTimes;
use crate::serve::process_lock::{ProcessLock, ProcessLockError};
use crate::serve::release::FleetInputs;
use crate::serve::reload::log_warnings;
use crate::serve::run_store::RunStoreError;
use crate::serve::service::{Service, ServiceFiles, ServiceParts};
use crate::serve::settings::{DEFAULT_SETTINGS, ServeSettings};
use crate::serve::systemd;
use crate::serve::watched_files::WatchedFiles;
use crate::serve::web::{ServerError, WebServer};
use crate::serve::webhook::Webhooks;
use crate::store::{self, Store};

/// Run devices regularly, and store, show and serve the results
///
/// Reads serve.toml again after a change and after SIGHUP. Outside change windows, runs only plan.
///
/// Examples:
///   switchtender serve --demo
///   switchtender serve
///   switchtender serve --config /etc/switchtender/serve.toml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServeArgs {
    /// Settings: schedules, catalogs, store, addresses
    #[arg(long, value_name = "FILE", default_value = DEFAULT_SETTINGS)]
    config: PathBuf,

    /// Serve mock devices with example state, and change one by hand every minute. Nothing is stored
    /// after the end
    #[arg(long, conflicts_with_all = ["config", "state_dir"])]
    demo: bool,

    /// State directory, also if the settings name another one; default: that of the settings, else
    /// $SWITCHTENDER_STATE, else /var/lib/switchtender for root, ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

pub(crate) fn run(args: &ServeArgs, _: &Global) -> Result<Exit, CommandError> {
    if args.demo {
        return demo();
    }
    serve(&args.config, args.state_dir.as_deref(), None)
}

/// Serves example devices until the process is stopped.
fn demo() -> Result<Exit, CommandError> {
    let directory = DemoDirectory::create().map_err(|error| {
        CommandError::new("cannot write the files of the demonstration").with_source(error)
    })?;
    serve(&directory.settings(), None, Some(&directory))
}

/// The files of `--demo`.
type Demo<'a> = Option<&'a DemoDirectory>;

fn serve(config: &Path, state_dir: Option<&Path>, demo: Demo<'_>) -> Result<Exit, CommandError> {
    let mut files = WatchedFiles::default();
    files.add(config);
    let settings = ServeSettings::load(config).map_err(CommandError::findings)?;
    let state_dir = match state_dir {
        Some(dir) => dir.to_owned(),
        None => serve_state::state_directory(&settings)?,
    };
    if let Some(warning) = store::writable_by_others(&state_dir) {
        tracing::warn!("{warning}");
    }
    if let Some(join) = settings.fleet.join.clone() {
        return worker::run(WorkerStart {
            settings,
            join,
            config,
            state_dir,
            files,
        });
    }
    let options = settings.history(&state_dir);
    let (listen, web_settings) = (settings.listen, settings.web.clone());
    let paths = AccessPaths::in_state_directory(&state_dir);
    block_on(async {
        let stopping = stop_process_on_signals();
        let location = options.location.clone();
        // Before anything is written: another process can have the files or the address.
        let _lock = ProcessLock::take(&paths, location.file()).map_err(lock_error)?;
        let server = WebServer::bind(listen, &web_settings, &paths).await;
        let server = server.map_err(server_error)?;
        let history = HistoryStore::open(options).map_err(|error| cannot_open(&location, error))?;
        let store = Store::at(&state_dir);
        let context = LoadContext {
            store: device_state::of_process(store, &history, &state_dir)?,
            stop: stopping.stop.clone(),
            abort: stopping.abort.clone(),
            uses_mocks: demo.is_some(),
            inputs: inputs(&settings, &history, &state_dir).await?,
        };
        let fleet = load_fleet(settings, &context, &mut files).await?;
        let devices = counted(fleet.scheduled().len(), "device");
        let release = fleet
            .release
            .map(|release| format!(" of release {release}"));
        let opened = ServiceFiles::open(&paths);
        let opened =
            opened.map_err(|error| CommandError::new("cannot serve").with_source(error))?;
        let leases = leases(&fleet.settings, &history, &state_dir, &stopping.stop)?;
        let parts = ServiceParts {
            history: Some(history),
            link: None,
            files: opened,
            leases,
            stop: stopping.stop.clone(),
        };
        let service = Service::start(fleet, parts).await;
        let service = service.map_err(|error| cannot_use(&location, error))?;
        service.use_drift_reader(accept::drift_reader());
        let webhooks = Webhooks::open(&web_settings, &service).await;
        let webhooks = webhooks
            .map_err(|error| CommandError::new("cannot use the webhooks").with_source(error))?;
        let watchdog = systemd::start_watchdog();
        let url = server.url();
        let release = release.unwrap_or_default();
        let status = format!("{devices}{release}, store {location}, pages {url}");
        systemd::ready(&status);
        eprint_notice(&format!("serving {status}"));
        let side_work = async {
            match demo {
                Some(directory) => directory.drift(&service.fleet(), &stopping.stop).await,
                // New mocks would forget their configurations.
                None => service.reload_on_changes(config, &context, files).await,
            }
        };
        tokio::join!(
            service.work(),
            service.hold_leases(),
            service.receive_requests(),
            service.check_store(),
            service.follow_other_nodes(),
            service.copy_audit_log(),
            side_work,
            server.serve(service.clone(), stopping.stop.clone()),
            webhooks.deliver(&service, &stopping.stop),
            service.deliver_to_puppetdb(),
            announce_stop(&stopping.stop),
        );
        drop(watchdog);
        Ok(Exit::SUCCESS)
    })
}

/// Says that the process stops.
async fn announce_stop(stop: &CancellationToken) {
    stop.cancelled().await;
    systemd::stopping();
    let grace = STOP_GRACE.as_secs();
    eprint_notice(&format!("stopping: runs end within {grace} s"));
}

/// The leases of this process as a node of a fleet. `None`: the store is a file of this process.
fn leases(
    settings: &ServeSettings,
    history: &HistoryStore,
    state_dir: &Path,
    stop: &CancellationToken,
) -> Result<Option<Leases>, CommandError> {
    if !history.is_shared() {
        return Ok(None);
    }
    let node = node_record(&settings.fleet, state_dir, true)
        .map_err(|error| CommandError::new("cannot name this node").with_source(error))?;
    let times = LeaseTimes {
        lease: settings.fleet.lease,
    };
    let store = Arc::new(history.clone());
    Ok(Some(Leases::new(store, node, times, stop.clone())))
}

fn cannot_use(location: &StoreLocation, error: RunStoreError) -> CommandError {
    let hint = error.hint.clone();
    let text = format!("cannot use the store {location}");
    CommandError::new(text)
        .with_source(error)
        .optional_hint(hint)
}

/// Where the devices come from: releases, if the store has some, or if there is nothing else.
async fn inputs(
    settings: &ServeSettings,
    history: &HistoryStore,
    state_dir: &Path,
) -> Result<FleetInputs, CommandError> {
    let newest = history.query(|reader| reader.newest_release()).await;
    let has_releases = newest.map_err(store_error)?.is_some();
    if settings.uses_own_files() {
        return if has_releases {
            Err(own_files_error(settings))
        } else {
            Ok(FleetInputs::OwnFiles)
        };
    }
    if !has_releases && settings.puppet_server.is_some() {
        return Ok(FleetInputs::OwnFiles);
    }
    Ok(FleetInputs::releases(Arc::new(history.clone()), state_dir))
}

/// A process with files of its own would set devices back to them.
fn own_files_error(settings: &ServeSettings) -> CommandError {
    let findings = settings.settings_of_release();
    if !findings.is_empty() {
        return CommandError::findings(findings);
    }
    let inventory = settings.inventory.display();
    CommandError::new(format!(
        "the store has releases, and this process has {inventory}"
    ))
    .hint("move it into the directory of `switchtender fleet publish`")
}

fn lock_error(error: ProcessLockError) -> CommandError {
    let is_held = matches!(error, ProcessLockError::Held { .. });
    let command_error = CommandError::new("cannot serve").with_source(error);
    if is_held {
        command_error.hint("stop the other process, or use another state directory and store")
    } else {
        command_error
    }
}

fn server_error(error: ServerError) -> CommandError {
    let hint = error.hint();
    CommandError::new("cannot start the web server")
        .with_source(error)
        .optional_hint(hint)
}

/// Loads the devices, and moves the state that files of this host have to the store.
async fn load_fleet(
    settings: ServeSettings,
    context: &LoadContext,
    files: &mut WatchedFiles,
) -> Result<ServeFleet, CommandError> {
    let fleet = context.inputs.load(settings, context, files).await;
    let fleet = fleet.map_err(load_error)?;
    log_warnings(&fleet);
    fleet.synchronize_states().map_err(|error| {
        CommandError::new("cannot move the state of devices to the store").with_source(error)
    })?;
    Ok(fleet)
}

fn load_error(error: LoadFleetError) -> CommandError {
    match error {
        LoadFleetError::Findings(findings) => CommandError::findings(findings),
        other => CommandError::new("cannot load the devices").with_source(other),
    }
}

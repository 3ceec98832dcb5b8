//! `switchtender serve`: the long-running process.

use std::path::PathBuf;

use super::exit::{CommandError, Exit, eprint_notice};
use super::interrupt::stop_process_on_signals;
use super::run::state_root;
use super::store_options::cannot_open;
use super::{Global, block_on};
use crate::fleet::device_run::STOP_GRACE;
use crate::history::History;
use crate::serve::fleet::{LoadContext, LoadFleetError, ServeFleet};
use crate::serve::service::Service;
use crate::serve::settings::{DEFAULT_SETTINGS, ServeSettings};
use crate::serve::systemd;

/// Run devices regularly, and store, show and serve the results
///
/// Reads serve.toml again after a change and after SIGHUP. Outside change windows, runs only plan.
///
/// Examples:
///   switchtender serve
///   switchtender serve --config /etc/switchtender/serve.toml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServeArgs {
    /// Settings: schedules, catalogs, store, addresses
    #[arg(long, value_name = "FILE", default_value = DEFAULT_SETTINGS)]
    config: PathBuf,

    /// State directory, unless the settings name one; default: $SWITCHTENDER_STATE, else
    /// /var/lib/switchtender for root, ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

pub(crate) fn run(args: &ServeArgs, _: &Global) -> Result<Exit, CommandError> {
    let settings = ServeSettings::load(&args.config).map_err(CommandError::findings)?;
    let state_dir = match (&args.state_dir, &settings.state_dir) {
        (Some(dir), _) | (None, Some(dir)) => dir.clone(),
        (None, None) => state_root()?,
    };
    let options = settings.history(&state_dir);
    block_on(async {
        let stopping = stop_process_on_signals();
        let context = LoadContext {
            state_dir,
            stop: stopping.stop.clone(),
            abort: stopping.abort.clone(),
            mocks: None,
        };
        let fleet = ServeFleet::load(settings, &context).await;
        let fleet = fleet.map_err(load_error)?;
        let path = options.path.clone();
        let history = History::open(options).map_err(|error| cannot_open(&path, error))?;
        let devices = fleet.scheduled().len();
        let service = Service::start(fleet, history, stopping.stop.clone()).await;
        let service = service.map_err(|error| cannot_open(&path, error))?;
        let watchdog = systemd::start_watchdog();
        let status = format!("{devices} devices, store {}", path.display());
        systemd::ready(&status);
        eprint_notice(&format!("serving {status}"));
        tokio::join!(
            service.work(),
            service.reload_on_changes(&args.config, &context),
            async {
                stopping.stop.cancelled().await;
                systemd::stopping();
                let grace = STOP_GRACE.as_secs();
                eprint_notice(&format!("stopping: runs end within {grace} s"));
            }
        );
        drop(watchdog);
        Ok(Exit::SUCCESS)
    })
}

fn load_error(error: LoadFleetError) -> CommandError {
    match error {
        LoadFleetError::Findings(findings) => CommandError::findings(findings),
        other => CommandError::new("cannot load the devices").with_source(other),
    }
}

//! The option `--store`: the SQLite file of runs, or the PostgreSQL database.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::cli::exit::CommandError;
use crate::cli::options::serve_state;
use crate::cli::options::state_root::state_root;
use crate::history::{HistoryError, HistoryOptions, HistoryStore, StoreLocation};
use crate::serve::settings::DEFAULT_SETTINGS;

/// Names the store in the environment.
const VARIABLE: &str = "SWITCHTENDER_STORE";

/// The store of a command.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct StoreOption {
    /// Store of runs: a SQLite file, or `postgresql://USER@HOST/DATABASE`; default:
    /// $SWITCHTENDER_STORE, else that of ./serve.toml
    #[arg(long, value_name = "STORE")]
    store: Option<PathBuf>,
}

impl StoreOption {
    /// The store of a run, if one is configured. Without `is_real`, devices are simulated, and only a
    /// store on the command line is used.
    ///
    /// # Errors
    /// The store cannot be opened.
    pub(crate) fn configured(&self, is_real: bool) -> Result<Option<HistoryStore>, CommandError> {
        let options = match &self.store {
            Some(store) => Some(named(store.as_os_str())?),
            None if is_real => configured()?,
            None => None,
        };
        let opened = options.map(|options| {
            let location = options.location.clone();
            HistoryStore::open(options).map_err(|error| cannot_open(&location, error))
        });
        opened.transpose()
    }

    /// The store for a query.
    ///
    /// # Errors
    /// No store is configured, or it does not exist.
    pub(crate) fn existing(&self) -> Result<HistoryStore, CommandError> {
        let options = self.existing_options()?;
        let location = options.location.clone();
        HistoryStore::open(options).map_err(|error| cannot_open(&location, error))
    }

    /// The place of the store for a check.
    ///
    /// # Errors
    /// No store is configured, or it does not exist.
    pub(crate) fn existing_location(&self) -> Result<StoreLocation, CommandError> {
        Ok(self.existing_options()?.location)
    }

    fn existing_options(&self) -> Result<HistoryOptions, CommandError> {
        let options = match &self.store {
            Some(store) => named(store.as_os_str())?,
            None => match configured()? {
                Some(options) => options,
                None => HistoryOptions::at(state_root()?.join(DEFAULT_FILE)),
            },
        };
        match require_file(&options.location) {
            Err(_) if self.store.is_none() && is_worker()? => {
                let text = format!("{DEFAULT_SETTINGS} is that of a worker, which has no store");
                Err(CommandError::new(text).hint(
                    "run the command at a hub, or name its database with --store postgresql://…",
                ))
            }
            checked => checked.map(|()| options),
        }
    }

    /// The place of the store that the option, the environment or the settings name.
    ///
    /// # Errors
    /// The settings or the address cannot be used.
    pub(crate) fn named_location(&self) -> Result<Option<StoreLocation>, CommandError> {
        let options = match &self.store {
            Some(store) => Some(named(store.as_os_str())?),
            None => configured()?,
        };
        Ok(options.map(|options| options.location))
    }
}

/// The store in the state directory.
pub(crate) const DEFAULT_FILE: &str = "history.db";

/// Fails for a file that does not exist.
///
/// # Errors
/// The store is a file, and does not exist.
pub(crate) fn require_file(location: &StoreLocation) -> Result<(), CommandError> {
    let Some(path) = location.file().filter(|path| !path.exists()) else {
        return Ok(());
    };
    let text = format!("no history is stored: {} does not exist", path.display());
    Err(CommandError::new(text).hint(
        "`switchtender serve` and runs with --store FILE store it; --store FILE also names it here",
    ))
}

fn configured() -> Result<Option<HistoryOptions>, CommandError> {
    let store = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    if let Some(store) = store {
        return named(&store).map(Some);
    }
    let Some(settings) = serve_state::default_settings()? else {
        return Ok(None);
    };
    let state_dir = serve_state::state_directory(&settings)?;
    Ok(Some(settings.history(&state_dir)))
}

/// Whether the settings in the current directory are those of a worker.
fn is_worker() -> Result<bool, CommandError> {
    let settings = serve_state::default_settings()?;
    Ok(settings.is_some_and(|settings| settings.fleet.join.is_some()))
}

/// The store that an option or a variable names.
///
/// # Errors
/// The address cannot be used.
pub(crate) fn named(text: &OsStr) -> Result<HistoryOptions, CommandError> {
    let location = StoreLocation::parse(text, Path::new(""));
    let location = location.map_err(|error| {
        // The text can have a password.
        CommandError::new("cannot use the address of the store").with_source(error)
    })?;
    Ok(location.into())
}

pub(crate) fn cannot_open(location: &StoreLocation, error: HistoryError) -> CommandError {
    let hint = error.hint();
    let text = format!("cannot open the store {location}");
    CommandError::new(text)
        .with_source(error)
        .optional_hint(hint)
}

/// An error of a query, or of a write.
pub(crate) fn store_error(error: HistoryError) -> CommandError {
    let hint = error.hint();
    CommandError::new("cannot use the store")
        .with_source(error)
        .optional_hint(hint)
}

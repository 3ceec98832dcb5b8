//! The option `--store`: the SQLite file of runs.

use std::path::{Path, PathBuf};

use crate::cli::exit::CommandError;
use crate::cli::options::serve_state;
use crate::cli::options::state_root::state_root;
use crate::history::{HistoryError, HistoryOptions, HistoryStore};

/// Names the store in the environment.
const VARIABLE: &str = "SWITCHTENDER_STORE";

/// The store of a command.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct StoreOption {
    /// Store of runs (SQLite); default: $SWITCHTENDER_STORE, else that of ./serve.toml
    #[arg(long, value_name = "FILE")]
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
            Some(path) => Some(HistoryOptions::at(path)),
            None if is_real => configured()?,
            None => None,
        };
        let opened = options.map(|options| {
            let path = options.path.clone();
            HistoryStore::open(options).map_err(|error| cannot_open(&path, error))
        });
        opened.transpose()
    }

    /// The store for a query.
    ///
    /// # Errors
    /// No store is configured, or it does not exist.
    pub(crate) fn existing(&self) -> Result<HistoryStore, CommandError> {
        let options = self.existing_options()?;
        let path = options.path.clone();
        HistoryStore::open(options).map_err(|error| cannot_open(&path, error))
    }

    /// The file of the store for a check.
    ///
    /// # Errors
    /// No store is configured, or it does not exist.
    pub(crate) fn existing_path(&self) -> Result<PathBuf, CommandError> {
        Ok(self.existing_options()?.path)
    }

    fn existing_options(&self) -> Result<HistoryOptions, CommandError> {
        let options = match &self.store {
            Some(path) => HistoryOptions::at(path),
            None => match configured()? {
                Some(options) => options,
                None => HistoryOptions::at(state_root()?.join(DEFAULT_FILE)),
            },
        };
        let path = &options.path;
        if !path.exists() {
            let text = format!("no history is stored: {} does not exist", path.display());
            return Err(CommandError::new(text).hint(
                "`switchtender serve` and runs with --store FILE store it; --store FILE also names it here",
            ));
        }
        Ok(options)
    }
}

/// The store in the state directory.
pub(crate) const DEFAULT_FILE: &str = "history.db";

fn configured() -> Result<Option<HistoryOptions>, CommandError> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    if let Some(path) = named {
        return Ok(Some(HistoryOptions::at(path)));
    }
    let Some(settings) = serve_state::default_settings()? else {
        return Ok(None);
    };
    let state_dir = serve_state::state_directory(&settings)?;
    Ok(Some(settings.history(&state_dir)))
}

pub(crate) fn cannot_open(path: &Path, error: HistoryError) -> CommandError {
    let hint = error.hint();
    let text = format!("cannot open the store {}", path.display());
    let error = CommandError::new(text).with_source(error);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// An error of a query, or of a write.
pub(crate) fn store_error(error: HistoryError) -> CommandError {
    let hint = error.hint();
    let error = CommandError::new("cannot use the store").with_source(error);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

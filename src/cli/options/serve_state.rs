//! The options that find the state directory of `serve`.

use std::path::{Path, PathBuf};

use crate::cli::exit::CommandError;
use crate::cli::options::state_root::state_root;
use crate::serve::settings::{DEFAULT_SETTINGS, ServeSettings};

/// The state directory of a process of `serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeStateArgs {
    /// Settings of the process, for its state directory; default: ./serve.toml, if it exists
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,

    /// State directory, also if the settings name another one; default: that of the settings, else
    /// $SWITCHTENDER_STATE, else /var/lib/switchtender for root, ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR", global = true)]
    state_dir: Option<PathBuf>,
}

impl ServeStateArgs {
    /// # Errors
    /// The settings cannot be used.
    pub(crate) fn directory(&self) -> Result<PathBuf, CommandError> {
        match (&self.state_dir, &self.config) {
            (Some(dir), _) => Ok(dir.clone()),
            (None, Some(config)) => state_directory(&load(config)?),
            (None, None) => default_directory(),
        }
    }
}

/// The state directory of the settings in the current directory, else the default one.
///
/// # Errors
/// They cannot be used.
pub(crate) fn default_directory() -> Result<PathBuf, CommandError> {
    default_settings()?.map_or_else(state_root, |settings| state_directory(&settings))
}

/// The settings in the current directory, if there are some.
///
/// # Errors
/// They cannot be used.
pub(crate) fn default_settings() -> Result<Option<ServeSettings>, CommandError> {
    let path = Path::new(DEFAULT_SETTINGS);
    path.exists().then(|| load(path)).transpose()
}

fn load(path: &Path) -> Result<ServeSettings, CommandError> {
    ServeSettings::load(path).map_err(CommandError::findings)
}

/// The state directory of a process with these settings.
///
/// # Errors
/// There is no default.
pub(crate) fn state_directory(settings: &ServeSettings) -> Result<PathBuf, CommandError> {
    settings.state_dir.clone().map_or_else(state_root, Ok)
}

//! Reads secrets when a session needs them.
//!
//! Each source is read once per process: a vault command for a thousand devices runs once. Errors
//! name the setting and the source, never the secret.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use secrecy::SecretString;
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::document::Table;
use switchtender_devices::regular_file;
use tokio::sync::OnceCell;

use super::Inventory;
use super::command_output::{self, CommandOutputError};
use super::file_mode::{WritableFile, readable_by_others};
use super::secret_source::SecretSource;
use super::setting::TableSetting;
use crate::bounded_command::CommandLimits;
use crate::error_chain::chain;

/// Limit for a command that prints a secret.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);
/// Maximum length of a secret in bytes.
const LONGEST: usize = 64 << 10;

/// Whether secrets of desired state may come from commands: `[secrets] commands` in the settings of the
/// site, never in the state or the inventory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StateCommands {
    #[default]
    Refused,
    Permitted,
}

impl StateCommands {
    /// Reads `[secrets]` of `switchtender.toml` or `serve.toml`.
    pub(crate) fn read(root: &Table<'_>) -> Self {
        let Some(table) = root.table("secrets") else {
            return StateCommands::Refused;
        };
        let commands = table.bool("commands");
        table.finish();
        match commands {
            Some(true) => StateCommands::Permitted,
            _ => StateCommands::Refused,
        }
    }
}

type Variable = dyn Fn(&str) -> Option<OsString> + Send + Sync;
type Cell = Arc<OnceCell<Result<SecretString, LookupError>>>;

/// Reads secrets from their sources.
pub(crate) struct Secrets {
    variable: Box<Variable>,
    /// Accept secret files that other users can read.
    allow_readable: bool,
    /// The mode of an inventory that other users can write: its commands do not run.
    writable: Option<WritableFile>,
    state_commands: StateCommands,
    found: Mutex<HashMap<String, Cell>>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// An error of reading a secret.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum LookupError {
    #[error("environment variable {0} is not set")]
    NotSet(String),
    #[error("{0} is empty")]
    Empty(String),
    #[error("cannot read {path}")]
    File {
        path: String,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("other users can read {path} (mode {mode:04o})")]
    Readable { path: String, mode: u32 },
    #[error("{0} is not UTF-8")]
    NotText(String),
    #[error("{0} is longer than 64 KiB")]
    TooLong(String),
    #[error(transparent)]
    Command(#[from] CommandOutputError),
    #[error("the command does not run: {0}")]
    Writable(WritableFile),
    #[error("the command does not run: the settings do not permit commands of desired state")]
    StateCommand,
}

impl LookupError {
    /// A finding with the message and the hint of this error.
    pub(crate) fn complete(&self, mut finding: Diagnostic) -> Diagnostic {
        finding.message = chain(self);
        finding.help = self.help();
        finding
    }

    fn help(&self) -> Option<String> {
        match self {
            LookupError::NotSet(name) => {
                Some(format!("export {name}, or use another secret source"))
            }
            LookupError::Readable { path, .. } => Some(format!(
                "`chmod 600 {path}`, or set `allow_readable = true` before the first section of the inventory"
            )),
            LookupError::Writable(file) => Some(file.help()),
            LookupError::StateCommand => Some(
                "set `commands = true` below `[secrets]` in switchtender.toml, or in serve.toml for \
                 `switchtender serve`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

impl Secrets {
    /// Reads the secrets of an inventory, with variables from the environment of the process.
    pub(crate) fn of_inventory(inventory: &Inventory) -> Self {
        Self {
            writable: inventory.writable.clone(),
            ..Self::new(inventory.allow_readable)
        }
    }

    /// Reads the secrets of desired state, too.
    pub(crate) fn with_state_commands(self, state_commands: StateCommands) -> Self {
        Self {
            state_commands,
            ..self
        }
    }

    /// Reads variables from the environment of the process.
    pub(crate) fn new(allow_readable: bool) -> Self {
        Self::with_environment(allow_readable, |name| std::env::var_os(name))
    }

    /// Reads variables with a function.
    pub(crate) fn with_environment(
        allow_readable: bool,
        variable: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static,
    ) -> Self {
        Self {
            variable: Box::new(variable),
            allow_readable,
            writable: None,
            state_commands: StateCommands::default(),
            found: Mutex::default(),
        }
    }

    /// The secret of a setting.
    ///
    /// # Errors
    /// The source cannot be read; the finding is at the setting.
    ///
    /// # Cancellation
    /// Can be dropped at any time; a running command is killed.
    pub(crate) async fn get(
        &self,
        setting: &TableSetting<SecretSource>,
    ) -> Result<SecretString, Diagnostic> {
        let found = match (&setting.value, &self.writable) {
            (SecretSource::Command(_), Some(file)) => Err(LookupError::Writable(file.clone())),
            (source, _) => self.read(source).await,
        };
        found.map_err(|error| error.complete(setting.origin.error("secret", "")))
    }

    /// The secret of a source in desired state.
    ///
    /// # Errors
    /// The source cannot be read, or is a command that the settings do not permit.
    ///
    /// # Cancellation
    /// As [`Secrets::get`].
    pub(crate) async fn of_state(
        &self,
        source: &SecretSource,
    ) -> Result<SecretString, LookupError> {
        match (source, self.state_commands) {
            (SecretSource::Command(_), StateCommands::Refused) => Err(LookupError::StateCommand),
            _ => self.read(source).await,
        }
    }

    async fn read(&self, source: &SecretSource) -> Result<SecretString, LookupError> {
        if let SecretSource::Literal(secret) = source {
            return Ok(secret.clone());
        }
        let cell = Arc::clone(
            self.found
                .lock()
                .expect("nothing panics while it holds the lock")
                .entry(source.to_string())
                .or_default(),
        );
        let found = cell.get_or_init(|| self.read_source(source)).await;
        found.clone()
    }

    async fn read_source(&self, source: &SecretSource) -> Result<SecretString, LookupError> {
        let bytes = match source {
            SecretSource::Env(name) => match (self.variable)(name) {
                Some(value) => value.into_encoded_bytes(),
                None => return Err(LookupError::NotSet(name.clone())),
            },
            SecretSource::File(path) => read(path, self.allow_readable)?,
            SecretSource::Command(words) => {
                let limits = CommandLimits {
                    time: COMMAND_LIMIT,
                    output: LONGEST,
                };
                command_output::run(words, None, limits).await?
            }
            SecretSource::Literal(secret) => return Ok(secret.clone()),
        };
        let name = || source.to_string();
        if bytes.len() > LONGEST {
            return Err(LookupError::TooLong(name()));
        }
        let text = String::from_utf8(bytes).map_err(|_| LookupError::NotText(name()))?;
        // The line feed at the end of files and command output is not part of the secret.
        let text = match source {
            SecretSource::Env(_) => text.as_str(),
            _ => text.strip_suffix('\n').unwrap_or(&text),
        };
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            return Err(LookupError::Empty(name()));
        }
        Ok(SecretString::from(text.to_owned()))
    }
}

fn read(path: &Path, allow_readable: bool) -> Result<Vec<u8>, LookupError> {
    let file_name = || path.display().to_string();
    let failed = |error: io::Error| LookupError::File {
        path: file_name(),
        source: Arc::new(error),
    };
    let file = regular_file::open(path, regular_file::LARGEST).map_err(failed)?;
    if let Some(mode) = readable_by_others(&file).map_err(failed)?
        && !allow_readable
    {
        return Err(LookupError::Readable {
            path: file_name(),
            mode,
        });
    }
    let mut bytes = Vec::new();
    file.take(LONGEST as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(bytes)
}

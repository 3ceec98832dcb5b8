//! Reads secrets when a session needs them.
//!
//! Equal sources are read once: a command for a thousand devices runs once. `serve` reads them again after a while. Errors
//! name the setting and the source, never the secret.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read as _};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::document::Table;
use switchtender_devices::regular_file;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::Inventory;
use super::command_output::{self, CommandOutputError};
use super::file_mode::{WritableFile, readable_by_others};
use super::secret_source::SecretSource;
use super::setting::TableSetting;
use super::vault::{self, VaultClient, VaultCredentials, VaultError};
use super::vault_settings::{VaultLogin, VaultSettings};
use crate::bounded_command::CommandLimits;
use crate::clock;
use crate::error_chain::chain;

/// Limit for a command that prints a secret.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);
/// Maximum length of a secret in bytes.
const LONGEST: usize = 64 << 10;

/// What to do for a secret in Vault without its table.
pub(crate) const NO_VAULT_HELP: &str =
    "add [vault] with the `address` of the server to the inventory";

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

/// A secret that is read, or an error.
struct FoundSecret {
    since: Instant,
    cell: Cell,
}

/// The field that stands for all fields of a secret in Vault, as JSON. No setting has it.
const ALL_FIELDS: &str = "";

/// The directory of the credentials of systemd.
const CREDENTIALS_DIRECTORY: &str = "CREDENTIALS_DIRECTORY";

/// Reads secrets from their sources.
pub(crate) struct Secrets {
    variable: Box<Variable>,
    /// Accept secret files that other users can read.
    allow_readable: bool,
    /// The mode of an inventory that other users can write: its commands do not run.
    writable: Option<WritableFile>,
    state_commands: StateCommands,
    vault: Option<VaultSettings>,
    vault_client: OnceCell<VaultClient>,
    /// How long a secret is not read again. `None`: never again.
    lifetime: Option<Duration>,
    found: Mutex<HashMap<SecretSource, FoundSecret>>,
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
    #[error("the credential {0} is not there: {CREDENTIALS_DIRECTORY} is not set")]
    NoCredentials(String),
    #[error("the secret {0} in Vault needs the table [vault] of an inventory")]
    NoVault(String),
    #[error("Vault is not asked: {0}")]
    VaultWritable(WritableFile),
    #[error("cannot read {path} in Vault")]
    Vault {
        path: String,
        #[source]
        source: VaultError,
    },
    #[error("cannot log in to Vault")]
    VaultLogin(#[source] Arc<LookupError>),
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
            LookupError::Writable(file) | LookupError::VaultWritable(file) => Some(file.help()),
            LookupError::NoCredentials(name) => Some(format!(
                "systemd sets it with `LoadCredential={name}:PATH` or `LoadCredentialEncrypted=` in the unit"
            )),
            LookupError::NoVault(_) => Some(NO_VAULT_HELP.to_owned()),
            LookupError::Vault { path, source } => source.help(path),
            LookupError::VaultLogin(source) => source.help(),
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
            vault: inventory.vault.clone(),
            ..Self::new(inventory.allow_readable)
        }
    }

    /// Reads secrets of this Vault, too.
    pub(super) fn with_vault(self, vault: Option<VaultSettings>) -> Self {
        Self { vault, ..self }
    }

    /// Reads the secrets of desired state, too.
    pub(crate) fn with_state_commands(self, state_commands: StateCommands) -> Self {
        Self {
            state_commands,
            ..self
        }
    }

    /// Reads a secret again after this time, for a process without an end: secrets are rotated, and errors end.
    pub(crate) fn with_lifetime(self, lifetime: Duration) -> Self {
        Self {
            lifetime: Some(lifetime),
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
            vault: None,
            vault_client: OnceCell::new(),
            lifetime: None,
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

    /// The secret of a source of devices or of `serve.toml`.
    ///
    /// # Errors
    /// The source of the secret cannot be read.
    ///
    /// # Cancellation
    /// As [`Secrets::get`].
    pub(crate) async fn of_source(
        &self,
        source: &SecretSource,
    ) -> Result<SecretString, LookupError> {
        self.read(source).await
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
        let cell = self.cell(source);
        let found = cell.get_or_init(|| self.read_source(source)).await;
        found.clone()
    }

    /// Boxed, because a secret of Vault needs others.
    fn read_boxed<'a>(
        &'a self,
        source: &'a SecretSource,
    ) -> Pin<Box<dyn Future<Output = Result<SecretString, LookupError>> + Send + 'a>> {
        Box::pin(self.read(source))
    }

    /// The place of a secret; an empty one if it is not read yet, or was read too long ago.
    fn cell(&self, source: &SecretSource) -> Cell {
        let now = clock::instant();
        let found = self.found.lock();
        let mut found = found.expect("nothing panics while it holds the lock");
        let is_old = |one: &FoundSecret| {
            let lifetime = self.lifetime;
            lifetime.is_some_and(|lifetime| now.duration_since(one.since) >= lifetime)
        };
        if found.get(source).is_some_and(is_old) {
            found.remove(source);
        }
        let one = found.entry(source.clone()).or_insert_with(|| FoundSecret {
            since: now,
            cell: Cell::default(),
        });
        Arc::clone(&one.cell)
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
            SecretSource::Credential(name) => match (self.variable)(CREDENTIALS_DIRECTORY) {
                // The directory is that of the process; systemd sets modes for it.
                Some(directory) => read(&Path::new(&directory).join(name), true)?,
                None => return Err(LookupError::NoCredentials(name.clone())),
            },
            SecretSource::Vault { path, field } => {
                return self.read_vault(path, field).await;
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

    /// A field of a secret in Vault. All fields of a secret are one request.
    async fn read_vault(&self, path: &str, field: &str) -> Result<SecretString, LookupError> {
        let failed = |source| LookupError::Vault {
            path: path.to_owned(),
            source,
        };
        let all_fields = SecretSource::Vault {
            path: path.to_owned(),
            field: ALL_FIELDS.to_owned(),
        };
        if field == ALL_FIELDS {
            let Some(settings) = &self.vault else {
                return Err(LookupError::NoVault(path.to_owned()));
            };
            // Their server would get the token, and their command would run for it.
            if let Some(file) = &self.writable {
                return Err(LookupError::VaultWritable(file.clone()));
            }
            let credentials = self.vault_credentials(settings).await;
            let credentials = credentials.map_err(|error| LookupError::VaultLogin(error.into()))?;
            let client = || async { VaultClient::new(settings) };
            let client = self.vault_client.get_or_try_init(client).await;
            let read = client.map_err(failed)?.document(path, &credentials).await;
            return read.map_err(failed);
        }
        let document = self.read_boxed(&all_fields).await?;
        let secret = vault::field(&document, field).map_err(failed)?;
        if secret.expose_secret().is_empty() {
            return Err(LookupError::Empty(format!(
                "field {field} of {path} in Vault"
            )));
        }
        Ok(secret)
    }

    async fn vault_credentials(
        &self,
        settings: &VaultSettings,
    ) -> Result<VaultCredentials, LookupError> {
        let read = |source| self.read_boxed(source);
        Ok(match &settings.login {
            VaultLogin::Token(token) => VaultCredentials::Token(read(token).await?),
            VaultLogin::AppRole {
                mount,
                role_id,
                secret_id,
            } => VaultCredentials::AppRole {
                mount: mount.clone(),
                role_id: read(role_id).await?,
                secret_id: read(secret_id).await?,
            },
        })
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

//! Desired state for a command that contacts no device.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::{Facts, Registry};

use crate::cli::exit::CommandError;
use crate::cli::options::desired_state::{directory, error};
use crate::cli::options::facts_file::read_facts;
use crate::cli::options::inventory_source::{DEFAULT_INVENTORY, SourceCommandArgs};
use crate::cli::options::manifest::{self, ManifestArgs};
use crate::cli::options::one_device::{ONE_DEVICE, device, inventory};
use crate::cli::options::state_root::state_root;
use crate::desired_state::{
    OriginMap, SecretValues, StateCatalog, StateDevice, StateDirectory, StateError,
};
use crate::error_chain::chain;
use crate::fleet::state_files;
use crate::inventory::Device;
use crate::store::{Store, StoreError};

/// The catalog of a device's desired state for a command that contacts no device and reads no secret, with
/// the errors of the files.
/// Without `facts`, templates have those of the last run.
pub(crate) fn offline_catalog(
    directory: &StateDirectory,
    device: &Device,
    registry: &Registry,
    facts: Option<&Facts>,
    state_dir: Option<&Path>,
) -> Result<StateCatalog, OfflineStateError> {
    let merged = directory.merged(device, registry)?;
    let last = match facts {
        Some(_) => None,
        None => last_facts(state_dir, device)?,
    };
    let target = StateDevice {
        device,
        facts: facts.or(last.as_ref()),
        registry,
    };
    let secrets = SecretValues::placeholders(&merged, &directory.path);
    Ok(merged.readable_catalog(&target, &secrets)?)
}

/// The desired state or manifest of one device, for a command that contacts no device.
#[derive(Debug, clap::Args)]
pub(crate) struct OfflineStateArgs {
    /// Directory of desired state in YAML, instead of a catalog
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,

    #[command(flatten)]
    manifest: ManifestArgs,

    /// Inventory of the devices, for --state and --manifest
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_INVENTORY)]
    inventory: PathBuf,

    #[command(flatten)]
    source: SourceCommandArgs,

    /// Facts of the device for --state and --manifest: a file, or a directory with <certname>.json
    /// [default: the facts of the last run]
    #[arg(long, value_name = "FILE|DIR")]
    facts: Option<PathBuf>,

    /// State directory of apply, with the facts of the last run
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

/// A catalog that was made for a command.
pub(crate) struct OfflineCatalog {
    pub(crate) source: Arc<Source>,
    /// Where the parts of a catalog from desired state files come from.
    pub(crate) origins: Option<OriginMap>,
}

impl OfflineStateArgs {
    /// The catalog of a device. `None`: neither `--state` nor `--manifest` is set.
    pub(crate) fn catalog(
        &self,
        name: &str,
        registry: &Registry,
    ) -> Result<Option<OfflineCatalog>, CommandError> {
        let compiler = self.manifest.compiler(registry)?;
        if self.state.is_none() && compiler.is_none() {
            return Ok(None);
        }
        let inventory = inventory(&self.inventory, registry, self.source)?;
        let device = device(&inventory, &[name.to_owned()], ONE_DEVICE)?;
        let facts = match &self.facts {
            None => None,
            Some(path) => read_facts(path, &device.certname).map_err(|(path, error)| {
                CommandError::new(format!("cannot read {}", path.display())).with_source(error)
            })?,
        };
        let state_dir = self.state_dir.as_deref();
        if let Some(compiler) = compiler {
            let compiled = manifest::offline_catalog(&compiler, device, facts.as_ref(), state_dir)?;
            let name = compiler.source_name(&device.certname);
            return Ok(Some(OfflineCatalog {
                source: Source::new(name, compiled.text),
                origins: None,
            }));
        }
        let path = self.state.as_deref().unwrap_or(Path::new(""));
        let directory = directory(path, &inventory)?;
        let made = offline_catalog(&directory, device, registry, facts.as_ref(), state_dir);
        let made = made.and_then(|made| {
            if made.errors.is_empty() {
                Ok(OfflineCatalog {
                    source: made.source,
                    origins: Some(made.origins),
                })
            } else {
                Err(StateError::Invalid(made.errors).into())
            }
        });
        made.map(Some).map_err(|failed| match failed {
            OfflineStateError::State(failed) => error(failed),
            OfflineStateError::Store(failed) => CommandError::new(chain(&failed)),
        })
    }
}

/// Why there is no catalog of desired state.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OfflineStateError {
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The facts of the last run of a device. A user without a state directory has none.
pub(crate) fn last_facts(
    state_dir: Option<&Path>,
    device: &Device,
) -> Result<Option<Facts>, StoreError> {
    let root = match state_dir {
        Some(dir) => Some(dir.to_owned()),
        None => state_root().ok(),
    };
    root.map_or(Ok(None), |root| {
        state_files::last_facts(&Store::at(root).device(&device.name))
    })
}

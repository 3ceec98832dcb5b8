//! `switchtender state`: the desired state of a device, merged from the files of a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::{Facts, Registry};
use switchtender_devices::names::TypeName;

use crate::cli::commands::run::state_root;
use crate::cli::commands::validate::device_files::read_facts;
use crate::cli::exit::{CommandError, Exit, eprint_notice, print_document};
use crate::cli::options::inventory_source::{
    DEFAULT_INVENTORY, SourceCommandArgs, warn_of_commands,
};
use crate::cli::options::manifest::{self, ManifestArgs};
use crate::desired_state::{
    OriginMap, SecretValues, StateCatalog, StateDevice, StateDirectory, StateError, Unmanaged,
};
use crate::diagnostic::did_you_mean;
use crate::error_chain::chain;
use crate::fleet::state_files;
use crate::inventory::{Device, DeviceSelection, Inventory, InventoryOptions};
use crate::store::{Store, StoreError};

/// Show the desired state of devices (`--state` of plan and apply)
///
/// Example: switchtender state show sw1
#[derive(Debug, clap::Args)]
pub(crate) struct StateArgs {
    #[command(subcommand)]
    command: StateCommand,
}

#[derive(Debug, Subcommand)]
enum StateCommand {
    Show(StateShowArgs),
}

/// Show the merged state of a device, with the file and line of each value
///
/// Templates and sources of secrets are printed as written; secrets in clear text are masked.
///
/// Example: switchtender state show --state state sw1 network_vlan
#[derive(Debug, clap::Args)]
struct StateShowArgs {
    /// Name of the device
    #[arg(value_name = "DEVICE")]
    device: String,

    /// Show only resources of this type
    #[arg(value_name = "TYPE")]
    type_name: Option<TypeName>,

    /// Directory of the desired state
    #[arg(long, value_name = "DIR", default_value = "state")]
    state: PathBuf,

    /// Inventory of the devices
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_INVENTORY)]
    inventory: PathBuf,

    #[command(flatten)]
    source: SourceCommandArgs,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
}

pub(crate) fn run(args: &StateArgs) -> Result<Exit, CommandError> {
    match &args.command {
        StateCommand::Show(args) => show(args),
    }
}

fn show(args: &StateShowArgs) -> Result<Exit, CommandError> {
    let registry = crate::cli::options::definitions::load(args.definitions.as_deref())?;
    let inventory = inventory(&args.inventory, &registry, args.source)?;
    let directory = directory(&args.state, &inventory)?;
    for finding in directory.unused(&inventory) {
        eprint_notice(&format!("warning: {}", finding.message));
    }
    let device = device(&inventory, vec![args.device.clone()], ONE_DEVICE)?;
    let merged = directory.merged(device, &registry).map_err(error)?;
    if !merged.errors.is_empty() {
        return Err(error(StateError::Invalid(merged.errors)));
    }
    if let Some(name) = &args.type_name
        && !merged.types.contains_key(name.as_str())
    {
        let error = CommandError::new(format!("{} declares no {name}", device.name));
        let types = merged.types.keys().map(String::as_str);
        let hint = did_you_mean(name, types);
        return Err(CommandError { hint, ..error });
    }
    print_document(&merged.render(args.type_name.as_deref(), &registry));
    Ok(Exit::SUCCESS)
}

/// The inventory for a command that reads no secrets.
pub(crate) fn inventory(
    path: &Path,
    registry: &Registry,
    source: SourceCommandArgs,
) -> Result<Inventory, CommandError> {
    let options = InventoryOptions {
        registry: Some(registry),
        allow_readable: true,
        skips_command: !source.run_commands,
        ..InventoryOptions::default()
    };
    let inventory = Inventory::load(path, &options).map_err(CommandError::findings)?;
    warn_of_commands(&inventory);
    Ok(inventory)
}

/// What to do if several devices are selected.
pub(crate) const ONE_DEVICE: &str = "select one device";

/// The device with a name. `hint`: what to do about several.
pub(crate) fn device<'a>(
    inventory: &'a Inventory,
    targets: Vec<String>,
    hint: &str,
) -> Result<&'a Device, CommandError> {
    let selection = DeviceSelection {
        targets,
        labels: Vec::new(),
    };
    let devices = inventory
        .select(&selection)
        .map_err(CommandError::findings)?;
    match devices[..] {
        [device] => Ok(device),
        _ => {
            let text = format!("{} devices are selected", devices.len());
            Err(CommandError::new(text).hint(hint))
        }
    }
}

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
        let device = device(&inventory, vec![name.to_owned()], ONE_DEVICE)?;
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

/// The directory of the desired state.
///
/// # Errors
/// It cannot be read.
pub(crate) fn directory(
    path: &Path,
    inventory: &Inventory,
) -> Result<StateDirectory, CommandError> {
    // A missing directory would count as a directory without files.
    std::fs::read_dir(path).map_err(|error| {
        CommandError::new(format!("cannot read directory {}", path.display()))
            .with_source(error)
            .hint("pass a directory with common.yaml, platform/PLATFORM.yaml, label/KEY/VALUE.yaml or device/NAME.yaml as --state")
    })?;
    Ok(StateDirectory::new(path, inventory))
}

/// Separates devices without a file, which are not managed. A device that is named is an error later.
///
/// # Errors
/// None remains: the directory is the wrong one, or the inventory.
pub(crate) fn managed<'d>(
    directory: &StateDirectory,
    devices: Vec<&'d Device>,
    selection: &DeviceSelection,
) -> Result<(Vec<&'d Device>, Option<Unmanaged>), Unmanaged> {
    let is_managed = |device: &&Device| selection.is_named(device) || directory.manages(device);
    let (managed, others): (Vec<&Device>, Vec<&Device>) = devices.into_iter().partition(is_managed);
    match Unmanaged::new(directory, &others) {
        Some(unmanaged) if managed.is_empty() => Err(unmanaged),
        unmanaged => Ok((managed, unmanaged)),
    }
}

/// The error of a command whose devices have no file.
pub(crate) fn unmanaged_error(unmanaged: Unmanaged) -> CommandError {
    CommandError::new(unmanaged.message).hint(unmanaged.hint)
}

/// An error of desired state files as the error of a command.
pub(crate) fn error(error: StateError) -> CommandError {
    let findings = error.findings();
    if !findings.is_empty() {
        return CommandError::findings(findings.to_vec());
    }
    let command_error = CommandError::new(chain(&error));
    match error.hint() {
        Some(hint) => command_error.hint(hint),
        None => command_error,
    }
}

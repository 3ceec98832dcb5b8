//! `switchtender state`: the desired state of a device, merged from the files of a directory.

use std::path::PathBuf;

use clap::Subcommand;
use switchtender_devices::names::TypeName;

use crate::cli::exit::{CommandError, Exit, eprint_notice, print_document};
use crate::cli::options::desired_state::{directory, error};
use crate::cli::options::inventory_source::{DEFAULT_INVENTORY, SourceCommandArgs};
use crate::cli::options::offline_state::last_facts;
use crate::cli::options::one_device::{ONE_DEVICE, device, inventory};
use crate::desired_state::{StateDevice, StateError};
use crate::diagnostic::did_you_mean;

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
    let device = device(&inventory, std::slice::from_ref(&args.device), ONE_DEVICE)?;
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
    let facts = last_facts(None, device).ok().flatten();
    let completed = merged.completed(&StateDevice {
        device,
        facts: facts.as_ref(),
        registry: &registry,
    });
    print_document(&completed.render(args.type_name.as_deref(), &registry));
    Ok(Exit::SUCCESS)
}

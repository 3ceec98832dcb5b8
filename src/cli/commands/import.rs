//! `switchtender import`: existing devices as desired state.

pub(crate) mod accept;
mod draft;
mod inventory_text;
mod patch;
mod questions;
mod read;
mod report;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;
use std::path::PathBuf;

use switchtender_devices::driver::Registry;
use switchtender_devices::names::TypeName;

use crate::cli::exit::{CommandError, Exit, eprint_notice, print, print_json};
use crate::cli::options::device_access::DeviceAccess;
use crate::cli::options::global::Global;
use crate::cli::options::output_format::Output;
use crate::cli::options::unknown_name::unknown_type;
use crate::cli::runtime::block_on;
use crate::import::drift::Prevailing;
use crate::import::labels::LabelRule;
use crate::import::secret_references::SecretMode;
use crate::inventory::range;

use draft::ImportSource;
use patch::Patching;
use read::ReadFleet;
use report::ImportReport;

/// Write the desired state of existing devices
///
/// The files are short: defaults are left out, values of most devices are in
/// common.yaml and in files of labels, and ports with the same settings use a
/// profile. The files are read back and planned against what was read. What would
/// change is left out and listed, so that the plan is empty.
///
/// A later import changes what has changed on devices since the last import or
/// apply, and leaves the rest of the files as it is, with comments. For one device,
/// it accepts its drift.
///
/// Examples:
///   switchtender import state
///   switchtender import state --configs oxidized --label 'site=^(\w+)-'
///   switchtender import state sw1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ImportArgs {
    /// Directory of the desired state
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Devices, or patterns and groups of them; without, all devices
    #[arg(value_name = "DEVICE")]
    devices: Vec<String>,

    /// Read saved configurations instead of devices: a file, or a folder of files DEVICE.cfg or DEVICE,
    /// also of Oxidized and RANCID. Devices that the inventory does not have are added to it
    #[arg(long, value_name = "PATH", conflicts_with_all = ["device", "record"])]
    configs: Option<PathBuf>,

    #[command(flatten)]
    access: DeviceAccess,

    /// Label of devices, from their names, a fact or their folder: 'site=^(\w+)-',
    /// model=fact:hardwaremodel, site=folder. Each value has a file
    #[arg(long = "label", value_name = "KEY=REGEX|KEY=fact:NAME|KEY=folder")]
    labels: Vec<LabelRule>,

    /// Percentage of the devices that have a value which a common file declares
    #[arg(long, value_name = "PERCENT", default_value_t = 75, value_parser = clap::value_parser!(u8).range(51..=100))]
    share: u8,

    /// Import these types only, separated by commas
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    types: Vec<TypeName>,

    /// Write no profiles
    #[arg(long)]
    no_profiles: bool,

    /// Rename a profile
    #[arg(long = "rename", value_name = "OLD=NEW", value_parser = renamed)]
    renamed: Vec<(String, String)>,

    /// How secrets are written
    #[arg(long, value_enum, default_value_t = SecretMode::Env)]
    secrets: SecretMode,

    /// Which side prevails where both have changed since the last import or apply
    #[arg(long, value_enum, value_name = "SIDE")]
    take: Option<Prevailing>,

    /// Make all files again, without comments and changes of the files that exist
    #[arg(long, conflicts_with = "take")]
    refactor: bool,

    /// Report what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Overwrite files with changes that are not committed
    #[arg(long)]
    force: bool,

    /// Ask no questions
    #[arg(short, long)]
    yes: bool,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,
}

fn renamed(text: &str) -> Result<(String, String), String> {
    let names = text.split_once('=');
    let names = names.filter(|(old, new)| !old.is_empty() && !new.is_empty());
    let (old, new) = names.ok_or("write OLD=NEW")?;
    Ok((old.to_owned(), new.to_owned()))
}

/// Imports, and prints the report.
pub(crate) fn run(args: &ImportArgs, _global: &Global) -> Result<Exit, CommandError> {
    let report = import(args)?;
    match args.output {
        Output::Human => print(&report.text()),
        Output::Json => print_json(&report.json()),
    }
    Ok(report.exit())
}

/// Reads devices, makes files whose plan is empty, and writes them.
fn import(args: &ImportArgs) -> Result<ImportReport, CommandError> {
    let fleet = block_on(read::read(args))?;
    print_notes(&fleet);
    if fleet.devices.is_empty() {
        let (name, reason) = fleet.failed.first().cloned().unwrap_or_default();
        let error = CommandError::new(format!("no device was read; {name}: {reason}"));
        let hint = "check the inventory, or import saved configurations with --configs";
        return Err(error.hint(hint));
    }
    check_types(args, &fleet.registry)?;
    let inventory = inventory_text::complete(args, &fleet.registry, &fleet.devices)?;
    let mut source = ImportSource {
        args,
        renamed: args.renamed.clone(),
        fleet: &fleet,
        inventory: &inventory,
        store: &args.access.store()?,
    };
    let before = patch::state_files(&args.directory)?;
    let draft = if before.is_empty() || args.refactor {
        let draft = source.draft()?;
        let renamed = questions::names(args, &draft)?;
        if renamed.is_empty() {
            draft
        } else {
            source.renamed.extend(renamed);
            source.draft()?
        }
    } else {
        let secrets = block_on(source.secrets())?;
        Patching::new(&source, before, &secrets)?.patch()?
    };
    let changed = write::changed(&args.directory, &draft)?;
    let report = ImportReport::new(&source, &draft, &changed);
    if !args.dry_run {
        write::write(args, &inventory, &draft, &changed)?;
    }
    Ok(report)
}

/// Prints what was read incompletely, once for devices with the same note.
fn print_notes(fleet: &ReadFleet) {
    let mut notes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for device in &fleet.devices {
        for note in &device.notes {
            notes.entry(note).or_default().push(&device.name);
        }
    }
    for (note, devices) in notes {
        let names = range::of_names(devices).join(", ");
        eprint_notice(&format!("{names}: {note}"));
    }
}

fn check_types(args: &ImportArgs, registry: &Registry) -> Result<(), CommandError> {
    let mut types = args.types.iter();
    match types.find(|name| registry.model(name).is_none()) {
        Some(name) => Err(unknown_type(registry, name)),
        None => Ok(()),
    }
}

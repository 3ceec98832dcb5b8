//! `switchtender store`: checks, copies and compacts the store of runs, and the roles of its database.

mod copy;
mod new_key;
mod setup;

use std::path::PathBuf;

use clap::Subcommand;

use crate::cli::exit::{CommandError, Exit, print, print_json};
use crate::cli::options::output_format::Output;
use crate::cli::options::store_options::{StoreOption, cannot_open, store_error};
use crate::history::{HistoryCheck, HistoryError};
use crate::terminal_text::TerminalText;
use new_key::NewKeyArgs;

/// Check, copy or compact the store of runs
///
/// Example: switchtender store check
#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    Check(StoreCheckArgs),
    Export(StoreExportArgs),
    Vacuum(StoreVacuumArgs),
    NewKey(NewKeyArgs),
    Copy(copy::StoreCopyArgs),
    Setup(setup::StoreSetupArgs),
}

/// Check the file and its links; exits with 1 if it has defects
///
/// Example: switchtender store check
#[derive(Debug, clap::Args)]
struct StoreCheckArgs {
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,

    #[command(flatten)]
    store: StoreOption,
}

/// Copy the store into a new SQLite file, also while it is in use
///
/// Logins and the state of devices are left out.
///
/// Example: switchtender store export backup.db
#[derive(Debug, clap::Args)]
struct StoreExportArgs {
    /// The new file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    store: StoreOption,
}

/// Give the space of removed runs back to the disk
///
/// Example: switchtender store vacuum
#[derive(Debug, clap::Args)]
struct StoreVacuumArgs {
    #[command(flatten)]
    store: StoreOption,
}

pub(crate) fn run(args: &StoreArgs) -> Result<Exit, CommandError> {
    match &args.command {
        StoreCommand::Check(args) => check(args),
        StoreCommand::Export(args) => export(args),
        StoreCommand::Vacuum(args) => vacuum(args),
        StoreCommand::NewKey(args) => new_key::run(args),
        StoreCommand::Copy(args) => copy::run(args),
        StoreCommand::Setup(_) => Ok(setup::run()),
    }
}

fn check(args: &StoreCheckArgs) -> Result<Exit, CommandError> {
    let location = args.store.existing_location()?;
    let check = HistoryCheck::begin(&location);
    let check = check.map_err(|error| cannot_open(&location, error))?;
    let check = check.finish();
    let exit = if check.defects.is_empty() {
        Exit::SUCCESS
    } else {
        Exit::FAILURE
    };
    if args.output == Output::Json {
        let json = serde_json::to_string(&check).expect("a check is JSON");
        print_json(&format!("{json}\n"));
        return Ok(exit);
    }
    let mut text = TerminalText::new();
    for defect in &check.defects {
        text.line(format_args!("defect: {defect}"));
    }
    text.line(format_args!(
        "{} devices, {} runs{}, {} KiB: {}",
        check.devices,
        check.runs,
        match check.folded_runs {
            0 => String::new(),
            count => format!(" and {count} folded"),
        },
        check.bytes >> 10,
        match check.defects.len() {
            0 => "no defects".to_owned(),
            count => format!("{count} defects"),
        }
    ));
    print(&text);
    Ok(exit)
}

fn export(args: &StoreExportArgs) -> Result<Exit, CommandError> {
    let exported = args.store.existing()?.export(&args.file);
    exported.map_err(|error| {
        let hint = error.hint();
        let text = match error {
            HistoryError::Exists(_) => "cannot export the store".to_owned(),
            _ => format!("cannot export the store to {}", args.file.display()),
        };
        CommandError::new(text)
            .with_source(error)
            .optional_hint(hint)
    })?;
    Ok(Exit::SUCCESS)
}

fn vacuum(args: &StoreVacuumArgs) -> Result<Exit, CommandError> {
    let bytes = args.store.existing()?.vacuum().map_err(store_error)?;
    print(&TerminalText::of_line(format_args!(
        "{} KiB are free again",
        bytes >> 10
    )));
    Ok(Exit::SUCCESS)
}

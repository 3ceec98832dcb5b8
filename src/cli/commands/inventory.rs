//! `switchtender inventory`: write, validate or show the inventory.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;
use switchtender_devices::driver::Registry;

use crate::cli::exit::{CommandError, Exit, print, print_json};
use crate::cli::options::definitions;
use crate::cli::options::global::Global;
use crate::cli::options::inventory_source::{
    DEFAULT_INVENTORY, SourceCommandArgs, warn_of_commands,
};
use crate::cli::options::output_format::Output;
use crate::cli::options::selection::{Selection, targets};
use crate::diagnostic::terminal::{self, RenderOptions};
use crate::diagnostic::{Counts, limit};
use crate::inventory::show::SettingRow;
use crate::inventory::{Inventory, InventoryOptions};
use crate::terminal_text::TerminalText;

/// Write, validate or show the inventory
///
/// Example: switchtender inventory init
#[derive(Debug, clap::Args)]
pub(crate) struct InventoryArgs {
    #[command(subcommand)]
    command: InventoryCommand,
}

#[derive(Debug, Subcommand)]
enum InventoryCommand {
    Init(InventoryInitArgs),
    Validate(InventoryValidateArgs),
    Show(InventoryShowArgs),
}

/// Write an inventory to start from
///
/// Example: switchtender inventory init
#[derive(Debug, clap::Args)]
struct InventoryInitArgs {
    /// File to write; it must not exist
    #[arg(value_name = "FILE", default_value = DEFAULT_INVENTORY)]
    file: PathBuf,
}

/// Validate the inventory and the files it names
///
/// Exit: 0 no errors, 1 errors. Secrets are not read, and no command runs unless --run-commands is set.
///
/// Example: switchtender inventory validate inventory.toml
#[derive(Debug, clap::Args)]
struct InventoryValidateArgs {
    /// Inventory, as with --inventory
    #[arg(value_name = "FILE", conflicts_with = "inventory")]
    name: Option<PathBuf>,

    #[command(flatten)]
    file: InventoryFileArgs,

    #[command(flatten)]
    source: SourceCommandArgs,

    /// Maximum number of warnings per code; the rest is counted
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

/// Show the settings of devices with their origin in the inventory, secrets masked
///
/// Example: switchtender inventory show sw1 'lb*'
#[derive(Debug, clap::Args)]
struct InventoryShowArgs {
    /// Devices, as with --target
    #[arg(value_name = "EXPRESSION")]
    names: Vec<String>,

    #[command(flatten)]
    file: InventoryFileArgs,

    #[command(flatten)]
    source: SourceCommandArgs,

    #[command(flatten)]
    selection: Selection,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,
}

#[derive(Debug, clap::Args)]
struct InventoryFileArgs {
    /// Inventory of the devices
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_INVENTORY)]
    inventory: PathBuf,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
}

pub(crate) fn run(args: &InventoryArgs, global: &Global) -> Result<Exit, CommandError> {
    match &args.command {
        InventoryCommand::Init(args) => init(args),
        InventoryCommand::Validate(args) => validate(args, global),
        InventoryCommand::Show(args) => show(args),
    }
}

fn init(args: &InventoryInitArgs) -> Result<Exit, CommandError> {
    const TEMPLATE: &str = include_str!("inventory_template.toml");
    let path = args.file.display();
    // Passwords may be added to the file.
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&args.file);
    let written = file.and_then(|mut file| file.write_all(TEMPLATE.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CommandError::new(format!("{path} exists already"))
            .hint("name another file: switchtender inventory init FILE"),
        _ => CommandError::new(format!("cannot write {path}")).with_source(error),
    })?;
    print(&TerminalText::of_line(format_args!(
        "{path} is written: change its device, then run `switchtender inventory validate`"
    )));
    Ok(Exit::SUCCESS)
}

fn validate(args: &InventoryValidateArgs, global: &Global) -> Result<Exit, CommandError> {
    let file = args.name.as_ref().unwrap_or(&args.file.inventory);
    let registry = definitions::load(args.file.definitions.as_deref())?;
    let inventory = load((file, args.source, true), &registry).map_err(|error| {
        let counts = Counts::of(&error.findings);
        let is_cut = !limit(error.findings.clone(), args.limit).rest.is_empty();
        let error = CommandError {
            message: format!("{} has {counts}", file.display()),
            ..error.limit(args.limit)
        };
        if is_cut {
            error.hint("--limit N shows more of them")
        } else {
            error
        }
    })?;
    let options = RenderOptions {
        colors: global.is_stdout_colored(),
    };
    let limited = limit(inventory.warnings.clone(), args.limit);
    let mut text = terminal::render(&limited, options);
    let number = inventory.devices.len();
    let plural = if number == 1 { "" } else { "s" };
    text.line(format_args!(
        "{}: {number} device{plural}, no errors",
        file.display()
    ));
    print(&text);
    Ok(Exit::SUCCESS)
}

fn show(args: &InventoryShowArgs) -> Result<Exit, CommandError> {
    let registry = definitions::load(args.file.definitions.as_deref())?;
    let file = (args.file.inventory.as_path(), args.source, false);
    let inventory = load(file, &registry)?;
    warn_of_commands(&inventory);
    let mut selection = args.selection.parse()?;
    selection.extend(targets(&args.names)?);
    let devices = inventory
        .select(&selection)
        .map_err(CommandError::findings)?;
    let rows = inventory.show(&devices, &registry);
    match args.output {
        Output::Json => {
            let mut text = String::new();
            for device in rows {
                let settings: serde_json::Map<_, _> = device
                    .settings
                    .into_iter()
                    .map(|setting| {
                        let origin = json!({ "table": setting.table, "line": setting.line });
                        (
                            setting.key,
                            json!({ "value": setting.value, "from": origin }),
                        )
                    })
                    .collect();
                text.push_str(
                    &json!({ "device": device.name.as_str(), "settings": settings }).to_string(),
                );
                text.push('\n');
            }
            print_json(&text);
        }
        Output::Human => {
            let mut text = TerminalText::new();
            for device in rows {
                let width = |length: fn(&SettingRow) -> usize| {
                    device.settings.iter().map(length).max().unwrap_or(0)
                };
                let keys = width(|s| s.key.chars().count());
                let origins = width(|s| origin(s).chars().count());
                // An origin that does not fit is in the next line.
                let room = WIDTH.saturating_sub(keys + origins + "      ".len());
                let values = width(|s| s.value.chars().count()).min(room);
                text.line(&device.name);
                for setting in &device.settings {
                    let (key, value, origin) = (&setting.key, &setting.value, origin(setting));
                    if value.chars().count() <= values {
                        text.line(format_args!("  {key:keys$}  {value:values$}  {origin}"));
                    } else {
                        text.line(format_args!("  {key:keys$}  {value}"));
                        text.line(format_args!("  {:keys$}  {:values$}  {origin}", "", ""));
                    }
                }
            }
            print(&text);
        }
    }
    let problems = Inventory::device_problems(devices);
    if problems.is_empty() {
        Ok(Exit::SUCCESS)
    } else {
        Err(CommandError::findings(problems))
    }
}

/// Maximum number of columns of a row.
const WIDTH: usize = 80;

/// Where a setting comes from.
fn origin(setting: &SettingRow) -> String {
    match (&setting.table, setting.line) {
        (Some(table), Some(line)) => format!("{table}, line {line}"),
        (Some(table), None) => table.clone(),
        (None, _) => "default".to_owned(),
    }
}

fn load(
    (file, source, referenced_files): (&Path, SourceCommandArgs, bool),
    registry: &Registry,
) -> Result<Inventory, CommandError> {
    let options = InventoryOptions {
        registry: Some(registry),
        skips_command: !source.run_commands,
        check_referenced_files: referenced_files,
        ..InventoryOptions::default()
    };
    Inventory::load(file, &options).map_err(CommandError::findings)
}

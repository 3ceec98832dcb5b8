//! `switchtender inventory`: what the inventory says, after merging.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use super::Global;
use super::exit::{CommandError, Exit, print};
use super::run::{Output, Selection};
use crate::diagnostic::terminal::{self, RenderOptions};
use crate::inventory::{Inventory, Reading};

/// Check or show the inventory
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckArgs),
    Show(ShowArgs),
}

/// Check the inventory and the files it names: exit 0 if all is sound, 1 if not
#[derive(Debug, clap::Args)]
struct CheckArgs {
    #[command(flatten)]
    file: FileArgs,
}

/// Show devices with all their settings and where each comes from; secrets are masked
#[derive(Debug, clap::Args)]
struct ShowArgs {
    #[command(flatten)]
    file: FileArgs,

    #[command(flatten)]
    selection: Selection,

    /// For people, or JSON for machines
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    /// The devices and how to reach them
    #[arg(short, long, value_name = "FILE", default_value = "inventory.toml")]
    inventory: PathBuf,

    /// Search this directory for models and drivers before the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
}

pub fn run(args: &Args, global: &Global) -> Result<Exit, CommandError> {
    match &args.command {
        Command::Check(args) => check(args, global),
        Command::Show(args) => show(args),
    }
}

fn check(args: &CheckArgs, global: &Global) -> Result<Exit, CommandError> {
    let inventory = load(&args.file, true)?;
    let options = RenderOptions {
        colors: global.colored_stdout(),
    };
    print(&terminal::render_each(&inventory.warnings, options));
    let number = inventory.devices.len();
    let plural = if number == 1 { "" } else { "s" };
    print(&format!(
        "{}: {number} device{plural}, no errors\n",
        args.file.inventory.display()
    ));
    Ok(Exit::SUCCESS)
}

fn show(args: &ShowArgs) -> Result<Exit, CommandError> {
    let inventory = load(&args.file, false)?;
    let devices = inventory
        .select(&args.selection.parse()?)
        .map_err(CommandError::findings)?;
    let shown = inventory.show(&devices);
    let mut text = String::new();
    match args.output {
        Output::Json => {
            for device in shown {
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
                text.push_str(&json!({ "device": device.name, "settings": settings }).to_string());
                text.push('\n');
            }
        }
        Output::Human => {
            for device in shown {
                let width = |of: fn(&crate::inventory::show::ShownSetting) -> usize| {
                    device.settings.iter().map(of).max().unwrap_or(0)
                };
                let (keys, values) = (
                    width(|s| s.key.chars().count()),
                    width(|s| s.value.chars().count()),
                );
                text.push_str(&format!("{}\n", device.name));
                for setting in &device.settings {
                    let origin = match (&setting.table, setting.line) {
                        (Some(table), Some(line)) => format!("{table}, line {line}"),
                        (Some(table), None) => table.clone(),
                        (None, _) => "default".to_owned(),
                    };
                    text.push_str(&format!(
                        "  {:keys$}  {:values$}  {origin}\n",
                        setting.key, setting.value
                    ));
                }
            }
        }
    }
    print(&text);
    Ok(Exit::SUCCESS)
}

fn load(args: &FileArgs, surroundings: bool) -> Result<Inventory, CommandError> {
    let registry = super::definitions::load(args.definitions.as_deref())?;
    let reading = Reading {
        platforms: Some(registry.platforms().map(|p| p.name.clone()).collect()),
        surroundings,
        ..Reading::default()
    };
    Inventory::load(&args.inventory, &reading).map_err(CommandError::findings)
}

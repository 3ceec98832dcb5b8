//! `switchtender drift`: resources that differ from their catalogs.

use super::Global;
use super::exit::{CommandError, Exit, print};
use super::history::{print_lines, seconds, unknown_device};
use super::run::Output;
use super::store_options::{StoreOption, store_error};
use super::view::table;
use crate::history::DriftFilter;

const COLUMNS: [&str; 5] = ["Device", "Resource", "Since", "Until", "Difference"];

/// Show resources that differ from their catalogs, from stored runs
///
/// Examples:
///   switchtender drift
///   switchtender drift sw1 --all --output json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DriftArgs {
    /// Name of the device
    #[arg(value_name = "DEVICE")]
    device: Option<String>,

    /// Show also drift that has ended
    #[arg(long)]
    all: bool,

    /// Maximum number of entries, newest first
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,

    #[command(flatten)]
    store: StoreOption,
}

pub(crate) fn run(args: &DriftArgs, global: &Global) -> Result<Exit, CommandError> {
    let history = args.store.existing()?;
    let filter = DriftFilter {
        device: args.device.clone(),
        is_open: !args.all,
        limit: args.limit,
        ..DriftFilter::default()
    };
    let found = history.read(|reader| {
        if let Some(device) = &args.device
            && reader.fleet_device(device)?.is_none()
        {
            return Ok(None);
        }
        reader.drift(&filter).map(Some)
    });
    let found = found.map_err(store_error)?;
    let found = found.ok_or_else(|| unknown_device(args.device.as_deref().unwrap_or_default()))?;
    if args.output == Output::Json {
        print_lines(&found);
        return Ok(Exit::SUCCESS);
    }
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|entry| {
            let until = entry.ended.map(seconds);
            vec![
                entry.device.clone(),
                entry.resource.clone(),
                seconds(entry.since),
                until.unwrap_or_else(|| "now".to_owned()),
                entry.message.replace('\n', "; "),
            ]
        })
        .collect();
    print(&table::render(&COLUMNS, &rows, global.is_stdout_colored()));
    Ok(Exit::SUCCESS)
}

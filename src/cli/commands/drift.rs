//! `switchtender drift`: resources that differ from their catalogs.

use switchtender_devices::map::IndexMap;

use crate::cli::commands::history::{print_lines, seconds, unknown_device};
use crate::cli::exit::{CommandError, Exit, print};
use crate::cli::options::global::Global;
use crate::cli::options::output_format::Output;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::cli::output::view::table;
use crate::history::{DriftEntry, DriftFilter};
use crate::inventory::range;
use crate::natural_order::natural_order;

const COLUMNS: [&str; 6] = [
    "Device",
    "Resource",
    "Since",
    "Until",
    "Changed",
    "Difference",
];

/// Show resources that differ from the desired state in stored runs
///
/// Devices with the same difference are in one row.
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

    /// Maximum number of rows
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
        limit: u32::MAX,
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
    let mut found =
        found.ok_or_else(|| unknown_device(args.device.as_deref().unwrap_or_default()))?;
    // The sort keeps the newest first.
    found.sort_by(|a, b| {
        let order = natural_order(&a.device).cmp(&natural_order(&b.device));
        order.then_with(|| a.resource.cmp(&b.resource))
    });
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    if args.output == Output::Json {
        found.truncate(limit);
        print_lines(&found);
        return Ok(Exit::SUCCESS);
    }
    let mut rows = grouped(&found);
    rows.truncate(limit);
    print(&table::render(&COLUMNS, &rows, global.is_stdout_colored()));
    Ok(Exit::SUCCESS)
}

/// Rows in the order of their devices. Devices with the same difference are in one row, with the time since when the
/// first of them has it.
fn grouped(found: &[DriftEntry]) -> Vec<Vec<String>> {
    let mut groups: IndexMap<_, Vec<&DriftEntry>> = IndexMap::default();
    for entry in found {
        let until = entry.ended.map(seconds);
        let key = (&entry.resource, &entry.message, &entry.cause, until);
        groups.entry(key).or_default().push(entry);
    }
    let rows = groups
        .into_iter()
        .map(|((resource, message, cause, until), entries)| {
            let devices = entries.iter().map(|entry| entry.device.as_str());
            let since = entries.iter().map(|entry| entry.since).min();
            vec![
                range::of_names(devices).join(", "),
                resource.clone(),
                since.map(seconds).unwrap_or_default(),
                until.unwrap_or_else(|| "now".to_owned()),
                cause.clone(),
                message.replace('\n', "; "),
            ]
        });
    rows.collect()
}

//! `switchtender fleet releases`: what was published.

use crate::cli::commands::history::{print_lines, seconds};
use crate::cli::exit::{CommandError, Exit, print};
use crate::cli::options::global::Global;
use crate::cli::options::output_format::Output;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::cli::output::view::table;
use crate::history::releases::ReleaseEntry;

const COLUMNS: [&str; 8] = [
    "Release",
    "Published",
    "By",
    "Commit",
    "Files",
    "KiB",
    "Devices",
    "Nodes",
];

/// List the releases, newest first, with the devices that each changed last and the nodes that have it
///
/// Example: switchtender fleet releases
#[derive(Debug, clap::Args)]
pub(super) struct FleetReleasesArgs {
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,

    #[command(flatten)]
    store: StoreOption,
}

pub(super) fn run(args: &FleetReleasesArgs, global: &Global) -> Result<Exit, CommandError> {
    let store = args.store.existing()?;
    let releases = store
        .read(|reader| reader.releases())
        .map_err(store_error)?;
    if args.output == Output::Json {
        print_lines(&releases);
        return Ok(Exit::SUCCESS);
    }
    let rows: Vec<Vec<String>> = releases.iter().map(cells).collect();
    print(&table::render(&COLUMNS, &rows, global.is_stdout_colored()));
    Ok(Exit::SUCCESS)
}

fn cells(release: &ReleaseEntry) -> Vec<String> {
    let revision = release.revision.as_ref();
    vec![
        release.number.to_string(),
        seconds(release.published),
        release.publisher.clone(),
        revision.map(ToString::to_string).unwrap_or_default(),
        release.files.to_string(),
        release.kibibytes().to_string(),
        release.devices.to_string(),
        release.nodes.join(", "),
    ]
}

//! `switchtender fleet reshard`: another number of shards of a site.

use crate::cli::exit::{CommandError, Exit, print};
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::counted::counted;
use crate::serve::lease::shard::MOST_SHARDS;
use crate::terminal_text::TerminalText;

/// Give a site another number of shards
///
/// All shards of the site are released first: its runs end, and devices get new shards then.
///
/// Example: switchtender fleet reshard berlin 8
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FleetReshardArgs {
    /// The site; devices without one are in `default`
    #[arg(value_name = "SITE")]
    site: String,

    /// Number of shards, about one for 250 devices
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SHARDS)))]
    shards: u32,

    #[command(flatten)]
    store: StoreOption,
}

pub(super) fn run(args: &FleetReshardArgs) -> Result<Exit, CommandError> {
    let history = super::open(&args.store)?;
    let (site, shards) = (args.site.clone(), args.shards);
    let is_known = history.write_and_wait(move |writer| writer.reshard_site(&site, shards));
    if !is_known.map_err(store_error)? {
        let text = format!("unknown site: {}", args.site);
        return Err(CommandError::new(text).hint("run `switchtender fleet status` for the names"));
    }
    print(&TerminalText::of_line(format_args!(
        "the site {} gets {} when its runs have ended",
        args.site,
        counted(shards, "shard")
    )));
    Ok(Exit::SUCCESS)
}

//! `switchtender fleet`: the nodes, sites, shards and releases of several processes of `serve` with one store.

mod drain;
mod evict;
mod publish;
mod releases;
mod reshard;
mod status;

use clap::Subcommand;

use crate::cli::exit::{CommandError, Exit};
use crate::cli::options::global::Global;
use crate::cli::options::store_options::StoreOption;
use crate::history::HistoryStore;

/// Manage processes of `serve` that share one database
///
/// Examples:
///   switchtender fleet status
///   switchtender fleet drain ber-1
///   switchtender fleet publish /srv/network
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(Debug, Subcommand)]
enum FleetCommand {
    Status(status::FleetStatusArgs),
    Drain(drain::FleetDrainArgs),
    Evict(evict::FleetEvictArgs),
    Reshard(reshard::FleetReshardArgs),
    Publish(publish::FleetPublishArgs),
    Releases(releases::FleetReleasesArgs),
}

pub(crate) fn run(args: &FleetArgs, global: &Global) -> Result<Exit, CommandError> {
    match &args.command {
        FleetCommand::Status(args) => status::run(args),
        FleetCommand::Drain(args) => drain::run(args),
        FleetCommand::Evict(args) => evict::run(args),
        FleetCommand::Reshard(args) => reshard::run(args),
        FleetCommand::Publish(args) => publish::run(args, global),
        FleetCommand::Releases(args) => releases::run(args, global),
    }
}

/// The store of a fleet.
fn open(store: &StoreOption) -> Result<HistoryStore, CommandError> {
    let history = store.existing()?;
    if history.is_shared() {
        return Ok(history);
    }
    let text = format!(
        "the store {} is a file: there is no fleet",
        history.location()
    );
    Err(CommandError::new(text).hint("name the PostgreSQL database of the fleet with --store"))
}

fn unknown_node(node: &str) -> CommandError {
    CommandError::new(format!("unknown node: {node}"))
        .hint("run `switchtender fleet status` for the names")
}

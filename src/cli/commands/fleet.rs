//! `switchtender fleet`: several processes of `serve` with one store.

mod publish;
mod releases;

use clap::Subcommand;

use crate::cli::exit::{CommandError, Exit};
use crate::cli::options::global::Global;

/// Manage a fleet: several processes of `serve` with one store
///
/// Examples:
///   switchtender fleet publish /srv/network
///   switchtender fleet releases
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(Debug, Subcommand)]
enum FleetCommand {
    Publish(publish::FleetPublishArgs),
    Releases(releases::FleetReleasesArgs),
}

pub(crate) fn run(args: &FleetArgs, global: &Global) -> Result<Exit, CommandError> {
    match &args.command {
        FleetCommand::Publish(args) => publish::run(args, global),
        FleetCommand::Releases(args) => releases::run(args, global),
    }
}

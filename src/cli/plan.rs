//! `switchtender plan`: what an apply would do, down to the commands. It cannot change anything.

use std::path::PathBuf;

use super::exit::{CommandError, Exit};
use super::run::{PreparedRun, ResourceFilterArgs, RunArgs, RunCommand, TargetArgs};
use super::{Global, block_on};
use crate::fleet::device_run::RunMode;

/// Show changes, exact commands and the configuration difference
///
/// Examples:
///   switchtender plan --state state
///   switchtender plan --catalog catalogs --target 'sw[001-020]' --quiet
///   switchtender plan --state state --running configs
///   switchtender plan --state state --target sw1 --show-undo
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// Plan against saved configurations instead of devices: DIR/<device>.cfg, and DIR/<device>.json
    /// with further answers, with the names of the reads as keys
    #[arg(long, value_name = "DIR")]
    running: Option<PathBuf>,

    /// Show the commands that undo the changes, last change first, and what they do not restore
    #[arg(long)]
    show_undo: bool,

    #[command(flatten)]
    filter: ResourceFilterArgs,

    #[command(flatten)]
    arguments: RunArgs,
}

pub(crate) fn run(args: &PlanArgs, global: &Global) -> Result<Exit, CommandError> {
    block_on(async {
        let command = RunCommand {
            targets: &args.targets,
            filter: &args.filter,
            arguments: &args.arguments,
            running: args.running.as_deref(),
            show_undo: args.show_undo,
        };
        let prepared = command.prepare().await?;
        let options = command.options(RunMode::Plan, true);
        let (arguments, reports) = (&args.arguments, args.arguments.report.as_deref());
        let all = prepared.execute(&options, arguments, reports, global).await;
        Ok(PreparedRun::exit(
            &options,
            &all,
            arguments.detailed_exitcodes,
        ))
    })
}

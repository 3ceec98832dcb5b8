//! `switchtender plan`: what an apply would do, down to the commands. It cannot change anything.

use std::path::PathBuf;
use std::sync::Arc;

use switchtender_devices::provider::driver_provider::ProtectPolicy;

use crate::cli::commands::run::{PreparedRun, RunCommand};
use crate::cli::commands::stored_plan::{self, NewPlan, ShowPlanArgs};
use crate::cli::exit::{CommandError, Exit};
use crate::cli::options::global::Global;
use crate::cli::options::run_arguments::ResourceFilterArgs;
use crate::cli::options::run_arguments::RunArgs;
use crate::cli::options::run_arguments::protect_policies;
use crate::cli::options::target_options::TargetArgs;
use crate::cli::runtime::block_on;
use crate::fleet::run_request::RunRequest;
use crate::run_kind::RunKind;

/// Show changes, exact commands and the configuration difference
///
/// Examples:
///   switchtender plan --state state
///   switchtender plan --catalog catalogs --target 'sw[001-020]' --quiet
///   switchtender plan --state state --running configs
///   switchtender plan --state state --target sw1 --show-undo
///   switchtender plan --state state --save change.plan
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct PlanArgs {
    #[command(subcommand)]
    command: Option<PlanCommand>,

    #[command(flatten)]
    targets: TargetArgs,

    /// Save the plan for `apply FILE`, without secrets
    #[arg(long, value_name = "FILE", conflicts_with = "running")]
    save: Option<PathBuf>,

    /// Plan against saved configurations instead of devices: DIR/<device>.cfg, and DIR/<device>.json
    /// with further answers, with the names of the reads as keys
    #[arg(long, value_name = "DIR")]
    running: Option<PathBuf>,

    /// Show the commands that undo the changes, last change first, and what they do not restore
    #[arg(long)]
    show_undo: bool,

    /// Show what share of the configuration is managed, and the lines that no type reads
    #[arg(long)]
    coverage: bool,

    /// Plan for `apply --protect`; overrides `protect` of the inventory
    #[arg(long, value_parser = protect_policies(), value_name = "POLICY")]
    protect: Option<ProtectPolicy>,

    #[command(flatten)]
    filter: ResourceFilterArgs,

    #[command(flatten)]
    arguments: RunArgs,
}

#[derive(Debug, clap::Subcommand)]
enum PlanCommand {
    Show(ShowPlanArgs),
}

pub(crate) fn run(args: &PlanArgs, global: &Global) -> Result<Exit, CommandError> {
    if let Some(PlanCommand::Show(args)) = &args.command {
        return stored_plan::show(args, global.is_stdout_colored());
    }
    let new_plan = args.save.as_deref();
    let new_plan = new_plan.map(|file| NewPlan::new(file, &args.targets));
    let new_plan = new_plan.transpose()?;
    block_on(async {
        let command = RunCommand {
            running: args.running.as_deref(),
            ..RunCommand::new(&args.targets, &args.filter, &args.arguments)
        };
        let prepared = command.prepare().await?;
        let request = Arc::new(RunRequest {
            show_undo: args.show_undo,
            coverage: args.coverage,
            plan: new_plan.as_ref().map(NewPlan::plan_use).unwrap_or_default(),
            protect: args.protect,
            ..command.request(RunKind::Plan)
        });
        let (arguments, reports) = (&args.arguments, args.arguments.report.as_deref());
        let at_once = prepared.at_once();
        let ended = prepared
            .execute(&request, &at_once, arguments, reports, global)
            .await;
        if let Some(new_plan) = &new_plan {
            new_plan.save(&prepared, &args.targets, &args.filter)?;
        }
        ended.output?;
        Ok(PreparedRun::exit(
            &request,
            &ended.devices,
            arguments.detailed_exitcodes,
        ))
    })
}

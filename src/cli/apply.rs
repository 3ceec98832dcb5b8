//! `switchtender apply`: apply catalogs to devices.

use super::confirmation;
use super::exit::{CommandError, Exit};
use super::run::{PreparedRun, ResourceFilterArgs, RunArgs, RunCommand, TargetArgs};
use super::view::DeviceSummary;
use super::{Global, block_on};
use crate::fleet::device_run::RunMode;

/// Apply catalogs or desired state to devices
///
/// On a terminal, it shows the totals of a plan and asks once if more than ten devices are selected.
///
/// Exit codes: 0 success, 1 a failure, or a device that could not run. See --detailed-exitcodes.
///
/// Examples:
///   switchtender apply --state state --target sw1
///   switchtender apply --catalog catalogs --label role=access
///   switchtender apply --state state --device admin@192.0.2.1 --platform cisco_ios --ask-password
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    filter: ResourceFilterArgs,

    /// Report changes without making them
    #[arg(long)]
    noop: bool,

    /// Do not ask before many devices are changed
    #[arg(short, long)]
    yes: bool,

    /// Apply a second time and fail if the second run sends any command
    #[arg(long, conflicts_with = "noop")]
    check_idempotence: bool,

    #[command(flatten)]
    arguments: RunArgs,
}

pub(crate) fn run(args: &ApplyArgs, global: &Global) -> Result<Exit, CommandError> {
    block_on(async {
        let arguments = &args.arguments;
        let command = RunCommand {
            targets: &args.targets,
            filter: &args.filter,
            arguments,
            running: None,
            show_undo: false,
        };
        let mut prepared = command.prepare().await?;
        if !args.yes && !args.noop && confirmation::is_due(prepared.len(), arguments.output) {
            let options = command.options(RunMode::Plan, true);
            if !confirmation::confirm(&prepared, &options, arguments, global).await? {
                return Ok(Exit::FAILURE);
            }
        }
        let options = command.options(RunMode::Apply, args.noop);
        let reports = arguments.report.as_deref();
        let all = prepared.execute(&options, arguments, reports, global).await;
        let exit = PreparedRun::exit(&options, &all, arguments.detailed_exitcodes);
        if !args.check_idempotence || options.stop.is_cancelled() {
            return Ok(exit);
        }
        // A device that could not run has its error already.
        prepared.retain(
            all.iter()
                .filter(|device| device.counts.is_some())
                .map(|device| device.device.as_str()),
        );
        if prepared.len() == 0 {
            return Ok(exit);
        }
        let second = prepared.execute(&options, arguments, None, global).await;
        match idempotence_error(&second) {
            _ if options.stop.is_cancelled() => Ok(Exit::FAILURE),
            Some(text) => Err(CommandError::new(text)),
            None => Ok(exit),
        }
    })
}

/// The devices whose second run sent commands, failed, or could not start. A `notify` sends no
/// command, and noop resources are pending in every run.
fn idempotence_error(second: &[DeviceSummary]) -> Option<String> {
    let (mut not_idempotent, mut not_run) = (Vec::new(), Vec::new());
    for device in second {
        match device.counts {
            None => not_run.push(device.device.as_str()),
            Some(counts) if counts.has_failed() || counts.operations > 0 => {
                not_idempotent.push(device.device.as_str());
            }
            Some(_) => {}
        }
    }
    let reasons: Vec<String> = [
        ("changes or failures on", not_idempotent),
        ("could not run on", not_run),
    ]
    .iter()
    .filter(|(_, names)| !names.is_empty())
    .map(|(reason, names)| format!("{reason} {}", names.join(", ")))
    .collect();
    (!reasons.is_empty()).then(|| {
        format!(
            "idempotence check failed: the second run had {}",
            reasons.join("; ")
        )
    })
}

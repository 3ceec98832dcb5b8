//! `switchtender apply`: apply catalogs to devices.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::provider::driver_provider::ProtectPolicy;

use crate::cli::commands::rollout::RolloutArgs;
use crate::cli::commands::run::{PreparedRun, RunCommand};
use crate::cli::exit::{CommandError, Exit, eprint_notice};
use crate::cli::options::global::Global;
use crate::cli::options::run_arguments::ResourceFilterArgs;
use crate::cli::options::run_arguments::RunArgs;
use crate::cli::options::run_arguments::protect_policies;
use crate::cli::options::target_options::TargetArgs;
use crate::cli::options::view_arguments::ViewArgs;
use crate::cli::options::view_arguments::ViewFilter;
use crate::cli::output::view::DeviceSummary;
use crate::cli::runtime::block_on;
use crate::cli::{
    commands::confirmation, commands::rollout, commands::stored_plan, options::device_state,
    options::duration_argument,
};
use crate::fleet::run_request::RunRequest;
use crate::inventory::{FailurePolicy, range};
use crate::run_kind::RunKind;

/// Apply catalogs or desired state to devices
///
/// On a terminal, it shows the plan and asks before it changes devices. Mocks are not asked about.
///
/// Exit codes: 0 success, 1 a failure, or a device that could not run. See --detailed-exitcodes.
///
/// Examples:
///   switchtender apply --state state --target sw1
///   switchtender apply --catalog catalogs --label role=access
///   switchtender apply --state state --batch 1,10%,100% --check ./ping-servers
///   switchtender apply --state state --device admin@192.0.2.1 --platform cisco_ios --ask-password
///   switchtender apply change.plan --max-age 8h --all-or-none
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ApplyArgs {
    /// Plan of `plan --save`: its operations are sent, and a device that differs is refused
    #[arg(value_name = "PLAN", id = "plan")]
    plan: Option<PathBuf>,

    #[command(flatten)]
    targets: TargetArgs,

    /// Refuse a plan that is older, such as `30m` or `8h`
    #[arg(long, value_name = "TIME", requires = "plan", value_parser = duration_argument::parse)]
    max_age: Option<Duration>,

    /// Change no device if one differs from the plan or cannot be read
    #[arg(long, requires = "plan")]
    all_or_none: bool,

    #[command(flatten)]
    filter: ResourceFilterArgs,

    /// Report changes without making them
    #[arg(long)]
    noop: bool,

    /// Do not ask before devices are changed; see also `confirm` in switchtender.toml
    #[arg(short, long)]
    yes: bool,

    /// Change the other devices if files, catalog or credentials of one have errors; otherwise, such an
    /// error ends the run before the first connection
    #[arg(long)]
    keep_going: bool,

    /// Let devices revert the changes unless a second login confirms them; overrides `protect` of the
    /// inventory
    #[arg(long, value_parser = protect_policies(), value_name = "POLICY")]
    protect: Option<ProtectPolicy>,

    /// After a failed resource, keep or undo the changes of the run on the device; overrides `on_failure`
    /// of the inventory
    #[arg(long, value_enum, value_name = "POLICY")]
    on_failure: Option<FailurePolicy>,

    /// Apply a second time and fail if the second run sends any command
    #[arg(long, conflicts_with = "noop")]
    check_idempotence: bool,

    #[command(flatten)]
    rollout: RolloutArgs,

    #[command(flatten)]
    arguments: RunArgs,
}

pub(crate) fn run(args: &ApplyArgs, global: &Global) -> Result<Exit, CommandError> {
    let followed = args.plan.as_deref().map(|file| {
        stored_plan::follow(
            file,
            args.max_age,
            args.targets.clone(),
            args.filter.clone(),
        )
    });
    let followed = followed.transpose()?;
    if !args.noop && !args.arguments.mock.is_enabled() {
        device_state::check_changes(&args.arguments.store)?;
    }
    block_on(async {
        let arguments = &args.arguments;
        let (targets, filter) = match &followed {
            Some(plan) => (&plan.targets, &plan.filter),
            None => (&args.targets, &args.filter),
        };
        let command = RunCommand::new(targets, filter, arguments);
        let new_request = |kind| {
            let plan = followed.as_ref().map(|plan| plan.plan_use.clone());
            RunRequest {
                plan: plan.unwrap_or_default(),
                protect: args.protect,
                on_failure: args.on_failure,
                ..command.request(kind)
            }
        };
        let mut prepared = command.prepare().await?;
        if let Some(plan) = &followed {
            plan.limit(&mut prepared)?;
        }
        let rollout = args.rollout.prepare(&mut prepared)?;
        if prepared.len() == 0 {
            eprint_notice("all selected devices of the rollout have succeeded");
            return Ok(Exit::SUCCESS);
        }
        if args.all_or_none {
            let request = Arc::new(new_request(RunKind::Plan));
            if !all_match(&prepared, &request, arguments, global).await {
                eprint_notice("nothing was changed: not all devices are as planned");
                return Ok(Exit::FAILURE);
            }
        }
        let asks = !args.yes
            && !args.noop
            && followed.is_none()
            && prepared.confirms
            && confirmation::can_ask(arguments.output);
        let kind = if args.noop {
            RunKind::Noop
        } else {
            RunKind::Apply
        };
        let request = Arc::new(RunRequest {
            confirmation: asks.then(Arc::default),
            ..new_request(kind)
        });
        // One device fails before its connection anyway.
        if kind == RunKind::Apply && !args.keep_going && prepared.len() > 1 {
            prepared.check_offline(&request, arguments, global).await?;
        }
        let reports = arguments.report.as_deref();
        let rollout = rollout.start(&prepared, &request.run)?;
        let ended = prepared
            .execute(&request, &rollout, arguments, reports, global)
            .await;
        if let Some(cause) = ended.stopped {
            return Err(rollout::stopped(&cause, &rollout, &prepared));
        }
        ended.output?;
        let all = ended.devices;
        let exit = PreparedRun::exit(&request, &all, arguments.detailed_exitcodes);
        if !args.check_idempotence || request.stop.is_cancelled() {
            return Ok(exit);
        }
        // The user has agreed to the first run, and a device that could not run has its error already.
        let request = Arc::new(new_request(kind));
        prepared.retain(
            all.iter()
                .filter(|device| device.counts().is_some())
                .map(|device| device.device.as_str()),
        );
        if prepared.len() == 0 {
            return Ok(exit);
        }
        let rollout = rollout.again(prepared.names());
        // The files have the first run.
        let arguments = RunArgs {
            view: ViewArgs {
                output_dir: None,
                ..arguments.view.clone()
            },
            ..arguments.clone()
        };
        let second = prepared
            .execute(&request, &rollout, &arguments, None, global)
            .await;
        match idempotence_error(&second.devices) {
            _ if request.stop.is_cancelled() => Ok(Exit::FAILURE),
            Some(text) => Err(CommandError::new(text)),
            None => Ok(exit),
        }
    })
}

/// Whether a run would do on all devices what was planned. Nothing is changed.
async fn all_match(
    prepared: &PreparedRun,
    request: &Arc<RunRequest>,
    arguments: &RunArgs,
    global: &Global,
) -> bool {
    let arguments = RunArgs {
        view: ViewArgs::of(ViewFilter::failures()),
        ..arguments.clone()
    };
    let at_once = prepared.at_once();
    let all = prepared.execute(request, &at_once, &arguments, None, global);
    let all = all.await.devices;
    let is_planned =
        |device: &DeviceSummary| device.counts().is_some_and(|counts| !counts.has_failed());
    !request.stop.is_cancelled() && all.iter().all(is_planned)
}

/// The devices whose second run sent commands, failed, or could not start. A `notify` sends no
/// command, and noop resources are pending in every run.
fn idempotence_error(second: &[DeviceSummary]) -> Option<String> {
    let (mut not_idempotent, mut not_run) = (Vec::new(), Vec::new());
    for device in second {
        match device.counts() {
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
    .map(|(reason, names)| {
        format!(
            "{reason} {}",
            range::of_names(names.iter().copied()).join(", ")
        )
    })
    .collect();
    (!reasons.is_empty()).then(|| {
        format!(
            "idempotence check failed: the second run had {}",
            reasons.join("; ")
        )
    })
}

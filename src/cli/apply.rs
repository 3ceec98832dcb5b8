//! `switchtender apply`: bring devices to what their catalogs say.

use super::exit::{CommandError, Exit};
use super::run::{self, Filter, Manner, Run, Subject};
use super::view::Ended;
use super::{Global, block_on};
use crate::fleet::device_run::Purpose;

/// Apply catalogs to devices
///
/// Exit: 0 all devices are as they should be, 1 something failed or a device could not run.
/// --detailed-exitcodes tells more.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,

    #[command(flatten)]
    filter: Filter,

    /// Change nothing, say what would change
    #[arg(long)]
    noop: bool,

    /// Apply again to the same devices, and fail when the second run changes anything
    #[arg(long, conflicts_with = "noop")]
    twice: bool,

    #[command(flatten)]
    manner: Manner,
}

pub fn run(args: &Args, global: &Global) -> Result<Exit, CommandError> {
    block_on(async {
        let run = Run {
            subject: &args.subject,
            filter: &args.filter,
            manner: &args.manner,
            purpose: Purpose::Apply,
            noop: args.noop,
        };
        let prepared = run.prepare().await?;
        let reports = args.manner.report.as_deref();
        let all = prepared.carry_out(&args.manner, reports, global).await?;
        let exit = run::exit(&all, args.manner.detailed_exitcodes, prepared.interrupted());
        if !args.twice || prepared.interrupted() {
            return Ok(exit);
        }
        let again = prepared.carry_out(&args.manner, None, global).await?;
        match not_settled(&again) {
            Some(text) => Err(CommandError::new(text)),
            None => Ok(exit),
        }
    })
}

/// The devices that the second run changed or failed on, in words. A `notify` says its message in
/// every run and changes no device.
fn not_settled(again: &[Ended]) -> Option<String> {
    let unsettled = |ended: &&Ended| {
        ended
            .tally()
            .is_none_or(|tally| tally.has_failed() || tally.operations > 0)
    };
    let names: Vec<&str> = again
        .iter()
        .filter(unsettled)
        .map(|ended| ended.device.as_str())
        .collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("the second run should have found nothing to do, but changed or failed on: {names}")
    })
}

//! `switchtender apply`: bring devices to what their catalogs say.

use super::exit::{CommandError, Exit};
use super::run::{Filter, Manner, Run, Subject};
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

    /// Apply again to the devices that ran, and fail when the second run changes anything
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
        let mut prepared = run.prepare().await?;
        let reports = args.manner.report.as_deref();
        let all = prepared.carry_out(&args.manner, reports, global).await?;
        let exit = prepared.exit(&all, args.manner.detailed_exitcodes);
        if !args.twice || prepared.interrupted() {
            return Ok(exit);
        }
        // What kept a device from running has been told, and would be told again.
        prepared.keep(
            all.iter()
                .filter(|ended| ended.tally().is_some())
                .map(|ended| ended.device.as_str()),
        );
        if prepared.is_empty() {
            return Ok(exit);
        }
        let again = prepared.carry_out(&args.manner, None, global).await?;
        match not_settled(&again) {
            _ if prepared.interrupted() => Ok(Exit::FAILURE),
            Some(text) => Err(CommandError::new(text)),
            None => Ok(exit),
        }
    })
}

/// What the second run found to do all the same, in words: what it sent or failed to send, and
/// devices that did not run again. A `notify` says its message in every run and sends nothing, and
/// what is noop is pending in every run.
fn not_settled(again: &[Ended]) -> Option<String> {
    let (mut unsettled, mut not_run) = (Vec::new(), Vec::new());
    for ended in again {
        match ended.tally() {
            None => not_run.push(ended.device.as_str()),
            Some(tally) if tally.has_failed() || tally.operations > 0 => {
                unsettled.push(ended.device.as_str());
            }
            Some(_) => {}
        }
    }
    let told = [
        ("changed or failed on", unsettled),
        ("could not run on", not_run),
    ];
    let told = told.iter().filter(|(_, names)| !names.is_empty());
    let told: Vec<String> = told
        .map(|(what, names)| format!("{what}: {}", names.join(", ")))
        .collect();
    (!told.is_empty()).then(|| {
        let told = told.join("; ");
        format!("the second run should have found nothing to do, but {told}")
    })
}

//! `switchtender plan`: what an apply would do, down to the commands. It cannot change anything.

use super::exit::{CommandError, Exit};
use super::run::{Filter, Manner, Run, Subject};
use super::{Global, block_on};
use crate::fleet::device_run::Purpose;

/// Show what apply would do: changes, exact commands, and the configuration's difference
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,

    #[command(flatten)]
    filter: Filter,

    #[command(flatten)]
    manner: Manner,
}

pub fn run(args: &Args, global: &Global) -> Result<Exit, CommandError> {
    block_on(async {
        let run = Run {
            subject: &args.subject,
            filter: &args.filter,
            manner: &args.manner,
            purpose: Purpose::Plan,
            noop: true,
        };
        let prepared = run.prepare().await?;
        let reports = args.manner.report.as_deref();
        let all = prepared.carry_out(&args.manner, reports, global).await?;
        Ok(prepared.exit(&all, args.manner.detailed_exitcodes))
    })
}

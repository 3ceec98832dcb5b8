//! `switchtender apply`: bring devices to what their catalogs say.

use super::exit::{CommandError, Exit};
use super::run::{self, Filter, Manner, Run, Subject};
use super::{Global, block_on};
use crate::fleet::device_run::Purpose;

/// Apply catalogs to devices
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,

    #[command(flatten)]
    filter: Filter,

    /// Change nothing, say what would change
    #[arg(long)]
    noop: bool,

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
        let all = prepared.carry_out(&args.manner, global).await;
        Ok(run::exit(
            &all,
            args.manner.detailed_exitcodes,
            prepared.fleet.stop.is_cancelled(),
        ))
    })
}

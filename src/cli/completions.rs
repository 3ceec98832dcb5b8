//! `switchtender completions`: completions for the user's shell.

use clap::CommandFactory;

use super::Cli;
use super::exit::{CommandError, Exit};

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub fn run(args: &Args) -> Result<Exit, CommandError> {
    clap_complete::generate(
        args.shell,
        &mut Cli::command(),
        "switchtender",
        &mut std::io::stdout(),
    );
    Ok(Exit::SUCCESS)
}

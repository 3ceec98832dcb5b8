//! `switchtender completions`: shell completions.

use clap::CommandFactory;

use super::Cli;
use super::exit::{CommandError, Exit, print_document};

/// Print completions for a shell
///
/// Example: switchtender completions bash > /etc/bash_completion.d/switchtender
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, CommandError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "switchtender", &mut text);
    print_document(&String::from_utf8_lossy(&text));
    Ok(Exit::SUCCESS)
}

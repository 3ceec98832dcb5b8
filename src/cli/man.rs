//! `switchtender man`: manual pages, from the same definition as the help.

use std::path::PathBuf;

use super::exit::{CommandError, Exit};
use super::help;

/// Write the manual pages
///
/// Example: switchtender man /usr/local/share/man/man1
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Directory for the pages; created if it does not exist
    dir: PathBuf,
}

pub(crate) fn run(args: &ManArgs) -> Result<Exit, CommandError> {
    std::fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(help::complete_command(), &args.dir))
        .map_err(|error| {
            CommandError::new(format!(
                "cannot write manual pages to {}",
                args.dir.display()
            ))
            .with_source(error)
        })?;
    Ok(Exit::SUCCESS)
}

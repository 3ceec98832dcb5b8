//! `switchtender man`: manual pages, from the same definition as the help.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::cli::exit::{CommandError, Exit};
use crate::cli::help;
use crate::store::file::unfinished;

/// Write the manual pages
///
/// Example: switchtender man /usr/local/share/man/man1
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Directory for the pages; created if it does not exist
    dir: PathBuf,
}

pub(crate) fn run(args: &ManArgs) -> Result<Exit, CommandError> {
    write(&args.dir).map_err(|error| {
        CommandError::new(format!(
            "cannot write manual pages to {}",
            args.dir.display()
        ))
        .with_source(error)
    })?;
    Ok(Exit::SUCCESS)
}

/// Replaces the pages in a directory. A link with the name of a page is replaced, not its target.
fn write(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let unfinished = tempfile::Builder::new()
        .prefix(&unfinished())
        .tempdir_in(directory)?;
    clap_mangen::generate_to(help::complete_command(), unfinished.path())?;
    for page in fs::read_dir(unfinished.path())? {
        let page = page?;
        fs::rename(page.path(), directory.join(page.file_name()))?;
    }
    Ok(())
}

//! The questions of an import: the names of new profiles.

use std::io::{self, BufRead as _, IsTerminal as _};

use super::ImportArgs;
use super::draft::ImportDraft;
use crate::cli::exit::{CommandError, eprint_prompt};
use crate::cli::options::output_format::Output;

/// Asks for other names of profiles, on a terminal.
///
/// # Errors
/// An answer cannot be read.
pub(super) fn names(
    args: &ImportArgs,
    draft: &ImportDraft,
) -> Result<Vec<(String, String)>, CommandError> {
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let is_quiet = args.yes || args.dry_run || args.output != Output::Human;
    if is_quiet || !is_terminal {
        return Ok(Vec::new());
    }
    let mut renamed = Vec::new();
    for ((group, name), uses) in &draft.profiles {
        eprint_prompt(&format!(
            "profile {name}, used by {uses} of {group}: new name [Enter keeps it] "
        ));
        let mut line = String::new();
        io::stdin()
            .lock()
            .read_line(&mut line)
            .map_err(|error| CommandError::new("cannot read the answer").with_source(error))?;
        let answer = line.trim();
        if !answer.is_empty() {
            renamed.push((name.clone(), answer.to_owned()));
        }
    }
    Ok(renamed)
}

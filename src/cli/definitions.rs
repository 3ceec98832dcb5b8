//! The definitions that a command works with: those built in, and a user's directory over them.

use std::path::Path;

use switchtender_devices::definitions::{self, DefinitionFile};
use switchtender_devices::driver::Registry;

use super::exit::CommandError;

/// Models and platforms, with those of a directory (`--definitions`) first.
pub fn load(directory: Option<&Path>) -> Result<Registry, CommandError> {
    Registry::load(&read(directory)?).map_err(CommandError::findings)
}

/// As [`load`], to look at what is in the directory: there must be something.
pub fn own(directory: Option<&Path>) -> Result<Registry, CommandError> {
    let own = read(directory)?;
    match directory {
        Some(directory) if own.is_empty() => {
            let text = format!("there are no definitions in {}", directory.display());
            Err(CommandError::new(text).hint(LAYOUT))
        }
        _ => Registry::load(&own).map_err(CommandError::findings),
    }
}

const LAYOUT: &str = "name a directory with models/ and <platform>/";

fn read(directory: Option<&Path>) -> Result<Vec<DefinitionFile>, CommandError> {
    Ok(match directory {
        None => Vec::new(),
        Some(directory) => definitions::from_directory(directory).map_err(|error| {
            CommandError::new("cannot read the definitions")
                .because(error)
                .hint(LAYOUT)
        })?,
    })
}

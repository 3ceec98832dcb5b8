//! The definitions of a command: the built-in ones and those of `--definitions DIR`.

use std::path::Path;

use switchtender_devices::definitions::{self, DefinitionFile};
use switchtender_devices::driver::Registry;

use crate::cli::exit::CommandError;

/// Models and drivers. Those of the directory replace built-in ones of the same name.
pub(crate) fn load(directory: Option<&Path>) -> Result<Registry, CommandError> {
    registry(&read(directory)?)
}

/// As [`load`], from files.
pub(crate) fn registry(own: &[DefinitionFile]) -> Result<Registry, CommandError> {
    Registry::load(own).map_err(CommandError::findings)
}

/// As [`load`], for a directory that must contain definitions, with the number of its files.
pub(crate) fn load_own(directory: Option<&Path>) -> Result<(Registry, usize), CommandError> {
    let own = read(directory)?;
    match directory {
        Some(directory) if own.is_empty() => {
            let text = format!("{} contains no definitions", directory.display());
            Err(CommandError::new(text).hint(LAYOUT))
        }
        _ => Ok((registry(&own)?, own.len())),
    }
}

const LAYOUT: &str = "name a directory with models/TYPE.toml or PLATFORM/TYPE.toml";

/// The files of the directory.
pub(crate) fn read(directory: Option<&Path>) -> Result<Vec<DefinitionFile>, CommandError> {
    Ok(match directory {
        None => Vec::new(),
        Some(directory) => definitions::from_directory(directory).map_err(|error| {
            CommandError::new("cannot read the definitions")
                .with_source(error)
                .hint(LAYOUT)
        })?,
    })
}

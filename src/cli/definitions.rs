//! The definitions that a command works with: those built in, and a user's directory over them.

use std::path::Path;

use switchtender_devices::definitions;
use switchtender_devices::driver::Registry;

use super::exit::CommandError;

/// Models and platforms, with those of a directory (`--definitions`) first.
pub fn load(directory: Option<&Path>) -> Result<Registry, CommandError> {
    let own = match directory {
        None => Vec::new(),
        Some(directory) => definitions::from_directory(directory).map_err(|error| {
            CommandError::new("cannot read the definitions")
                .because(error)
                .hint("name a directory with models/ and <platform>/")
        })?,
    };
    Registry::load(&own).map_err(CommandError::findings)
}

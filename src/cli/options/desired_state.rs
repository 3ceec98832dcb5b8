//! `--state`: the directory of the desired state.

use std::path::Path;

use crate::cli::exit::CommandError;
use crate::desired_state::{StateDirectory, StateError, Unmanaged};
use crate::error_chain::chain;
use crate::inventory::{Device, DeviceSelection, Inventory};

/// The directory of the desired state.
///
/// # Errors
/// It cannot be read.
pub(crate) fn directory(
    path: &Path,
    inventory: &Inventory,
) -> Result<StateDirectory, CommandError> {
    // A missing directory would count as a directory without files.
    std::fs::read_dir(path).map_err(|error| {
        CommandError::new(format!("cannot read directory {}", path.display()))
            .with_source(error)
            .hint("pass a directory with common.yaml, platform/PLATFORM.yaml, label/KEY/VALUE.yaml or device/NAME.yaml as --state")
    })?;
    Ok(StateDirectory::new(path, inventory))
}

/// Separates devices without a file, which are not managed. A device that is named is an error later.
///
/// # Errors
/// None remains: the directory is the wrong one, or the inventory.
pub(crate) fn managed<'d>(
    directory: &StateDirectory,
    devices: Vec<&'d Device>,
    selection: &DeviceSelection,
) -> Result<(Vec<&'d Device>, Option<Unmanaged>), Unmanaged> {
    let is_managed = |device: &&Device| selection.is_named(*device) || directory.manages(device);
    let (managed, others): (Vec<&Device>, Vec<&Device>) = devices.into_iter().partition(is_managed);
    match Unmanaged::new(directory, &others) {
        Some(unmanaged) if managed.is_empty() => Err(unmanaged),
        unmanaged => Ok((managed, unmanaged)),
    }
}

/// The error of a command whose devices have no file.
pub(crate) fn unmanaged_error(unmanaged: Unmanaged) -> CommandError {
    CommandError::new(unmanaged.message).hint(unmanaged.hint)
}

/// An error of desired state files as the error of a command.
pub(crate) fn error(error: StateError) -> CommandError {
    let findings = error.findings();
    if !findings.is_empty() {
        return CommandError::findings(findings.to_vec());
    }
    let command_error = CommandError::new(chain(&error));
    match error.hint() {
        Some(hint) => command_error.hint(hint),
        None => command_error,
    }
}

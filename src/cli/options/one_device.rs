//! The inventory and the device of a command that reads no secrets.

use std::path::Path;

use switchtender_devices::driver::Registry;

use crate::cli::exit::CommandError;
use crate::cli::options::inventory_source::{SourceCommandArgs, warn_of_commands};
use crate::cli::options::selection::targets;
use crate::inventory::{Device, Inventory, InventoryOptions};

/// The inventory for a command that reads no secrets.
pub(crate) fn inventory(
    path: &Path,
    registry: &Registry,
    source: SourceCommandArgs,
) -> Result<Inventory, CommandError> {
    let options = InventoryOptions {
        registry: Some(registry),
        allow_readable: true,
        skips_command: !source.run_commands,
        ..InventoryOptions::default()
    };
    let inventory = Inventory::load(path, &options).map_err(CommandError::findings)?;
    warn_of_commands(&inventory);
    Ok(inventory)
}

/// What to do if several devices are selected.
pub(crate) const ONE_DEVICE: &str = "select one device";

/// The device with a name. `hint`: what to do about several.
pub(crate) fn device<'a>(
    inventory: &'a Inventory,
    names: &[String],
    hint: &str,
) -> Result<&'a Device, CommandError> {
    let selection = targets(names)?;
    let devices = inventory
        .select(&selection)
        .map_err(CommandError::findings)?;
    match devices[..] {
        [device] => Ok(device),
        _ => {
            let text = format!("{} devices are selected", devices.len());
            Err(CommandError::new(text).hint(hint))
        }
    }
}

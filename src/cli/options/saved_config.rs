//! Arguments of the commands that can read saved configurations instead of devices.

use std::path::{Path, PathBuf};

use switchtender_devices::driver::Registry;

use crate::cli::exit::{CommandError, eprint_notice};
use crate::cli::options::device_access::DeviceAccess;
use crate::cli::options::unknown_name::unknown_platform;
use crate::error_chain::chain;
use crate::fleet::saved_fleet::{self, SavedDevice, SavedFleet};

/// A saved configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct SavedConfig {
    /// Read this saved configuration instead of a device, and sw1.json beside sw1.cfg. A file *.json
    /// has answers, with the names of the reads as keys. The name of the device is that of the file,
    /// sw1. With --all also a folder: files DEVICE.cfg or DEVICE, with folders of groups, as Oxidized
    /// and RANCID write them. The platform is that of router.db, else of --platform
    #[arg(long, value_name = "PATH", conflicts_with_all = ["device", "record"])]
    config: Option<PathBuf>,
}

/// The definitions, and the devices of `--config`.
pub(crate) struct OpenConfigs {
    pub(crate) registry: Registry,
    pub(crate) devices: Vec<SavedDevice>,
}

impl SavedConfig {
    /// The devices of `--config`. Prints which files are none. Nothing connects.
    pub(crate) fn open(&self, access: &DeviceAccess) -> Result<Option<OpenConfigs>, CommandError> {
        let path = self.config.as_deref();
        path.map(|path| open_configs(path, access)).transpose()
    }

    /// The device of `--config`, if it is one file.
    pub(crate) fn open_one(
        &self,
        access: &DeviceAccess,
    ) -> Result<Option<(Registry, SavedDevice)>, CommandError> {
        let Some(OpenConfigs {
            registry,
            mut devices,
        }) = self.open(access)?
        else {
            return Ok(None);
        };
        match devices.pop() {
            Some(device) if devices.is_empty() => Ok(Some((registry, device))),
            _ => {
                let error = CommandError::new(format!("{} devices are saved", devices.len() + 1));
                Err(error.hint("pass the file of one device"))
            }
        }
    }
}

/// Opens a file or folder. Prints which files are no device. Nothing connects.
pub(crate) fn open_configs(
    path: &Path,
    access: &DeviceAccess,
) -> Result<OpenConfigs, CommandError> {
    if access.mock.is_enabled() {
        let error = CommandError::new("--config and --mock cannot be combined");
        return Err(error.hint("use only one of them"));
    }
    let registry = crate::cli::options::definitions::load(access.definitions.as_deref())?;
    let name = access.source.platform.as_deref();
    let platform = name.map(|name| {
        let platform = registry.platform_by_alias(name).cloned();
        platform.ok_or_else(|| unknown_platform(&registry, name))
    });
    let platform = platform.transpose()?;
    let fleet = saved_fleet::open(path, &registry, platform.as_ref());
    let SavedFleet { devices, skipped } = fleet.map_err(|error| CommandError {
        hint: error.hint(),
        ..CommandError::new(chain(&error))
    })?;
    for file in skipped {
        eprint_notice(&format!("skipped {}: {}", file.path.display(), file.reason));
    }
    Ok(OpenConfigs { registry, devices })
}

//! Arguments of the commands that can read a saved configuration instead of a device.

use std::path::PathBuf;

use switchtender_devices::driver::Registry;
use switchtender_devices::session::saved::SavedAnswers;

use super::device_access::DeviceAccess;
use super::exit::CommandError;
use super::unknown_name::unknown_platform;
use crate::error_chain::chain;
use crate::fleet::connector::DeviceConnector;
use crate::fleet::saved_files;

/// A saved configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct SavedConfig {
    /// Read this saved configuration instead of a device, and sw1.json beside sw1.cfg. A file *.json
    /// has answers, with the names of the reads as keys
    #[arg(
        long,
        value_name = "FILE",
        requires = "platform",
        conflicts_with_all = ["device", "record"]
    )]
    config: Option<PathBuf>,
}

/// The saved answers of a device.
pub(crate) struct SavedDevice {
    pub(crate) registry: Registry,
    pub(crate) connector: DeviceConnector,
    /// The file of the answers.
    pub(crate) file: String,
}

impl SavedConfig {
    /// The saved configuration of `--config`. Nothing connects.
    pub(crate) fn open(&self, access: &DeviceAccess) -> Result<Option<SavedDevice>, CommandError> {
        let (Some(file), Some(platform)) = (&self.config, &access.source.platform) else {
            return Ok(None);
        };
        if access.mock.is_enabled() {
            let error = CommandError::new("--config and --mock cannot be combined");
            return Err(error.hint("use only one of them"));
        }
        let registry = super::definitions::load(access.definitions.as_deref())?;
        let Some(platform) = registry.platform_by_alias(platform).cloned() else {
            return Err(unknown_platform(&registry, platform));
        };
        let reads = saved_files::read_with_neighbor(file)
            .map_err(|error| CommandError::new(chain(&error)))?;
        let file = file.display().to_string();
        let answers = SavedAnswers {
            device: file.clone(),
            reads,
        };
        let connector = DeviceConnector::saved(answers, platform, []);
        Ok(Some(SavedDevice {
            registry,
            connector,
            file,
        }))
    }
}

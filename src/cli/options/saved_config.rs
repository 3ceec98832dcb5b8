//! Arguments of the commands that can read a saved configuration instead of a device.

use std::path::{Path, PathBuf};

use switchtender_devices::driver::Registry;
use switchtender_devices::session::saved::SavedAnswers;

use crate::cli::exit::CommandError;
use crate::cli::options::device_access::DeviceAccess;
use crate::cli::options::unknown_name::unknown_platform;
use crate::error_chain::chain;
use crate::fleet::connector::DeviceConnector;
use crate::fleet::saved_files;

/// A saved configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct SavedConfig {
    /// Read this saved configuration instead of a device, and sw1.json beside sw1.cfg. A file *.json
    /// has answers, with the names of the reads as keys. The name of the device is that of the file,
    /// sw1
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
    /// Name of the device: the file without directory and extension.
    pub(crate) name: String,
}

impl SavedConfig {
    /// The saved configuration of `--config`. Nothing connects.
    pub(crate) fn open(&self, access: &DeviceAccess) -> Result<Option<SavedDevice>, CommandError> {
        let file = self.config.as_deref();
        file.map(|file| Self::read(file, access)).transpose()
    }

    /// The saved configuration of `--config`, or all of a directory, by name.
    pub(crate) fn open_all(
        &self,
        access: &DeviceAccess,
    ) -> Result<Option<Vec<SavedDevice>>, CommandError> {
        let Some(path) = self.config.as_deref() else {
            return Ok(None);
        };
        let files = if !path.is_dir() {
            vec![path.to_owned()]
        } else {
            let files = saved_files::list(path);
            files.map_err(|error| CommandError::new(chain(&error)))?
        };
        if files.is_empty() {
            let error = CommandError::new(format!("{} has no configurations", path.display()));
            return Err(error.hint("save the running configuration of each device as DEVICE.cfg"));
        }
        let devices = files.iter().map(|file| Self::read(file, access));
        devices.collect::<Result<_, _>>().map(Some)
    }

    fn read(file: &Path, access: &DeviceAccess) -> Result<SavedDevice, CommandError> {
        let platform = access.source.platform.as_deref().unwrap_or_default();
        if access.mock.is_enabled() {
            let error = CommandError::new("--config and --mock cannot be combined");
            return Err(error.hint("use only one of them"));
        }
        let registry = crate::cli::options::definitions::load(access.definitions.as_deref())?;
        let Some(platform) = registry.platform_by_alias(platform).cloned() else {
            return Err(unknown_platform(&registry, platform));
        };
        let reads = saved_files::read_with_neighbor(file)
            .map_err(|error| CommandError::new(chain(&error)))?;
        let name = file.file_stem().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let file = file.display().to_string();
        let answers = SavedAnswers {
            device: file.clone(),
            reads,
        };
        let connector = DeviceConnector::saved(answers, platform, []);
        Ok(SavedDevice {
            registry,
            connector,
            name,
            file,
        })
    }
}

//! The output about each device in a file of its own, for `--output-dir`.

use std::path::PathBuf;

use switchtender_devices::names::DeviceName;

use crate::cli::exit::CommandError;
use crate::store;

/// The files of a run, one for each device.
pub(super) struct DeviceOutputs {
    directory: PathBuf,
    extension: &'static str,
    /// The first file that could not be written.
    failure: Option<CommandError>,
}

impl DeviceOutputs {
    pub(super) fn new(directory: PathBuf, extension: &'static str) -> Self {
        Self {
            directory,
            extension,
            failure: None,
        }
    }

    /// Writes the file of a device, in place of an older one.
    pub(super) fn write(&mut self, device: &DeviceName, text: &str) {
        let name = format!("{}.{}", store::directory_name(device), self.extension);
        let path = self.directory.join(name);
        if let Err(error) = store::write_file(&path, text) {
            let message = format!("cannot write the output of {device}");
            let failure = CommandError::new(message).with_source(error);
            self.failure.get_or_insert(failure);
        }
    }

    /// # Errors
    /// A file could not be written.
    pub(super) fn end(self) -> Result<(), CommandError> {
        self.failure.map_or(Ok(()), Err)
    }
}
